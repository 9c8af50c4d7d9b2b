//go:build unix

package isolation

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAPersonsFilesInARemovedFolder: the agent's removal of a folder is to be reviewed, and a person adds a file there. It is no part of the
// removal, and the agent sees it if it has no file in the place of the folder.
func TestAPersonsFilesInARemovedFolder(t *testing.T) { bothKinds(t, testAPersonsFilesInARemovedFolder) }

func testAPersonsFilesInARemovedFolder(t *testing.T) {
	w := newWorld(t)
	w.Start()
	e := w.Joins()
	for _, tt := range []struct {
		name, agent string
		left        []string
	}{
		{"removed", "rm -r d", []string{"d/e/y", "d/x", "hi"}},
		{"moved away", "mkdir t; mv d t/d; rm -r t", []string{"d/e/y", "d/x", "hi"}},
		{"made anew", "rm -r d; mkdir d; echo n >d/n", []string{"d/e/y", "d/n", "d/x", "hi"}},
		{"a folder in it", "rm -r d/e", []string{"d/e/y", "hi"}},
		{"a file in its place", "rm -r d; echo n >d", []string{"d", "d/e/y", "d/x", "hi"}},
		{"the file that a person makes a folder", "rm a", []string{"hi"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer w.In(t, e)()
			w.Elsewhere()
			w.Makes("echo a >a; mkdir -p d/e; echo x >d/x; echo y >d/e/y")
			w.Commits()
			e.Follows()
			s := e.Isolates()
			w.Plays(world.Lines(world.Shells("1", tt.agent))...)
			e.Ok(s)
			w.Makes("mkdir d/e/new; echo mine >d/e/mine; echo mine >d/e/new/mine; rm a; mkdir a; echo mine >a/mine")
			mine := []string{"a/mine", "d/e/mine", "d/e/new/mine"}
			for range 2 {
				w.Plays(world.Lines(world.Shells("2", "echo hi >hi"))...)
				e.Ok(s)
				require.Equal(t, tt.left, slices.Sorted(maps.Keys(e.Diffs())))
				for _, name := range mine {
					if tt.name != "a file in its place" || name == "a/mine" {
						require.Equal(t, "mine\n", w.Copied(s, name))
					}
				}
			}
			e.Decides("diff/accept", world.Obj{"all": true})
			for _, name := range mine {
				require.Equal(t, "mine\n", w.Get(name))
			}
		})
	}
}
