package daemon

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// TestBoard tells those who are there, and those who come, what is so.
func TestBoard(t *testing.T) {
	d := &Daemon{messages: newStatusMessages()}
	var early, late []string
	into := func(list *[]string) func(slog.Level, string) {
		return func(l slog.Level, text string) { *list = append(*list, fmt.Sprint(l, " ", text)) }
	}
	stop := d.Messages(into(&early))
	d.messages.post("disk", slog.LevelError, "full")
	d.messages.post("disk", slog.LevelError, "full")
	d.messages.post("disk", slog.LevelError, "broken")
	d.messages.post("watch", slog.LevelWarn, "polling")
	d.messages.withdraw("nothing", "was never so")
	d.Messages(into(&late))
	require.Equal(t, []string{"ERROR broken", "WARN polling"}, late)
	d.messages.withdraw("disk", "fine")
	stop()
	d.messages.withdraw("watch", "")
	d.messages.post("disk", slog.LevelError, "full")
	require.Equal(t, []string{"ERROR full", "ERROR broken", "WARN polling", "INFO fine"}, early)
	require.Equal(t, []string{"ERROR broken", "WARN polling", "INFO fine", "ERROR full"}, late)
}

func TestGauge(t *testing.T) {
	var g gauge
	require.Equal(t, api.Span{}, g.status())
	for _, ms := range []int{3, 9, 2} {
		g.measured(time.Duration(ms) * time.Millisecond)
	}
	require.Equal(t, api.Span{Last: 2, Worst: 9}, g.status())
	g.minute.Add(-1) // a minute later
	g.measured(4 * time.Millisecond)
	require.Equal(t, api.Span{Last: 4, Worst: 9}, g.status())
	g.minute.Add(-1)
	require.Equal(t, api.Span{Last: 4, Worst: 4}, g.status())
	g.minute.Add(-5)
	require.Equal(t, api.Span{Last: 4}, g.status())
}
