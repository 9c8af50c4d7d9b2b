package main

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

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

func TestIsolatedPathsReadAsThoseOfTheWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(tree{"f": "a\n", "long": strings.Repeat("see {{cwd}}/f\n", 10)})
	alias := filepath.Join(w.dir, "alias")
	require.NoError(t, os.Symlink(w.ws, alias))
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
	script = append(script, edits("1", "f", "a\n", "b\n")...)
	script = append(script,
		`{"type":"tool_call","subtype":"started","call_id":"2","tool_call":{"shellToolCall":{"args":{"command":"cd {{cwd}} && cat {{cwd}}/f `+strings.Repeat("and more ", 20)+`"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"2","tool_call":{"shellToolCall":{"args":{"command":"cd {{cwd}} && cat {{cwd}}/f"},"result":{"success":{"command":"x","exitCode":0,"stdout":"{{cwd}}/f:1\n`+strings.ReplaceAll(big, "\n", `\n`)+`{{cwd}}/g"}}}}}`,
		`{"type":"tool_call","subtype":"started","call_id":"3","tool_call":{"readToolCall":{"args":{"path":"{{cwd}}/nowhere"}}}}`,
		`{"type":"tool_call","subtype":"completed","call_id":"3","tool_call":{"readToolCall":{"args":{"path":"{{cwd}}/nowhere"},"result":{"error":{"errorMessage":"no {{cwd}}/nowhere"}}}}}`,
		`{"type":"result","subtype":"success","is_error":false,"result":"all in {{cwd}}/f","session_id":"{{session}}"}`)
	w.plays(script...)
	w.start()
	e := w.opens()
	s := e.isolates()
	w.plays(script...)
	turn := e.turn(obj{
		"sessionId": s.ID, "workspace": alias, "prompt": "mind " + w.ws + "/f and " + alias + "/g, not " + w.ws + "2",
		"context": []obj{{"kind": "file", "path": w.path("f")}, {"kind": "text", "text": "file://" + w.ws + "/f"}},
	})
	require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	in := w.copyOf(s)
	prompt := w.runs()[0].Prompt
	for _, want := range []string{"mind " + in + "/f and " + in + "/g, not " + w.ws + "2", `path="` + in + `/f"`, "file://" + in + "/f"} {
		require.Contains(t, prompt, want)
	}
	require.Equal(t, "all in "+w.path("f"), *turn.Result)
	require.Equal(t, []string{"Look at " + w.path("f") + " and file://" + w.path("f") + ", not " + in + "2. At the end: " + w.ws}, e.said(turn.ID, sessions.ItemAssistant))
	require.Equal(t, []string{"I am in " + w.path("d/e")}, e.said(turn.ID, sessions.ItemThinking))
	for _, n := range e.all() {
		line, err := json.Marshal(n)
		require.NoError(t, err)
		require.NotContains(t, strings.ReplaceAll(string(line), in+"2", ""), "copies", "all that a client is told")
	}
	var tools []*sessions.Item
	for _, item := range e.items(turn.ID) {
		if item.Tool != nil {
			tools = append(tools, item)
		}
	}
	require.Len(t, tools, 3)
	require.Equal(t, []string{"f"}, tools[0].Tool.Paths)
	require.Contains(t, tools[1].Tool.Command, "cd "+w.ws+" && cat "+w.path("f"))
	require.Contains(t, tools[1].Tool.Title, "cd "+w.ws)
	require.Contains(t, tools[2].Tool.Error, "no "+w.path("nowhere"))
	var whole struct{ Item *sessions.Item }
	e.must("item/read", obj{"itemId": tools[1].ID}, &whole)
	require.Contains(t, whole.Item.Tool.Output, "\n"+big+w.path("g"))
	require.NotContains(t, string(whole.Item.Tool.Result), "copies")
}

func TestIsolatedLinksAndIgnoredFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(tree{".gitignore": "secret\n.env\ncache/\n", "f": "f\n", "secret": "mine\n", ".env": "A=1\n", "cache/x": "x\n"})
	require.NoError(t, os.Symlink(w.path("f"), w.path("link")))
	w.commits()
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "config.toml"), []byte(`copy_include = [".env"]`), 0o644))
	w.plays(lines(
		shells("1", `cat .env > seen; ls > list; echo s > secret; readlink link >> seen; ln -s "$PWD/f" new; ln -sfn "$PWD/seen" link; mkdir -p cache; echo y > cache/y`),
		edits("2", ".env", "A=1\n", "A=2\n"))...)
	w.start()
	e := w.opens()
	s := e.isolates()
	e.ok(s)
	require.Equal(t, "A=1\n"+w.copyOf(s)+"/f\n", w.copied(s, "seen"))
	found := e.diffs()
	require.NotContains(t, found, "cache/y")
	require.NotContains(t, w.copied(s, "list"), "secret")
	require.Equal(t, w.path("f"), found["link"].OldTarget)
	require.Equal(t, w.path("seen"), found["link"].NewTarget)
	require.Equal(t, "A=1\n", w.get(".env"))
	e.decides("diff/accept", obj{"all": true})
	for name, want := range map[string]string{"link": "seen", "new": "f"} {
		target, err := os.Readlink(w.path(name))
		require.NoError(t, err)
		require.Equal(t, w.path(want), target)
	}
	w.requireTree(tree{"secret": "mine\n", ".env": "A=2\n"})
	e.must("diff/undo", obj{"workspace": w.ws}, nil)
	require.Equal(t, "A=1\n", w.get(".env"))
	target, err := os.Readlink(w.path("link"))
	require.NoError(t, err)
	require.Equal(t, w.path("f"), target)
	require.NoFileExists(t, w.path("new"))
}

// TestAnIsolatedAgentThatWritesTheWorkTree has the agent leave its copy by the full path.
func TestAnIsolatedAgentThatWritesTheWorkTree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(tree{"f": "a\n", "g": "g\n"})
	full := func(lines []string) []string {
		for i := range lines {
			lines[i] = strings.ReplaceAll(strings.ReplaceAll(lines[i], "{{cwd}}/f", w.path("f")), `"path":"f"`, `"path":"`+w.path("f")+`"`)
		}
		return lines
	}
	w.plays(lines(full(edits("1", "f", "a\n", "b\n")), edits("2", "g", "g\n", "h\n"))...)
	w.start()
	e := w.opens()
	s := e.isolates()
	e.ok(s)
	found := e.diffs()
	require.Len(t, found, 2)
	require.False(t, found["f"].Hunks[0].Isolated)
	require.True(t, found["g"].Hunks[0].Isolated)
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(tree{"f": "a\n", "g": "g\n"})
	require.Equal(t, "g\n", w.copied(s, "g"))
}

func TestAnAcceptWaitsForAnotherAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := numbered(30, nil)
	w.put("f", before)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "config.toml"), []byte("parallel_turns = 2"), 0o644))
	w.start()
	e := w.opens()
	s := e.isolates()
	w.plays(lines(edits("1", "f", before, strings.Replace(before, "line 5\n", "apart 5\n", 1)))...)
	e.ok(s)
	script := edits("2", "f", before, strings.Replace(before, "line 20\n", "shared 20\n", 1))
	wait := func(name string) string { return `{"fake":"wait","path":"` + w.path("../"+name) + `"}` }
	w.plays(append([]string{script[0], wait("go"), script[1], script[2]},
		callLines(shells("3", "x")[0], shells("3", "x")[2], wait("shell"))...)...)
	other := e.asks(nil)
	e.until("the tool's start", func(n told) bool {
		return n.Method == "item/changed" && n.Item.TurnID == other.ID && n.Item.Kind == sessions.ItemTool
	})
	answer := make(chan api.Decided, 1)
	go func() {
		var out api.Decided
		assertNoError(t, e.call("diff/accept", obj{"workspace": w.ws, "all": true}, &out))
		answer <- out
	}()
	e.diffs()
	w.requireTree(tree{"f": before})
	w.put("../go", "")
	require.GreaterOrEqual(t, (<-answer).Applied, 1)
	both := strings.NewReplacer("line 5\n", "apart 5\n", "line 20\n", "shared 20\n").Replace(before)
	w.requireTree(tree{"f": both})

	// While the other agent's command runs, what is accepted is not its work.
	e.until("the command's start", func(n told) bool {
		return n.Method == "item/changed" && n.Item.TurnID == other.ID && n.Item.Tool != nil && n.Item.Tool.Name == "shell"
	})
	w.put("../shell", "")
	e.ends(other.ID)
	for _, d := range e.diffs() {
		for _, h := range d.Hunks {
			for _, l := range h.Lines {
				require.NotEqual(t, "+apart 5", l)
			}
		}
	}
}

