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

// edits are script lines by which the agent writes after to path, where before was ("(absent)": nothing).
func edits(call, path, before, after string) []string {
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

// deletes are script lines by which the agent deletes path, which held before.
func deletes(call, path, before string) []string {
	prev, _ := json.Marshal(before)
	args := `"args":{"path":"{{cwd}}/` + path + `"}`
	return []string{
		fmt.Sprintf(`{"type":"tool_call","subtype":"started","call_id":%q,"tool_call":{"deleteToolCall":{%s}}}`, call, args),
		fmt.Sprintf(`{"fake":"delete","path":%q}`, path),
		fmt.Sprintf(`{"type":"tool_call","subtype":"completed","call_id":%q,"tool_call":{"deleteToolCall":{%s,"result":{"success":{"path":"{{cwd}}/%s","prevContent":%s}}}}}`,
			call, args, path, prev),
	}
}

const done = `{"type":"result","subtype":"success","is_error":false,"result":"ok"}`

func lines(groups ...[]string) []string {
	var all []string
	for _, g := range groups {
		all = append(all, g...)
	}
	return append(all, done)
}

func numbered(n int, change map[int]string) string {
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

// A tree is a workspace's files by path; "(absent)" for none.
type tree map[string]string

func (w *world) putAll(files tree) {
	for path, text := range files {
		if text != "(absent)" {
			w.put(path, text)
		}
	}
}

func (w *world) requireTree(want tree) {
	w.t.Helper()
	for path, text := range want {
		require.Equal(w.t, text, w.get(path), path)
	}
}

// changing is the script of an agent that turns before into after.
func changing(before, after tree) []string {
	var all [][]string
	i := 0
	for path, text := range after {
		i++
		if text == "(absent)" {
			all = append(all, deletes(fmt.Sprint("d", i), path, before[path]))
		} else {
			old, ok := before[path]
			if !ok {
				old = "(absent)"
			}
			all = append(all, edits(fmt.Sprint("e", i), path, old, text))
		}
	}
	return lines(all...)
}

var odd = struct{ before, after tree }{
	before: tree{
		"crlf.txt":         "a\r\nb\r\nc\r\n",
		"bom.txt":          "\ufeffone\ntwo\n",
		"noeol.txt":        "x\ny",
		"toeol.txt":        "x\ny",
		"empty.txt":        "",
		"emptied.txt":      "full\n",
		"gone.txt":         "was\nhere\n",
		"dir/gone2.txt":    "no newline at the end",
		"many.txt":         numbered(40, nil),
		"sp ace/ü \"q\".t": "q\n",
		"new.txt":          "(absent)",
		"new/er/one.txt":   "(absent)",
		"newempty.txt":     "(absent)",
	},
	after: tree{
		"crlf.txt":         "a\r\nB\r\nc\r\nd\r\n",
		"bom.txt":          "\ufeffONE\ntwo\n",
		"noeol.txt":        "x\nY",
		"toeol.txt":        "x\ny\n",
		"empty.txt":        "no longer\n",
		"emptied.txt":      "",
		"gone.txt":         "(absent)",
		"dir/gone2.txt":    "(absent)",
		"many.txt":         numbered(40, map[int]string{2: "two\n", 20: "", 39: "line 39\nand a half\n"}),
		"sp ace/ü \"q\".t": "Q\n",
		"new.txt":          "brand\nnew\n",
		"new/er/one.txt":   "deep",
		"newempty.txt":     "",
	},
}

func TestRejectAllRestoresEveryByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(odd.before)
	w.plays(changing(odd.before, odd.after)...)
	w.start()
	e := w.opens()
	e.turn(nil)
	w.requireTree(odd.after)
	require.Len(t, e.diffs(), len(odd.after))
	out := e.decides("diff/reject", obj{"all": true})
	require.Empty(t, out.Skipped)
	w.requireTree(odd.before)
	require.Empty(t, e.diffs())
	require.NoFileExists(t, w.path("new"), "folders that the agent made go with what was in them")

	e.must("diff/undo", obj{"workspace": w.ws}, nil)
	w.requireTree(odd.after)
	require.Len(t, e.diffs(), len(odd.after))
	e.must("diff/redo", obj{"workspace": w.ws}, nil)
	w.requireTree(odd.before)
}

func TestAcceptAllLeavesTheDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(odd.before)
	w.plays(changing(odd.before, odd.after)...)
	w.start()
	e := w.opens()
	e.turn(nil)
	e.decides("diff/accept", obj{"all": true})
	w.requireTree(odd.after)
	require.Empty(t, e.diffs())
	e.must("diff/undo", obj{"workspace": w.ws}, nil)
	require.Len(t, e.diffs(), len(odd.after))
	w.requireTree(odd.after)
	e.decides("diff/reject", obj{"all": true})
	w.requireTree(odd.before)
}

func TestUnifiedIsWhatGitApplies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putAll(odd.before)
	w.plays(changing(odd.before, odd.after)...)
	w.start()
	e := w.opens()
	e.turn(nil)
	var out struct{ Patch string }
	e.must("diff/unified", obj{"workspace": w.ws}, &out)
	patch := filepath.Join(w.dir, "patch")
	require.NoError(t, os.WriteFile(patch, []byte(out.Patch), 0o644))
	for _, step := range []struct {
		args []string
		want tree
	}{{[]string{"-R"}, odd.before}, {nil, odd.after}} {
		cmd := exec.Command("git", append([]string{"apply", "--whitespace=nowarn"}, append(step.args, patch)...)...)
		cmd.Dir = w.ws
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", said, out.Patch)
		w.requireTree(step.want)
	}
}

