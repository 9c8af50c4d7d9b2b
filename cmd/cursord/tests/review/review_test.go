//go:build unix

package review

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

var odd = struct{ before, after world.Tree }{
	before: world.Tree{
		"crlf.txt":         "a\r\nb\r\nc\r\n",
		"bom.txt":          "\ufeffone\ntwo\n",
		"noeol.txt":        "x\ny",
		"toeol.txt":        "x\ny",
		"empty.txt":        "",
		"emptied.txt":      "full\n",
		"gone.txt":         "was\nhere\n",
		"dir/gone2.txt":    "no newline at the end",
		"many.txt":         world.Numbered(40, nil),
		"sp ace/ü \"q\".t": "q\n",
		"new.txt":          "(absent)",
		"new/er/one.txt":   "(absent)",
		"newempty.txt":     "(absent)",
	},
	after: world.Tree{
		"crlf.txt":         "a\r\nB\r\nc\r\nd\r\n",
		"bom.txt":          "\ufeffONE\ntwo\n",
		"noeol.txt":        "x\nY",
		"toeol.txt":        "x\ny\n",
		"empty.txt":        "no longer\n",
		"emptied.txt":      "",
		"gone.txt":         "(absent)",
		"dir/gone2.txt":    "(absent)",
		"many.txt":         world.Numbered(40, map[int]string{2: "two\n", 20: "", 39: "line 39\nand a half\n"}),
		"sp ace/ü \"q\".t": "Q\n",
		"new.txt":          "brand\nnew\n",
		"new/er/one.txt":   "deep",
		"newempty.txt":     "",
	},
}

func TestRejectAllRestoresEveryByte(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(odd.before)
	w.Plays(world.Changing(odd.before, odd.after)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	w.RequireTree(odd.after)
	require.Len(t, e.Diffs(), len(odd.after))
	out := e.Decides("diff/reject", world.Obj{"all": true})
	require.Empty(t, out.Skipped)
	w.RequireTree(odd.before)
	require.Empty(t, e.Diffs())
	require.NoFileExists(t, w.Path("new"), "folders that the agent made go with what was in them")

	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	w.RequireTree(odd.after)
	require.Len(t, e.Diffs(), len(odd.after))
	e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
	w.RequireTree(odd.before)
}

func TestAcceptAllLeavesTheDisk(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(odd.before)
	w.Plays(world.Changing(odd.before, odd.after)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	e.Decides("diff/accept", world.Obj{"all": true})
	w.RequireTree(odd.after)
	require.Empty(t, e.Diffs())
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Len(t, e.Diffs(), len(odd.after))
	w.RequireTree(odd.after)
	e.Decides("diff/reject", world.Obj{"all": true})
	w.RequireTree(odd.before)
}

func TestUnifiedIsWhatGitApplies(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(odd.before)
	w.Plays(world.Changing(odd.before, odd.after)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	var out struct{ Patch string }
	e.Must("diff/unified", world.Obj{"workspace": w.Root}, &out)
	patch := filepath.Join(w.Dir, "patch")
	require.NoError(t, os.WriteFile(patch, []byte(out.Patch), 0o644))
	for _, step := range []struct {
		args []string
		want world.Tree
	}{{[]string{"-R"}, odd.before}, {nil, odd.after}} {
		cmd := exec.Command("git", append([]string{"apply", "--whitespace=nowarn"}, append(step.args, patch)...)...)
		cmd.Dir = w.Root
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", said, out.Patch)
		w.RequireTree(step.want)
	}
}

func TestUserEditsSurviveEveryDecision(t *testing.T) {
	t.Parallel()
	before := world.Numbered(30, nil)
	agent := world.Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})
	user := strings.NewReplacer(
		"line 1\n", "user before\nline 1\n",
		"line 10\n", "line 10\nuser between\n",
		"agent 15a\nagent 15b\n", "agent 15a\nuser inside\nagent 15b\n",
		"line 30\n", "line 30\nuser behind\n").Replace(agent)
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		for _, method := range []string{"diff/accept", "diff/reject"} {
			t.Run(fmt.Sprint(method, order), func(t *testing.T) {
				w := world.New(t)
				w.Put("f", before)
				w.Plays(world.Lines(world.Edits("c", "f", before, agent))...)
				w.Start()
				e := w.Opens()
				e.Turn(nil)
				w.Put("f", user)
				ids := world.HunkIDs(e.Diffs()["f"])
				require.GreaterOrEqual(t, len(ids), 3)
				for len(ids) > 0 {
					e.Decides(method, world.Obj{"hunks": []string{ids[order[0]%len(ids)]}})
					if d := e.Diffs()["f"]; d != nil {
						ids = world.HunkIDs(d)
					} else {
						ids = nil
					}
				}
				got := w.Get("f")
				for _, line := range []string{"user before\n", "user between\n", "user inside\n", "user behind\n"} {
					require.Contains(t, got, line)
				}
				if method == "diff/accept" {
					require.Equal(t, user, got)
				} else {
					require.Equal(t, before, strings.NewReplacer("user before\n", "", "user between\n", "", "user inside\n", "",
						"user behind\n", "").Replace(got))
				}
			})
		}
	}
}

