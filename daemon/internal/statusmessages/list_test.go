package statusmessages

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestList shows present messages to all readers, also to later ones.
func TestList(t *testing.T) {
	b := New()
	var early, late []string
	into := func(list *[]string) func(slog.Level, string) {
		return func(l slog.Level, text string) { *list = append(*list, fmt.Sprint(l, " ", text)) }
	}
	reader := b.Read(into(&early))
	b.Post("disk", "", slog.LevelError, "full")
	b.Post("disk", "", slog.LevelError, "full")
	b.Post("disk", "", slog.LevelError, "broken")
	b.Post("watch", "", slog.LevelWarn, "polling")
	b.Withdraw("nothing", "was never so")
	b.Read(into(&late))
	require.Equal(t, []string{"ERROR broken", "WARN polling"}, late)
	b.Withdraw("disk", "fine")
	reader.Stop()
	b.Withdraw("watch", "")
	b.Post("disk", "", slog.LevelError, "full")
	require.Equal(t, []string{"ERROR full", "ERROR broken", "WARN polling", "INFO fine"}, early)
	require.Equal(t, []string{"ERROR broken", "WARN polling", "INFO fine", "ERROR full"}, late)
}

// TestWorkspaces: what concerns one workspace is shown only to readers who follow it.
func TestWorkspaces(t *testing.T) {
	b := New()
	var told, elsewhere []string
	into := func(list *[]string) func(slog.Level, string) {
		return func(_ slog.Level, text string) { *list = append(*list, text) }
	}
	reader, other := b.Read(into(&told)), b.Read(into(&elsewhere))
	other.Follow("/b")
	b.Post("watch a", "/a", slog.LevelWarn, "polling a")
	b.Post("watch b", "/b", slog.LevelWarn, "polling b")
	require.Empty(t, told)
	reader.Follow("/a")
	reader.Follow("/a")
	b.Announce("/a", slog.LevelDebug, "news of a")
	b.Announce("/b", slog.LevelDebug, "news of b")
	b.Post("disk", "", slog.LevelError, "full")
	b.Withdraw("watch a", "watching a")
	b.Withdraw("watch b", "watching b")
	require.Equal(t, []string{"polling a", "news of a", "full", "watching a"}, told)
	require.Equal(t, []string{"polling b", "news of b", "full", "watching b"}, elsewhere)
	reader.Leave("/a")
	b.Announce("/a", slog.LevelDebug, "more of a")
	require.Len(t, told, 4)
}
