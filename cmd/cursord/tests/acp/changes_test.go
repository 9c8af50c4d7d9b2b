//go:build unix

package acp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// showsChanges returns what calls show, each change as "NAME old→new".
func showsChanges(calls []*toolCall) (all [][]string) {
	for _, call := range calls {
		shown := []string{}
		for _, one := range call.content {
			if c := one.(map[string]any); c["type"] == "diff" {
				shown = append(shown, fmt.Sprintf("%s %q→%q", filepath.Base(c["path"].(string)), fmt.Sprint(c["oldText"]), c["newText"]))
			}
		}
		all = append(all, shown)
	}
	return all
}

// TestCallsKeepTheirChanges: what a call has changed is shown at the call, whatever is decided about it and whatever later turns change. A load once
// showed what was left to review: nothing after an accept, and the later lines at the earlier call.
func TestCallsKeepTheirChanges(t *testing.T) {
	t.Parallel()
	for _, driver := range []string{"print", "acp"} {
		for _, isolation := range []string{"none", "copy"} {
			t.Run(driver+" "+isolation, func(t *testing.T) {
				t.Parallel()
				w := trusted(t)
				w.Put("../config.toml", fmt.Sprintf("driver = %q\nisolation = %q\n", driver, isolation))
				w.Put("f", "1\n")
				w.Put("old", "old\n")
				w.Plays(`{"fake":"begin"}`, `{"fake":"edit","path":"f","text":"2\n"}`, `{"fake":"edit","path":"new","text":"new\n"}`,
					`{"fake":"shell","command":"echo made >made; echo 3 >>f; rm old"}`, `{"fake":"say","text":"Done."}`, `{"fake":"finish"}`)
				c := opens(w, nil)
				s := c.session()
				mark := c.mark()
				id := c.asks(s, "Do it")
				require.Equal(t, "end_turn", c.stops(id))
				want := [][]string{
					{`f "1\n"→"2\n"`}, {`new "<nil>"→"new\n"`},
					{`f "2\n"→"2\n3\n"`, `made "<nil>"→"made\n"`, `old "old\n"→""`},
				}
				all := callsOf(c.updates(s, mark, id))
				require.Len(t, all, 3)
				require.ElementsMatch(t, want[2], showsChanges(all)[2])
				want[2] = showsChanges(all)[2]
				require.Equal(t, want, showsChanges(all))

				w.Plays(`{"fake":"begin"}`, `{"fake":"edit","path":"f","text":"4\n"}`, `{"fake":"say","text":"Done."}`, `{"fake":"finish"}`)
				require.Equal(t, "end_turn", c.prompts(s, "Do more"))
				want = append(want, []string{`f "2\n3\n"→"4\n"`})
				for _, decide := range []string{"", "/accept", "/undo", "/reject"} {
					if decide != "" {
						require.Equal(t, "end_turn", c.prompts(s, decide))
					}
					mark := c.mark()
					id := c.sends("session/load", world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": []any{}})
					require.NoError(t, c.answers(id, nil))
					require.Equal(t, want, showsChanges(callsOf(c.updates(s, mark, id))), "after %q", decide)
				}

				// An export has it, and so has what is imported.
				file := w.Path("../exported")
				require.NoError(t, os.WriteFile(file, []byte(w.CursordOK("export", "--format", "ndjson", s)), 0o600))
				var into rpc.SessionResult
				e := w.Joins()
				e.Must("session/import", world.Obj{"path": file, "newIds": true}, &into)
				mark = c.mark()
				id = c.sends("session/load", world.Obj{"sessionId": into.Session.ID, "cwd": w.Root, "mcpServers": []any{}})
				require.NoError(t, c.answers(id, nil))
				require.Equal(t, want, showsChanges(callsOf(c.updates(into.Session.ID, mark, id))))
			})
		}
	}
}

// TestAKilledCallHasItsChanges: the agent ends in the middle of an edit.
func TestAKilledCallHasItsChanges(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Playing([]string{
		world.Started("c1", `{"editToolCall":{"args":{"path":"{{cwd}}/f"}}}`), world.Execs("echo 2 > f"), `{"fake":"exit","code":1}`,
	})...)
	w.Put("f", "1\n")
	c := opens(w, nil)
	s := c.session()
	mark := c.mark()
	id := c.asks(s, "Do it")
	require.Error(t, c.answers(id, nil))
	require.Equal(t, [][]string{{`f "1\n"→"2\n"`}}, showsChanges(callsOf(c.updates(s, mark, id))))
	mark = c.mark()
	id = c.sends("session/load", world.Obj{"sessionId": s, "cwd": w.Root, "mcpServers": []any{}})
	require.NoError(t, c.answers(id, nil))
	require.Equal(t, [][]string{{`f "1\n"→"2\n"`}}, showsChanges(callsOf(c.updates(s, mark, id))))
}

// TestHugeChangesAreCut: a call shows no more than 64 KiB of what it has changed, and says so.
func TestHugeChangesAreCut(t *testing.T) {
	t.Parallel()
	w := trusted(t, world.Lines(world.Edits("c1", "f.txt", "(absent)", strings.Repeat("a line\n", 20_000)))...)
	c := opens(w, nil)
	s := c.session()
	calls := callsOf(c.goesThrough(s, "Do it"))
	require.Len(t, calls, 1)
	require.Len(t, showsChanges(calls)[0][0], len(`f.txt "<nil>"→""`)+len(`a line\n`)*((64<<10-128)/8))
	require.Contains(t, fmt.Sprint(calls[0].content[1]), "f.txt: created, +20000 −0; not all of it is shown")
}
