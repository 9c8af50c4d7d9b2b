//go:build unix

package lsp

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

// TestLSPRecap: where the agent has lost the chat, the editor offers to ask the prompt again with the transcript, as a question or,
// where it cannot ask, as a command.
func TestLSPRecap(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		without bool // the editor asks no questions
		closes  bool // the person closes the question, and gives the command later
	}{{name: "question"}, {name: "closed", closes: true}, {name: "command", without: true}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			trusted(w)
			capabilities := world.LSPCapabilities()
			if test.without {
				delete(capabilities["window"].(world.Obj), "showMessage")
			}
			c := lsp(w, capabilities, nil)
			c.answering(func(m rpc.Message) any {
				if m.Method == "window/showMessageRequest" && !test.closes && strings.Contains(string(m.Params), "has lost the chat") {
					return map[string]any{"title": "Ask again with the transcript"}
				}
				return nil
			})
			require.ErrorContains(t, c.call("workspace/executeCommand", world.Obj{"command": "cursord.recap"}, nil), "there is no session with a prompt to ask again")
			c.hears("window/showMessage", "there is no session with a prompt to ask again")
			w.Plays(`{"fake":"begin"}`, `{"fake":"say","text":"The word is plum."}`, `{"fake":"finish"}`)
			mark := c.mark()
			c.does("cursord.ask", "remember the word")
			c.hearsAfter(mark, "window/showMessage", "done")
			mark = c.mark()
			c.does("cursord.recap")
			c.hearsAfter(mark, "window/showMessage", "the agent has lost no chat in the last turn")
			require.Len(t, w.Runs(), 1)
			w.Plays(`{"type":"system","subtype":"init","session_id":"another","model":"m"}`, world.Done)
			mark = c.mark()
			c.does("cursord.ask", world.Obj{"prompt": "which word", "path": w.Path("a.go"), "line": 3})
			switch {
			case test.without:
				c.hearsAfter(mark, "window/showMessage", "the agent has lost the chat – cursord.recap asks again with the transcript")
			case test.closes:
				c.hearsAfter(mark, "window/showMessageRequest", "The agent has lost the chat, and does not know what was said before.")
			}
			if test.without || test.closes {
				c.hearsAfter(mark, "window/showMessage", "done")
				require.Len(t, w.Runs(), 2)
				c.does("cursord.recap")
			}
			c.eventually("it is asked again", func() bool { return len(w.Runs()) == 3 })
			again := w.Runs()[2]
			require.True(t, strings.HasSuffix(strings.TrimSpace(again.Prompt), "which word"), again.Prompt)
			require.Contains(t, again.Prompt, "The word is plum.")
			require.Contains(t, again.Prompt, "</transcript>\n<file path=\"a.go\" lines=\"3\" />\n</context>")
			var list struct{ Sessions []*sessions.Session }
			w.Joins().Must("session/list", world.Obj{"workspace": w.Root}, &list)
			require.Len(t, list.Sessions, 1)
		})
	}
}
