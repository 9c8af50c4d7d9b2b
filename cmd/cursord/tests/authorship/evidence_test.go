//go:build unix

package authorship

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

const formatterHook = `{"version": 1, "hooks": {"afterFileEdit": [{"command": "fmt.sh"}]}}`

// TestFormattersOfHooks has a formatter change the lines of an edit, before the call's end and some time after it. If the
// agent's hooks run programs after edits, the formatter's change is part of the turn's; otherwise it is a person's.
func TestFormattersOfHooks(t *testing.T) {
	t.Parallel()
	const before, after = "a\nb\nc\n", "a\nx=1\ny=2\nc\n"
	pause := `{"fake":"sleep","ms":250}`
	format := world.Execs(`sed -i 's/\([xy]\)=/\1 = /' f`)
	imports := world.Execs(`sed -i -e 's/\([xy]\)=/\1 = /' -e '1i import' f`)
	for _, c := range []struct {
		name     string
		hooks    string
		early    []string // before the call's end
		late     []string // after the call's end
		vias     string   // the via of each hunk of f
		rejected string   // f after a reject of all
	}{
		{"before the end", formatterHook, []string{format}, nil, "[edit hook]", before},
		{"after the end", formatterHook, nil, []string{pause, format, pause}, "[edit hook]", before},
		{"at once after the end", formatterHook, nil, []string{format}, "[edit hook]", before},
		{"before and after", formatterHook, []string{world.Execs(`sed -i 's/x=/x = /' f`)}, []string{pause, format, pause}, "[edit hook]", before},
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
			w := world.New(t)
			w.Put("f", before)
			if c.hooks != "" {
				w.Put(".cursor/hooks.json", c.hooks)
			}
			w.Start()
			e := w.Opens()
			call := world.Edits("e", "f", before, after)
			w.Plays(world.Lines(call[:2], c.early, call[2:], c.late)...)
			e.Turn(nil)
			found := e.Diffs()
			require.Equal(t, []string{"f"}, world.Sorted(world.Keys(found)))
			require.Equal(t, c.vias, fmt.Sprint(world.Vias(found["f"])))
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"f": c.rejected})
			require.Empty(t, e.Diffs())
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			require.Contains(t, w.Get("f"), "x = 1\ny = 2\n")
		})
	}
}

// TestSavesInOtherWindows has a person save other files during a turn without commands. They are listed only if the agent's
// hooks run programs, which may have written them; and then as changes that may be the person's.
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
			w := world.New(t)
			w.PutAll(world.Tree{"f": "a\n", "other": "o\n"})
			if c.hooks != "" {
				w.Put(".cursor/hooks.json", c.hooks)
			} else if c.via == "unknown" {
				w.Put(".claude/settings.json", `{"hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "x"}]}]}}`)
			}
			w.Start()
			e := w.Opens()
			w.Plays(world.Lines(world.Edits("e", "f", "a\n", "b\n"), []string{world.Execs("touch ../ready"), world.Waits("go")})...)
			turn := e.Asks(nil)
			w.Exists("../ready")
			w.Put("other", "mine\no\n")
			w.Put("new", "mine\n")
			w.Put("../go", "")
			e.Ends(turn.ID)
			found := e.Diffs()
			require.Equal(t, []string{"edit"}, world.Vias(found["f"]))
			require.Equal(t, []string{c.via}, world.Vias(found["other"]))
			require.Equal(t, []string{c.via}, world.Vias(found["new"]))
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"f": "a\n", "other": "mine\no\n", "new": "mine\n"})
		})
	}
}

