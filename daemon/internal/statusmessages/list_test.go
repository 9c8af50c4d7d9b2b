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
	stop := b.Read(into(&early))
	b.Post("disk", slog.LevelError, "full")
	b.Post("disk", slog.LevelError, "full")
	b.Post("disk", slog.LevelError, "broken")
	b.Post("watch", slog.LevelWarn, "polling")
	b.Withdraw("nothing", "was never so")
	b.Read(into(&late))
	require.Equal(t, []string{"ERROR broken", "WARN polling"}, late)
	b.Withdraw("disk", "fine")
	stop()
	b.Withdraw("watch", "")
	b.Post("disk", slog.LevelError, "full")
	require.Equal(t, []string{"ERROR full", "ERROR broken", "WARN polling", "INFO fine"}, early)
	require.Equal(t, []string{"ERROR broken", "WARN polling", "INFO fine", "ERROR full"}, late)
}
