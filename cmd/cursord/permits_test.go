package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// permitArgs returns what the latest run of the agent was given of the options that decide what it may do.
func (w *world) permitArgs() (args []string) {
	w.t.Helper()
	runs := w.runs()
	require.NotEmpty(w.t, runs)
	all := runs[len(runs)-1].Args
	for i := range all {
		switch all[i] {
		case "--sandbox", "--add-dir":
			args = append(args, all[i]+"="+all[i+1])
		case "--auto-review", "--force":
			args = append(args, all[i])
		}
	}
	return args
}

// folder makes a folder beside the workspace.
func (w *world) folder(name string) string {
	w.t.Helper()
	dir := filepath.Join(w.dir, name)
	require.NoError(w.t, os.MkdirAll(dir, 0o755))
	return dir
}

func (e *editor) trusts(dir string) {
	e.t.Helper()
	e.must("workspace/trust", obj{"workspace": dir, "trusted": true}, nil)
}

// TestPermits has turns, sessions and the configuration say what the agent may do: the nearest of them counts, and the agent
// is started so.
func TestPermits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lib, far, inner := w.folder("lib"), w.folder("far away"), w.path("inner")
	require.NoError(t, os.Mkdir(inner, 0o755))
	require.NoError(t, os.Symlink(far, filepath.Join(w.dir, "link")))
	w.start()
	e := w.opens()
	e.trusts(lib)
	e.trusts(far)
	session := func(params obj) *sessions.Session {
		t.Helper()
		var out struct{ Session *sessions.Session }
		params["workspace"] = w.ws
		e.must("session/create", params, &out)
		return out.Session
	}
	plain := session(obj{})
	boxed := session(obj{"sandbox": "enabled", "autoReview": true, "addDirs": []string{"../lib", lib}})
	require.Equal(t, []string{lib}, boxed.AddDirs)
	for _, test := range []struct {
		name   string
		params obj
		want   []string
	}{
		{"nothing", obj{"sessionId": plain.ID}, nil},
		{"of the turn", obj{"sessionId": plain.ID, "sandbox": "enabled", "autoReview": true, "addDirs": []string{lib}},
			[]string{"--sandbox=enabled", "--auto-review", "--add-dir=" + lib}},
		{"not kept", obj{"sessionId": plain.ID}, nil},
		{"no sandbox", obj{"sessionId": plain.ID, "sandbox": "disabled", "force": true}, []string{"--force", "--sandbox=disabled"}},
		{"by a link, twice, and the workspace", obj{"addDirs": []string{"../link", far, ".", w.ws}}, []string{"--add-dir=" + far}},
		{"in the workspace", obj{"addDirs": []string{"inner"}}, []string{"--add-dir=" + inner}},
		{"of the session", obj{"sessionId": boxed.ID}, []string{"--sandbox=enabled", "--auto-review", "--add-dir=" + lib}},
		{"the turn before the session", obj{"sessionId": boxed.ID, "sandbox": "disabled", "autoReview": false, "addDirs": []string{}},
			[]string{"--sandbox=disabled"}},
		{"null is nothing", obj{"sessionId": boxed.ID, "sandbox": nil, "autoReview": nil, "addDirs": nil},
			[]string{"--sandbox=enabled", "--auto-review", "--add-dir=" + lib}},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer w.in(t, e)()
			turn := e.turn(test.params)
			require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
			args := w.permitArgs()
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

	// What a session says can be taken back.
	e.must("session/update", obj{"sessionId": boxed.ID, "sandbox": "default", "autoReview": false, "addDirs": []string{}}, nil)
	e.turn(obj{"sessionId": boxed.ID})
	require.Empty(t, w.permitArgs())

	// The configuration speaks last.
	w.put("../config.toml", fmt.Sprintf("sandbox = \"enabled\"\nauto_review = true\nadd_dirs = [%q]\n", far))
	w.stop()
	w.start()
	e = w.opens()
	e.turn(obj{"sessionId": plain.ID})
	require.Equal(t, []string{"--sandbox=enabled", "--auto-review", "--add-dir=" + far}, w.permitArgs())
	e.turn(obj{"sessionId": boxed.ID, "sandbox": "disabled"})
	require.Equal(t, []string{"--sandbox=disabled", "--add-dir=" + far}, w.permitArgs())
	require.NoError(t, os.Remove(far))
	failed := e.fails("turn/start", obj{"workspace": w.ws, "prompt": "do it"})
	require.Equal(t, "addDirs[0]", failed.Data.Field)
	require.Contains(t, failed.Message, "by the setting add_dirs")
}

