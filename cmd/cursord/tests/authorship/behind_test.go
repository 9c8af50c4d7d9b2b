//go:build unix

package authorship

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestCommandsThatTheDaemonHearsLate has commands begin while the daemon still works on the call before them. Their changes
// are under review, whether or not the agent reports times.
func TestCommandsThatTheDaemonHearsLate(t *testing.T) {
	t.Parallel()
	for name, busy := range map[string]func(w *world.World) []string{
		"many files": func(*world.World) []string {
			return world.Shells("many", "for i in $(seq 300); do echo $i >f$i; done")
		},
		"a large edit": func(w *world.World) []string {
			before := strings.Repeat("a line of the large file\n", 80_000)
			w.Put("large", before)
			return world.Edits("large", "large", before, strings.ReplaceAll(before, "large", "big"))
		},
	} {
		for _, timed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, timed %v", name, timed), func(t *testing.T) {
				t.Parallel()
				w := world.New(t)
				w.Put("b", "x\n")
				w.Start()
				e := w.Opens()
				script := world.Lines(busy(w), world.Shells("late", "sleep 0.05; echo evil >>b"))
				if !timed {
					for i, line := range script {
						script[i] = strings.ReplaceAll(line, `"timestamp_ms":{{now_ms}},`, "")
					}
				}
				w.Plays(script...)
				e.Turn(nil)
				require.Contains(t, e.Diffs(), "b")
			})
		}
	}
}