// TestAnAcceptIsNotAnAgentsWork has hunks accepted while the command of an agent in the work tree runs.
func TestAnAcceptIsNotAnAgentsWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(tree{"f": "a\nb\n", "gone": "gone\n", "mine": "m\n"})
	w.commits()
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "config.toml"), []byte("parallel_turns = 2"), 0o644))
	w.start()
	e := w.opens()
	s := e.isolates()
	w.plays(lines(shells("1", "echo apart >> f; rm gone; echo n > new; mv mine moved"))...)
	e.ok(s)
	shell := shells("2", "echo shared > theirs")
	w.plays(shell[0], shell[1], `{"fake":"write","path":"`+w.path("../at")+`","text":""}`, `{"fake":"wait","path":"`+w.path("../go")+`"}`, shell[2], done)
	other := e.asks(nil)
	require.Eventually(t, func() bool { return w.get("../at") != "(absent)" }, patience, patience/1000)
	out := e.decides("diff/accept", obj{"all": true})
	require.Empty(t, out.Skipped)
	w.put("../go", "")
	e.ends(other.ID)
	require.Len(t, e.diffs(), 1)
	require.Contains(t, e.diffs(), "theirs")
	w.requireTree(tree{"f": "a\nb\napart\n", "gone": "(absent)", "new": "n\n", "moved": "m\n", "mine": "(absent)"})
}

func TestIsolationThatCannotBe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 30 {
		w.put(fmt.Sprint("d/", i), "x\n")
	}
	config := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, "config.toml"), []byte(text), 0o644))
	}
	config("copy_files = 20")
	w.start()
	e := w.opens()
	for _, c := range []struct {
		params obj
		field  string
	}{
		{obj{"workspace": w.ws, "isolation": "maybe"}, "isolation"},
		{obj{"workspace": w.dir, "isolation": "copy"}, "isolation"}, // the home directory
		{obj{"workspace": w.ws, "isolation": "copy", "agentSessionId": "abc"}, "agentSessionId"},
	} {
		err := e.fails("session/create", c.params)
		require.EqualValues(t, -32602, err.Code)
		require.Equal(t, c.field, err.Data.Field, err.Message)
	}
	s := e.isolates()
	turn := e.turn(obj{"sessionId": s.ID})
	require.Equal(t, sessions.TurnFailed, turn.Status)
	require.Equal(t, "tooLarge", turn.Error.Kind)
	require.Contains(t, turn.Error.Message, "20 files")
	require.Contains(t, turn.Error.Hint, "copy_files")
	require.Empty(t, w.runs())
	require.NoDirExists(t, w.copyOf(s))

	// Where it cannot be written.
	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, "state", "copies")))
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "state", "copies"), nil, 0o644))
	turn = e.turn(obj{"sessionId": s.ID})
	require.Equal(t, "storage", turn.Error.Kind)
	require.NotEmpty(t, turn.Error.Hint)
	require.NoError(t, os.Remove(filepath.Join(w.dir, "state", "copies")))
	w.stop()
	config("")
	w.start()
	e = w.opens()
	e.ok(s)
}

