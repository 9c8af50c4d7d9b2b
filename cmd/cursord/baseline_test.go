package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// call makes the two lines of a tool call around what it does.
func callLines(start, end string, does ...string) []string {
	all := append([]string{start}, does...)
	return append(all, end, done)
}

// TestBaselineWithoutReport has agents that do not say what a file held before they wrote it.
func TestBaselineWithoutReport(t *testing.T) {
	t.Parallel()
	writes := func(path, text string) string { return fmt.Sprintf(`{"fake":"write","path":%q,"text":%q}`, path, text) }
	for _, c := range []struct {
		name          string
		before, after tree
		script        []string
	}{
		{
			"the documented write of a new file",
			tree{"sub/f": "(absent)"}, tree{"sub/f": "new\n"},
			callLines(
				`{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"writeToolCall":{"args":{"path":"sub/f","fileText":"new\n"}}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"writeToolCall":{"args":{"path":"sub/f","fileText":"new\n"},"result":{"success":{"path":"{{cwd}}/sub/f","linesCreated":1,"fileSize":4}}}}}`,
				writes("sub/f", "new\n")),
		},
		{
			"the documented write over a file",
			tree{"f": "old\nsame\n"}, tree{"f": "new\nsame\n"},
			callLines(
				`{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"writeToolCall":{"args":{"path":"f","fileText":"new\nsame\n"}}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"writeToolCall":{"args":{"path":"f"},"result":{"success":{"path":"{{cwd}}/f"}}}}}`,
				writes("f", "new\nsame\n")),
		},
		{
			"a wrapper's write over a file",
			tree{"f": "old\n"}, tree{"f": "new\n"},
			callLines(
				`{"type":"tool_call","subtype":"started","payload":{"toolCall":{"id":"w","writeFileToolCall":{"path":"f","contents":"new\n"}}}}`,
				`{"type":"tool_call","subtype":"completed","payload":{"toolCall":{"id":"w","result":{"success":true}}}}`,
				writes("f", "new\n")),
		},
		{
			"another wrapper's write",
			tree{"f": "old\n"}, tree{"f": "new\n"},
			callLines(
				`{"type":"tool-call-started","tool_name":"Write","tool_call_id":"w","parameters":{"path":"f","contents":"new\n"}}`,
				`{"type":"tool-call-completed","tool_name":"Write","tool_call_id":"w","result":{"success":true,"output":"ok"}}`,
				writes("f", "new\n")),
		},
		{
			"a replacement whose report is not what the disk has",
			tree{"f": "a\r\nb\r\n"}, tree{"f": "a\r\nB\r\n"},
			callLines(
				`{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/f"}}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/f"},"result":{"success":{"path":"{{cwd}}/f","beforeFullFileContent":"a\nb\n","afterFullFileContent":"a\nB\n"}}}}}`,
				writes("f", "a\r\nB\r\n")),
		},
		{
			"a deletion without the content",
			tree{"f": "old\n"}, tree{"f": "(absent)"},
			callLines(
				`{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"deleteToolCall":{"args":{"path":"f"}}}}`,
				`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"deleteToolCall":{"args":{"path":"f"},"result":{"success":{"path":"{{cwd}}/f","deletedFile":"f"}}}}}`,
				`{"fake":"delete","path":"f"}`),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.putAll(c.before)
			w.plays(c.script...)
			w.start()
			e := w.opens()
			require.Equal(t, sessions.TurnCompleted, e.turn(nil).Status)
			w.requireTree(c.after)
			for path, d := range e.diffs() {
				require.Equal(t, "known", d.Baseline, path)
			}
			require.Len(t, e.diffs(), len(c.after))
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(c.before)
			require.NoFileExists(t, w.path("sub"))
		})
	}
}

// TestTurnsOnOneFile keeps the ids of hunks over turns, user edits and restarts.
func TestTurnsOnOneFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v0 := numbered(40, nil)
	v1 := numbered(40, map[int]string{5: "five\n", 30: "thirty\n"})
	v2 := numbered(40, map[int]string{5: "five\n", 30: "thirty\n", 15: "fifteen\n"})
	w.put("f", v0)
	w.plays(lines(edits("a", "f", v0, v1))...)
	w.start()
	e := w.opens()
	first := e.turn(nil)
	ids := hunkIDs(e.diffs()["f"])
	require.Len(t, ids, 2)

	w.plays(lines(edits("b", "f", v1, v2))...)
	second := e.turn(obj{"sessionId": first.SessionID})
	now := hunkIDs(e.diffs()["f"])
	require.Len(t, now, 3)
	require.Equal(t, ids, []string{now[0], now[2]})
	require.Equal(t, []string{first.ID, second.ID}, sorted(e.diffs()["f"].Turns))

	// Nobody watches while the daemon is away.
	w.kill()
	w.put("f", "mine\n"+v2)
	w.start()
	e = w.opens()
	require.Equal(t, now, hunkIDs(e.diffs()["f"]))
	out := e.decides("diff/reject", obj{"turnId": second.ID})
	require.Equal(t, 1, out.Applied)
	w.requireTree(tree{"f": "mine\n" + v1})
	require.Equal(t, ids, hunkIDs(e.diffs()["f"]))
	e.decides("diff/reject", obj{"path": "f"})
	w.requireTree(tree{"f": "mine\n" + v0})
	for range 2 {
		e.must("diff/undo", obj{"workspace": w.ws}, nil)
	}
	w.requireTree(tree{"f": "mine\n" + v2})
	require.Equal(t, now, hunkIDs(e.diffs()["f"]))
}