func TestUserEditsSurviveEveryDecision(t *testing.T) {
	t.Parallel()
	before := numbered(30, nil)
	agent := numbered(30, map[int]string{5: "agent 5\n", 15: "agent 15a\nagent 15b\n", 25: ""})
	user := strings.NewReplacer(
		"line 1\n", "user before\nline 1\n",
		"line 10\n", "line 10\nuser between\n",
		"agent 15a\nagent 15b\n", "agent 15a\nuser inside\nagent 15b\n",
		"line 30\n", "line 30\nuser behind\n").Replace(agent)
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}} {
		for _, method := range []string{"diff/accept", "diff/reject"} {
			t.Run(fmt.Sprint(method, order), func(t *testing.T) {
				w := newWorld(t)
				w.put("f", before)
				w.plays(lines(edits("c", "f", before, agent))...)
				w.start()
				e := w.opens()
				e.turn(nil)
				w.put("f", user)
				ids := hunkIDs(e.diffs()["f"])
				require.GreaterOrEqual(t, len(ids), 3)
				for len(ids) > 0 {
					e.decides(method, obj{"hunks": []string{ids[order[0]%len(ids)]}})
					if d := e.diffs()["f"]; d != nil {
						ids = hunkIDs(d)
					} else {
						ids = nil
					}
				}
				got := w.get("f")
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
	w := newWorld(t)
	before, after := "a\nb\nc\n", "A\nb\nC\n"
	w.put("f", before)
	w.plays(lines(edits("c", "f", before, after))...)
	w.start()
	e := w.opens()
	e.turn(nil)
	d := e.diffs()["f"]
	ids := hunkIDs(d)
	reject := func(params obj) int64 {
		params["workspace"] = w.ws
		return int64(e.fails("diff/reject", params).Code)
	}
	for _, c := range []struct {
		name   string
		params obj
		code   int64
	}{
		{"no selector", obj{}, -32602},
		{"two selectors", obj{"all": true, "path": "f"}, -32602},
		{"unknown hunk", obj{"hunks": []string{"99.1"}}, -32001},
		{"no id at all", obj{"hunks": []string{"nonsense"}}, -32001},
		{"unknown path", obj{"path": "g"}, -32001},
		{"stale revision", obj{"hunks": ids[:1], "rev": d.Rev + 7}, -32003},
		{"lines of two hunks", obj{"hunks": ids, "lines": obj{"from": 0, "to": 1}}, -32602},
		{"no lines", obj{"hunks": ids[:1], "lines": obj{"from": 1, "to": 1}}, -32602},
		{"lines that are not there", obj{"hunks": ids[:1], "lines": obj{"from": 7, "to": 9}}, -32602},
	} {
		require.Equal(t, c.code, reject(c.params), c.name)
	}
	w.requireTree(tree{"f": after})

	// The user has changed what the hunk is about.
	w.put("f", "A of mine\nb\nC\n")
	err := e.fails("diff/reject", obj{"workspace": w.ws, "hunks": ids[:1]})
	require.Equal(t, api.KindConflict, err.Data.Kind)
	require.NotNil(t, err.Data.Diff)
	w.requireTree(tree{"f": "A of mine\nb\nC\n"})
	require.Equal(t, -32001, int(e.fails("diff/redo", obj{"workspace": w.ws}).Code))
	require.Equal(t, -32001, int(e.fails("diff/undo", obj{"workspace": w.ws}).Code))
}

func TestNothingIsWrittenOutsideTheWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	outside := filepath.Join(w.dir, "outside")
	require.NoError(t, os.Mkdir(outside, 0o755))
	secret := filepath.Join(outside, "f")
	link := filepath.Join(outside, "g")
	for _, f := range []string{secret, link} {
		require.NoError(t, os.WriteFile(f, []byte("old\n"), 0o644))
	}
	require.NoError(t, os.Symlink(outside, w.path("out")))
	require.NoError(t, os.Symlink(link, w.path("g")))
	var script []string
	script = append(script, edits("1", "../outside/f", "old\n", "new\n")...)
	script = append(script, edits("2", "out/f", "old\n", "new\n")...)
	script = append(script, edits("3", "g", "old\n", "new\n")...)
	w.plays(append(script, done)...)
	w.start()
	e := w.opens()
	e.turn(nil)
	diffs := e.diffs()
	require.Contains(t, diffs, secret, "a file outside is listed by its absolute path")
	for path, d := range diffs {
		require.True(t, filepath.IsAbs(path), path)
		err := e.fails("diff/reject", obj{"workspace": w.ws, "hunks": hunkIDs(d)[:1]})
		require.Equal(t, api.KindOutsideWorkspace, err.Data.Kind)
		require.EqualValues(t, -32004, err.Code)
	}
	out := e.decides("diff/reject", obj{"all": true})
	require.Zero(t, out.Applied)
	require.Len(t, out.Skipped, len(diffs))
	for _, f := range []string{secret, link} {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		require.Equal(t, "new\n", string(b))
	}
	for method, params := range map[string]obj{
		"diff/list": {}, "diff/unified": {}, "diff/accept": {}, "diff/reject": {},
	} {
		params["workspace"], params["path"] = w.ws, "../elsewhere"
		require.EqualValues(t, -32004, e.fails(method, params).Code, method)
	}
	// A folder that becomes a link while its file is under review.
	w.put("in/f", "old\n")
	w.plays(lines(edits("4", "in/f", "old\n", "new\n"))...)
	e.turn(obj{"prompt": "again"})
	id := hunkIDs(e.diffs()["in/f"])[0]
	require.NoError(t, os.RemoveAll(w.path("in")))
	require.NoError(t, os.Symlink(outside, w.path("in")))
	require.NoError(t, os.WriteFile(secret, []byte("new\n"), 0o644))
	e.fails("diff/reject", obj{"workspace": w.ws, "hunks": []string{id}})
	b, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "new\n", string(b))
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}
