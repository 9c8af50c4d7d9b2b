package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// Edits are script lines by which the agent writes after to path, where before was ("(absent)": nothing).
func Edits(call, path, before, after string) []string {
	q := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	old := ""
	if before != "(absent)" && before != "" {
		old = `"beforeFullFileContent":` + q(before) + `,`
	}
	now := ""
	if after != "" {
		now = `"afterFullFileContent":` + q(after) + `,`
	}
	full := q("{{cwd}}/" + path)
	args := `"args":{"path":` + full + `}`
	return []string{
		fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"tool_call":{"editToolCall":{%s}}}`, call, args),
		fmt.Sprintf(`{"fake":"write","path":%s,"text":%s}`, q(path), q(after)),
		fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"tool_call":{"editToolCall":{%s,"result":{"success":{%s%s"path":%s}}}}}`,
			call, args, old, now, full),
	}
}

// Deletes are script lines by which the agent deletes path, which held before.
func Deletes(call, path, before string) []string {
	prev, _ := json.Marshal(before)
	args := `"args":{"path":"{{cwd}}/` + path + `"}`
	return []string{
		fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"tool_call":{"deleteToolCall":{%s}}}`, call, args),
		fmt.Sprintf(`{"fake":"delete","path":%q}`, path),
		fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"tool_call":{"deleteToolCall":{%s,"result":{"success":{"path":"{{cwd}}/%s","prevContent":%s}}}}}`,
			call, args, path, prev),
	}
}

const Done = `{"type":"result","subtype":"success","is_error":false,"result":"ok"}`

func Lines(groups ...[]string) []string {
	var all []string
	for _, g := range groups {
		all = append(all, g...)
	}
	return append(all, Done)
}