// TestTurnStartHonoursIsolation: a turn that asks for a copy never writes the work tree, and one that cannot have what
// it asks for does not begin.
func TestTurnStartHonoursIsolation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "a\n")
	w.plays(lines(edits("1", "f", "a\n", "b\n"))...)
	w.start()
	e := w.opens()
	start := func(params obj) (out rpc.TurnStartResult) {
		t.Helper()
		params["workspace"], params["prompt"] = w.ws, "do it"
		e.must("turn/start", params, &out)
		e.ends(out.Turn.ID)
		return out
	}
	refused := func(method, field string, params obj) {
		t.Helper()
		before := len(w.runs())
		err := e.fails(method, params)
		require.EqualValues(t, -32602, err.Code)
		require.Equal(t, field, err.Data.Field, err.Message)
		require.NotEmpty(t, err.Data.Hint)
		require.Len(t, w.runs(), before)
	}
	inCopy := start(obj{"isolation": "copy", "turnId": "apart", "whatEver": true})
	require.Equal(t, "copy", inCopy.Session.Isolation)
	w.requireTree(tree{"f": "a\n"})
	require.True(t, e.diffs()["f"].Hunks[0].Isolated)

	// The session's own value is taken, also by a repeated call, and no other.
	again := start(obj{"isolation": "copy", "turnId": "apart"})
	require.Equal(t, inCopy.Session.ID, again.Session.ID)
	start(obj{"isolation": "copy", "sessionId": inCopy.Session.ID})
	start(obj{"isolation": nil, "sessionId": inCopy.Session.ID})
	w.requireTree(tree{"f": "a\n"})
	for _, params := range []obj{{"turnId": "apart"}, {"sessionId": inCopy.Session.ID}} {
		params["workspace"], params["prompt"], params["isolation"] = w.ws, "do it", "none"
		refused("turn/start", "isolation", params)
	}
	refused("session/update", "isolation", obj{"sessionId": inCopy.Session.ID, "isolation": "none"})
	e.must("session/update", obj{"sessionId": inCopy.Session.ID, "isolation": "copy", "title": "t"}, nil)
	for _, more := range []obj{{"mode": "ask"}, {"force": true}} {
		params := obj{"workspace": w.ws, "prompt": "do it", "turnId": "apart"}
		for k, v := range more {
			params[k] = v
		}
		require.Equal(t, "turnId", e.fails("turn/start", params).Data.Field)
	}

	// What asks for no more than is done anyway is taken.
	require.Equal(t, "none", start(obj{"isolation": "none", "driver": "print", "sandbox": nil, "force": false}).Session.Isolation)
	w.requireTree(tree{"f": "b\n"})
}

func TestIsolationBySettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "a\n")
	elsewhere := filepath.Join(w.dir, "elsewhere")
	require.NoError(t, os.Mkdir(elsewhere, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "config.toml"), fmt.Appendf(nil, "isolation = \"copy\"\n[isolation_of]\n%q = \"none\"\n", elsewhere), 0o644))
	w.plays(lines(edits("1", "f", "a\n", "b\n"))...)
	w.start()
	e := w.opens()
	isolation := func(params obj) string {
		t.Helper()
		var out struct{ Session *sessions.Session }
		e.must("session/create", params, &out)
		return out.Session.Isolation
	}
	require.Equal(t, "copy", isolation(obj{"workspace": w.ws}))
	require.Equal(t, "none", isolation(obj{"workspace": w.ws, "isolation": "none"}))
	require.Equal(t, "none", isolation(obj{"workspace": w.ws, "agentSessionId": "chat"}))
	require.Equal(t, "none", isolation(obj{"workspace": elsewhere}))
	require.Equal(t, "copy", isolation(obj{"workspace": elsewhere, "isolation": "copy"}))
	e.turn(nil)
	w.requireTree(tree{"f": "a\n"})
	require.True(t, e.diffs()["f"].Hunks[0].Isolated)
}

// copyList lists the copies of the workspace.
func (e *editor) copyList() (list []api.CopyInfo) {
	e.t.Helper()
	var all rpc.WorkspaceList
	e.must("workspace/list", obj{}, &all)
	for _, info := range all.Workspaces {
		if info.Workspace == e.w.ws {
			return info.Copies
		}
	}
	return nil
}

