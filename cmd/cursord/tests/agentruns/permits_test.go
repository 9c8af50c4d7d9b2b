//go:build unix

package agentruns

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// TestPermits sets the agent's permissions in turns, sessions and the configuration: the turn's count before the session's,
// and the session's before the configuration's.
func TestPermits(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	lib, far, inner := w.Folder("lib"), w.Folder("far away"), w.Path("inner")
	require.NoError(t, os.Mkdir(inner, 0o755))
	require.NoError(t, os.Symlink(far, filepath.Join(w.Dir, "link")))
	w.Start()
	e := w.Opens()
	e.Trusts(lib)
	e.Trusts(far)
	session := func(params world.Obj) *sessions.Session {
		t.Helper()
		var out struct{ Session *sessions.Session }
		params["workspace"] = w.Root
		e.Must("session/create", params, &out)
		return out.Session
	}
	plain := session(world.Obj{})
	boxed := session(world.Obj{"sandbox": "enabled", "autoReview": true, "addDirs": []string{"../lib", lib}})
	require.Equal(t, []string{lib}, boxed.AddDirs)
	for _, test := range []struct {
		name   string
		params world.Obj
		want   []string
	}{
		{"nothing", world.Obj{"sessionId": plain.ID}, nil},
		{"of the turn", world.Obj{"sessionId": plain.ID, "sandbox": "enabled", "autoReview": true, "addDirs": []string{lib}},
			[]string{"--sandbox=enabled", "--auto-review", "--add-dir=" + lib}},
		{"not kept", world.Obj{"sessionId": plain.ID}, nil},
		{"no sandbox", world.Obj{"sessionId": plain.ID, "sandbox": "disabled", "force": true}, []string{"--force", "--sandbox=disabled"}},
		{"by a link, twice, and the workspace", world.Obj{"addDirs": []string{"../link", far, ".", w.Root}}, []string{"--add-dir=" + far}},
		{"in the workspace", world.Obj{"addDirs": []string{"inner"}}, []string{"--add-dir=" + inner}},
		{"of the session", world.Obj{"sessionId": boxed.ID}, []string{"--sandbox=enabled", "--auto-review", "--add-dir=" + lib}},
		{"the turn before the session", world.Obj{"sessionId": boxed.ID, "sandbox": "disabled", "autoReview": false, "addDirs": []string{}},
			[]string{"--sandbox=disabled"}},
		{"null is nothing", world.Obj{"sessionId": boxed.ID, "sandbox": nil, "autoReview": nil, "addDirs": nil},
			[]string{"--sandbox=enabled", "--auto-review", "--add-dir=" + lib}},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer w.In(t, e)()
			turn := e.Turn(test.params)
			require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
			args := w.PermitArgs()
			require.Equal(t, test.want, args)
			told := []string(nil)
			if turn.Force {
				told = append(told, "--force")
			}
			if turn.Sandbox != "" {
				told = append(told, "--sandbox="+turn.Sandbox)
			}
			if turn.AutoReview {
				told = append(told, "--auto-review")
			}
			for _, dir := range turn.AddDirs {
				told = append(told, "--add-dir="+dir)
			}
			require.Equal(t, args, told)
		})
	}

	// A session's option can be removed again.
	e.Must("session/update", world.Obj{"sessionId": boxed.ID, "sandbox": "default", "autoReview": false, "addDirs": []string{}}, nil)
	e.Turn(world.Obj{"sessionId": boxed.ID})
	require.Empty(t, w.PermitArgs())

	// The configuration holds where neither the turn nor the session says anything.
	w.Put("../config.toml", fmt.Sprintf("sandbox = \"enabled\"\nauto_review = true\nadd_dirs = [%q]\n", far))
	w.Stop()
	w.Start()
	e = w.Opens()
	e.Turn(world.Obj{"sessionId": plain.ID})
	require.Equal(t, []string{"--sandbox=enabled", "--auto-review", "--add-dir=" + far}, w.PermitArgs())
	e.Turn(world.Obj{"sessionId": boxed.ID, "sandbox": "disabled"})
	require.Equal(t, []string{"--sandbox=disabled", "--add-dir=" + far}, w.PermitArgs())
	require.NoError(t, os.Remove(far))
	failed := e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it"})
	require.Equal(t, "addDirs[0]", failed.Data.Field)
	require.Contains(t, failed.Message, "by the setting add_dirs")
}