// TestLockFilesOfEditors has a command change files beside which swap or lock files of editors lie. They do not count where
// the editor is a client that has the file open.
func TestLockFilesOfEditors(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	names := []string{"vim", "emacs", "plain", "sub/nvim", "client"}
	for _, name := range names {
		w.Put(name, "a\n")
	}
	w.Put(".vim.swp", "b0VIM")
	w.Put(".client.swp", "b0VIM")
	require.NoError(t, os.Symlink("me@here.1234:5678", w.Path(".#emacs")))
	w.Put("../home/.local/state/nvim/swap/"+strings.ReplaceAll(w.Path("sub/nvim"), "/", "%")+".swp", "b0VIM")
	w.Start("HOME="+w.Path("../home"), "XDG_STATE_HOME=")
	e := w.Opens()
	d := e.OpenDocument("client")
	w.Plays(world.Lines(world.Shells("s", "for f in vim emacs plain client sub/nvim; do echo x >> $f; done"))...)
	e.Turn(nil)
	found := e.Diffs()
	require.Equal(t, []string{"shell"}, world.Vias(found["plain"]))
	require.Equal(t, []string{"shell"}, world.Vias(found["client"]))
	d.Closes()
	for _, name := range []string{"vim", "emacs", "sub/nvim"} {
		require.Equal(t, []string{"unknown"}, world.Vias(found[name]), name)
	}
	out := e.Decides("diff/reject", world.Obj{"all": true})
	require.Len(t, out.Skipped, 3)
	w.RequireTree(world.Tree{"plain": "a\n", "client": "a\n", "vim": "a\nx\n", "emacs": "a\nx\n", "sub/nvim": "a\nx\n"})
	for _, name := range []string{"vim", "emacs", "sub/nvim"} {
		e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(e.Diffs()[name])})
		require.Equal(t, "a\n", w.Get(name))
	}
}

// TestEditsBesideAnEditor has edits of a file that is open in an editor which reports nothing. An edit that reports its
// texts is certain all the same. Without them, the lines may be the person's.
func TestEditsBesideAnEditor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		report, via string
		client      bool // the editor is a client that has the file open
	}{
		"texts reported":        {`"beforeFullFileContent":"a\n","afterFullFileContent":"a\nx\n",`, "edit", false},
		"nothing reported":      {"", "unknown", false},
		"open in a client, too": {"", "edit", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			w.Put("f", "a\n")
			w.Put(".f.swp", "b0VIM")
			w.Start()
			e := w.Opens()
			if c.client {
				e.OpenDocument("f")
			}
			call := world.Edits("e", "f", "", "a\nx\n")
			call[2] = `{"type":"tool_call","subtype":"completed","call_id":"e","tool_call":{"editToolCall":{"args":{"path":"{{cwd}}/f"},"result":{"success":{` +
				c.report + `"path":"{{cwd}}/f"}}}}}`
			w.Plays(world.Lines(call)...)
			e.Turn(nil)
			require.Equal(t, []string{c.via}, world.Vias(e.Diffs()["f"]))
		})
	}
}

// TestProcessesThatOutliveTheirTurn has a command leave a process behind. A notice says so. While the process lives, its
// writes in later turns are listed as changes that may be a person's.
func TestProcessesThatOutliveTheirTurn(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"f": "a\n", "other": "o\n"})
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Shells("s", "setsid sh -c 'touch ../begun; while [ -d $PWD ] && [ ! -e ../write ]; do sleep 0.02; done; echo x >> f; touch ../written; while [ -d $PWD ] && [ ! -e ../stop ]; do sleep 0.02; done; touch ../gone' </dev/null >/dev/null 2>&1 & while [ -d $PWD ] && [ ! -e ../begun ]; do sleep 0.02; done"))...)
	t.Cleanup(func() { w.Put("../write", ""); w.Put("../stop", "") })
	turn := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	require.Contains(t, e.Notices(turn.ID), "left processes running")
	require.Empty(t, e.Diffs())

	w.Plays(world.Lines([]string{world.Execs("touch ../write; while [ -d $PWD ] && [ ! -e ../written ]; do sleep 0.02; done")})...)
	turn = e.Turn(nil)
	require.NotContains(t, e.Notices(turn.ID), "left processes running", "that is of the turn before")
	require.Equal(t, []string{"unknown"}, world.Vias(e.Diffs()["f"]))
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "a\nx\n"})
	e.Decides("diff/reject", world.Obj{"hunks": world.HunkIDs(e.Diffs()["f"])})
	w.RequireTree(world.Tree{"f": "a\n"})

	w.Put("../stop", "")
	w.Exists("../gone")
	require.Eventually(t, func() bool {
		w.Plays(world.Lines([]string{world.Execs("echo mine >> other")})...)
		e.Turn(nil)
		found := e.Diffs()
		for _, d := range found { // the process was still about to end
			e.Decides("diff/accept", world.Obj{"hunks": world.HunkIDs(d)})
		}
		return len(found) == 0
	}, world.Patience, world.Patience/100, "nobody is left that may write")
}

