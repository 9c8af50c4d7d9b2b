//go:build unix

package agentruns

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

func TestPrompts(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Huge = true
	w.Start()
	e := w.Opens()
	for name, prompt := range map[string]string{
		"5 MB":        strings.Repeat("0123456789abcde\n", 5<<20/16),
		"quotes":      `"'` + "`$(touch x) \\ %PATH% !! \n\r\n\t \"",
		"dashes":      "--help",
		"one dash":    "-",
		"a flag":      "-p --force\n",
		"unicode":     "ünï \U0001f600 \u2028 \ufeff x",
		"white space": "\n\n  x  \n\n",
	} {
		t.Run(name, func(t *testing.T) {
			defer w.In(t, e)()
			turn := e.Turn(world.Obj{"prompt": prompt})
			require.Equal(t, sessions.TurnCompleted, turn.Status)
			require.Equal(t, prompt, turn.Prompt)
			runs := w.Runs()
			require.True(t, prompt == runs[len(runs)-1].Prompt, "the prompt came as another one")
			require.NotContains(t, runs[len(runs)-1].Args, prompt)
		})
	}
	failed := e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "a\x00b"})
	require.Equal(t, -32602, failed.Code)
	require.Equal(t, "prompt", failed.Data.Field)
	failed = e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": ""})
	require.Equal(t, "prompt", failed.Data.Field)
	failed = e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": strings.Repeat("x", 8<<20+1)})
	require.Equal(t, -32021, failed.Code)
	require.Contains(t, failed.Message, "8388608")
	failed = e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": strings.Repeat("x", 7<<20), "context": []world.Obj{
		{"kind": "text", "text": strings.Repeat("y", 2<<20)}}})
	require.Equal(t, -32021, failed.Code)
	for field, params := range map[string]world.Obj{
		"workspace": {"workspace": w.Path("nowhere"), "prompt": "x"},
		"mode":      {"workspace": w.Root, "prompt": "x", "mode": "yolo"},
		"turnId":    {"workspace": w.Root, "prompt": "x", "turnId": strings.Repeat("x", 65)},
		"force":     {"workspace": w.Root, "prompt": "x", "force": "yes"},
	} {
		failed = e.Fails("turn/start", params)
		require.Equal(t, -32602, failed.Code, field)
		require.Equal(t, field, failed.Data.Field)
	}
	require.Equal(t, -32001, e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "x", "sessionId": "none"}).Code)
}

// TestCommandLine compares the agent's command lines.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	fake := w.Get("../agent")
	at := w.Path("../env")
	w.Put("../agent", strings.Replace(fake, "exec ", "if test \"$1\" = -p; then env >"+at+"; pwd >>"+at+"; fi; exec ", 1))
	w.Start("CURSOR_API_KEY=k1", "CURSOR_CONFIG_DIR=/c")
	e := w.Opens()
	base := []string{"-p", "--output-format", "stream-json", "--stream-partial-output", "--trust", "--model"}
	var session string
	for _, tt := range []struct {
		params world.Obj
		args   []string
	}{
		{world.Obj{}, []string{"auto", "--workspace", w.Root, "--disable-auto-update", "--background-shell-timeout", "30"}},
		{world.Obj{"mode": "agent", "force": true}, []string{"auto", "--workspace", w.Root, "--disable-auto-update", "--background-shell-timeout", "30", "--force"}},
		{world.Obj{"mode": "ask"}, []string{"auto", "--workspace", w.Root, "--disable-auto-update", "--background-shell-timeout", "30", "--mode", "ask"}},
		{world.Obj{"mode": "plan", "model": "m-1", "force": true}, []string{"m-1", "--workspace", w.Root, "--disable-auto-update", "--background-shell-timeout", "30", "--mode", "plan", "--force"}},
	} {
		w.Plays(world.InitLine, world.Succeeds(""))
		turn := e.Turn(tt.params)
		runs := w.Runs()
		run := runs[len(runs)-1]
		require.Equal(t, append(slices.Clone(base), tt.args...), run.Args)
		require.Equal(t, w.Root, run.Cwd)
		env := w.Get("../env")
		for _, line := range []string{"CURSOR_API_KEY=k1\n", "CURSOR_CONFIG_DIR=/c\n", "CURSORD_TURN_ID=" + turn.ID + "\n", "\n" + w.Root + "\n"} {
			require.Contains(t, env, line)
		}

		session = turn.SessionID
		e.Turn(world.Obj{"sessionId": session, "model": "m-2"})
		runs = w.Runs()
		again := runs[len(runs)-1].Args
		require.Equal(t, []string{"--resume", run.Session}, again[len(again)-2:])
		require.Equal(t, "m-2", again[slices.Index(again, "--model")+1])
	}
	// A session's options hold for its turns.
	e.Must("session/update", world.Obj{"sessionId": session, "model": "m-3", "mode": "ask"}, nil)
	e.Turn(world.Obj{"sessionId": session})
	runs := w.Runs()
	require.Contains(t, runs[len(runs)-1].Args, "m-3")
	require.Contains(t, runs[len(runs)-1].Args, "ask")

	var made struct{ Session *sessions.Session }
	e.Must("session/create", world.Obj{"workspace": w.Root, "agentSessionId": "adopted-1", "model": "m-4"}, &made)
	e.Turn(world.Obj{"sessionId": made.Session.ID})
	runs = w.Runs()
	require.Equal(t, append(slices.Clone(base), "m-4", "--workspace", w.Root, "--disable-auto-update", "--background-shell-timeout", "30", "--resume", "adopted-1"), runs[len(runs)-1].Args)
}