// TestPermitsThatAreRefused asks for sandboxes and folders that do not exist, that contradict each other, or that nobody has
// trusted.
func TestPermitsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lib := w.folder("lib")
	w.put("file", "x")
	w.start()
	e := w.opens()
	var boxed, copied struct{ Session *sessions.Session }
	e.must("session/create", obj{"workspace": w.ws, "sandbox": "enabled"}, &boxed)
	e.must("session/create", obj{"workspace": w.ws, "isolation": "copy"}, &copied)
	many := make([]string, 33)
	for i := range many {
		many[i] = fmt.Sprint("d", i)
	}
	for _, test := range []struct {
		name   string
		params obj
		kind   api.ErrorKind
		field  string
		say    string
	}{
		{"force and a sandbox", obj{"force": true, "sandbox": "enabled"}, "invalid", "force", "force turns the agent's sandbox off"},
		{"force and the session's sandbox", obj{"force": true, "sessionId": boxed.Session.ID}, "invalid", "force", "force turns the agent's sandbox off"},
		{"no folder", obj{"addDirs": []string{"../none"}}, "invalid", "addDirs[0]", "cannot be opened"},
		{"a file", obj{"addDirs": []string{lib, "file"}}, "invalid", "addDirs[1]", "is not a directory"},
		{"too many", obj{"addDirs": many}, "invalid", "addDirs", "33 folders"},
		{"a long path", obj{"addDirs": []string{"/" + strings.Repeat("x", 5000)}}, "invalid", "addDirs[0]", "the most"},
		{"NUL", obj{"addDirs": []string{"a\x00"}}, "invalid", "addDirs[0]", "NUL"},
		{"not trusted", obj{"addDirs": []string{lib}}, "workspaceUntrusted", "addDirs", lib + " is not trusted"},
		{"what holds a copied workspace", obj{"addDirs": []string{"/"}, "sessionId": copied.Session.ID}, "workspaceUntrusted", "addDirs", "/ is not trusted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer w.in(t, e)()
			params := obj{"workspace": w.ws, "prompt": "do it"}
			for k, v := range test.params {
				params[k] = v
			}
			failed := e.fails("turn/start", params)
			require.Equal(t, test.kind, failed.Data.Kind)
			require.Equal(t, test.field, failed.Data.Field)
			require.Contains(t, failed.Message, test.say)
		})
	}
	require.Empty(t, w.runs())
	require.Equal(t, "addDirs[0]", e.fails("session/update", obj{"sessionId": boxed.Session.ID, "addDirs": []string{"../none"}}).Data.Field)

	failed := e.fails("turn/start", obj{"workspace": w.ws, "prompt": "do it", "addDirs": []string{"../lib"}})
	require.Equal(t, lib, failed.Data.Path)
	e.trusts(lib)
	named := obj{"workspace": w.ws, "prompt": "do it", "turnId": "named", "addDirs": []string{"../lib"}, "sandbox": "enabled"}
	e.must("turn/start", named, nil)
	e.ends("named")

	// A repetition finds its turn, whatever has become of the folder; what asks for more does not.
	require.NoError(t, os.Remove(lib))
	e.must("turn/start", named, nil)
	for _, other := range []obj{{"sandbox": "disabled"}, {"autoReview": true}, {"addDirs": []string{"../lib", "../far"}}, {"addDirs": []string{}}} {
		params := obj{"workspace": w.ws, "prompt": "do it", "turnId": "named"}
		for k, v := range other {
			params[k] = v
		}
		require.Equal(t, "turnId", e.fails("turn/start", params).Data.Field, "%v", other)
	}
	require.Len(t, w.runs(), 1)

	// What an agent in a copy is given must not lead it to the work tree.
	e.trusts(w.dir)
	params := obj{"workspace": w.ws, "prompt": "do it", "sessionId": copied.Session.ID, "addDirs": []string{".."}}
	failed = e.fails("turn/start", params)
	require.Equal(t, "addDirs", failed.Data.Field)
	require.Contains(t, failed.Message, "holds the workspace")
}