// TestBackgroundCommands has a command go on in the background and write after its call has ended.
func TestBackgroundCommands(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"in": "a\n", "later": "a\n"})
	w.Start()
	e := w.Opens()
	script := world.Shells("s", "echo x >> in")
	script[2] = strings.Replace(script[2], `"result":{`, `"result":{"isBackground":true,`, 1)
	w.Plays(world.Lines(script, []string{world.Execs("sleep 0.1; echo x >> later")})...)
	e.Turn(nil)
	found := e.Diffs()
	require.Equal(t, []string{"shell"}, world.Vias(found["in"]))
	require.Equal(t, []string{"unknown"}, world.Vias(found["later"]))
}

// TestWhatComesAfterABackgroundCommand has the agent report the end of a background command. The command's writes may be a
// person's; saves after its end are the person's.
func TestWhatComesAfterABackgroundCommand(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"later": "a\n", "mine": "a\n"})
	w.Start()
	e := w.Opens()
	w.Plays(
		`{"fake":"begin"}`,
		`{"fake":"background","command":"while [ -d $PWD ] && [ ! -e ../now ]; do sleep 0.01; done; echo x >> later"}`,
		`{"fake":"say","text":"I wait."}`, `{"fake":"finish","lines":2}`,
		world.Waits("more"), `{"fake":"say","text":"Done."}`,
	)
	turn := e.Asks(nil)
	e.Until("the end of the call", func(n world.Notification) bool {
		return n.Item != nil && n.Item.Tool != nil && n.Item.Status == sessions.ItemCompleted
	})
	w.Ticks()
	w.Put("../now", "")
	e.Until("the end of the command", func(n world.Notification) bool {
		return n.Item != nil && n.Item.Kind == sessions.ItemNotice && strings.Contains(n.Item.Text, "Background command ended")
	})
	w.Ticks() // a save at the moment of the end would look like one before it
	w.Put("mine", "a\nb\n")
	w.Put("../more", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	found := e.Diffs()
	require.Equal(t, []string{"unknown"}, world.Vias(found["later"]))
	require.Equal(t, []string{"not listed"}, world.Vias(found["mine"]), e.Notices(turn.ID))
}

// TestWhatACommandLeavesRunning has a command leave a process in the background without saying so. The process's later
// writes are listed as changes that may be a person's. If nothing is left running, the same change is not listed.
func TestWhatACommandLeavesRunning(t *testing.T) {
	t.Parallel()
	const wait, stay = "while [ -d $PWD ] && [ ! -e ../now ]; do sleep 0.01; done; sleep 0.05", "; while [ -d $PWD ] && [ ! -e ../stop ]; do sleep 0.05; done"
	for name, c := range map[string]struct {
		command string
		later   []string // script lines behind the command
		via     string
	}{
		"in the background":       {"(" + wait + "; echo x >> later" + stay + ") >/dev/null 2>&1 </dev/null &", nil, "unknown"},
		"in a session of its own": {"setsid sh -c '" + wait + "; echo x >> later" + stay + "' >/dev/null 2>&1 </dev/null &", nil, "unknown"},
		"nothing":                 {"", []string{world.Execs(wait + "; echo x >> later")}, "not listed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.PutAll(world.Tree{"in": "a\n", "later": "a\n"})
			w.Start()
			e := w.Opens()
			t.Cleanup(func() { w.Put("../stop", "") })
			w.Plays(world.Lines(world.Shells("s", c.command+" echo x >> in"), world.Edits("d", "f", "", "f\n"), c.later, []string{world.Waits("more")}, world.Edits("e", "g", "", "g\n"), []string{world.Waits("end")})...)
			turn := e.Asks(nil)
			edited := func(path string) {
				e.Until("the edit of "+path, func(n world.Notification) bool {
					return n.Item != nil && n.Item.TurnID == turn.ID && n.Item.Tool != nil && slices.Contains(n.Item.Tool.Paths, path) && n.Item.Status == sessions.ItemCompleted
				})
			}
			edited("f") // the daemon has looked at what the command has left before it takes in the next call
			w.Put("../now", "")
			require.Eventually(t, func() bool { return w.Get("later") == "a\nx\n" }, world.Patience, world.Patience/1000)
			w.Put("../more", "")
			edited("g") // the daemon has looked for the command's processes now
			w.Put("../end", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			found := e.Diffs()
			require.Equal(t, []string{"shell"}, world.Vias(found["in"]))
			require.Equal(t, []string{c.via}, world.Vias(found["later"]), e.Notices(turn.ID))
		})
	}
}