func TestCopiesAreListedBoundedAndCleaned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", strings.Repeat("x", 5000)+"\n")
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "config.toml"), []byte("copies = 2"), 0o644))
	w.start()
	e := w.opens()
	pending := e.isolates()
	w.plays(lines(edits("1", "f", w.get("f"), "agent\n"))...)
	e.ok(pending)
	w.plays(done)
	var clean []*sessions.Session
	for range 3 {
		s := e.isolates()
		e.ok(s)
		clean = append(clean, s)
	}
	// The one with something to review stays, and the one that was used last.
	listed := func() (ids []string) {
		for _, c := range e.copyList() {
			ids = append(ids, c.SessionID)
		}
		return ids
	}
	require.Eventually(t, func() bool { return fmt.Sprint(listed()) == fmt.Sprint([]string{clean[2].ID, pending.ID}) }, patience, 10*time.Millisecond)
	require.NoDirExists(t, w.copyOf(clean[0]))
	list := e.copyList()
	require.Greater(t, list[0].Bytes, int64(5000))
	require.Equal(t, filepath.Dir(w.copyOf(clean[2])), list[0].Path)
	out, _, status := w.cursord("workspaces")
	require.Zero(t, status)
	require.Contains(t, out, pending.ID)
	// A session whose copy is gone goes on in a new one at the same place.
	e.ok(clean[0])
	require.DirExists(t, w.copyOf(clean[0]))

	// With its session, a copy goes, and what was to be reviewed in it.
	require.Len(t, e.diffs(), 1)
	e.must("session/delete", obj{"sessionId": pending.ID}, nil)
	e.until("the end of the diff", func(n told) bool { return n.Method == "diff/changed" && n.Diff.State == "clean" })
	require.Empty(t, e.diffs())
	require.Eventually(t, func() bool { _, err := os.Stat(w.copyOf(pending)); return os.IsNotExist(err) }, patience, 10*time.Millisecond)
	require.Equal(t, api.KindNotFound, e.fails("diff/undo", obj{"workspace": w.ws}).Data.Kind)

	// What nobody knows goes at the start of a daemon, and what was never finished.
	w.kill()
	for _, name := range []string{"unknown", clean[1].ID} {
		require.NoError(t, os.MkdirAll(filepath.Join(w.dir, "state", "copies", name, "ws"), 0o755))
	}
	w.start()
	e = w.opens()
	require.Eventually(t, func() bool {
		_, err1 := os.Stat(filepath.Join(w.dir, "state", "copies", "unknown"))
		_, err2 := os.Stat(w.copyOf(clean[1]))
		return os.IsNotExist(err1) && os.IsNotExist(err2)
	}, patience, 10*time.Millisecond)
	require.DirExists(t, w.copyOf(clean[0]))
	e.ok(clean[1])
}

// TestACopyThatIsGone has somebody remove what a session works in.
func TestACopyThatIsGone(t *testing.T) {
	t.Parallel()
	a := newApart(t)
	a.e.decides("diff/accept", obj{"hunks": hunkIDs(a.e.diffs()["f"])[:1]})
	want := a.w.get("f")
	require.NoError(t, os.RemoveAll(filepath.Dir(a.w.copyOf(a.s))))
	a.e.fails("diff/accept", obj{"workspace": a.w.ws, "hunks": hunkIDs(a.e.diffs()["f"])[:1]})
	a.w.requireTree(tree{"f": want, "other": "other\n"})
	a.w.plays(lines(edits("2", "f", want, want+"more\n"))...)
	a.e.ok(a.s)
	d := a.e.diffs()["f"]
	require.Len(t, d.Hunks, 1)
	require.Equal(t, 1, d.Added)
	a.w.stop()
	require.NoError(t, os.RemoveAll(filepath.Join(a.w.dir, "state", "copies")))
	a.w.start()
	a.e = a.w.opens()
	require.Empty(t, a.e.diffs())
	a.w.requireTree(tree{"f": want, "other": "other\n"})
}

// TestMakingACopyIsToldAndCanBeCancelled has git wait while the copy is made.
func TestMakingACopyIsToldAndCanBeCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("f", "a\n")
	w.commits()
	git, err := exec.LookPath("git")
	require.NoError(t, err)
	bin := filepath.Join(w.dir, "bin")
	w.put("../bin/git", fmt.Sprintf("#!/bin/sh\nwhile test ! -e %s; do sleep 0.01; done\nexec %s \"$@\"\n", w.path("../go"), git))
	require.NoError(t, os.Chmod(filepath.Join(bin, "git"), 0o755))
	w.start("PATH=" + bin + ":" + os.Getenv("PATH"))
	e := w.opens()
	s := e.isolates()
	turn := e.asks(obj{"sessionId": s.ID})
	e.until("the word about it", func(n told) bool {
		return n.Method == "item/changed" && n.Item.TurnID == turn.ID && n.Item.Kind == sessions.ItemNotice
	})
	e.must("turn/cancel", obj{"turnId": turn.ID}, nil)
	require.Equal(t, sessions.TurnCancelled, e.ends(turn.ID).Status)
	require.NoDirExists(t, w.copyOf(s))
	require.Empty(t, w.runs())
	w.put("../go", "")
	e.ok(s)
}

// assertNoError is for goroutines.
func assertNoError(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}
