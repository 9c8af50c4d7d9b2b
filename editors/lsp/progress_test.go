package lsp

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/editors/lsp/client"
)

// TestReportsLeaveAMessageToBeRead: Helix shows a report in the place of a message, so it gets none for a while after each message.
func TestReportsLeaveAMessageToBeRead(t *testing.T) {
	t.Parallel()
	for editor, first := range map[string]time.Duration{"helix": readingTime, "Neovim": reportPause} {
		synctest.Test(t, func(t *testing.T) {
			var sent bytes.Buffer
			s := newServer(t.Context(), &sent, Options{Version: "test", Log: slog.New(slog.DiscardHandler)})
			defer s.cancel()
			s.client = client.New(&client.Capabilities{})
			s.client.Name = editor
			after := func(d time.Duration) string {
				time.Sleep(d)
				for synctest.Wait(); len(s.inbox) > 0; synctest.Wait() {
					(<-s.inbox)()
				}
				return sent.String()
			}
			p := &progress{begun: true, token: "one"}
			s.report(p, "thinking")
			s.show(levelWarning, "this is to be read")
			s.report(p, "writing")
			require.NotContains(t, after(first-time.Millisecond), "$/progress", editor)
			require.Contains(t, after(time.Millisecond), "writing", editor)
			require.NotContains(t, sent.String(), "thinking", editor)
			s.report(p, "waiting")
			require.Contains(t, after(reportPause), "waiting", "as soon as ever")
		})
	}
}