// TestPermitsThatAreRefused asks for sandboxes and folders that do not exist, contradict each other, or are not trusted.
func TestPermitsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	lib := w.Folder("lib")
	w.Put("file", "x")
	w.Start()
	e := w.Opens()
	var boxed, copied struct{ Session *sessions.Session }
	e.Must("session/create", world.Obj{"workspace": w.Root, "sandbox": "enabled"}, &boxed)
	e.Must("session/create", world.Obj{"workspace": w.Root, "isolation": "copy"}, &copied)
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprint("d", i)
	}
	for _, test := range []struct {
		name   string
		params world.Obj
		kind   api.ErrorKind
		field  string
		say    string
	}{
		{"force and a sandbox", world.Obj{"force": true, "sandbox": "enabled"}, "invalid", "force", "force turns the agent's sandbox off"},
		{"force and the session's sandbox", world.Obj{"force": true, "sessionId": boxed.Session.ID}, "invalid", "force", "force turns the agent's sandbox off"},
		{"force and auto-review", world.Obj{"force": true, "autoReview": true}, "invalid", "force", "cannot be combined with autoReview"},
		{"no folder", world.Obj{"addDirs": []string{"../none"}}, "invalid", "addDirs[0]", "cannot be opened"},
		{"a file", world.Obj{"addDirs": []string{lib, "file"}}, "invalid", "addDirs[1]", "is not a directory"},
		{"too many", world.Obj{"addDirs": many}, "invalid", "addDirs", "33 folders"},
		{"a long path", world.Obj{"addDirs": []string{"/" + strings.Repeat("x", 5000)}}, "invalid", "addDirs[0]", "the most"},
		{"NUL", world.Obj{"addDirs": []string{"a\x00"}}, "invalid", "addDirs[0]", "NUL"},
		{"not trusted", world.Obj{"addDirs": []string{lib}}, "workspaceUntrusted", "addDirs", lib + " is not trusted"},
		{"what holds a copied workspace", world.Obj{"addDirs": []string{"/"}, "sessionId": copied.Session.ID}, "workspaceUntrusted", "addDirs", "/ is not trusted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer w.In(t, e)()
			params := world.Obj{"workspace": w.Root, "prompt": "do it"}
			for k, v := range test.params {
				params[k] = v
			}
			failed := e.Fails("turn/start", params)
			require.Equal(t, test.kind, failed.Data.Kind)
			require.Equal(t, test.field, failed.Data.Field)
			require.Contains(t, failed.Message, test.say)
		})
	}
	require.Empty(t, w.Runs())
	require.Equal(t, "addDirs[0]", e.Fails("session/update", world.Obj{"sessionId": boxed.Session.ID, "addDirs": []string{"../none"}}).Data.Field)

	failed := e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it", "addDirs": []string{"../lib"}})
	require.Equal(t, lib, failed.Data.Path)
	e.Trusts(lib)
	named := world.Obj{"workspace": w.Root, "prompt": "do it", "turnId": "named", "addDirs": []string{"../lib"}, "sandbox": "enabled"}
	e.Must("turn/start", named, nil)
	e.Ends("named")

	// A repetition finds its turn even if the folder is gone; a request with more folders does not.
	require.NoError(t, os.Remove(lib))
	e.Must("turn/start", named, nil)
	for _, other := range []world.Obj{{"sandbox": "disabled"}, {"autoReview": true}, {"addDirs": []string{"../lib", "../far"}}, {"addDirs": []string{}}} {
		params := world.Obj{"workspace": w.Root, "prompt": "do it", "turnId": "named"}
		for k, v := range other {
			params[k] = v
		}
		require.Equal(t, "turnId", e.Fails("turn/start", params).Data.Field, "%v", other)
	}
	require.Len(t, w.Runs(), 1)

	// The folders of an agent in a copy must not lead to the work tree.
	e.Trusts(w.Dir)
	params := world.Obj{"workspace": w.Root, "prompt": "do it", "sessionId": copied.Session.ID, "addDirs": []string{".."}}
	failed = e.Fails("turn/start", params)
	require.Equal(t, "addDirs", failed.Data.Field)
	require.Contains(t, failed.Message, "contains the workspace")
}

