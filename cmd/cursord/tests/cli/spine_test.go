//go:build unix

package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestMainJob goes through the main job in the README: a prompt, text, edits, decisions, a restart, and another turn in the
// session.
func TestMainJob(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n")
	w.Plays(
		`{"type":"system","subtype":"init","session_id":"{{session}}","cwd":"{{cwd}}","model":"Auto"}`,
		`{"type":"assistant","message":{"content":[{"type":"text","text":"I will "}]},"timestamp_ms":1}`,
		`{"type":"assistant","message":{"content":[{"type":"text","text":"edit."}]},"timestamp_ms":2}`,
		`{"type":"assistant","message":{"content":[{"type":"text","text":"I will edit."}]},"timestamp_ms":3,"model_call_id":"m"}`,
		`{"type":"tool_call","subtype":"started","call_id":"c1","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/a.txt"}}}}`,
		`{"fake":"write","path":"a.txt","text":"ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\nTWELVE\n"}`,
		`{"type":"tool_call","subtype":"completed","call_id":"c1","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/a.txt"},"result":{"success":{"path":"{{cwd}}/a.txt","beforeFullFileContent":"one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n","afterFullFileContent":"ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\nTWELVE\n"}}}}}`,
		`{"type":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}`,
		`{"type":"result","subtype":"success","result":"I will edit.Done.","session_id":"{{session}}","request_id":"r1","usage":{"inputTokens":7,"outputTokens":3,"cacheReadTokens":2,"cacheWriteTokens":1}}`,
	)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	require.Equal(t, "I will edit.Done.", *turn.Result)
	require.Equal(t, &sessions.Usage{InputTokens: 7, OutputTokens: 3, CacheReadTokens: 2, CacheWriteTokens: 1}, turn.Usage)
	require.Equal(t, []string{"I will edit.", "Done."}, e.Said(turn.ID, sessions.ItemAssistant))

	d := e.Diffs()["a.txt"]
	require.Len(t, d.Hunks, 2)
	require.Equal(t, []string{"-one", "+ONE", " two", " three", " four"}, d.Hunks[0].Lines)
	out := e.Decides("diff/accept", world.Obj{"hunks": []string{d.Hunks[0].ID}})
	require.Equal(t, 1, out.Applied)
	out = e.Decides("diff/reject", world.Obj{"hunks": []string{d.Hunks[1].ID}})
	require.Equal(t, "clean", out.Diffs[0].State)
	require.Equal(t, "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n", w.Get("a.txt"))
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\nTWELVE\n", w.Get("a.txt"))

	w.Stop()
	w.Start()
	e = w.Opens()
	require.Equal(t, []string{d.Hunks[1].ID}, world.HunkIDs(e.Diffs()["a.txt"]))
	e.Turn(world.Obj{"sessionId": turn.SessionID, "prompt": "go on"})
	runs := w.Runs()
	require.Len(t, runs, 2)
	require.Contains(t, runs[1].Args, "--resume")
	require.Equal(t, runs[0].Session, runs[1].Session)
}