func Numbered(n int, change map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if s, ok := change[i]; ok {
			b.WriteString(s)
			continue
		}
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// A Tree is a workspace's files by path; "(absent)" for none.
type Tree map[string]string

func (w *World) PutAll(files Tree) {
	for path, text := range files {
		if text != "(absent)" {
			w.Put(path, text)
		}
	}
}

func (w *World) RequireTree(want Tree) {
	w.T.Helper()
	for path, text := range want {
		require.Equal(w.T, text, w.Get(path), path)
	}
}

// Changing is the script of an agent that turns before into after.
func Changing(before, after Tree) []string {
	var all [][]string
	i := 0
	for path, text := range after {
		i++
		if text == "(absent)" {
			all = append(all, Deletes(fmt.Sprint("d", i), path, before[path]))
		} else {
			old, ok := before[path]
			if !ok {
				old = "(absent)"
			}
			all = append(all, Edits(fmt.Sprint("e", i), path, old, text))
		}
	}
	return Lines(all...)
}

var odd = struct{ before, after Tree }{
	before: Tree{
		"crlf.txt":         "a\r\nb\r\nc\r\n",
		"bom.txt":          "\ufeffone\ntwo\n",
		"noeol.txt":        "x\ny",
		"toeol.txt":        "x\ny",
		"empty.txt":        "",
		"emptied.txt":      "full\n",
		"gone.txt":         "was\nhere\n",
		"dir/gone2.txt":    "no newline at the end",
		"many.txt":         Numbered(40, nil),
		"sp ace/ü \"q\".t": "q\n",
		"new.txt":          "(absent)",
		"new/er/one.txt":   "(absent)",
		"newempty.txt":     "(absent)",
	},
	after: Tree{
		"crlf.txt":         "a\r\nB\r\nc\r\nd\r\n",
		"bom.txt":          "\ufeffONE\ntwo\n",
		"noeol.txt":        "x\nY",
		"toeol.txt":        "x\ny\n",
		"empty.txt":        "no longer\n",
		"emptied.txt":      "",
		"gone.txt":         "(absent)",
		"dir/gone2.txt":    "(absent)",
		"many.txt":         Numbered(40, map[int]string{2: "two\n", 20: "", 39: "line 39\nand a half\n"}),
		"sp ace/ü \"q\".t": "Q\n",
		"new.txt":          "brand\nnew\n",
		"new/er/one.txt":   "deep",
		"newempty.txt":     "",
	},
}

func TestRejectAllRestoresEveryByte(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.PutAll(odd.before)
	w.Plays(Changing(odd.before, odd.after)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	w.RequireTree(odd.after)
	require.Len(t, e.Diffs(), len(odd.after))
	out := e.Decides("diff/reject", Obj{"all": true})
	require.Empty(t, out.Skipped)
	w.RequireTree(odd.before)
	require.Empty(t, e.Diffs())
	require.NoFileExists(t, w.Path("new"), "folders that the agent made go with what was in them")

	e.Must("diff/undo", Obj{"workspace": w.Root}, nil)
	w.RequireTree(odd.after)
	require.Len(t, e.Diffs(), len(odd.after))
	e.Must("diff/redo", Obj{"workspace": w.Root}, nil)
	w.RequireTree(odd.before)
}

func TestAcceptAllLeavesTheDisk(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.PutAll(odd.before)
	w.Plays(Changing(odd.before, odd.after)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	e.Decides("diff/accept", Obj{"all": true})
	w.RequireTree(odd.after)
	require.Empty(t, e.Diffs())
	e.Must("diff/undo", Obj{"workspace": w.Root}, nil)
	require.Len(t, e.Diffs(), len(odd.after))
	w.RequireTree(odd.after)
	e.Decides("diff/reject", Obj{"all": true})
	w.RequireTree(odd.before)
}

func TestUnifiedIsWhatGitApplies(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.PutAll(odd.before)
	w.Plays(Changing(odd.before, odd.after)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	var out struct{ Patch string }
	e.Must("diff/unified", Obj{"workspace": w.Root}, &out)
	patch := filepath.Join(w.Dir, "patch")
	require.NoError(t, os.WriteFile(patch, []byte(out.Patch), 0o644))
	for _, step := range []struct {
		args []string
		want Tree
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
	before := Numbered(30, nil)
	agent := Numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})
	user := strings.NewReplacer(
		"line 1\n", "user before\nline 1\n",
		"line 10\n", "line 10\nuser between\n",
		"agent 15a\nagent 15b\n", "agent 15a\nuser inside\nagent 15b\n",
		"line 30\n", "line 30\nuser behind\n").Replace(agent)
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		for _, method := range []string{"diff/accept", "diff/reject"} {
			t.Run(fmt.Sprint(method, order), func(t *testing.T) {
				w := New(t)
				w.Put("f", before)
				w.Plays(Lines(Edits("c", "f", before, agent))...)
				w.Start()
				e := w.Opens()
				e.Turn(nil)
				w.Put("f", user)
				ids := HunkIDs(e.Diffs()["f"])
				require.GreaterOrEqual(t, len(ids), 3)
				for len(ids) > 0 {
					e.Decides(method, Obj{"hunks": []string{ids[order[0]%len(ids)]}})
					if d := e.Diffs()["f"]; d != nil {
						ids = HunkIDs(d)
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
	w := New(t)
	before, after := "a\nb\nc\n", "A\nb\nC\n"
	w.Put("f", before)
	w.Plays(Lines(Edits("c", "f", before, after))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	d := e.Diffs()["f"]
	ids := HunkIDs(d)
	reject := func(params Obj) int64 {
		params["workspace"] = w.Root
		return int64(e.Fails("diff/reject", params).Code)
	}
	for _, c := range []struct {
		name   string
		params Obj
		code   int64
	}{
		{"no selector", Obj{}, -32602},
		{"two selectors", Obj{"all": true, "path": "f"}, -32602},
		{"unknown hunk", Obj{"hunks": []string{"99.1"}}, -32001},
		{"no id at all", Obj{"hunks": []string{"nonsense"}}, -32001},
		{"unknown path", Obj{"path": "g"}, -32001},
		{"stale revision", Obj{"hunks": ids[:1], "rev": d.Rev + 7}, -32003},
		{"lines of two hunks", Obj{"hunks": ids, "lines": Obj{"from": 0, "to": 1}}, -32602},
		{"no lines", Obj{"hunks": ids[:1], "lines": Obj{"from": 1, "to": 1}}, -32602},
		{"lines that are not there", Obj{"hunks": ids[:1], "lines": Obj{"from": 7, "to": 9}}, -32602},
	} {
		require.Equal(t, c.code, reject(c.params), c.name)
	}
	w.RequireTree(Tree{"f": after})

	// The user has changed what the hunk is about.
	w.Put("f", "A of mine\nb\nC\n")
	err := e.Fails("diff/reject", Obj{"workspace": w.Root, "hunks": ids[:1]})
	require.Equal(t, api.KindConflict, err.Data.Kind)
	require.NotNil(t, err.Data.Diff)
	w.RequireTree(Tree{"f": "A of mine\nb\nC\n"})
	require.Equal(t, -32001, int(e.Fails("diff/redo", Obj{"workspace": w.Root}).Code))
	require.Equal(t, -32001, int(e.Fails("diff/undo", Obj{"workspace": w.Root}).Code))
}

func TestNothingIsWrittenOutsideTheWorkspace(t *testing.T) {
	t.Parallel()
	w := New(t)
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
	script = append(script, Edits("1", "../outside/f", "old\n", "new\n")...)
	script = append(script, Edits("2", "out/f", "old\n", "new\n")...)
	script = append(script, Edits("3", "g", "old\n", "new\n")...)
	w.Plays(append(script, Done)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	diffs := e.Diffs()
	require.Contains(t, diffs, secret, "a file outside is listed by its absolute path")
	for path, d := range diffs {
		require.True(t, filepath.IsAbs(path), path)
		err := e.Fails("diff/reject", Obj{"workspace": w.Root, "hunks": HunkIDs(d)[:1]})
		require.Equal(t, api.KindOutsideWorkspace, err.Data.Kind)
		require.EqualValues(t, -32004, err.Code)
	}
	out := e.Decides("diff/reject", Obj{"all": true})
	require.Zero(t, out.Applied)
	require.Len(t, out.Skipped, len(diffs))
	for _, f := range []string{secret, link} {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		require.Equal(t, "new\n", string(b))
	}
	for method, params := range map[string]Obj{
		"diff/list": {}, "diff/unified": {}, "diff/accept": {}, "diff/reject": {},
	} {
		params["workspace"], params["path"] = w.Root, "../elsewhere"
		require.EqualValues(t, -32004, e.Fails(method, params).Code, method)
	}
	// A folder that becomes a link while its file is under review.
	w.Put("in/f", "old\n")
	w.Plays(Lines(Edits("4", "in/f", "old\n", "new\n"))...)
	e.Turn(Obj{"prompt": "again"})
	id := HunkIDs(e.Diffs()["in/f"])[0]
	require.NoError(t, os.RemoveAll(w.Path("in")))
	require.NoError(t, os.Symlink(outside, w.Path("in")))
	require.NoError(t, os.WriteFile(secret, []byte("new\n"), 0o644))
	e.Fails("diff/reject", Obj{"workspace": w.Root, "hunks": []string{id}})
	b, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "new\n", string(b))
}

func Sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