// TestHugeLines is about lines as long as a file, and lines longer than any limit.
func TestHugeLines(t *testing.T) {
	world.TooLargeForRace(t)
	w := world.New(t)
	w.Huge = true
	w.Start()
	e := w.Opens()
	tool := func(content string) string {
		return `{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"a"},"result":{"success":{"content":"` + content + `","totalLines":1}}}}}`
	}
	w.Plays(world.InitLine, tool(strings.Repeat("0123456789", 2<<20)), world.Says("After.", ""), world.Succeeds("After."))
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	require.Equal(t, "After.", *turn.Result)
	tools := e.Items(turn.ID)[0].Tool
	require.True(t, tools.OutputTruncated)
	require.Len(t, tools.Output, 16<<10)
	require.Less(t, len(tools.Result), 2<<10)
	require.Contains(t, string(tools.Result), "…(20971520 bytes)")
	t.Logf("%d MiB after a line of 20 MiB", w.Memory())

	w.Plays(world.InitLine, tool(strings.Repeat("0123456789", 7<<20)), world.Says("After.", ""), world.Succeeds("After."))
	turn = e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	require.Equal(t, []string{"After."}, e.Said(turn.ID, sessions.ItemAssistant))
	notices := e.Said(turn.ID, sessions.ItemNotice)
	require.Len(t, notices, 1)
	require.Contains(t, notices[0], "70.0 MiB")
	w.RequireLittleMemory()

	var whole struct{ Item *sessions.Item }
	for _, n := range e.All() {
		if n.Item != nil && n.Item.Tool != nil {
			e.Must("item/read", world.Obj{"itemId": n.Item.ID}, &whole)
		}
	}
	require.Len(t, whole.Item.Tool.Output, 20<<20)
	world.Audit(t, e.All())
}

