//go:build unix

package authorship

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestBaselineWithoutReport has agents that do not report a file's content before their write.
func TestBaselineWithoutReport(t *testing.T) {
	t.Parallel()
	writes := func(path, text string) string { return fmt.Sprintf(`{"fake":"write","path":%q,"text":%q}`, path, text) }
	for _, c := range []struct {
		name          string
		before, after world.Tree
		script        []string
	}{
		{
			"the documented write of a new file",
			world.Tree{"sub/f": "(absent)"}, world.Tree{"sub/f": "new\n"},
			world.CallLines(
				`{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"writeToolCall":{"args":{"path":"sub/f","fileText":"new\n"}}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"writeToolCall":{"args":{"path":"sub/f","fileText":"new\n"},"result":{"success":{"path":"{{cwd}}/sub/f","linesCreated":1,"fileSize":4}}}}}`,
				writes("sub/f", "new\n")),
		},
		{
			"the documented write over a file",
			world.Tree{"f": "old\nsame\n"}, world.Tree{"f": "new\nsame\n"},
			world.CallLines(
				`{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"writeToolCall":{"args":{"path":"f","fileText":"new\nsame\n"}}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"writeToolCall":{"args":{"path":"f"},"result":{"success":{"path":"{{cwd}}/f"}}}}}`,
				writes("f", "new\nsame\n")),
		},
		{
			"a wrapper's write over a file",
			world.Tree{"f": "old\n"}, world.Tree{"f": "new\n"},
			world.CallLines(
				`{"type":"tool_call","subtype":"started","payload":{"toolCall":{"id":"w","writeFileToolCall":{"path":"f","contents":"new\n"}}}}`,
				`{"type":"tool_call","subtype":"completed","payload":{"toolCall":{"id":"w","result":{"success":true}}}}`,
				writes("f", "new\n")),
		},
		{
			"another wrapper's write",
			world.Tree{"f": "old\n"}, world.Tree{"f": "new\n"},
			world.CallLines(
				`{"type":"tool-call-started","tool_name":"Write","tool_call_id":"w","parameters":{"path":"f","contents":"new\n"}}`,
				`{"type":"tool-call-completed","tool_name":"Write","tool_call_id":"w","result":{"success":true,"output":"ok"}}`,
				writes("f", "new\n")),
		},
		{
			"a replacement whose report is not what the disk has",
			world.Tree{"f": "a\r\nb\r\n"}, world.Tree{"f": "a\r\nB\r\n"},
			world.CallLines(
				`{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/f"}}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/f"},"result":{"success":{"path":"{{cwd}}/f","beforeFullFileContent":"a\nb\n","afterFullFileContent":"a\nB\n"}}}}}`,
				writes("f", "a\r\nB\r\n")),
		},
		{
			"a deletion without the content",
			world.Tree{"f": "old\n"}, world.Tree{"f": "(absent)"},
			world.CallLines(
				`{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"deleteToolCall":{"args":{"path":"f"}}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"deleteToolCall":{"args":{"path":"f"},"result":{"success":{"path":"{{cwd}}/f","deletedFile":"f"}}}}}`,
				`{"fake":"delete","path":"f"}`),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world.New(t)
			w.PutAll(c.before)
			w.Plays(c.script...)
			w.Start()
			e := w.Opens()
			require.Equal(t, sessions.TurnCompleted, e.Turn(nil).Status)
			w.RequireTree(c.after)
			for path, d := range e.Diffs() {
				require.Equal(t, "known", d.Baseline, path)
			}
			require.Len(t, e.Diffs(), len(c.after))
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(c.before)
			require.NoFileExists(t, w.Path("sub"))
		})
	}
}

// TestTurnsOnOneFile requires the ids of hunks to stay over turns, edits of a person, and restarts.
func TestTurnsOnOneFile(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	v0 := world.Numbered(40, nil)
	v1 := world.Numbered(40, map[int]string{5: "five\n", 30: "thirty\n"})
	v2 := world.Numbered(40, map[int]string{5: "five\n", 30: "thirty\n", 15: "fifteen\n"})
	w.Put("f", v0)
	w.Plays(world.Lines(world.Edits("a", "f", v0, v1))...)
	w.Start()
	e := w.Opens()
	first := e.Turn(nil)
	ids := world.HunkIDs(e.Diffs()["f"])
	require.Len(t, ids, 2)

	w.Plays(world.Lines(world.Edits("b", "f", v1, v2))...)
	second := e.Turn(world.Obj{"sessionId": first.SessionID})
	now := world.HunkIDs(e.Diffs()["f"])
	require.Len(t, now, 3)
	require.Equal(t, ids, []string{now[0], now[2]})
	require.Equal(t, []string{first.ID, second.ID}, world.Sorted(e.Diffs()["f"].Turns))

	// Nobody watches while the daemon is away.
	w.Kill()
	w.Put("f", "mine\n"+v2)
	w.Start()
	e = w.Opens()
	require.Equal(t, now, world.HunkIDs(e.Diffs()["f"]))
	out := e.Decides("diff/reject", world.Obj{"turnId": second.ID})
	require.Equal(t, 1, out.Applied)
	w.RequireTree(world.Tree{"f": "mine\n" + v1})
	require.Equal(t, ids, world.HunkIDs(e.Diffs()["f"]))
	e.Decides("diff/reject", world.Obj{"path": "f"})
	w.RequireTree(world.Tree{"f": "mine\n" + v0})
	for range 2 {
		e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	}
	w.RequireTree(world.Tree{"f": "mine\n" + v2})
	require.Equal(t, now, world.HunkIDs(e.Diffs()["f"]))
}

