//go:build unix

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// BenchmarkIsolatedTrees measures what isolated turns cost in trees of 10,000 and 100,000 files, with overlays and with copies, beside
// "git status" of the same run: until the agent runs in a session's first turn and in later ones, until the files of its command are known,
// and from the agent's last line to the turn's end.
func BenchmarkIsolatedTrees(b *testing.B) {
	usesBuilt(b)
	for _, kind := range []string{"overlay", "copy"} {
		for _, files := range []int{10_000, 100_000} {
			if files > 10_000 && testing.Short() {
				continue
			}
			b.Run(fmt.Sprint(kind, "-", files), func(b *testing.B) { isolatedTurnsIn(b, kind == "copy", files) })
		}
	}
}

func isolatedTurnsIn(b *testing.B, copies bool, files int) {
	w := world.New(b)
	w.Overlays = !copies
	text := strings.Repeat("some text of no meaning\n", 40)
	for i := range files {
		w.Put(fmt.Sprintf("src/%d/%d/%d", i/2500, i/50%50, i), text)
	}
	w.Git("init", "-q")
	w.Commits()
	status := []string{"git", "status", "--porcelain"}
	took(b, w.Root, status...) // refreshes the index
	w.Rests()
	marks := filepath.Join(w.Dir, "marks")
	mark := world.Execs("date +%s%N >> " + marks)
	w.Start()
	e := w.Opens()
	var others, firsts, laters, known, ends delays
	turn := func(session string, calls ...string) (begun, ended time.Duration, marked []time.Time) {
		for range 3 {
			all, _ := took(b, w.Root, status...)
			others = append(others, all)
		}
		require.NoError(b, os.WriteFile(marks, nil, 0o600))
		w.Plays(append(append([]string{mark, world.InitLine}, calls...), mark, world.Done)...)
		start := time.Now()
		e.Turn(world.Obj{"sessionId": session})
		end := time.Now()
		said, err := os.ReadFile(marks)
		require.NoError(b, err)
		for line := range strings.Lines(string(said)) {
			ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
			require.NoError(b, err)
			marked = append(marked, time.Unix(0, ns))
		}
		return marked[0].Sub(start), end.Sub(marked[len(marked)-1]), marked
	}
	round := 0
	for b.Loop() {
		round++
		s := e.Isolates()
		first, _, _ := turn(s.ID)
		later, _, _ := turn(s.ID)
		firsts, laters = append(firsts, first), append(laters, later)
		_, ended, marked := turn(s.ID, world.Shells("c", fmt.Sprintf("for i in 1 2 3 4 5 6 7 8 9 10; do echo %d > src/0/0/new$i; done; date +%%s%%N >> %s", round, marks))...)
		var changed time.Time
		for _, n := range e.All() {
			if n.Method == "diff/changed" && n.At.After(marked[1]) {
				changed = n.At
				break
			}
		}
		if changed.IsZero() {
			b.Log("the files of the command were not found in time")
			continue
		}
		known, ends = append(known, changed.Sub(marked[1])), append(ends, ended)
	}
	b.ReportMetric(others.quantile(0.5)/1000, "ms-beside")
	for name, d := range map[string]delays{"first": firsts, "later": laters, "command": known, "end": ends} {
		b.ReportMetric(d.quantile(0.5)/1000, "ms-"+name)
		b.ReportMetric(d.quantile(0.5)/others.quantile(0.5), "x-"+name)
	}
	b.ReportMetric(0, "ns/op")
}
