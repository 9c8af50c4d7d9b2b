package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

const formatterHook = `{"version": 1, "hooks": {"afterFileEdit": [{"command": "fmt.sh"}]}}`

// TestFormattersOfHooks has a formatter write over the lines of an edit, before the call's end and some time after it. Where
// the agent's hooks run programs after edits, that is part of the turn's change; elsewhere it is a person's.
func TestFormattersOfHooks(t *testing.T) {
	t.Parallel()
	const before, after = "a\nb\nc\n", "a\nx=1\ny=2\nc\n"
	pause := `{"fake":"sleep","ms":250}`
	format := execs(`sed -i 's/\([xy]\)=/\1 = /' f`)
	imports := execs(`sed -i -e 's/\([xy]\)=/\1 = /' -e '1i import' f`)
	for _, c := range []struct {
		name     string
		hooks    string
		early    []string // before the call's end
		late     []string // after it
		vias     string   // of the hunks of f
		rejected string   // f once all is rejected
	}{
		{"before the end", formatterHook, []string{format}, nil, "[edit hook]", before},
		{"after the end", formatterHook, nil, []string{pause, format, pause}, "[edit hook]", before},
		{"at once after the end", formatterHook, nil, []string{format}, "[edit hook]", before},
		{"before and after", formatterHook, []string{execs(`sed -i 's/x=/x = /' f`)}, []string{pause, format, pause}, "[edit hook]", before},
		{"with a line elsewhere", formatterHook, nil, []string{pause, imports, pause}, "[edit hook]", "import\n" + before},
		{"no hooks, before the end", "", []string{format}, nil, "[edit]", "a\nb\nx = 1\ny = 2\nc\n"},
		{"no hooks, after the end", "", nil, []string{pause, format, pause}, "[edit]", "a\nb\nx = 1\ny = 2\nc\n"},
		{
			"hooks that do not run after edits", `{"version": 1, "hooks": {"preToolUse": [{"command": "x"}]}}`,
			[]string{format}, nil, "[edit]", "a\nb\nx = 1\ny = 2\nc\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put("f", before)
			if c.hooks != "" {
				w.put(".cursor/hooks.json", c.hooks)
			}
			w.start()
			e := w.opens()
			call := edits("e", "f", before, after)
			w.plays(lines(call[:2], c.early, call[2:], c.late)...)
			e.turn(nil)
			found := e.diffs()
			require.Equal(t, []string{"f"}, sorted(keys(found)))
			require.Equal(t, c.vias, fmt.Sprint(vias(found["f"])))
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(tree{"f": c.rejected})
			require.Empty(t, e.diffs())
			e.must("diff/undo", obj{"workspace": w.ws}, nil)
			require.Contains(t, w.get("f"), "x = 1\ny = 2\n")
		})
	}
}

// TestSavesInOtherWindows has a person save other files while a turn runs that has no command. They are listed only while the
// agent's hooks run programs, which may have written them; then as what may be the person's.
func TestSavesInOtherWindows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, hooks, via string
	}{
		{"no hooks", "", "not listed"},
		{"hooks", `{"version": 1, "hooks": {"sessionEnd": [{"command": "x"}]}}`, "unknown"},
		{"Claude's hooks", "", "unknown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.putAll(tree{"f": "a\n", "other": "o\n"})
			if c.hooks != "" {
				w.put(".cursor/hooks.json", c.hooks)
			} else if c.via == "unknown" {
				w.put(".claude/settings.json", `{"hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "x"}]}]}}`)
			}
			w.start()
			e := w.opens()
			w.plays(lines(edits("e", "f", "a\n", "b\n"), []string{execs("touch ../ready"), waits("go")})...)
			turn := e.asks(nil)
			w.exists("../ready")
			w.put("other", "mine\no\n")
			w.put("new", "mine\n")
			w.put("../go", "")
			e.ends(turn.ID)
			found := e.diffs()
			require.Equal(t, []string{"edit"}, vias(found["f"]))
			require.Equal(t, []string{c.via}, vias(found["other"]))
			require.Equal(t, []string{c.via}, vias(found["new"]))
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(tree{"f": "a\n", "other": "mine\no\n", "new": "mine\n"})
		})
	}
}

