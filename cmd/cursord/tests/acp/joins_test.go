//go:build unix

package acp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestOpensWhileAMessageRuns: a load has the message that runs once and whole; a resume has none of what was said before it, and a call that
// the editor knows does not begin again.
func TestOpensWhileAMessageRuns(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"session/load", "session/resume"} {
		for _, again := range []bool{false, true} { // on the connection that has it open
			t.Run(fmt.Sprint(how, " again ", again), func(t *testing.T) {
				t.Parallel()
				w := trusted(t, world.Playing([]string{
					world.Started("c1", `{"readToolCall":{"args":{"path":"f"}}}`), world.Piece("one "), world.Piece("two "), world.Waits("go"), world.Piece("three "), world.Piece("four"),
					world.Completed("c1", `{"readToolCall":{"args":{"path":"f"},"result":{"success":{"content":"x"}}}}`), world.Waits("end"), world.Succeeds(""),
				})...)
				c := opens(w, nil)
				s := c.session()
				c.asks(s, "Count")
				c.update(0, "two ")
				if !again {
					c = opens(w, nil)
				}
				mark := c.mark()
				c.must(how, world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": []any{}}, nil)
				w.Put("../go", "")
				c.update(mark, "four")
				c.update(mark, `"completed"`)
				w.Put("../end", "")
				c.update(mark, "usage_update")
				all := c.updates(s, mark, "")
				if how == "session/load" {
					require.Equal(t, "one two three four", said(all, "agent_message_chunk"))
				} else {
					require.Equal(t, "three four", said(all, "agent_message_chunk"))
				}
				begun := 0
				for _, u := range all {
					if u.Update.SessionUpdate == "tool_call" {
						begun++
					}
				}
				require.Equal(t, how == "session/load" || !again, begun == 1, "%d", begun)
			})
		}
	}
}

// TestLoadWhileAPromptWaits: a prompt that waits behind another one is shown when it begins, once, also on the connection that has sent it.
func TestLoadWhileAPromptWaits(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"session/load", "session/resume"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := trusted(t, waiting("go")...)
			first := opens(w, nil)
			s := first.session()
			ids := []string{first.asks(s, "The first."), first.asks(s, "The second.")}
			first.update(0, "begun")
			other, third := opens(w, nil), opens(w, nil)
			third.loads(s)
			open := world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": []any{}}
			mark := first.mark()
			first.must(how, open, nil)
			other.must(how, open, nil)
			w.Put("../go", "")
			require.Equal(t, "end_turn", first.stops(ids[0]))
			require.Equal(t, "end_turn", first.stops(ids[1]))
			for i, c := range []*client{first, other, third} {
				c.hears("both ends", 0, func(m rpc.Message) bool { return c.has("usage_update") == 2 })
				shown := said(c.updates(s, map[bool]int{true: mark}[i == 0], ""), "user_message_chunk")
				switch {
				case how == "session/load" || i == 2:
					require.Equal(t, "The first.The second.", shown)
				case i == 0:
					require.Empty(t, shown, "it has sent them")
				default:
					require.Equal(t, "The second.", shown)
				}
			}
		})
	}
}

// has returns how many updates of a kind have come.
func (c *client) has(kind string) (n int) {
	for _, m := range c.told { // the caller holds mu
		if m.Method == "session/update" && has(m, `"sessionUpdate":"`+kind+`"`) {
			n++
		}
	}
	return n
}
