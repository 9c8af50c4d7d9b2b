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

// TestEditsInARow has an agent edit one file by calls that report nothing, each begun as soon as the one before has ended. A
// write of one call is no save in the next.
func TestEditsInARow(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", world.Numbered(20, nil))
	var lines []string
	changes := map[int]string{}
	for i := range 20 {
		changes[i+1] = fmt.Sprintf("agent %d\n", i+1)
		call := world.Edits(fmt.Sprintf("e%d", i), "f", "", "")
		call[1] = fmt.Sprintf(`{"fake":"write","path":"f","text":%q}`, world.Numbered(20, changes))
		for _, j := range []int{0, 2} {
			call[j] = strings.TrimSuffix(call[j], "}") + `,"timestamp_ms":{{now_ms}}}`
		}
		lines = append(lines, call[0], `{"fake":"sleep","ms":30}`, call[1], call[2])
		lines = append(lines, fmt.Sprintf(`{"fake":"sleep","ms":%d}`, i%5)) // the daemon may or may not have taken in the call before
	}
	w.Plays(world.Lines(lines)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	for _, h := range e.Diffs()["f"].Hunks {
		for _, src := range h.Sources {
			require.Equal(t, sessions.ViaEdit, src.Via)
		}
	}
}