// TestUserSaveBeforeTheAgentWrites is a save that neither the disk nor the agent's report has any more.
func TestUserSaveBeforeTheAgentWrites(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "a\nb\n")
	script := edits("c", "f", "a\nb\n", "A\nb\n")
	w.plays(append([]string{script[0], `{"fake":"wait","path":"go"}`}, append(script[1:], done)...)...)
	w.start()
	e := w.opens()
	turn := e.asks(nil)
	e.until("the call", func(n told) bool { return n.Item != nil && n.Item.Kind == sessions.ItemTool })
	w.put("go", "")
	e.ends(turn.ID)
	require.Len(t, e.diffs()["f"].Hunks, 1)

	// The same again, with a person who saves after the agent has read the file and before the call is announced.
	w.put("f", "a\nb\n")
	require.Empty(t, e.diffs(), "the baseline, restored by hand, leaves nothing to review")
	mine := "a\nb\nmine\n"
	w.plays(append([]string{fmt.Sprintf(`{"fake":"write","path":"f","text":%q}`, mine), script[0], `{"fake":"wait","path":"go2"}`},
		append(script[1:], done)...)...)
	turn = e.asks(nil)
	e.until("the call", func(n told) bool {
		return n.Item != nil && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemTool
	})
	w.put("go2", "")
	e.ends(turn.ID)
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": mine})
}

// TestTurnIsFoundWithoutAnAgent asks for a turn again when the agent has been removed.
func TestTurnIsFoundWithoutAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e := w.opens()
	e.turn(obj{"turnId": "mine"})
	require.NoError(t, os.Remove(w.path("../agent")))
	require.Equal(t, "mine", e.asks(obj{"turnId": "mine"}).ID)
	require.EqualValues(t, -32010, e.fails("turn/start", obj{"workspace": w.ws, "prompt": "x"}).Code)
}

// TestRemovedAndMadeAgain is a file that the agent made and a person accepted and removed: when the agent makes it
// again, it is to review again.
func TestRemovedAndMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plays(lines(edits("1", "f", "(absent)", "new\n"))...)
	w.start()
	e := w.opens()
	e.turn(nil)
	e.decides("diff/accept", obj{"all": true})
	require.NoError(t, os.Remove(w.path("f")))
	e.turn(nil)
	require.Contains(t, e.diffs(), "f")
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": "(absent)"})
}

// TestAFileThatTheAgentMadeAndRemovedAtOnce is seen by nobody but in what the agent says.
func TestAFileThatTheAgentMadeAndRemovedAtOnce(t *testing.T) {
	t.Parallel()
	made, removed := edits("1", "f", "(absent)", "x\n"), deletes("2", "f", "x\n")
	w := newWorld(t)
	w.plays(made[1], removed[1], made[0], made[2], removed[0], removed[2], done)
	w.start()
	e := w.opens()
	e.turn(nil)
	require.Empty(t, e.diffs())

	// What another has made meanwhile is not what it said.
	w.plays(`{"fake":"write","path":"g","text":"mine\n"}`, `{"fake":"delete","path":"g"}`, made[0], made[2],
		strings.ReplaceAll(removed[0], "/f", "/g"), strings.NewReplacer("/f", "/g", `"x\n"`, `"mine\n"`).Replace(removed[2]), done)
	e.turn(obj{"prompt": "again"})
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": "(absent)", "g": "mine\n"})
}

// TestACommandMakesAgainWhatAPersonTookBack accepts what a command did, takes it back by hand, and has a command do the same
// once more: that is to review again.
func TestACommandMakesAgainWhatAPersonTookBack(t *testing.T) {
	t.Parallel()
	before := tree{"changed": "a\n", "gone": "g\n", "new": "(absent)", "d/moved": "m\n", "d/to": "(absent)"}
	after := tree{"changed": "b\n", "gone": "(absent)", "new": "n\n", "d/moved": "(absent)", "d/to": "m\n"}
	for _, repository := range []bool{false, true} {
		t.Run(fmt.Sprintf("repository=%v", repository), func(t *testing.T) {
			w := newWorld(t)
			w.putAll(before)
			if repository {
				w.commits()
			}
			w.plays(lines(shells("c", "echo b >changed; rm gone; echo n >new; mv d/moved d/to"), []string{done})...)
			w.start()
			e := w.opens()
			for range 3 {
				e.turn(nil)
				w.requireTree(after)
				require.Len(t, e.diffs(), 4)
				e.decides("diff/reject", obj{"all": true})
				w.requireTree(before)
				e.must("diff/undo", obj{"workspace": w.ws}, nil)
				e.decides("diff/accept", obj{"all": true})
				require.Empty(t, e.diffs())
				for name := range before {
					_ = os.Remove(w.path(name))
				}
				w.putAll(before)
			}
		})
	}
}