func TestDecisionsThatCannotBe(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	before, after := "a\nb\nc\n", "A\nb\nC\n"
	w.Put("f", before)
	w.Plays(world.Lines(world.Edits("c", "f", before, after))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	d := e.Diffs()["f"]
	ids := world.HunkIDs(d)
	reject := func(params world.Obj) int64 {
		params["workspace"] = w.Root
		return int64(e.Fails("diff/reject", params).Code)
	}
	for _, c := range []struct {
		name   string
		params world.Obj
		code   int64
	}{
		{"no selector", world.Obj{}, -32602},
		{"two selectors", world.Obj{"all": true, "path": "f"}, -32602},
		{"unknown hunk", world.Obj{"hunks": []string{"99.1"}}, -32001},
		{"no id at all", world.Obj{"hunks": []string{"nonsense"}}, -32001},
		{"unknown path", world.Obj{"path": "g"}, -32001},
		{"stale revision", world.Obj{"hunks": ids[:1], "rev": d.Rev + 7}, -32003},
		{"lines of two hunks", world.Obj{"hunks": ids, "lines": world.Obj{"from": 0, "to": 1}}, -32602},
		{"no lines", world.Obj{"hunks": ids[:1], "lines": world.Obj{"from": 1, "to": 1}}, -32602},
		{"lines that are not there", world.Obj{"hunks": ids[:1], "lines": world.Obj{"from": 7, "to": 9}}, -32602},
	} {
		require.Equal(t, c.code, reject(c.params), c.name)
	}
	w.RequireTree(world.Tree{"f": after})

	// The user has changed the lines of the hunk.
	w.Put("f", "A of mine\nb\nC\n")
	err := e.Fails("diff/reject", world.Obj{"workspace": w.Root, "hunks": ids[:1]})
	require.Equal(t, api.KindConflict, err.Data.Kind)
	require.NotNil(t, err.Data.Diff)
	w.RequireTree(world.Tree{"f": "A of mine\nb\nC\n"})
	require.Equal(t, -32001, int(e.Fails("diff/redo", world.Obj{"workspace": w.Root}).Code))
	require.Equal(t, -32001, int(e.Fails("diff/undo", world.Obj{"workspace": w.Root}).Code))
}

func TestNothingIsWrittenOutsideTheWorkspace(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	outside := filepath.Join(w.Dir, "outside")
	require.NoError(t, os.Mkdir(outside, 0o755))
	secret := filepath.Join(outside, "f")
	link := filepath.Join(outside, "g")
	for _, f := range []string{secret, link} {
		require.NoError(t, os.WriteFile(f, []byte("old\n"), 0o644))
	}
	require.NoError(t, os.Symlink(outside, w.Path("out")))
	require.NoError(t, os.Symlink(link, w.Path("g")))
	var script []string
	script = append(script, world.Edits("1", "../outside/f", "old\n", "new\n")...)
	script = append(script, world.Edits("2", "out/f", "old\n", "new\n")...)
	script = append(script, world.Edits("3", "g", "old\n", "new\n")...)
	w.Plays(append(script, world.Done)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	diffs := e.Diffs()
	require.Contains(t, diffs, secret, "a file outside is listed by its absolute path")
	for path, d := range diffs {
		require.True(t, filepath.IsAbs(path), path)
		err := e.Fails("diff/reject", world.Obj{"workspace": w.Root, "hunks": world.HunkIDs(d)[:1]})
		require.Equal(t, api.KindOutsideWorkspace, err.Data.Kind)
		require.EqualValues(t, -32004, err.Code)
	}
	out := e.Decides("diff/reject", world.Obj{"all": true})
	require.Zero(t, out.Applied)
	require.Len(t, out.Skipped, len(diffs))
	for _, f := range []string{secret, link} {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		require.Equal(t, "new\n", string(b))
	}
	for method, params := range map[string]world.Obj{
		"diff/list": {}, "diff/unified": {}, "diff/accept": {}, "diff/reject": {},
	} {
		params["workspace"], params["path"] = w.Root, "../elsewhere"
		require.EqualValues(t, -32004, e.Fails(method, params).Code, method)
	}
	// A folder becomes a link while its file is under review.
	w.Put("in/f", "old\n")
	w.Plays(world.Lines(world.Edits("4", "in/f", "old\n", "new\n"))...)
	e.Turn(world.Obj{"prompt": "again"})
	id := world.HunkIDs(e.Diffs()["in/f"])[0]
	require.NoError(t, os.RemoveAll(w.Path("in")))
	require.NoError(t, os.Symlink(outside, w.Path("in")))
	require.NoError(t, os.WriteFile(secret, []byte("new\n"), 0o644))
	e.Fails("diff/reject", world.Obj{"workspace": w.Root, "hunks": []string{id}})
	b, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "new\n", string(b))
}