// TestAddedFoldersAreTold has a turn say what folders beside the workspace mean, once for each set of them in a session.
func TestAddedFoldersAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lib, far := w.folder("lib"), w.folder("far")
	w.put("inner/f", "x")
	w.start()
	e := w.opens()
	e.trusts(lib)
	e.trusts(far)
	for _, isolation := range []string{"none", "copy"} {
		var out struct{ Session *sessions.Session }
		e.must("session/create", obj{"workspace": w.ws, "isolation": isolation}, &out)
		var told []int
		for _, dirs := range [][]string{{lib}, {lib}, {lib, far}, {"inner"}, {}, {far}} {
			turn := e.turn(obj{"sessionId": out.Session.ID, "addDirs": dirs})
			require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
			notices := e.said(turn.ID, sessions.ItemNotice)
			told = append(told, len(notices))
			if len(notices) > 0 {
				require.Contains(t, notices[0], "The agent may also work in "+strings.Join(dirs, ", ")+". What it changes there cannot be rejected")
				require.Equal(t, isolation == "copy", strings.Contains(notices[0], "does not cover these folders"))
			}
			if slices.Equal(dirs, []string{"inner"}) {
				want := w.path("inner")
				if isolation == "copy" {
					want = filepath.Join(w.copyOf(out.Session), "inner")
				}
				require.Equal(t, []string{"--add-dir=" + want}, w.permitArgs())
			}
		}
		require.Equal(t, []int{1, 0, 1, 0, 0, 1}, told)
	}
}

// TestPermitsOnTheCommandLine gives cursord run and cursord chat flags for what the agent may do and see.
func TestPermitsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lib, far := w.folder("lib"), w.folder("far")
	w.put("shot.png", pngBytes)
	w.put("inner/f", "x")
	w.start()
	for _, wrong := range [][]string{
		{"run", "--sandbox", "on", "x"}, {"run", "--sandbox", "enabled", "--force", "x"}, {"run", "--auto-review=maybe", "x"},
		{"chat", "--sandbox", "off"}, {"run", "--add-dir"},
	} {
		_, said, status := w.cursord(wrong...)
		require.Equal(t, 2, status, "%v: %s", wrong, said)
	}
	flags := []string{"--sandbox", "enabled", "--auto-review", "--add-dir", "../lib", "--add-dir", far, "--add-dir", "inner", "do it"}
	_, said, status := w.cursord(append([]string{"run"}, flags...)...)
	require.Equal(t, 1, status)
	require.Contains(t, said, "is not trusted")
	_, _, status = w.cursord("trust")
	require.Zero(t, status)
	_, said, status = w.cursord(append([]string{"run"}, flags...)...)
	require.Equal(t, 1, status)
	require.Contains(t, said, "trust it with: cursord trust "+lib)
	require.Empty(t, w.runs())
	_, said, status = w.cursord(append([]string{"run", "--trust", "--image", "shot.png"}, flags...)...)
	require.Zero(t, status, said)
	require.Equal(t, []string{"--sandbox=enabled", "--auto-review", "--add-dir=" + lib, "--add-dir=" + far, "--add-dir=" + w.path("inner")}, w.permitArgs())
	require.Contains(t, w.prompted(), `<image path="`+w.path("shot.png")+`" />`)
	require.Contains(t, said, "note: The agent may also work in "+lib+", "+far+".")
	_, said, status = w.cursord("run", "--image", "inner/f", "x")
	require.Equal(t, 1, status)
	require.Contains(t, said, "is no image")
}