// TestCuts is about the parts of long texts that tool calls show.
func TestCuts(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	long := strings.Repeat("é", 10<<10) // 20 KiB
	shell := func(out, arg string) string {
		return fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"x","note":%q,"list":[{"deep":%q}]},"result":{"success":{"exitCode":0,"stdout":%q}}}}}`, arg, arg, out)
	}
	w.Plays(world.InitLine, shell("a"+long+"z", strings.Repeat("é", 2<<10)+"x"), shell(strings.Repeat("x", 16<<10), strings.Repeat("x", 4<<10)), world.Succeeds(""))
	turn := e.Turn(nil)
	items := e.Items(turn.ID)

	cut := items[0].Tool
	require.True(t, cut.OutputTruncated)
	require.LessOrEqual(t, len(cut.Output), 16<<10)
	require.Greater(t, len(cut.Output), 16<<10-8)
	require.True(t, strings.HasPrefix(cut.Output, "aé") && strings.HasSuffix(cut.Output, "éz"))
	var args struct {
		Note string
		List []struct{ Deep string }
	}
	require.NoError(t, json.Unmarshal(cut.Args, &args))
	require.Equal(t, strings.Repeat("é", 512)+"…(4097 bytes)", args.Note)
	require.Equal(t, args.Note, args.List[0].Deep)
	require.Contains(t, string(cut.Result), "…(20482 bytes)")
	var whole struct{ Item *sessions.Item }
	e.Must("item/read", world.Obj{"itemId": items[0].ID}, &whole)
	require.Equal(t, "a"+long+"z", whole.Item.Tool.Output)
	require.False(t, whole.Item.Tool.OutputTruncated)
	require.NoError(t, json.Unmarshal(whole.Item.Tool.Args, &args))
	require.Len(t, args.Note, 4097)

	fits := items[1].Tool
	require.False(t, fits.OutputTruncated)
	require.Len(t, fits.Output, 16<<10)
	require.NoError(t, json.Unmarshal(fits.Args, &args))
	require.Len(t, args.Note, 4<<10)
	require.Equal(t, -32001, e.Fails("item/read", world.Obj{"itemId": "none"}).Code)
}

// TestManyCalls and TestHugeFlood are about turns with many calls and many deltas.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	const calls = 10_000
	w := world.New(t)
	w.Plays(world.InitLine, fmt.Sprintf(`{"fake":"repeat","n":%d,"lines":2}`, calls),
		`{"type":"tool_call","subtype":"started","call_id":"c{{i}}","tool_call":{"readToolCall":{"args":{"path":"f{{i}}"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"c{{i}}","tool_call":{"readToolCall":{"args":{"path":"f{{i}}"},"result":{"success":{"content":"{{i}}"}}}}}`,
		world.Succeeds(""))
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	last := map[int]sessions.ItemStatus{}
	for _, n := range e.All() {
		if n.Item != nil {
			last[n.Item.Index] = n.Item.Status
		}
	}
	require.Len(t, last, calls)
	for i := range calls {
		require.Equal(t, sessions.ItemCompleted, last[i])
	}
	w.RequireLittleMemory()
	t.Logf("%d MiB", w.Memory())
	world.Audit(t, e.All())
}

func TestHugeFlood(t *testing.T) {
	world.TooLargeForRace(t)
	const deltas = 300_000
	w := world.New(t)
	w.Huge = true
	w.Plays(world.InitLine, fmt.Sprintf(`{"fake":"repeat","n":%d}`, deltas), world.Piece("{{i}},"), world.Succeeds(""))
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	var want strings.Builder
	for i := range deltas {
		fmt.Fprintf(&want, "%d,", i)
	}
	said := e.Said(turn.ID, sessions.ItemAssistant)
	require.Len(t, said, 1)
	require.True(t, want.String() == said[0])
	require.True(t, want.String() == *turn.Result)
	w.RequireLittleMemory()
	t.Logf("%d MiB", w.Memory())
	world.Audit(t, e.All())
}

// TestHugeOutput has an agent print 256 MB of lines that say nothing to anybody: no notification comes meanwhile.
func TestHugeOutput(t *testing.T) {
	world.TooLargeForRace(t)
	const lines, size = 2000, 64 << 10
	w := world.New(t)
	w.Huge = true
	pad := strings.Repeat("x", size)
	w.Plays(world.InitLine, fmt.Sprintf(`{"fake":"repeat","n":%d,"lines":2}`, lines),
		`{"type":"user","message":{"content":[{"type":"text","text":"`+pad+`"}]}}`, `{"type":"novelty","text":"`+pad+`"}`,
		world.Piece("After."), world.Succeeds("After."))
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	require.Equal(t, []string{"After."}, e.Said(turn.ID, sessions.ItemAssistant))
	w.RequireLittleMemory()
	t.Logf("%d MiB", w.Memory())
	world.Audit(t, e.All())
}

// TestHugeTextWithoutEnd has an agent say more than one item holds, in pieces and as a whole. The text goes on in another
// item, nothing is lost or doubled, and no message is larger than a client takes.
func TestHugeTextWithoutEnd(t *testing.T) {
	world.TooLargeForRace(t)
	const piecesOf, pieces, most = 1 << 20, 33, 32 << 20
	chunk := strings.Repeat("0123456789abcde\n", piecesOf/16)
	w := world.New(t)
	w.Huge = true
	w.Plays(world.InitLine, fmt.Sprintf(`{"fake":"repeat","n":%d}`, pieces), world.Piece(chunk), world.Thinks("hm"), world.Piece("the end"), world.Succeeds("the end"))
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	// Clients that are behind get fewer deltas, so the finished items are compared.
	texts := func(e *world.Editor) (said []string) {
		last := map[int]string{}
		for _, n := range e.All() {
			if n.Item != nil && n.Item.Kind == sessions.ItemAssistant && n.Item.Status == sessions.ItemCompleted {
				last[n.Item.Index] = n.Item.Text
			}
		}
		for _, i := range slices.Sorted(maps.Keys(last)) {
			said = append(said, last[i])
		}
		return said
	}
	said := texts(e)
	for _, text := range said[:len(said)-1] {
		require.LessOrEqual(t, len(text), most)
	}
	require.Len(t, said, (pieces*piecesOf+most-1)/most+1)
	require.True(t, strings.Repeat(chunk, pieces)+"the end" == strings.Join(said, ""))
	late := w.Joins()
	late.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
	late.Ends(turn.ID)
	require.True(t, slices.Equal(said, texts(late)))
}

// TestManyOpenCalls has an agent end with more open calls than one commit closes.
func TestManyOpenCalls(t *testing.T) {
	t.Parallel()
	const calls = 1000
	w := world.New(t)
	long := strings.Repeat("x", 5<<10)
	w.Plays(opens(calls, `"path":"f{{i}}","note":"`+long+`"`)...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	requireCancelled(w, e, turn, calls)
	var whole struct{ Item *sessions.Item }
	e.Must("item/read", world.Obj{"itemId": sessions.ItemID(turn.ID, calls-1)}, &whole)
	require.Equal(t, []string{fmt.Sprint("f", calls-1)}, whole.Item.Tool.Paths)
	require.Contains(t, string(whole.Item.Tool.Args), long)

	// A turn is cancelled, and another waits for its end.
	w.Plays(append(opens(calls, `"path":"f{{i}}"`)[:3], `{"fake":"hang"}`)...)
	first := e.Asks(world.Obj{"sessionId": turn.SessionID})
	second := e.Asks(world.Obj{"sessionId": turn.SessionID})
	e.Until("the last call", func(n world.Notification) bool {
		return n.Item != nil && n.Item.TurnID == first.ID && n.Item.Index == calls-1
	})
	w.Plays(world.InitLine, world.Succeeds("second"))
	e.Must("turn/cancel", world.Obj{"turnId": first.ID}, nil)
	first = e.Ends(first.ID)
	require.Equal(t, sessions.TurnCancelled, first.Status)
	requireCancelled(w, e, first, calls)
	require.Equal(t, sessions.TurnCompleted, e.Ends(second.ID).Status)
	world.Audit(t, e.All())
}

// opens is a script that opens read calls with these arguments and ends none of them.
func opens(calls int, args string) []string {
	return []string{
		world.InitLine, fmt.Sprintf(`{"fake":"repeat","n":%d}`, calls),
		`{"type":"tool_call","subtype":"started","call_id":"c{{i}}","tool_call":{"readToolCall":{"args":{` + args + `}}}}`, world.Succeeds(""),
	}
}

// requireCancelled fails unless these calls of a turn have been cancelled.
func requireCancelled(w *world.World, e *world.Editor, turn *sessions.Turn, calls int) {
	w.T.Helper()
	items := e.Items(turn.ID)
	require.Len(w.T, items, calls)
	for i, it := range items {
		require.Equal(w.T, i, it.Index)
		require.Equal(w.T, sessions.ItemCancelled, it.Status)
		require.Equal(w.T, fmt.Sprint("Read f", i), it.Tool.Title)
		require.NotNil(w.T, it.EndedAt)
	}
}

func TestHugeOpenCalls(t *testing.T) {
	world.TooLargeForRace(t)
	const calls = 20_000
	w := world.New(t)
	w.Huge = true
	w.Plays(opens(calls, `"path":"f{{i}}"`)...)
	w.Start()
	e := w.Opens()
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	requireCancelled(w, e, turn, calls)
	t.Logf("%d MiB", w.Memory())
	require.Less(t, w.Memory(), 80)
	world.Audit(t, e.All())
}
