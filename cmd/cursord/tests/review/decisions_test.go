//go:build unix

package review

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

// TestAStaleRevisionChangesNothing decides with revisions other than the present one: every decision is refused.
func TestAStaleRevisionChangesNothing(t *testing.T) {
	t.Parallel()
	before := world.Numbered(60, nil)
	after := world.Numbered(60, map[int]string{5: "agent 5\n", 15: "", 25: "agent 25\nagent 25b\n", 35: "agent 35\n", 45: "", 55: "agent 55\n"})
	w, e := world.Reviewing(t, "f", before, after)
	random := rand.New(rand.NewPCG(1, 2))
	var past []uint64
	for step := range 25 {
		d := e.Diffs()["f"]
		if d == nil {
			e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
			continue
		}
		text := w.Get("f")
		stale := append(slices.Clone(past), d.Rev+1, d.Rev+uint64(random.IntN(1000))+2, 1<<60)
		for _, method := range []string{"diff/accept", "diff/reject"} {
			stale = slices.DeleteFunc(stale, func(rev uint64) bool { return rev == d.Rev })
			rev := stale[random.IntN(len(stale))]
			for _, params := range []world.Obj{{"path": "f"}, {"hunks": world.HunkIDs(d)}, {"hunks": world.HunkIDs(d)[:1], "lines": world.Obj{"from": 0, "to": 1}}} {
				params["workspace"], params["rev"] = w.Root, rev
				failed := e.Fails(method, params)
				require.Equal(t, api.KindConflict, failed.Data.Kind)
				require.Equal(t, d, failed.Data.Diff, "the present one, for a client to go on with")
			}
		}
		require.Equal(t, text, w.Get("f"))
		require.Equal(t, d, e.Diffs()["f"])
		if !slices.Contains(past, d.Rev) {
			past = append(past, d.Rev)
		}
		switch random.IntN(4) {
		case 0:
			w.Put("f", fmt.Sprintf("mine %d\n", step)+text)
		case 1:
			e.Must("diff/accept", world.Obj{"workspace": w.Root, "hunks": world.HunkIDs(d)[:1], "rev": d.Rev}, nil)
		case 2:
			e.Must("diff/reject", world.Obj{"workspace": w.Root, "hunks": world.HunkIDs(d)[:1], "rev": d.Rev}, nil)
		case 3:
			w.Put("f", strings.Replace(text, "line 30\n", "line 30 of mine\n", 1))
		}
	}
}

// TestWholeFileDecisionsKeepTheUsersLines: a person writes into files that the agent created, deleted, moved or gave another
// mode. No decision removes the person's lines.
func TestWholeFileDecisionsKeepTheUsersLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, does, path string }{
		{"created", `true`, `seq 9 >f`, "f"},
		{"created with a mode in a folder", `true`, `mkdir d; seq 9 >d/f; chmod 755 d/f`, "d/f"},
		{"deleted", `seq 9 >f`, `rm f`, "f"},
		{"moved", `seq 9 >f`, `mv f g`, "g"},
		{"moved and edited", `seq 30 >f; touch -d '1 hour ago' f`, `echo 31 >>f; mv f g`, "g"},
		{"mode", `seq 9 >f; chmod 644 f`, `sed -i s/5/five/ f; chmod 755 f`, "f"},
		{"link to file", `ln -s x f`, `rm f; seq 9 >f`, "f"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			roots, edits := map[string]string{}, map[string]string{
				"first":     `{ echo mine; cat F; } >../new; cat ../new >F`,
				"last":      `echo mine >>F`,
				"between":   `sed -i '/^5$/i mine' F; grep -q mine F || echo mine >>F`,
				"all of it": `echo mine >F`,
			}
			for mine := range edits {
				w.Elsewhere()
				roots[mine] = w.Root
				w.Makes("umask 022; echo x >other; " + c.before)
				w.Commits()
			}
			w.Plays(append(world.Shells("s", "umask 022; "+c.does), world.Done)...)
			w.Start()
			e := w.Joins()
			for mine, edit := range edits {
				t.Run(mine, func(t *testing.T) {
					defer w.In(t, e)()
					w.Root = roots[mine]
					e.Follows()
					e.Turn(nil)
					w.Makes("touch " + c.path + "; " + strings.ReplaceAll(edit, "F", c.path))
					random := rand.New(rand.NewPCG(uint64(len(c.name)), uint64(len(mine))))
					require.Contains(t, w.Listing(), "mine")
					for range 12 {
						var ids []string
						for _, d := range e.Diffs() {
							ids = append(ids, world.HunkIDs(d)...)
						}
						switch n := random.IntN(4); {
						case n == 0 || len(ids) == 0:
							_ = e.Call("diff/undo", world.Obj{"workspace": w.Root}, nil)
						case n == 1:
							_ = e.Call("diff/accept", world.Obj{"workspace": w.Root, "hunks": ids[random.IntN(len(ids)):][:1]}, nil)
						default:
							_ = e.Call("diff/reject", world.Obj{"workspace": w.Root, "hunks": ids[random.IntN(len(ids)):][:1]}, nil)
						}
						require.Contains(t, w.Listing(), "mine")
					}
					e.Decides("diff/reject", world.Obj{"all": true})
					require.Contains(t, w.Listing(), "mine")
				})
			}
		})
	}
}