// TestLockFilesOfEditors has a command change files beside which swap or lock files of editors lie.
func TestLockFilesOfEditors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	names := []string{"vim", "emacs", "plain", "sub/nvim"}
	for _, name := range names {
		w.put(name, "a\n")
	}
	w.put(".vim.swp", "b0VIM")
	require.NoError(t, os.Symlink("me@here.1234:5678", w.path(".#emacs")))
	w.put("../home/.local/state/nvim/swap/"+strings.ReplaceAll(w.path("sub/nvim"), "/", "%")+".swp", "b0VIM")
	w.start("HOME="+w.path("../home"), "XDG_STATE_HOME=")
	e := w.opens()
	w.plays(lines(shells("s", "for f in vim emacs plain sub/nvim; do echo x >> $f; done"))...)
	e.turn(nil)
	found := e.diffs()
	require.Equal(t, []string{"shell"}, vias(found["plain"]))
	for _, name := range []string{"vim", "emacs", "sub/nvim"} {
		require.Equal(t, []string{"unknown"}, vias(found[name]), name)
	}
	out := e.decides("diff/reject", obj{"all": true})
	require.Len(t, out.Skipped, 3)
	w.requireTree(tree{"plain": "a\n", "vim": "a\nx\n", "emacs": "a\nx\n", "sub/nvim": "a\nx\n"})
	for _, name := range []string{"vim", "emacs", "sub/nvim"} {
		e.decides("diff/reject", obj{"hunks": hunkIDs(e.diffs()[name])})
		require.Equal(t, "a\n", w.get(name))
	}
}

// TestEditsBesideAnEditor has edits of a file that an editor has open which reports nothing. An edit that reports its texts is
// certain all the same; of one that does not, the lines may be the person's.
func TestEditsBesideAnEditor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ report, via string }{
		"texts reported":   {`"beforeFullFileContent":"a\n","afterFullFileContent":"a\nx\n",`, "edit"},
		"nothing reported": {"", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("f", "a\n")
			w.put(".f.swp", "b0VIM")
			w.start()
			e := w.opens()
			call := edits("e", "f", "", "a\nx\n")
			call[2] = `{"type":"tool_call","subtype":"completed","call_id":"e","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/f"},"result":{"success":{` +
				c.report + `"path":"{{cwd}}/f"}}}}}`
			w.plays(lines(call)...)
			e.turn(nil)
			require.Equal(t, []string{c.via}, vias(e.diffs()["f"]))
		})
	}
}

// TestProcessesThatOutliveTheirTurn has a command leave a process behind. People are told, and what it writes in a later turn
// is listed as what may be a person's, as long as it lives.
func TestProcessesThatOutliveTheirTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(tree{"f": "a\n", "other": "o\n"})
	w.start()
	e := w.opens()
	w.plays(lines(shells("s", "setsid sh -c 'touch ../begun; while [ -d $PWD ] && [ ! -e ../write ]; do sleep 0.02; done; echo x >> f; touch ../written; while [ -d $PWD ] && [ ! -e ../stop ]; do sleep 0.02; done; touch ../gone' </dev/null >/dev/null 2>&1 & while [ -d $PWD ] && [ ! -e ../begun ]; do sleep 0.02; done"))...)
	t.Cleanup(func() { w.put("../write", ""); w.put("../stop", "") })
	turn := e.turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	require.Contains(t, e.notices(turn.ID), "left processes running")
	require.Empty(t, e.diffs())

	w.plays(lines([]string{execs("touch ../write; while [ -d $PWD ] && [ ! -e ../written ]; do sleep 0.02; done")})...)
	turn = e.turn(nil)
	require.NotContains(t, e.notices(turn.ID), "left processes running", "that is of the turn before")
	require.Equal(t, []string{"unknown"}, vias(e.diffs()["f"]))
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": "a\nx\n"})
	e.decides("diff/reject", obj{"hunks": hunkIDs(e.diffs()["f"])})
	w.requireTree(tree{"f": "a\n"})

	w.put("../stop", "")
	w.exists("../gone")
	require.Eventually(t, func() bool {
		w.plays(lines([]string{execs("echo mine >> other")})...)
		e.turn(nil)
		return len(e.diffs()) == 0
	}, patience, patience/100, "nobody is left that may write")
}