// TestUserSaveBeforeTheAgentWrites has a person save a text that is neither on the disk any more nor in the agent's report.
func TestUserSaveBeforeTheAgentWrites(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "a\nb\n")
	script := world.Edits("c", "f", "a\nb\n", "A\nb\n")
	w.Plays(append([]string{script[0], `{"fake":"wait","path":"go"}`}, append(script[1:], world.Done)...)...)
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	e.Until("the call", func(n world.Notification) bool { return n.Item != nil && n.Item.Kind == sessions.ItemTool })
	w.Put("go", "")
	e.Ends(turn.ID)
	require.Len(t, e.Diffs()["f"].Hunks, 1)

	// The same again, with a person who saves after the agent has read the file and before the call is announced.
	w.Put("f", "a\nb\n")
	require.Empty(t, e.Diffs(), "the baseline, restored by hand, leaves nothing to review")
	mine := "a\nb\nmine\n"
	w.Plays(append([]string{fmt.Sprintf(`{"fake":"write","path":"f","text":%q}`, mine), script[0], `{"fake":"wait","path":"go2"}`},
		append(script[1:], world.Done)...)...)
	turn = e.Asks(nil)
	e.Until("the call", func(n world.Notification) bool {
		return n.Item != nil && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemTool
	})
	w.Put("go2", "")
	e.Ends(turn.ID)
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": mine})
}

// TestTurnIsFoundWithoutAnAgent repeats a turn/start after the agent has been removed: the answer is the first turn.
func TestTurnIsFoundWithoutAnAgent(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	e.Turn(world.Obj{"turnId": "mine"})
	require.NoError(t, os.Remove(w.Path("../agent")))
	require.Equal(t, "mine", e.Asks(world.Obj{"turnId": "mine"}).ID)
	require.EqualValues(t, -32010, e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "x"}).Code)
}

// TestRemovedAndMadeAgain has a person accept and then remove a file that the agent made. When the agent makes it again, it
// is under review again.
func TestRemovedAndMadeAgain(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Plays(world.Lines(world.Edits("1", "f", "(absent)", "new\n"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	e.Decides("diff/accept", world.Obj{"all": true})
	require.NoError(t, os.Remove(w.Path("f")))
	e.Turn(nil)
	require.Contains(t, e.Diffs(), "f")
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "(absent)"})
}

// TestAFileThatTheAgentMadeAndRemovedAtOnce: only the agent's report shows such a file.
func TestAFileThatTheAgentMadeAndRemovedAtOnce(t *testing.T) {
	t.Parallel()
	made, removed := world.Edits("1", "f", "(absent)", "x\n"), world.Deletes("2", "f", "x\n")
	w := world.New(t)
	w.Plays(made[1], removed[1], made[0], made[2], removed[0], removed[2], world.Done)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	require.Empty(t, e.Diffs())

	// A file that somebody else has made meanwhile is not the one of the report.
	w.Plays(`{"fake":"write","path":"g","text":"mine\n"}`, `{"fake":"delete","path":"g"}`, made[0], made[2],
		strings.ReplaceAll(removed[0], "/f", "/g"), strings.NewReplacer("/f", "/g", `"x\n"`, `"mine\n"`).Replace(removed[2]), world.Done)
	e.Turn(world.Obj{"prompt": "again"})
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "(absent)", "g": "mine\n"})
}

// TestACommandMakesAgainWhatAPersonTookBack accepts a command's change and then reverts it by hand. When a command makes the
// same change again, it is under review again.
func TestACommandMakesAgainWhatAPersonTookBack(t *testing.T) {
	t.Parallel()
	before := world.Tree{"changed": "a\n", "gone": "g\n", "new": "(absent)", "d/moved": "m\n", "d/to": "(absent)"}
	after := world.Tree{"changed": "b\n", "gone": "(absent)", "new": "n\n", "d/moved": "(absent)", "d/to": "m\n"}
	for _, repository := range []bool{false, true} {
		t.Run(fmt.Sprintf("repository=%v", repository), func(t *testing.T) {
			w := world.New(t)
			w.PutAll(before)
			if repository {
				w.Commits()
			}
			w.Plays(world.Lines(world.Shells("c", "echo b >changed; rm gone; echo n >new; mv d/moved d/to"), []string{world.Done})...)
			w.Start()
			e := w.Opens()
			for range 3 {
				e.Turn(nil)
				w.RequireTree(after)
				require.Len(t, e.Diffs(), 4)
				e.Decides("diff/reject", world.Obj{"all": true})
				w.RequireTree(before)
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				e.Decides("diff/accept", world.Obj{"all": true})
				require.Empty(t, e.Diffs())
				for name := range before {
					_ = os.Remove(w.Path(name))
				}
				w.PutAll(before)
			}
		})
	}
}

