//go:build unix

package life

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestSearch finds what turns have stored, in each kind of text, in forks, after a restart, and nothing of what is deleted.
func TestSearch(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	w.Plays(world.InitLine, world.Thinks("Perhaps the scheduler."), world.Piece("The Scheduler\nloses a wakeup."),
		`{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"go test ./wakeup"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"go test ./wakeup"},"result":{"success":{"exitCode":0,"stdout":"unsearched"}}}}}`,
		`{"type":"tool_call","subtype":"started","call_id":"r","tool_call":{"readToolCall":{"args":{"path":"`+w.Root+`/src/wake.go"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"r","tool_call":{"readToolCall":{"args":{"path":"`+w.Root+`/src/wake.go"},"result":{"success":{"content":"unsearched"}}}}}`,
		world.Succeeds(""))
	turn := e.Turn(world.Obj{"prompt": "Why does it hang?"})
	places := func(query string) (all []string) {
		t.Helper()
		for params := (world.Obj{"query": query, "limit": 1}); ; {
			var page rpc.SearchResult
			e.Must("search", params, &page)
			for _, m := range page.Matches {
				require.Equal(t, w.Root, m.Workspace)
				marked := ""
				for _, r := range m.Ranges {
					marked += "[" + m.Snippet[r.From:r.To] + "]"
				}
				all = append(all, m.In+" "+marked)
			}
			if params["cursor"] = page.NextCursor; page.NextCursor == "" {
				return all
			}
		}
	}
	require.Equal(t, []string{"text [Scheduler]", "text [scheduler]"}, places("SCHEDULER"))
	require.Equal(t, []string{"text [Scheduler loses]"}, places(`"scheduler loses"`))
	require.Equal(t, []string{"command [wake]", "text [wake]"}, places("wake -")[1:], "the newest first: the path is newer")
	require.Equal(t, []string{"path [src/wake.go]"}, places("src/wake.go"))
	require.ElementsMatch(t, []string{"title [hang]", "prompt [hang]"}, places("hang"))
	require.Empty(t, places("unsearched"))
	require.Empty(t, places("hang scheduler"), "a place has all words")

	fork := forks(e, world.Obj{"sessionId": turn.SessionID, "title": "other"})
	require.Len(t, places("loses"), 1, "the copy is not found beside it")
	w.Kill()
	w.Start()
	e = w.Opens()
	e.Must("session/delete", world.Obj{"sessionId": turn.SessionID}, nil)
	var page rpc.SearchResult
	e.Must("search", world.Obj{"query": "loses"}, &page)
	require.Len(t, page.Matches, 1)
	require.Equal(t, fork.ID, page.Matches[0].SessionID)
	require.Equal(t, "other", page.Matches[0].Title)
	require.Equal(t, "query", e.Fails("search", world.Obj{"query": "…"}).Data.Field)
	require.Equal(t, "cursor", e.Fails("search", world.Obj{"query": "x", "cursor": "x"}).Data.Field)
	require.Equal(t, -32602, e.Fails("search", world.Obj{"query": "x", "workspace": "relative"}).Code)
}