// TestBackgroundCommands has a command go on in the background and write after its call has ended.
func TestBackgroundCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(tree{"in": "a\n", "later": "a\n"})
	w.start()
	e := w.opens()
	script := shells("s", "echo x >> in")
	script[2] = strings.Replace(script[2], `"result":{`, `"result":{"isBackground":true,`, 1)
	w.plays(lines(script, []string{execs("sleep 0.1; echo x >> later")})...)
	e.turn(nil)
	found := e.diffs()
	require.Equal(t, []string{"shell"}, vias(found["in"]))
	require.Equal(t, []string{"unknown"}, vias(found["later"]))
}

// TestWhatACommandLeavesRunning has a command put something in the background and not say so: what that writes later in the turn is
// listed as what may be a person's. Where nothing is left running, the same change is not.
func TestWhatACommandLeavesRunning(t *testing.T) {
	t.Parallel()
	const wait, stay = "while [ -d $PWD ] && [ ! -e ../now ]; do sleep 0.01; done; sleep 0.05", "; while [ -d $PWD ] && [ ! -e ../stop ]; do sleep 0.05; done"
	for name, c := range map[string]struct {
		command string
		later   []string // lines of the script behind the command
		via     string
	}{
		"in the background":       {"(" + wait + "; echo x >> later" + stay + ") >/dev/null 2>&1 </dev/null &", nil, "unknown"},
		"in a session of its own": {"setsid sh -c '" + wait + "; echo x >> later" + stay + "' >/dev/null 2>&1 </dev/null &", nil, "unknown"},
		"nothing":                 {"", []string{execs(wait + "; echo x >> later")}, "not listed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.putAll(tree{"in": "a\n", "later": "a\n"})
			w.start()
			e := w.opens()
			t.Cleanup(func() { w.put("../stop", "") })
			w.plays(lines(shells("s", c.command+" echo x >> in"), c.later, []string{waits("more")}, edits("e", "g", "", "g\n"), []string{waits("end")})...)
			turn := e.asks(nil)
			ended := func(tool string) {
				e.until("the end of "+tool, func(n told) bool {
					return n.Item != nil && n.Item.TurnID == turn.ID && n.Item.Tool != nil && n.Item.Tool.Name == tool && n.Item.Status == sessions.ItemCompleted
				})
			}
			ended("shell")
			w.put("../now", "")
			require.Eventually(t, func() bool { return w.get("later") == "a\nx\n" }, patience, patience/1000)
			w.put("../more", "")
			ended("edit") // by now the daemon has looked at what the command has left
			w.put("../end", "")
			require.Equal(t, sessions.TurnCompleted, e.ends(turn.ID).Status)
			found := e.diffs()
			require.Equal(t, []string{"shell"}, vias(found["in"]))
			require.Equal(t, []string{c.via}, vias(found["later"]), e.notices(turn.ID))
		})
	}
}

// TestToolsOfOtherKinds has MCP servers, sub-agents and unknown tools write files.
func TestToolsOfOtherKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(tree{"mcp": "a\n", "task": "a\n", "other": "a\n"})
	w.start()
	e := w.opens()
	call := func(id, tool, args, result, command string) []string {
		head := fmt.Sprintf(`"timestamp_ms":{{now_ms}},"call_id":%q,"tool_call":{%q:{"args":%s`, id, tool, args)
		return []string{
			`{"type":"tool_call","subtype":"started",` + head + `}}}`, execs(command),
			`{"type":"tool_call","subtype":"completed",` + head + `,"result":{"success":` + result + `}}}}`,
		}
	}
	nested := `{"conversationSteps":[{"toolCall":{"editToolCall":{"args":{"path":"{{cwd}}/task"},"result":{"success":{"path":"{{cwd}}/task","beforeFullFileContent":"a\n","afterFullFileContent":"a\nx\n"}}}}}]}`
	w.plays(lines(
		call("1", "mcpToolCall", `{"name":"m"}`, `{"content":[]}`, "echo x >> mcp"),
		call("2", "taskToolCall", `{"description":"d"}`, nested, "echo x >> task"),
		call("3", "somethingNewToolCall", `{}`, `{}`, "echo x >> other"),
	)...)
	e.turn(nil)
	found := e.diffs()
	for _, name := range []string{"mcp", "task", "other"} {
		require.Equal(t, []string{"tool"}, vias(found[name]), name)
	}
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"mcp": "a\n", "task": "a\n", "other": "a\n"})
}

