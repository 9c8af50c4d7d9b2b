//go:build unix

package isolation

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestWhatIsSettledShowsThrough: what the agent changed is decided, or was no change. After that a person changes the same files and folders.
// The agent sees that in its next turn, nothing is listed as the agent's, and no decision takes it back.
func TestWhatIsSettledShowsThrough(t *testing.T) { bothKinds(t, testWhatIsSettledShowsThrough) }

func testWhatIsSettledShowsThrough(t *testing.T) {
	const accept, reject, rewind = "diff/accept", "diff/reject", "session/rewind"
	w := newWorld(t)
	w.Start()
	e := w.Joins()
	for _, tt := range []struct {
		name, agent, decide, person string
	}{
		{"a folder made anew, accepted", "rm -rf d; mkdir d; echo n >d/n", accept, "echo mine >d/mine"},
		{"a folder made anew, rejected", "rm -rf d; mkdir d; echo n >d/n", reject, "echo mine >d/mine"},
		{"a folder made anew, taken back", "rm -rf d; mkdir d; echo n >d/n", rewind, "echo mine >d/mine; rm d/x"},
		{"a removed folder", "rm -rf d", accept, "mkdir -p d; echo mine >d/mine"},
		{"a moved folder", "mv d e", accept, "mkdir -p d; echo mine >d/mine"},
		{"a moved file", "mv a b2", accept, "echo new >a"},
		{"a removed file", "rm a", accept, "echo new >a"},
		{"a file that becomes a folder", "rm a; mkdir a; echo n >a/n", accept, "echo mine >a/mine"},
		{"a folder that becomes a file", "rm -r d; echo n >d", accept, "rm d; mkdir d; echo mine >d/mine"},
		{"a touched file", "touch a", "", "sed -i s/2/two/ a"},
		{"a file written as it was", "sed -i s/nomatch/x/ a", "", "sed -i s/2/two/ a; sed -i /^9/d a"},
		{"a file changed there and back", "sed -i s/5/five/ a; sed -i s/five/5/ a", "", "sed -i /^9/d a"},
		{"a deletion after an accept", "sed -i s/5/five/ a", accept, "sed -i /^9/d a"},
		{"a deletion after a reject", "sed -i s/5/five/ a", reject, "sed -i /^9/d a"},
		{"a deletion after a rewind", "sed -i s/5/five/ a", rewind, "sed -i /^9/d a"},
		{"all is different", "sed -i s/5/five/ a", accept, "seq 20 30 >a"},
		{"an accepted change is taken back", "sed -i s/5/five/ a", accept, "seq 10 >a"},
		{"a new mode", "chmod +x a", accept, "echo mine >>a"},
		{"a new file, removed", "echo n >n", accept, "rm n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer w.In(t, e)()
			w.Elsewhere()
			w.Makes("seq 10 >a; mkdir d; seq 3 >d/x; seq 4 >d/y; echo k >k")
			w.Commits()
			e.Follows()
			s := e.Isolates()
			w.Plays(world.Lines(world.Shells("1", tt.agent))...)
			turn := e.Ok(s)
			switch tt.decide {
			case "":
				require.Empty(t, e.Diffs())
			case rewind:
				e.Must(rewind, world.Obj{"sessionId": s.ID, "turnId": turn.ID}, nil)
			default:
				require.NotEmpty(t, e.Diffs())
				require.Empty(t, e.Decides(tt.decide, world.Obj{"all": true}).Skipped)
			}
			w.Makes(tt.person)
			was := w.Whole(w.Root)
			w.Plays(world.Lines(world.Shells("2", "echo hi >hi"))...)
			e.Ok(s)
			require.Equal(t, []string{"hi"}, slices.Sorted(maps.Keys(e.Diffs())))
			e.Decides(accept, world.Obj{"all": true})
			require.Equal(t, "hi\n", w.Get("hi"))
			w.Makes("rm hi")
			require.Equal(t, was, w.Whole(w.Root))
			w.Plays(world.Done)
			e.Ok(s)
			require.Empty(t, e.Diffs())
			require.Equal(t, was, w.Whole(w.Seen(s)))
		})
	}
}
