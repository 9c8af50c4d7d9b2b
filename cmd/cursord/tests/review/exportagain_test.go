//go:build unix

package review

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

var seqs = regexp.MustCompile(`,"seq":\d+`)

// exported returns the exports of sessions, without the numbers of changes, and leaves them in files.
func exported(w *world.World, dir string, ids []string) (texts map[string]string) {
	w.T.Helper()
	texts = map[string]string{}
	require.NoError(w.T, os.Mkdir(filepath.Join(w.Dir, dir), 0o700))
	for _, id := range ids {
		path := filepath.Join(w.Dir, dir, id)
		w.CursordOK("export", id, "--format", "ndjson", "-o", path)
		b, err := os.ReadFile(path)
		require.NoError(w.T, err)
		texts[id] = seqs.ReplaceAllString(string(b), "")
	}
	return texts
}

// turnsOfLines says which turn each line of some files comes from.
func turnsOfLines(e *world.Editor, paths ...string) (turns []string) {
	e.T.Helper()
	for _, path := range paths {
		var out struct{ Lines []api.WhyLine }
		e.Must("file/why", world.Obj{"workspace": e.World.Root, "path": path}, &out)
		for _, l := range out.Lines {
			turn := "nobody's"
			if l.Source != nil {
				turn = l.Source.TurnID
			}
			for n := range l.To - l.From {
				turns = append(turns, fmt.Sprintf("%s:%d %s", path, l.From+n, turn))
			}
		}
	}
	return turns
}

// TestExportOfAnImport: sessions that are exported, imported where there are none, and exported again, are the same. The second export had
// nothing of what was rejected; and if a fork was imported first, its session had lost the lines that it had written before the fork.
func TestExportOfAnImport(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"the first session first", "the forks first"} {
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			text := world.Numbered(9, nil)
			w.PutAll(world.Tree{"f": text, "g": text, "h": text, "away": text, "shot.png": world.PNGBytes})
			w.Commits()
			w.Start()
			e := w.Opens()
			in := func(session string, lines ...[]string) (turn, in string) {
				w.Plays(world.Lines(lines...)...)
				params := world.Obj{}
				if session != "" {
					params["sessionId"] = session
				}
				out := e.Turn(params)
				return out.ID, out.SessionID
			}
			fork := func(session, turn string) string {
				var made rpc.SessionResult
				e.Must("session/fork", world.Obj{"sessionId": session, "turnId": turn}, &made)
				return made.Session.ID
			}
			once := world.Numbered(9, map[int]string{3: "the agent's 3 in f\n"})
			w.Plays(world.Lines(world.Edits("c1", "f", text, once), world.Shells("c2", "sed -i '5a the command in g' g"))...)
			turn := e.Turn(world.Obj{"context": []world.Obj{{"kind": "image", "path": "shot.png"}, {"kind": "image", "data": base64.StdEncoding.EncodeToString([]byte(world.GIFBytes)), "mimeType": "image/gif"}}})
			one, a := turn.ID, turn.SessionID
			e.Decides("diff/accept", world.Obj{"path": "f"})
			two, _ := in(a, world.Edits("c3", "h", text, world.Numbered(9, map[int]string{2: "rejected in h\n", 7: "kept in h\n"})), world.Shells("c4", "mv away moved; echo 'at its end' >>moved; git mv f named"))
			e.Decides("diff/reject", world.Obj{"hunks": []string{e.Diffs()["h"].Hunks[0].ID}, "comment": "not so"})
			b := fork(a, one)
			in(b, world.Edits("c5", "g", w.Get("g"), "the fork in g\n"+w.Get("g")))
			c := fork(b, "")
			in(c, world.Edits("c6", "made", "", "made\nby\nthe fork's fork\n"), world.Edits("c7", "windows", "", "\r\none\r\n\tone\r\nlast"))
			three, _ := in(a, world.Edits("c8", "h", w.Get("h"), w.Get("h")+"taken back\n"))
			e.Must("session/rewind", world.Obj{"sessionId": a, "turnId": three}, nil)
			e.Decides("diff/accept", world.Obj{"turnId": two})
			w.Makes("mv made mine; echo mine >>mine; git mv g theirs")
			e.Diffs()

			ids := []string{a, b, c}
			slices.Sort(ids)
			require.Equal(t, ids, e.SessionIDs())
			was := exported(w, "was", ids)
			for _, id := range ids {
				require.Contains(t, was[id], `{"written":`)
			}
			why := turnsOfLines(e, "named", "theirs", "h", "moved", "mine", "windows")
			w.Kill()
			require.NoError(t, os.RemoveAll(filepath.Join(w.Dir, "state")))
			w.Start()
			w.Opens()
			order := []string{a, b, c}
			if first == "the forks first" {
				slices.Reverse(order)
			}
			for _, id := range order {
				w.CursordOK("import", filepath.Join(w.Dir, "was", id))
			}
			w.Kill()
			w.Start()
			is := exported(w, "is", ids)
			for _, id := range ids {
				require.Equal(t, was[id], is[id])
			}
			require.Equal(t, why, turnsOfLines(w.Opens(), "named", "theirs", "h", "moved", "mine", "windows"))
		})
	}
}