// TestAddedFoldersAreTold: a turn says what added folders mean, once for each set of them in a session.
func TestAddedFoldersAreTold(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	lib, far := w.Folder("lib"), w.Folder("far")
	w.Put("inner/f", "x")
	w.Start()
	e := w.Opens()
	e.Trusts(lib)
	e.Trusts(far)
	for _, isolation := range []string{"none", "copy"} {
		var out struct{ Session *sessions.Session }
		e.Must("session/create", world.Obj{"workspace": w.Root, "isolation": isolation}, &out)
		var told []int
		for _, dirs := range [][]string{{lib}, {lib}, {lib, far}, {"inner"}, {}, {far}} {
			turn := e.Turn(world.Obj{"sessionId": out.Session.ID, "addDirs": dirs})
			require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
			notices := e.Said(turn.ID, sessions.ItemNotice)
			told = append(told, len(notices))
			if len(notices) > 0 {
				require.Contains(t, notices[0], "The agent may also work in "+strings.Join(dirs, ", ")+". What it changes there cannot be rejected")
				require.Equal(t, isolation == "copy", strings.Contains(notices[0], "does not cover these folders"))
			}
			if slices.Equal(dirs, []string{"inner"}) {
				want := w.Path("inner")
				if isolation == "copy" {
					want = filepath.Join(w.CopyOf(out.Session), "inner")
				}
				require.Equal(t, []string{"--add-dir=" + want}, w.PermitArgs())
			}
		}
		require.Equal(t, []int{1, 0, 1, 0, 0, 1}, told)
	}
}

// TestPermitsOnTheCommandLine gives cursord run and cursord chat flags for the agent's permissions and folders.
func TestPermitsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	lib, far := w.Folder("lib"), w.Folder("far")
	w.Put("shot.png", world.PNGBytes)
	w.Put("inner/f", "x")
	w.Start()
	for _, wrong := range [][]string{
		{"run", "--sandbox", "on", "x"}, {"run", "--sandbox", "enabled", "--force", "x"}, {"run", "--auto-review=maybe", "x"},
		{"chat", "--sandbox", "off"}, {"run", "--add-dir"},
	} {
		_, said, status := w.Cursord(wrong...)
		require.Equal(t, 2, status, "%v: %s", wrong, said)
	}
	flags := []string{"--sandbox", "enabled", "--auto-review", "--add-dir", "../lib", "--add-dir", far, "--add-dir", "inner", "do it"}
	_, said, status := w.Cursord(append([]string{"run"}, flags...)...)
	require.Equal(t, 1, status)
	require.Contains(t, said, "is not trusted")
	_, _, status = w.Cursord("trust")
	require.Zero(t, status)
	_, said, status = w.Cursord(append([]string{"run"}, flags...)...)
	require.Equal(t, 1, status)
	require.Contains(t, said, "trust it with: cursord trust "+lib)
	require.Empty(t, w.Runs())
	_, said, status = w.Cursord(append([]string{"run", "--trust", "--image", "shot.png"}, flags...)...)
	require.Zero(t, status, said)
	require.Equal(t, []string{"--sandbox=enabled", "--auto-review", "--add-dir=" + lib, "--add-dir=" + far, "--add-dir=" + w.Path("inner")}, w.PermitArgs())
	require.Contains(t, w.Prompted(), `<image path="`+w.Path("shot.png")+`" />`)
	require.Contains(t, said, "note: The agent may also work in "+lib+", "+far+".")
	_, said, status = w.Cursord("run", "--image", "inner/f", "x")
	require.Equal(t, 2, status)
	require.Contains(t, said, "is no image")
}

// TestTrustThatIsTakenBack: a turn that waits does not begin in a folder that is not trusted any more. The one that runs goes on.
func TestTrustThatIsTakenBack(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Plays(append(world.Shells("c", "echo ran >>ran"), world.Waits("go"), world.Done)...)
	w.Start()
	e := w.Opens()
	first := e.Asks(world.Obj{"prompt": "one"})
	second := e.Asks(world.Obj{"prompt": "two", "sessionId": first.SessionID})
	e.Until("the command", func(n world.Notification) bool {
		return n.Item != nil && n.Item.Tool != nil && n.Item.Status == sessions.ItemCompleted
	})
	e.Must("workspace/trust", world.Obj{"workspace": w.Root, "trusted": false}, nil)
	w.Put("../go", "")
	require.Equal(t, sessions.TurnCompleted, e.Ends(first.ID).Status)
	refused := e.Ends(second.ID)
	require.Equal(t, sessions.TurnFailed, refused.Status)
	require.EqualValues(t, "workspaceUntrusted", refused.Error.Kind)
	require.Contains(t, refused.Error.Hint, "cursord trust")
	require.Equal(t, "ran\n", w.Get("ran"))
}

// TestImportedPermits: permissions in an imported file are ignored.
func TestImportedPermits(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Start()
	e := w.Opens()
	path := filepath.Join(w.Dir, "s.ndjson")
	review, at := true, sessions.Now()
	w.WritesExport(path, api.ExportLine{Session: &sessions.Session{
		ID: "s", Workspace: w.Root, Title: "t", Mode: sessions.ModeAgent, CreatedAt: at, UpdatedAt: at,
		Sandbox: "disabled", AutoReview: &review, AddDirs: []string{"/"},
	}}, api.ExportLine{End: &api.ExportEnd{}})
	var out struct{ Session *sessions.Session }
	e.Must("session/import", world.Obj{"path": path}, &out)
	require.Equal(t, "t", out.Session.Title)
	require.Empty(t, out.Session.Sandbox)
	require.Nil(t, out.Session.AutoReview)
	require.Empty(t, out.Session.AddDirs)
}