// TestToolsOfOtherKinds has MCP servers, sub-agents and unknown tools write files.
func TestToolsOfOtherKinds(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"mcp": "a\n", "task": "a\n", "other": "a\n"})
	w.Start()
	e := w.Opens()
	call := func(id, tool, args, result, command string) []string {
		head := fmt.Sprintf(`"timestamp_ms":{{now_ms}},"call_id":%q,"tool_call":{%q:{"args":%s`, id, tool, args)
		return []string{
			`{"type":"tool_call","subtype":"started",` + head + `}}}`, world.Execs(command),
			`{"type":"tool_call","subtype":"completed",` + head + `,"result":{"success":` + result + `}}}}`,
		}
	}
	nested := `{"conversationSteps":[{"toolCall":{"editToolCall":{"args":{"path":"{{cwd}}/task"},"result":{"success":{"path":"{{cwd}}/task","beforeFullFileContent":"a\n","afterFullFileContent":"a\nx\n"}}}}}]}`
	w.Plays(world.Lines(
		call("1", "mcpToolCall", `{"name":"m"}`, `{"content":[]}`, "echo x >> mcp"),
		call("2", "taskToolCall", `{"description":"d"}`, nested, "echo x >> task"),
		call("3", "somethingNewToolCall", `{}`, `{}`, "echo x >> other"),
	)...)
	e.Turn(nil)
	found := e.Diffs()
	for _, name := range []string{"mcp", "task", "other"} {
		require.Equal(t, []string{"tool"}, world.Vias(found[name]), name)
	}
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"mcp": "a\n", "task": "a\n", "other": "a\n"})
}

// TestRewrittenBetweenCalls has somebody rewrite a file between two edits of it, at any pace. Whatever is decided, no line
// is there twice, and a reject removes only the agent's lines.
func TestRewrittenBetweenCalls(t *testing.T) {
	t.Parallel()
	v0 := world.Numbered(20, nil)
	v1 := world.Numbered(20, map[int]string{3: "three\n"})
	indented := func(text string) string {
		return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
	}
	for _, c := range []struct {
		name     string
		between  string // a command
		text     string // the file after the command
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
				w := world.New(t)
				w.Put("f", v0)
				w.Commits()
				w.Start()
				e := w.Opens()
				next := strings.Replace(c.text, "line 9\n", "nine\n", 1)
				one, two := world.Edits("1", "f", v0, v1), world.Edits("2", "f", c.text, next)
				w.Plays(world.Lines(one, []string{world.Execs("sleep " + pause + "; " + c.between + "; sleep " + pause)}, two)...)
				e.Turn(nil)
				w.RequireTree(world.Tree{"f": next})
				found := e.Diffs()["f"]
				require.NotNil(t, found)
				require.Contains(t, found.Hunks[len(found.Hunks)-1].Lines, "+"+strings.Split(next, "\n")[8])
				e.Decides("diff/reject", world.Obj{"all": true})
				have := w.Get("f")
				if have != c.rejected { // the formatted line is the person's; the line that the agent replaced comes back beside it
					require.Equal(t, c.rejected, strings.Replace(have, "line 3\n", "", 1))
				}
				seen := map[string]bool{}
				for line := range strings.Lines(have) {
					require.False(t, seen[line], "%q is there twice", line)
					seen[line] = true
				}
				e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
				w.RequireTree(world.Tree{"f": next})
				e.Decides("diff/accept", world.Obj{"all": true})
				w.RequireTree(world.Tree{"f": next})
				require.Empty(t, e.Diffs())
			})
		}
	}
}