// TestRewrittenBetweenCalls has somebody rewrite a file between two edits of it, at any pace: no line is there twice, whatever is
// decided, and a reject takes back the agent's lines alone.
func TestRewrittenBetweenCalls(t *testing.T) {
	t.Parallel()
	v0 := numbered(20, nil)
	v1 := numbered(20, map[int]string{3: "three\n"})
	indented := func(text string) string {
		return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
	}
	for _, c := range []struct {
		name     string
		between  string // a command
		text     string // the file then
		rejected string
	}{
		{"formatted by rename", "sed -i 's/^/  /' f", indented(v1), indented(v1)},
		{"formatted in place", "sed 's/^/  /' f > ../new; cat ../new > f", indented(v1), indented(v1)},
		{"formatted slowly", "sed 's/^/  /' f > ../new; : > f; sleep 0.2; head -c 50 ../new > f; sleep 0.2; cat ../new > f", indented(v1), indented(v1)},
		{"removed and written anew", "sed 's/^/  /' f > ../new; rm f; sleep 0.1; cat ../new > f", indented(v1), indented(v1)},
		{"checked out", "git checkout -q f", v0, v0},
	} {
		for _, pause := range []string{"0", "0.3"} {
			t.Run(c.name+", pause "+pause, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.put("f", v0)
				w.commits()
				w.start()
				e := w.opens()
				next := strings.Replace(c.text, "line 9\n", "nine\n", 1)
				one, two := edits("1", "f", v0, v1), edits("2", "f", c.text, next)
				w.plays(lines(one, []string{execs("sleep " + pause + "; " + c.between + "; sleep " + pause)}, two)...)
				e.turn(nil)
				w.requireTree(tree{"f": next})
				found := e.diffs()["f"]
				require.NotNil(t, found)
				require.Contains(t, found.Hunks[len(found.Hunks)-1].Lines, "+"+strings.Split(next, "\n")[8])
				e.decides("diff/reject", obj{"all": true})
				have := w.get("f")
				if have != c.rejected { // the line that was formatted is the person's; the one that the agent replaced comes back beside it
					require.Equal(t, c.rejected, strings.Replace(have, "line 3\n", "", 1))
				}
				seen := map[string]bool{}
				for line := range strings.Lines(have) {
					require.False(t, seen[line], "%q is there twice", line)
					seen[line] = true
				}
				e.must("diff/undo", obj{"workspace": w.ws}, nil)
				w.requireTree(tree{"f": next})
				e.decides("diff/accept", obj{"all": true})
				w.requireTree(tree{"f": next})
				require.Empty(t, e.diffs())
			})
		}
	}
}

// TestASaveThatStalls has a program cut a file under review off, write the beginning, and the rest only much later. What was
// missing meanwhile was not removed by anybody.
func TestASaveThatStalls(t *testing.T) {
	t.Parallel()
	v0 := numbered(12, nil)
	v1 := numbered(12, map[int]string{6: "six\n"})
	mine := strings.Replace(v1, "line 2\n", "line 2\nmine\n", 1)
	for _, part := range []string{"", "line 1\nline 2\nmine\n"} {
		t.Run(fmt.Sprint(len(part), " bytes"), func(t *testing.T) {
			w := newWorld(t)
			w.put("f", v0)
			w.start()
			e := w.opens()
			w.plays(lines(edits("e", "f", v0, v1))...)
			e.turn(nil)
			mark := len(e.all())
			w.put("f", part)
			e.diffOf("f", mark, "the file cut off", func(d *sessions.Diff) bool { return d.State == "clean" || d.Added == 0 })
			mark = len(e.all())
			w.put("f", mine)
			d := e.diffOf("f", mark, "the whole file", func(d *sessions.Diff) bool { return d.Added == 1 })
			require.Equal(t, 1, d.Removed)
			e.decides("diff/reject", obj{"all": true})
			w.requireTree(tree{"f": strings.Replace(mine, "six\n", "line 6\n", 1)})
		})
	}
}

// TestSwapFilesAreNoChanges has an editor open a file while a command runs: its swap file is nobody's change.
func TestSwapFilesAreNoChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "a\n")
	w.start()
	e := w.opens()
	w.plays(lines(shells("s", "echo x >> f; echo b0VIM > .f.swp; ln -s me@here.1:2 .#f; echo y > .hidden"))...)
	e.turn(nil)
	require.Equal(t, []string{".hidden", "f"}, sorted(keys(e.diffs())))
}
