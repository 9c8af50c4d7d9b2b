package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/rpc"
)

// TestAStaleRevisionChangesNothing decides with revisions that are not the present one, whatever happened before.
func TestAStaleRevisionChangesNothing(t *testing.T) {
	t.Parallel()
	before := numbered(60, nil)
	after := numbered(60, map[int]string{5: "agent 5\n", 15: "", 25: "agent 25\nagent 25b\n", 35: "agent 35\n", 45: "", 55: "agent 55\n"})
	w, e := reviewing(t, "f", before, after)
	random := rand.New(rand.NewPCG(1, 2))
	var past []uint64
	for step := range 25 {
		d := e.diffs()["f"]
		if d == nil {
			e.must("diff/undo", obj{"workspace": w.ws}, nil)
			continue
		}
		text := w.get("f")
		stale := append(slices.Clone(past), d.Rev+1, d.Rev+uint64(random.IntN(1000))+2, 1<<60)
		for _, method := range []string{"diff/accept", "diff/reject"} {
			stale = slices.DeleteFunc(stale, func(rev uint64) bool { return rev == d.Rev })
			rev := stale[random.IntN(len(stale))]
			for _, params := range []obj{{"path": "f"}, {"hunks": hunkIDs(d)}, {"hunks": hunkIDs(d)[:1], "lines": obj{"from": 0, "to": 1}}} {
				params["workspace"], params["rev"] = w.ws, rev
				failed := e.fails(method, params)
				require.Equal(t, api.KindConflict, failed.Data.Kind)
				require.Equal(t, d, failed.Data.Diff, "the present one, for a client to go on with")
			}
		}
		require.Equal(t, text, w.get("f"))
		require.Equal(t, d, e.diffs()["f"])
		if !slices.Contains(past, d.Rev) {
			past = append(past, d.Rev)
		}
		switch random.IntN(4) {
		case 0:
			w.put("f", fmt.Sprintf("mine %d\n", step)+text)
		case 1:
			e.must("diff/accept", obj{"workspace": w.ws, "hunks": hunkIDs(d)[:1], "rev": d.Rev}, nil)
		case 2:
			e.must("diff/reject", obj{"workspace": w.ws, "hunks": hunkIDs(d)[:1], "rev": d.Rev}, nil)
		case 3:
			w.put("f", strings.Replace(text, "line 30\n", "line 30 of mine\n", 1))
		}
	}
}

// TestWholeFileDecisionsKeepTheUsersLines has a person write into files that the agent created, deleted, moved or gave
// another mode, and decides in every way: what the person wrote is there.
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
		for mine, edit := range map[string]string{
			"first":     `{ echo mine; cat F; } >../new; cat ../new >F`,
			"last":      `echo mine >>F`,
			"between":   `sed -i '/^5$/i mine' F; grep -q mine F || echo mine >>F`,
			"all of it": `echo mine >F`,
		} {
			t.Run(c.name+", "+mine, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.makes("umask 022; echo x >other; " + c.before)
				w.commits()
				w.plays(append(shells("s", "umask 022; "+c.does), done)...)
				w.start()
				e := w.opens()
				e.turn(nil)
				w.makes("touch " + c.path + "; " + strings.ReplaceAll(edit, "F", c.path))
				random := rand.New(rand.NewPCG(uint64(len(c.name)), uint64(len(mine))))
				require.Contains(t, w.listing(), "mine")
				for range 12 {
					var ids []string
					for _, d := range e.diffs() {
						ids = append(ids, hunkIDs(d)...)
					}
					switch n := random.IntN(4); {
					case n == 0 || len(ids) == 0:
						_ = e.call("diff/undo", obj{"workspace": w.ws}, nil)
					case n == 1:
						_ = e.call("diff/accept", obj{"workspace": w.ws, "hunks": ids[random.IntN(len(ids)):][:1]}, nil)
					default:
						_ = e.call("diff/reject", obj{"workspace": w.ws, "hunks": ids[random.IntN(len(ids)):][:1]}, nil)
					}
					require.Contains(t, w.listing(), "mine")
				}
				e.decides("diff/reject", obj{"all": true})
				require.Contains(t, w.listing(), "mine")
			})
		}
	}
}

// TestUndoBehindALostFile has a person remove a file in which something was decided and something was not: the decision was in
// the way of all that were made before it.
func TestUndoBehindALostFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", numbered(20, nil))
	w.put("b", numbered(20, nil))
	w.start()
	e := w.opens()
	w.plays(lines(shells("s", "sed -i '1d;20d' a b"))...)
	e.turn(nil)
	e.decides("diff/reject", obj{"path": "a"})
	lost := e.decides("diff/reject", obj{"hunks": []string{e.diffs()["b"].Hunks[0].ID}}).Decision
	require.NoError(t, os.Remove(w.path("b")))
	require.Empty(t, e.diffs())
	require.Equal(t, api.KindConflict, e.fails("diff/undo", obj{"workspace": w.ws}).Data.Kind)
	w.kill()
	w.start()
	e = w.opens()
	require.NotNil(t, e.fails("diff/undo", obj{"workspace": w.ws, "decision": lost}))
	next := e.decides("diff/undo", obj{})
	require.False(t, strings.HasPrefix(w.get("a"), "line 1\n"))
	require.Len(t, next.Diffs, 1)
	e.decides("diff/redo", obj{})
	require.Equal(t, numbered(20, nil), w.get("a"))
	e.decides("diff/undo", obj{})
	require.Equal(t, api.KindNotFound, e.fails("diff/undo", obj{"workspace": w.ws}).Data.Kind)
	require.NotEqual(t, lost, e.decides("diff/accept", obj{"all": true}).Decision)
}

// TestAFileByItsURI names it as diffs do.
func TestAFileByItsURI(t *testing.T) {
	t.Parallel()
	w, e := reviewing(t, "a ü.txt", "a\n", "b\n")
	uri := e.diffs()["a ü.txt"].URI
	var list rpc.DiffList
	e.must("diff/list", obj{"workspace": w.ws, "path": uri}, &list)
	require.Len(t, list.Diffs, 1)
	e.decides("diff/reject", obj{"path": uri})
	w.requireTree(tree{"a ü.txt": "a\n"})
}
