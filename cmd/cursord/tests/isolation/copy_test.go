//go:build unix

package isolation

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

func TestIsolatedPathsReadAsThoseOfTheWorkspace(t *testing.T) {
	bothKinds(t, testIsolatedPathsReadAsThoseOfTheWorkspace)
}

func testIsolatedPathsReadAsThoseOfTheWorkspace(t *testing.T) {
	w := newWorld(t)
	w.PutAll(world.Tree{"f": "a\n", "long": strings.Repeat("see {{cwd}}/f\n", 10)})
	alias := filepath.Join(w.Dir, "alias")
	require.NoError(t, os.Symlink(w.Root, alias))
	text := func(s string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%s}]},"timestamp_ms":{{now_ms}}}`, s)
	}
	think := func(s string) string { return fmt.Sprintf(`{"type":"thinking","subtype":"delta","text":%s}`, s) }
	big := strings.Repeat("x", 20<<10) + "\n"
	var script []string
	script = append(script, `{"type":"system","subtype":"init","session_id":"{{session}}","cwd":"{{cwd}}"}`, think(`"I am in {{cwd}}"`), think(`"/d/e"`))
	// The path comes letter by letter.
	script = append(script, text(`"Look at "`), `{"fake":"exec","stdout":true,"argv":["sh","-c","pwd | tr -d '\\n' | sed 's/./&\\n/g' | while read c; do printf '{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]},\"timestamp_ms\":1}\\n' \"$c\"; done"]}`,
		text(`"/f and file://{{cwd}}/f, not {{cwd}}2. At the end: {{cwd}}"`))
	script = append(script, world.Edits("1", "f", "a\n", "b\n")...)
	script = append(script,
		`{"type":"tool_call","subtype":"started","call_id":"2","tool_call":{"shellToolCall":{"args":{"command":"cd {{cwd}} && cat {{cwd}}/f `+strings.Repeat("and more ", 20)+`"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"2","tool_call":{"shellToolCall":{"args":{"command":"cd {{cwd}} && cat {{cwd}}/f"},"result":{"success":{"command":"x","exitCode":0,"stdout":"{{cwd}}/f:1\n`+strings.ReplaceAll(big, "\n", `\n`)+`{{cwd}}/g"}}}}}`,
		`{"type":"tool_call","subtype":"started","call_id":"3","tool_call":{"readToolCall":{"args":{"path":"{{cwd}}/nowhere"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"3","tool_call":{"readToolCall":{"args":{"path":"{{cwd}}/nowhere"},"result":{"error":{"errorMessage":"no {{cwd}}/nowhere"}}}}}`,
		`{"type":"result","subtype":"success","is_error":false,"result":"all in {{cwd}}/f","session_id":"{{session}}"}`)
	w.Plays(script...)
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	w.Plays(script...)
	turn := e.Turn(world.Obj{
		"sessionId": s.ID, "workspace": alias, "prompt": "mind " + w.Root + "/f and " + alias + "/g, not " + w.Root + "2",
		"context": []world.Obj{{"kind": "file", "path": w.Path("f")}, {"kind": "text", "text": "file://" + w.Root + "/f"}},
	})
	require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	in := w.CopyOf(s)
	prompt := w.Runs()[0].Prompt
	aliased := in
	if w.OnOverlay(s) {
		aliased = alias // the agent's own tree is there as well
	}
	for _, want := range []string{"mind " + in + "/f and " + aliased + "/g, not " + w.Root + "2", `path="` + in + `/f"`, "file://" + in + "/f"} {
		require.Contains(t, prompt, want)
	}
	require.Equal(t, "all in "+w.Path("f"), *turn.Result)
	require.Equal(t, []string{"Look at " + w.Path("f") + " and file://" + w.Path("f") + ", not " + in + "2. At the end: " + w.Root}, e.Said(turn.ID, sessions.ItemAssistant))
	require.Equal(t, []string{"I am in " + w.Path("d/e")}, e.Said(turn.ID, sessions.ItemThinking))
	for _, n := range e.All() {
		line, err := json.Marshal(n)
		require.NoError(t, err)
		require.NotContains(t, strings.ReplaceAll(string(line), in+"2", ""), "copies", "all that a client is told")
	}
	var tools []*sessions.Item
	for _, item := range e.Items(turn.ID) {
		if item.Tool != nil {
			tools = append(tools, item)
		}
	}
	require.Len(t, tools, 3)
	require.Equal(t, []string{"f"}, tools[0].Tool.Paths)
	require.Contains(t, tools[1].Tool.Command, "cd "+w.Root+" && cat "+w.Path("f"))
	require.Contains(t, tools[1].Tool.Title, "cd "+w.Root)
	require.Contains(t, tools[2].Tool.Error, "no "+w.Path("nowhere"))
	var whole struct{ Item *sessions.Item }
	e.Must("item/read", world.Obj{"itemId": tools[1].ID}, &whole)
	require.Contains(t, whole.Item.Tool.Output, "\n"+big+w.Path("g"))
	require.NotContains(t, string(whole.Item.Tool.Result), "copies")
}

func TestIsolatedLinksAndIgnoredFiles(t *testing.T) {
	bothKinds(t, testIsolatedLinksAndIgnoredFiles)
}

func testIsolatedLinksAndIgnoredFiles(t *testing.T) {
	w := newWorld(t)
	w.PutAll(world.Tree{".gitignore": "secret\n.env\ncache/\n", "f": "f\n", "secret": "mine\n", ".env": "A=1\n", "cache/x": "x\n"})
	require.NoError(t, os.Symlink(w.Path("f"), w.Path("link")))
	w.Commits()
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "config.toml"), []byte(`copy_include = [".env"]`), 0o644))
	w.Plays(world.Lines(
		world.Shells("1", `cat .env > seen; ls > list; echo s > secret; readlink link >> seen; ln -s "$PWD/f" new; ln -sfn "$PWD/seen" link; mkdir -p cache; echo y > cache/y`),
		world.Edits("2", ".env", "A=1\n", "A=2\n"))...)
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	e.Ok(s)
	require.Equal(t, "A=1\n"+w.CopyOf(s)+"/f\n", w.Copied(s, "seen"))
	found := e.Diffs()
	require.NotContains(t, found, "cache/y")
	require.Equal(t, w.OnOverlay(s), strings.Contains(w.Copied(s, "list"), "secret"), "a copy lacks ignored files")
	require.Equal(t, w.Path("f"), found["link"].OldTarget)
	require.Equal(t, w.Path("seen"), found["link"].NewTarget)
	require.Equal(t, "A=1\n", w.Get(".env"))
	e.Decides("diff/accept", world.Obj{"all": true})
	for name, want := range map[string]string{"link": "seen", "new": "f"} {
		target, err := os.Readlink(w.Path(name))
		require.NoError(t, err)
		require.Equal(t, w.Path(want), target)
	}
	w.RequireTree(world.Tree{"secret": "mine\n", ".env": "A=2\n"})
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, "A=1\n", w.Get(".env"))
	target, err := os.Readlink(w.Path("link"))
	require.NoError(t, err)
	require.Equal(t, w.Path("f"), target)
	require.NoFileExists(t, w.Path("new"))
}

// TestAnIsolatedAgentThatWritesTheWorkTree has the agent write a file by its full path in the workspace. In an overlay that is its own.
func TestAnIsolatedAgentThatWritesTheWorkTree(t *testing.T) {
	bothKinds(t, testAnIsolatedAgentThatWritesTheWorkTree)
}

func testAnIsolatedAgentThatWritesTheWorkTree(t *testing.T) {
	w := newWorld(t)
	w.PutAll(world.Tree{"f": "a\n", "g": "g\n"})
	full := func(lines []string) []string {
		for i := range lines {
			lines[i] = strings.ReplaceAll(strings.ReplaceAll(lines[i], "{{cwd}}/f", w.Path("f")), `"path":"f"`, `"path":"`+w.Path("f")+`"`)
		}
		return lines
	}
	w.Plays(world.Lines(full(world.Edits("1", "f", "a\n", "b\n")), world.Edits("2", "g", "g\n", "h\n"))...)
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	e.Ok(s)
	found := e.Diffs()
	require.Len(t, found, 2)
	require.Equal(t, w.OnOverlay(s), found["f"].Hunks[0].Isolated)
	require.True(t, found["g"].Hunks[0].Isolated)
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(world.Tree{"f": "a\n", "g": "g\n"})
	require.Equal(t, "g\n", w.Copied(s, "g"))
}

func TestAnAcceptWaitsForAnotherAgent(t *testing.T) {
	bothKinds(t, testAnAcceptWaitsForAnotherAgent)
}

func testAnAcceptWaitsForAnotherAgent(t *testing.T) {
	w := newWorld(t)
	before := world.Numbered(30, nil)
	w.Put("f", before)
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "config.toml"), []byte("parallel_turns = 2"), 0o644))
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	w.Plays(world.Lines(world.Edits("1", "f", before, strings.Replace(before, "line 5\n", "apart 5\n", 1)))...)
	e.Ok(s)
	script := world.Edits("2", "f", before, strings.Replace(before, "line 20\n", "shared 20\n", 1))
	wait := func(name string) string { return `{"fake":"wait","path":"` + w.Path("../"+name) + `"}` }
	w.Plays(append([]string{script[0], wait("go"), script[1], script[2]},
		world.CallLines(world.Shells("3", "x")[0], world.Shells("3", "x")[2], wait("shell"))...)...)
	other := e.Asks(nil)
	e.Until("the tool's start", func(n world.Notification) bool {
		return n.Method == "item/changed" && n.Item.TurnID == other.ID && n.Item.Kind == sessions.ItemTool
	})
	answer := make(chan api.Decided, 1)
	go func() {
		var out api.Decided
		assertNoError(t, e.Call("diff/accept", world.Obj{"workspace": w.Root, "all": true}, &out))
		answer <- out
	}()
	e.Diffs()
	w.RequireTree(world.Tree{"f": before})
	w.Put("../go", "")
	require.GreaterOrEqual(t, (<-answer).Applied, 1)
	both := strings.NewReplacer("line 5\n", "apart 5\n", "line 20\n", "shared 20\n").Replace(before)
	w.RequireTree(world.Tree{"f": both})

	// A hunk that is accepted during another agent's command is not that command's change.
	e.Until("the command's start", func(n world.Notification) bool {
		return n.Method == "item/changed" && n.Item.TurnID == other.ID && n.Item.Tool != nil && n.Item.Tool.Name == "shell"
	})
	w.Put("../shell", "")
	e.Ends(other.ID)
	for _, d := range e.Diffs() {
		for _, h := range d.Hunks {
			for _, l := range h.Lines {
				require.NotEqual(t, "+apart 5", l)
			}
		}
	}
}

// TestAnAcceptIsNotAnAgentsWork accepts hunks while a command of an agent runs in the work tree.
func TestAnAcceptIsNotAnAgentsWork(t *testing.T) {
	bothKinds(t, testAnAcceptIsNotAnAgentsWork)
}

func testAnAcceptIsNotAnAgentsWork(t *testing.T) {
	w := newWorld(t)
	w.PutAll(world.Tree{"f": "a\nb\n", "gone": "gone\n", "mine": "m\n"})
	w.Commits()
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "config.toml"), []byte("parallel_turns = 2"), 0o644))
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	w.Plays(world.Lines(world.Shells("1", "echo apart >> f; rm gone; echo n > new; mv mine moved"))...)
	e.Ok(s)
	shell := world.Shells("2", "echo shared > theirs")
	w.Plays(shell[0], shell[1], `{"fake":"write","path":"`+w.Path("../at")+`","text":""}`, `{"fake":"wait","path":"`+w.Path("../go")+`"}`, shell[2], world.Done)
	other := e.Asks(nil)
	require.Eventually(t, func() bool { return w.Get("../at") != "(absent)" }, world.Patience, world.Patience/1000)
	out := e.Decides("diff/accept", world.Obj{"all": true})
	require.Empty(t, out.Skipped)
	w.Put("../go", "")
	e.Ends(other.ID)
	require.Len(t, e.Diffs(), 1)
	require.Contains(t, e.Diffs(), "theirs")
	w.RequireTree(world.Tree{"f": "a\nb\napart\n", "gone": "(absent)", "new": "n\n", "moved": "m\n", "mine": "(absent)"})
}

// copyList lists the copies of the workspace.
func copyList(e *world.Editor) (list []api.CopyInfo) {
	e.T.Helper()
	var all rpc.WorkspaceList
	e.Must("workspace/list", world.Obj{}, &all)
	for _, info := range all.Workspaces {
		if info.Workspace == e.World.Root {
			return info.Copies
		}
	}
	return nil
}

func TestCopiesAreListedBoundedAndCleaned(t *testing.T) {
	bothKinds(t, testCopiesAreListedBoundedAndCleaned)
}

func testCopiesAreListedBoundedAndCleaned(t *testing.T) {
	w := newWorld(t)
	w.Put("f", strings.Repeat("x", 5000)+"\n")
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "config.toml"), []byte("copies = 2"), 0o644))
	w.Start()
	e := w.Opens()
	pending := e.Isolates()
	w.Plays(world.Lines(world.Edits("1", "f", w.Get("f"), "agent\n"))...)
	e.Ok(pending)
	w.Plays(world.Done)
	var clean []*sessions.Session
	for range 3 {
		s := e.Isolates()
		e.Ok(s)
		clean = append(clean, s)
	}
	// The copy with pending hunks stays, and so does the one used last.
	listed := func() (ids []string) {
		for _, c := range copyList(e) {
			ids = append(ids, c.SessionID)
		}
		return ids
	}
	require.Eventually(t, func() bool { return fmt.Sprint(listed()) == fmt.Sprint([]string{clean[2].ID, pending.ID}) }, world.Patience, 10*time.Millisecond)
	require.NoDirExists(t, w.FolderOf(clean[0]))
	list := copyList(e)
	if w.OnOverlay(clean[2]) {
		require.Equal(t, []any{"overlay", ""}, []any{list[0].Kind, list[0].Reason})
	} else {
		require.Greater(t, list[0].Bytes, int64(5000))
		require.Equal(t, []any{"copy", ""}, []any{list[0].Kind, list[0].Reason})
	}
	require.Equal(t, w.FolderOf(clean[2]), list[0].Path)
	out, _, status := w.Cursord("workspaces")
	require.Zero(t, status)
	require.Contains(t, out, pending.ID)
	// A session whose copy was removed continues in a new one at the same place.
	e.Ok(clean[0])
	require.DirExists(t, w.FolderOf(clean[0]))

	// A copy is removed with its session, and so are its pending hunks.
	require.Len(t, e.Diffs(), 1)
	e.Must("session/delete", world.Obj{"sessionId": pending.ID}, nil)
	e.Until("the end of the diff", func(n world.Notification) bool { return n.Method == "diff/changed" && n.Diff.State == "clean" })
	require.Empty(t, e.Diffs())
	require.Eventually(t, func() bool { _, err := os.Stat(w.FolderOf(pending)); return os.IsNotExist(err) }, world.Patience, 10*time.Millisecond)
	require.Equal(t, api.KindNotFound, e.Fails("diff/undo", world.Obj{"workspace": w.Root}).Data.Kind)

	// At its start the daemon removes copies that belong to no session, and copies that were never finished.
	w.Kill()
	for _, name := range []string{"unknown", clean[1].ID} {
		require.NoError(t, os.MkdirAll(filepath.Join(w.Dir, "state", "copies", name, "ws"), 0o755))
	}
	w.Start()
	e = w.Opens()
	require.Eventually(t, func() bool {
		_, err1 := os.Stat(filepath.Join(w.Dir, "state", "copies", "unknown"))
		_, err2 := os.Stat(w.FolderOf(clean[1]))
		return os.IsNotExist(err1) && os.IsNotExist(err2)
	}, world.Patience, 10*time.Millisecond)
	require.DirExists(t, w.FolderOf(clean[0]))
	e.Ok(clean[1])
}

// TestACopyThatIsGone has somebody remove a session's copy.
func TestACopyThatIsGone(t *testing.T) {
	bothKinds(t, testACopyThatIsGone)
}

func testACopyThatIsGone(t *testing.T) {
	a := newApart(t)
	a.e.Decides("diff/accept", world.Obj{"hunks": world.HunkIDs(a.e.Diffs()["f"])[:1]})
	want := a.w.Get("f")
	require.NoError(t, os.RemoveAll(a.w.FolderOf(a.s)))
	a.e.Fails("diff/accept", world.Obj{"workspace": a.w.Root, "hunks": world.HunkIDs(a.e.Diffs()["f"])[:1]})
	a.w.RequireTree(world.Tree{"f": want, "other": "other\n"})
	a.w.Plays(world.Lines(world.Edits("2", "f", want, want+"more\n"))...)
	a.e.Ok(a.s)
	d := a.e.Diffs()["f"]
	require.Len(t, d.Hunks, 1)
	require.Equal(t, 1, d.Added)
	a.w.Stop()
	require.NoError(t, os.RemoveAll(filepath.Join(a.w.Dir, "state", "copies")))
	a.w.Start()
	a.e = a.w.Opens()
	require.Empty(t, a.e.Diffs())
	a.w.RequireTree(world.Tree{"f": want, "other": "other\n"})
}

// TestMakingACopyIsToldAndCanBeCancelled makes git wait while it makes the copy.
func TestMakingACopyIsToldAndCanBeCancelled(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "a\n")
	w.Commits()
	git, err := exec.LookPath("git")
	require.NoError(t, err)
	bin := filepath.Join(w.Dir, "bin")
	w.Put("../bin/git", fmt.Sprintf("#!/bin/sh\nwhile test ! -e %s; do sleep 0.01; done\nexec %s \"$@\"\n", w.Path("../go"), git))
	require.NoError(t, os.Chmod(filepath.Join(bin, "git"), 0o755))
	w.Start("PATH=" + bin + ":" + os.Getenv("PATH"))
	e := w.Opens()
	s := e.Isolates()
	turn := e.Asks(world.Obj{"sessionId": s.ID})
	e.Until("the word about it", func(n world.Notification) bool {
		return n.Method == "item/changed" && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemNotice
	})
	e.Must("turn/cancel", world.Obj{"turnId": turn.ID}, nil)
	require.Equal(t, sessions.TurnCancelled, e.Ends(turn.ID).Status)
	require.NoDirExists(t, w.FolderOf(s))
	require.Empty(t, w.Runs())
	w.Put("../go", "")
	e.Ok(s)
}

// assertNoError is require.NoError for other goroutines.
func assertNoError(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}