// TestAnImportedSessionStaysIsolated: the next turn of a session that worked in a copy does not write in the work tree, nor does that of any
// session where the configuration wants copies.
func TestAnImportedSessionStaysIsolated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ setting, said, want string }{
		"copy":                       {"none", "copy", "copy"},
		"none":                       {"none", "none", "none"},
		"an unknown word":            {"none", "cage", "none"},
		"none where copies are used": {"copy", "none", "copy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("../config.toml", fmt.Sprintf("isolation = %q\n", c.setting))
			w.Start()
			e := w.Opens()
			path, at, chat := filepath.Join(w.Dir, "s.ndjson"), sessions.Now(), "chat-of-s"
			w.WritesExport(path, api.ExportLine{Session: &sessions.Session{
				ID: "s", Workspace: w.Root, Title: "t", Mode: sessions.ModeAgent, Isolation: c.said, AgentSessionID: &chat, CreatedAt: at, UpdatedAt: at,
			}}, api.ExportLine{End: &api.ExportEnd{}})
			var out struct{ Session *sessions.Session }
			e.Must("session/import", world.Obj{"path": path}, &out)
			require.Equal(t, c.want, out.Session.Isolation)
			require.Equal(t, c.setting == "copy", out.Session.AgentSessionID == nil, "a fresh chat")
		})
	}
}

// TestPermitsThatABuildLacks has a build that does not know an option: the turn fails, and never runs without it.
func TestPermitsThatABuildLacks(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	lib := w.Folder("lib")
	cursord, err := exec.LookPath("cursord")
	require.NoError(t, err)
	w.Put("../agent", "#!/bin/sh\nexec "+cursord+" fake-agent --build 2026.02 \"$@\"\n")
	w.Start()
	e := w.Opens()
	e.Trusts(lib)
	for option, params := range map[string]world.Obj{
		"--auto-review": {"autoReview": true}, "--add-dir": {"addDirs": []string{lib}},
	} {
		turn := e.Turn(params)
		require.Equal(t, sessions.TurnFailed, turn.Status)
		require.Contains(t, turn.Error.Message, "does not know the option "+option)
		require.NotEmpty(t, turn.Error.Hint)
	}
}

// TestDeniedCommands has an agent that is denied some commands: each call says why, and one notice at the end sums up and
// names the setting that would have allowed them.
func TestDeniedCommands(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Plays(`{"fake":"shell","command":"true"}`, `{"fake":"shell","command":"npm test","ask":true}`,
		`{"fake":"shell","command":"echo held > held","ask":true,"sandbox":true}`, `{"type":"result","subtype":"success","result":"done"}`)
	w.Start()
	e := w.Opens()
	for _, test := range []struct {
		params   world.Obj
		statuses string
		notice   string
	}{
		{world.Obj{}, "completed rejected rejected", "2 commands were denied: npm test, echo held > held; allow them with sandbox enabled"},
		{world.Obj{"sandbox": "enabled"}, "completed rejected completed", "1 command was denied: npm test; allow it with auto-review"},
		{world.Obj{"autoReview": true}, "completed cancelled cancelled", "2 commands were held back by the agent's auto-review: npm test, echo held > held; allow"},
		{world.Obj{"force": true}, "completed failed completed", ""},
	} {
		turn := e.Turn(test.params)
		require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
		var statuses []string
		for _, item := range e.Items(turn.ID) {
			if item.Kind == sessions.ItemTool {
				statuses = append(statuses, string(item.Status))
				if item.Status == sessions.ItemRejected {
					require.Equal(t, "refused by policy", item.Tool.Error)
				}
			}
		}
		require.Equal(t, test.statuses, strings.Join(statuses, " "))
		notices := e.Said(turn.ID, sessions.ItemNotice)
		if test.notice == "" {
			require.Empty(t, notices)
			continue
		}
		require.Len(t, notices, 1)
		require.True(t, strings.HasPrefix(notices[0], test.notice), notices[0])
	}

	_, shown, status := w.Cursord("run", "do it")
	require.Zero(t, status)
	require.Contains(t, shown, "$ npm test (rejected: refused by policy)")
	require.Contains(t, shown, "note: 2 commands were denied: npm test, ")
}