// TestUndoBehindALostFile: a person removes a file with decided and pending hunks. Its decision no longer keeps undo from
// earlier decisions.
func TestUndoBehindALostFile(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("a", world.Numbered(20, nil))
	w.Put("b", world.Numbered(20, nil))
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Shells("s", "sed -i '1d;20d' a b"))...)
	e.Turn(nil)
	e.Decides("diff/reject", world.Obj{"path": "a"})
	lost := e.Decides("diff/reject", world.Obj{"hunks": []string{e.Diffs()["b"].Hunks[0].ID}}).Decision
	require.NoError(t, os.Remove(w.Path("b")))
	require.Empty(t, e.Diffs())
	require.Equal(t, api.KindConflict, e.Fails("diff/undo", world.Obj{"workspace": w.Root}).Data.Kind)
	w.Kill()
	w.Start()
	e = w.Opens()
	require.NotNil(t, e.Fails("diff/undo", world.Obj{"workspace": w.Root, "decision": lost}))
	next := e.Decides("diff/undo", world.Obj{})
	require.False(t, strings.HasPrefix(w.Get("a"), "line 1\n"))
	require.Len(t, next.Diffs, 1)
	e.Decides("diff/redo", world.Obj{})
	require.Equal(t, world.Numbered(20, nil), w.Get("a"))
	e.Decides("diff/undo", world.Obj{})
	require.Equal(t, api.KindNotFound, e.Fails("diff/undo", world.Obj{"workspace": w.Root}).Data.Kind)
	require.NotEqual(t, lost, e.Decides("diff/accept", world.Obj{"all": true}).Decision)
}

// TestAFileByItsURI passes a diff's URI as the path of a file.
func TestAFileByItsURI(t *testing.T) {
	t.Parallel()
	w, e := world.Reviewing(t, "a ü.txt", "a\n", "b\n")
	uri := e.Diffs()["a ü.txt"].URI
	var list rpc.DiffList
	e.Must("diff/list", world.Obj{"workspace": w.Root, "path": uri}, &list)
	require.Len(t, list.Diffs, 1)
	e.Decides("diff/reject", world.Obj{"path": uri})
	w.RequireTree(world.Tree{"a ü.txt": "a\n"})
}

// TestRedoOfOneDecision names the decision to make again. If another was undone since, nothing is made.
func TestRedoOfOneDecision(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	was, is := world.Tree{"a": "1\n", "b": "1\n"}, world.Tree{"a": "2\n", "b": "2\n"}
	w.PutAll(was)
	w.Plays(world.Changing(was, is)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	a := e.Decides("diff/reject", world.Obj{"path": "a"}).Decision
	b := e.Decides("diff/reject", world.Obj{"path": "b"}).Decision
	e.Decides("diff/undo", world.Obj{"decision": b})
	e.Decides("diff/undo", world.Obj{"decision": a})
	refused := e.Fails("diff/redo", world.Obj{"workspace": w.Root, "decision": b})
	require.Equal(t, api.KindConflict, refused.Data.Kind)
	require.Equal(t, "another decision was undone since", refused.Message)
	require.Equal(t, "2\n", w.Get("b"))
	e.Decides("diff/redo", world.Obj{"decision": a})
	require.Equal(t, "1\n", w.Get("a"))
	e.Decides("diff/redo", world.Obj{"decision": b})
	require.Equal(t, "1\n", w.Get("b"))
}