// TestACommandRemovesWhatAnotherMade: nothing is left to review, and a reject brings nothing back.
func TestACommandRemovesWhatAnotherMade(t *testing.T) {
	t.Parallel()
	for _, repository := range []bool{false, true} {
		t.Run(fmt.Sprintf("repository=%v", repository), func(t *testing.T) {
			w := world.New(t)
			w.Put("k", "k\n")
			if repository {
				w.Commits()
			}
			w.Plays(world.Lines(world.Shells("c", "echo n >new; rm k"), world.Shells("d", "rm new; echo k >k"), []string{world.Done})...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			require.Empty(t, e.Diffs())
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"k": "k\n", "new": "(absent)"})
		})
	}
}

// TestALinkThatAnEditReplaces has an edit replace a link by a file. A reject brings the link back, although the agent
// reports the content of the file that the link led to.
func TestALinkThatAnEditReplaces(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"what it led to": `,"beforeFullFileContent":"B\n","afterFullFileContent":"x\n"`, "only what came": `,"afterFullFileContent":"x\n"`, "nothing": "",
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			w.Put("b", "B\n")
			require.NoError(t, os.Symlink("b", w.Path("u")))
			w.Plays(`{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"editToolCall":{"args":{"path":"u"}}}}`,
				world.Execs("echo x >t; mv -f t u"),
				`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"editToolCall":{"args":{"path":"u"},"result":{"success":{"path":"u"`+says+`}}}}}`, world.Done)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			require.EqualValues(t, "symlink", e.Diffs()["u"].Kind)
			e.Decides("diff/reject", world.Obj{"all": true})
			target, err := os.Readlink(w.Path("u"))
			require.NoError(t, err)
			require.Equal(t, "b", target)
			w.RequireTree(world.Tree{"b": "B\n"})
		})
	}
}

// TestAMoveOfWhatAPersonMadeAnew has an agent remove a file, a person make a new one in its place, and the agent move that
// one. A reject moves the person's file back, and does not bring the first file back.
func TestAMoveOfWhatAPersonMadeAnew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before string
		does   []string
	}{
		"an accepted removal":      {"old\n", world.Lines(world.Shells("c", "echo a >>f"), world.Shells("d", "rm f"))},
		"one that came to nothing": {"(absent)", world.Lines(world.Shells("c", "echo a >f"), world.Shells("d", "rm f"))},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			w.PutAll(world.Tree{"f": c.before})
			w.Plays(world.Lines(c.does, []string{world.Done})...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			e.Decides("diff/accept", world.Obj{"all": true})
			mine := world.Tree{"f": "mine\n", "to/f": "(absent)"}
			w.PutAll(mine)
			w.Plays(world.Lines(world.Shells("c", "mkdir to; mv f to"), []string{world.Done})...)
			e.Turn(nil)
			require.Contains(t, e.Diffs(), "to/f")
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(mine)
		})
	}
}

// TestAnEditThatIsSeenWhileItReplacesAFile has the daemon look at the moment in which there is no file. The agent does not
// report the former content.
func TestAnEditThatIsSeenWhileItReplacesAFile(t *testing.T) {
	t.Parallel()
	for _, pending := range []bool{false, true} {
		t.Run(fmt.Sprintf("pending=%v", pending), func(t *testing.T) {
			before := world.Numbered(10, nil)
			w := world.New(t)
			w.Put("f", before)
			w.Start()
			e := w.Opens()
			if pending {
				w.Plays(world.Lines(world.Edits("1", "f", before, world.Numbered(10, map[int]string{5: "agent 5\n"})), []string{world.Done})...)
				e.Turn(nil)
			}
			w.Plays(`{"fake":"delete","path":"f"}`, `{"type":"tool_call","subtype":"started","call_id":"2","tool_call":{"editToolCall":{"args":{"path":"f"}}}}`,
				world.Waits("go"), world.Execs("echo new >f"),
				`{"type":"tool_call","subtype":"completed","call_id":"2","tool_call":{"editToolCall":{"args":{"path":"f"},"result":{"success":{"path":"f"}}}}}`, world.Done)
			turn := e.Asks(world.Obj{"prompt": "replace"})
			e.Until("the call", func(n world.Notification) bool {
				return n.Item != nil && n.Item.TurnID == turn.ID && n.Item.Tool != nil
			})
			w.Put("../go", "")
			e.Ends(turn.ID)
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"f": before})
		})
	}
}
