//go:build unix

package authorship

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAFolderThatALinkReplaces loses no file: what lies behind the link, even the moved file itself, is not the file that was there. A
// reject brings the folder back.
func TestAFolderThatALinkReplaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shells [][]string
		moved  string
	}{
		"moved beside it":        {[][]string{world.Shells("s", "mv d d9; ln -s d9 d")}, "d9/f"},
		"moved, deeper":          {[][]string{world.Shells("s", "mv d/e e9; ln -s ../e9 d/e")}, "e9/g"},
		"moved, by two commands": {[][]string{world.Shells("s", "mv d d9"), world.Shells("t", "ln -s d9 d")}, "d9/f"},
		"moved out of reach":     {[][]string{world.Shells("s", "mv d ../out; ln -s ../out d")}, ""},
		"a copy":                 {[][]string{world.Shells("s", "cp -rp d d9; rm -r d; ln -s d9 d")}, "d9/f"},
		"hard links":             {[][]string{world.Shells("s", "cp -rl d d9; rm -r d; ln -s d9 d")}, "d9/f"},
		"another folder":         {[][]string{world.Shells("s", "rm -r d; ln -s o d")}, ""},
	} {
		for kind, commits := range map[string]func(*world.World){"git": (*world.World).Commits, "no git": func(*world.World) {}} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.PutAll(world.Tree{"d/f": "one\ntwo\n", "d/e/g": "three\nfour\n", "o/f": "one\ntwo\n", "o/e/g": "three\nfour\n"})
				w.Ages("d/f", "d/e/g", "o/f", "o/e/g")
				commits(w)
				was := w.Listing()
				w.Start()
				e := w.Opens()
				w.Plays(world.Lines(c.shells...)...)
				turn := e.Turn(nil)
				if c.moved != "" {
					require.NotEmpty(t, e.Diffs()[c.moved].OldPath)
				}
				e.Decides("diff/reject", world.Obj{"all": true})
				require.Equal(t, was, w.Listing())
				e.Decides("diff/undo", world.Obj{})
				require.NotEqual(t, was, w.Listing())
				e.Must("session/rewind", world.Obj{"sessionId": turn.SessionID, "turnId": turn.ID}, nil)
				require.Equal(t, was, w.Listing())
			})
		}
	}
}

// TestAFolderThatALinkHadReplaced before the turn: what lies behind the link is no deletion of the agent's.
func TestAFolderThatALinkHadReplaced(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.PutAll(world.Tree{"d/f": "one\ntwo\n", "a": "a\n"})
	w.Commits()
	w.Makes("mv d d9; ln -s d9 d")
	was := w.Listing()
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Shells("s", "echo b >a"))...)
	for range 2 {
		e.Turn(nil)
		require.Equal(t, []string{"a"}, world.Keys(e.Diffs()))
		e.Decides("diff/reject", world.Obj{"all": true})
		require.Equal(t, was, w.Listing())
	}
}