// TestACommandRemovesWhatAnotherMade leaves nothing to review, and nothing for a reject to bring back.
func TestACommandRemovesWhatAnotherMade(t *testing.T) {
	t.Parallel()
	for _, repository := range []bool{false, true} {
		t.Run(fmt.Sprintf("repository=%v", repository), func(t *testing.T) {
			w := newWorld(t)
			w.put("k", "k\n")
			if repository {
				w.commits()
			}
			w.plays(lines(shells("c", "echo n >new; rm k"), shells("d", "rm new; echo k >k"), []string{done})...)
			w.start()
			e := w.opens()
			e.turn(nil)
			require.Empty(t, e.diffs())
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(tree{"k": "k\n", "new": "(absent)"})
		})
	}
}

// TestALinkThatAnEditReplaces by a file comes back, whatever the agent says was there before: it has read what the link leads to.
func TestALinkThatAnEditReplaces(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"what it led to": `,"beforeFullFileContent":"B\n","afterFullFileContent":"x\n"`, "only what came": `,"afterFullFileContent":"x\n"`, "nothing": "",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("b", "B\n")
			require.NoError(t, os.Symlink("b", w.path("u")))
			w.plays(`{"type":"tool_call","subtype":"started","call_id":"1","tool_call":{"editToolCall":{"args":{"path":"u"}}}}`,
				execs("echo x >t; mv -f t u"),
				`{"type":"tool_call","subtype":"completed","call_id":"1","tool_call":{"editToolCall":{"args":{"path":"u"},"result":{"success":{"path":"u"`+says+`}}}}}`, done)
			w.start()
			e := w.opens()
			e.turn(nil)
			require.EqualValues(t, "symlink", e.diffs()["u"].Kind)
			e.decides("diff/reject", obj{"all": true})
			target, err := os.Readlink(w.path("u"))
			require.NoError(t, err)
			require.Equal(t, "b", target)
			w.requireTree(tree{"b": "B\n"})
		})
	}
}

// TestAMoveOfWhatAPersonMadeAnew has an agent remove a file, which is decided or comes to nothing, a person make one in its
// place, and the agent move that: a reject moves the person's back, and nothing that was there long ago.
func TestAMoveOfWhatAPersonMadeAnew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before string
		does   []string
	}{
		"an accepted removal":      {"old\n", lines(shells("c", "echo a >>f"), shells("d", "rm f"))},
		"one that came to nothing": {"(absent)", lines(shells("c", "echo a >f"), shells("d", "rm f"))},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.putAll(tree{"f": c.before})
			w.plays(lines(c.does, []string{done})...)
			w.start()
			e := w.opens()
			e.turn(nil)
			e.decides("diff/accept", obj{"all": true})
			mine := tree{"f": "mine\n", "to/f": "(absent)"}
			w.putAll(mine)
			w.plays(lines(shells("c", "mkdir to; mv f to"), []string{done})...)
			e.turn(nil)
			require.Contains(t, e.diffs(), "to/f")
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(mine)
		})
	}
}

// TestAnEditThatIsSeenWhileItReplacesAFile which is not there at that moment; the agent says nothing of what was.
func TestAnEditThatIsSeenWhileItReplacesAFile(t *testing.T) {
	t.Parallel()
	for _, pending := range []bool{false, true} {
		t.Run(fmt.Sprintf("pending=%v", pending), func(t *testing.T) {
			before := numbered(10, nil)
			w := newWorld(t)
			w.put("f", before)
			w.start()
			e := w.opens()
			if pending {
				w.plays(lines(edits("1", "f", before, numbered(10, map[int]string{5: "agent 5\n"})), []string{done})...)
				e.turn(nil)
			}
			w.plays(`{"fake":"delete","path":"f"}`, `{"type":"tool_call","subtype":"started","call_id":"2","tool_call":{"editToolCall":{"args":{"path":"f"}}}}`,
				waits("go"), execs("echo new >f"),
				`{"type":"tool_call","subtype":"completed","call_id":"2","tool_call":{"editToolCall":{"args":{"path":"f"},"result":{"success":{"path":"f"}}}}}`, done)
			turn := e.asks(obj{"prompt": "replace"})
			e.until("the call", func(n told) bool { return n.Item != nil && n.Item.TurnID == turn.ID && n.Item.Tool != nil })
			w.put("../go", "")
			e.ends(turn.ID)
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(tree{"f": before})
		})
	}
}
