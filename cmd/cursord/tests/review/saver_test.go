//go:build unix

package review

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestDecisionsBesideASaver: a person saves a file in a loop, each time with new lines, while its hunks are decided. The
// lines of the last save are there, and every appended line.
func TestDecisionsBesideASaver(t *testing.T) {
	t.Parallel()
	const hunks = 12
	changed := map[int]string{}
	for i := range hunks {
		changed[10*i+5] = fmt.Sprintf("agent %d\n", i)
	}
	before, after := world.Numbered(10*hunks, nil), world.Numbered(10*hunks, changed)
	// A rewrite has one line of the person first, one inside each third hunk, and one last.
	rewritten := func(n int) []byte {
		mine := fmt.Sprintf("mine %d\n", n)
		text := after
		for i := 0; i < hunks; i += 3 {
			text = strings.Replace(text, changed[10*i+5], changed[10*i+5]+mine, 1)
		}
		return []byte(mine + text + mine)
	}
	write := func(path string, flags int, text []byte) error {
		f, err := os.OpenFile(path, os.O_WRONLY|flags, 0o644)
		if err != nil {
			return err
		}
		_, err = f.Write(text)
		return errors.Join(err, f.Sync(), f.Close())
	}
	for name, save := range map[string]func(path string, n int) error{
		"truncate": func(path string, n int) error { return write(path, os.O_TRUNC, rewritten(n)) },
		"rename": func(path string, n int) error {
			return errors.Join(write(path+"~", os.O_CREATE|os.O_EXCL, rewritten(n)), os.Rename(path+"~", path))
		},
		"append": func(path string, n int) error { return write(path, os.O_APPEND, fmt.Appendf(nil, "mine %d\n", n)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := world.Reviewing(t, "f", before, after)
			stop, saved := make(chan struct{}), make(chan error, 1)
			last := 0
			go func() {
				for last < 3000 {
					select {
					case <-stop:
						saved <- nil
						return
					default:
					}
					last++
					if err := save(w.Path("f"), last); err != nil {
						saved <- err
						return
					}
				}
				saved <- nil
			}()
			decided := 0
			for i := 0; i < 2*hunks; i++ {
				d := e.Diffs()["f"]
				if d == nil {
					break
				}
				method := []string{"diff/reject", "diff/accept", "diff/reject"}[i%3]
				err := e.Call(method, world.Obj{"workspace": w.Root, "hunks": []string{d.Hunks[i%len(d.Hunks)].ID}}, nil)
				if err == nil {
					decided++
					continue
				}
				var failed *rpc.Error
				require.ErrorAs(t, err, &failed)
				require.Contains(t, []string{"conflict", "notFound"}, string(failed.Data.Kind), "%v", err)
			}
			close(stop)
			require.NoError(t, <-saved)
			t.Log(decided, "decided,", last, "saved")
			requireMine := func() {
				t.Helper()
				lines := map[string]int{}
				for line := range strings.Lines(w.Get("f")) {
					lines[line]++
				}
				if name == "append" {
					for n := 1; n <= last; n++ {
						require.Equal(t, 1, lines[fmt.Sprintf("mine %d\n", n)], "save %d of %d", n, last)
					}
					return
				}
				require.Equal(t, 2+(hunks+2)/3, lines[fmt.Sprintf("mine %d\n", last)], w.Get("f"))
			}
			requireMine()
			e.Decides("diff/reject", world.Obj{"all": true})
			requireMine()
			require.NotContains(t, e.Diffs(), "f")
			left, err := os.ReadDir(w.Root)
			require.NoError(t, err)
			require.Len(t, left, 1)
		})
	}
}
