//go:build unix

package authorship

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestASaveThatStalls has a program truncate a file under review, write the beginning, and write the rest much later. The
// lines that were missing in between count as removed by nobody.
func TestASaveThatStalls(t *testing.T) {
	t.Parallel()
	v0 := world.Numbered(12, nil)
	v1 := world.Numbered(12, map[int]string{6: "six\n"})
	mine := strings.Replace(v1, "line 2\n", "line 2\nmine\n", 1)
	for _, part := range []string{"", "line 1\nline 2\nmine\n"} {
		t.Run(fmt.Sprint(len(part), " bytes"), func(t *testing.T) {
			w := world.New(t)
			w.Put("f", v0)
			w.Start()
			e := w.Opens()
			w.Plays(world.Lines(world.Edits("e", "f", v0, v1))...)
			e.Turn(nil)
			mark := len(e.All())
			w.Put("f", part)
			e.DiffOf("f", mark, "the file cut off", func(d *sessions.Diff) bool { return d.State == "clean" || d.Added == 0 })
			mark = len(e.All())
			w.Put("f", mine)
			d := e.DiffOf("f", mark, "the whole file", func(d *sessions.Diff) bool { return d.Added == 1 })
			require.Equal(t, 1, d.Removed)
			e.Decides("diff/reject", world.Obj{"all": true})
			w.RequireTree(world.Tree{"f": strings.Replace(mine, "six\n", "line 6\n", 1)})
		})
	}
}