// TestPermitArgs: what a chat hands to another is the command line of its permissions.
func TestPermitArgs(t *testing.T) {
	t.Parallel()
	enabled, review := "enabled", false
	require.Equal(t, []string{"--sandbox=enabled", "--auto-review=false", "--add-dir=/a"},
		permitArgs(&rpc.TurnStartParams{Sandbox: &enabled, AutoReview: &review, AddDirs: &[]string{"/a"}}))
	require.Empty(t, permitArgs(&rpc.TurnStartParams{}))
}

// TestImportedPermits has a file say what the agents of its session may do: that is not for a file to say.
func TestImportedPermits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	e := w.opens()
	path := filepath.Join(w.dir, "s.ndjson")
	review, at := true, sessions.Now()
	w.writesExport(path, api.ExportLine{Session: &sessions.Session{
		ID: "s", Workspace: w.ws, Title: "t", Mode: sessions.ModeAgent, CreatedAt: at, UpdatedAt: at,
		Sandbox: "disabled", AutoReview: &review, AddDirs: []string{"/"},
	}}, api.ExportLine{End: &api.ExportEnd{}})
	var out struct{ Session *sessions.Session }
	e.must("session/import", obj{"path": path}, &out)
	require.Equal(t, "t", out.Session.Title)
	require.Empty(t, out.Session.Sandbox)
	require.Nil(t, out.Session.AutoReview)
	require.Empty(t, out.Session.AddDirs)
}

// TestPermitsThatABuildLacks has a build of the agent that does not know an option: the turn fails, and is never done
// without it.
func TestPermitsThatABuildLacks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lib := w.folder("lib")
	cursord, err := exec.LookPath("cursord")
	require.NoError(t, err)
	w.put("../agent", "#!/bin/sh\nexec "+cursord+" fake-agent --build 2026.02 \"$@\"\n")
	w.start()
	e := w.opens()
	e.trusts(lib)
	for option, params := range map[string]obj{
		"--auto-review": {"autoReview": true}, "--add-dir": {"addDirs": []string{lib}},
	} {
		turn := e.turn(params)
		require.Equal(t, sessions.TurnFailed, turn.Status)
		require.Contains(t, turn.Error.Message, "does not know the option "+option)
		require.NotEmpty(t, turn.Error.Hint)
	}
}

// TestDeniedCommands has an agent that is not allowed some of what it wants: each call says why, and one notice at the end
// sums up and says what would have allowed it.
func TestDeniedCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plays(`{"fake":"shell","command":"true"}`, `{"fake":"shell","command":"npm test","ask":true}`,
		`{"fake":"shell","command":"echo held > held","ask":true,"sandbox":true}`, `{"type":"result","subtype":"success","result":"done"}`)
	w.start()
	e := w.opens()
	for _, test := range []struct {
		params   obj
		statuses string
		notice   string
	}{
		{obj{}, "completed rejected rejected", "2 commands were denied: npm test, echo held > held; allow them with sandbox enabled"},
		{obj{"sandbox": "enabled"}, "completed rejected completed", "1 command was denied: npm test; allow it with auto-review"},
		{obj{"autoReview": true}, "completed cancelled cancelled", "2 commands were held back by the agent's auto-review: npm test, echo held > held; allow"},
		{obj{"force": true}, "completed failed completed", ""},
	} {
		turn := e.turn(test.params)
		require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
		var statuses []string
		for _, item := range e.items(turn.ID) {
			if item.Kind == sessions.ItemTool {
				statuses = append(statuses, string(item.Status))
				if item.Status == sessions.ItemRejected {
					require.Equal(t, "refused by policy", item.Tool.Error)
				}
			}
		}
		require.Equal(t, test.statuses, strings.Join(statuses, " "))
		notices := e.said(turn.ID, sessions.ItemNotice)
		if test.notice == "" {
			require.Empty(t, notices)
			continue
		}
		require.Len(t, notices, 1)
		require.True(t, strings.HasPrefix(notices[0], test.notice), notices[0])
	}

	_, shown, status := w.cursord("run", "do it")
	require.Zero(t, status)
	require.Contains(t, shown, "$ npm test (rejected: refused by policy)")
	require.Contains(t, shown, "note: 2 commands were denied: npm test, ")
}
