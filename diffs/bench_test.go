package diffs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// large returns a large review: 100,000 lines, of which the agent has replaced every hundredth.
func large() (base, now Content, agent *Source) {
	var old, new strings.Builder
	for i := range 100_000 {
		line := fmt.Sprintf("\tline %d of a file that is about as wide as source is\n", i)
		old.WriteString(line)
		if i%100 == 50 {
			line = fmt.Sprintf("\tanother line %d\n", i)
		}
		new.WriteString(line)
	}
	content := func(b *strings.Builder) Content { return Content{Exists: true, Data: []byte(b.String())} }
	return content(&old), content(&new), &Source{SessionID: "s", TurnID: "t", Via: "edit"}
}

func BenchmarkObserve100k(b *testing.B) {
	base, now, agent := large()
	again := Content{Exists: true, Data: []byte(strings.Replace(string(now.Data), "line 77 ", "my line ", 1))}
	b.Run("agent", func(b *testing.B) {
		r := New(base)
		b.ReportAllocs()
		for b.Loop() {
			r.Copy().Observe(now, agent)
		}
	})
	b.Run("user", func(b *testing.B) {
		r := New(base)
		r.Observe(now, agent)
		b.ReportAllocs()
		for b.Loop() {
			r.Copy().Observe(again, nil)
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		r := New(base)
		r.Observe(now, agent)
		b.ReportAllocs()
		for b.Loop() {
			r.Observe(now, nil)
		}
	})
}

func BenchmarkDecide100k(b *testing.B) {
	base, now, agent := large()
	r := New(base)
	r.Observe(now, agent)
	var ids []uint64
	for _, h := range r.Hunks() {
		ids = append(ids, h.ID)
	}
	for _, some := range [][]uint64{ids[500:501], ids} {
		b.Run(fmt.Sprint(len(some)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := r.Copy()
				if _, err := c.Decide(some, false, nil); err != nil {
					b.Fatal(err)
				}
				c.Current()
			}
		})
	}
}

func BenchmarkHunks100k(b *testing.B) {
	base, now, agent := large()
	r := New(base)
	r.Observe(now, agent)
	b.ReportAllocs()
	for b.Loop() {
		r.Hunks()
	}
}

func BenchmarkMarshal100k(b *testing.B) {
	base, now, agent := large()
	r := New(base)
	r.Observe(now, agent)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Unmarshal(r.Marshal(), base.Data, now.Data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBesideGit reviews the large file once: it compares the texts, lists 1,000 hunks, decides one, and stores the
// review. Beside it, git compares the two files.
func BenchmarkBesideGit(b *testing.B) {
	base, now, agent := large()
	dir := b.TempDir()
	files := []string{filepath.Join(dir, "old"), filepath.Join(dir, "new")}
	for i, c := range []Content{base, now} {
		if err := os.WriteFile(files[i], c.Data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	var git, observe, decide time.Duration
	var allocated [2]uint64
	stored, n := 0, 0
	measure := func(took *time.Duration, allocated *uint64, do func()) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		do()
		*took += time.Since(start)
		runtime.ReadMemStats(&after)
		*allocated += after.TotalAlloc - before.TotalAlloc
	}
	for b.Loop() {
		n++
		var r *Review
		measure(&observe, &allocated[0], func() {
			r = New(base)
			r.Observe(now, agent)
		})
		hunks := r.Hunks()
		if len(hunks) != 1000 {
			b.Fatalf("%d hunks", len(hunks))
		}
		measure(&decide, &allocated[1], func() {
			if _, err := r.Decide([]uint64{hunks[500].ID}, false, nil); err != nil {
				b.Fatal(err)
			}
			r.Current()
		})
		stored = len(r.Marshal())
		start := time.Now()
		if err := exec.Command("git", "diff", "--no-index", files[0], files[1]).Run(); err == nil { // git exits with 1 if the files differ
			b.Fatal("git sees no difference")
		}
		git += time.Since(start)
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(n) }
	b.ReportMetric(ms(observe), "ms-observe")
	b.ReportMetric(ms(decide), "ms-decide")
	b.ReportMetric(ms(git), "ms-git")
	b.ReportMetric(ms(observe)/ms(git), "x-git-observe")
	b.ReportMetric(float64(allocated[0])/float64(n)/1e6, "MB-observe")
	b.ReportMetric(float64(allocated[1])/float64(n)/1e6, "MB-decide")
	b.ReportMetric(float64(stored), "B-stored")
}

// BenchmarkUndoEqualLines takes back a rejection of many equal lines, and a rewind, after a person has typed.
func BenchmarkUndoEqualLines(b *testing.B) {
	equal := strings.Repeat("same\n", 80_000)
	for _, c := range []struct{ name, old, now, then string }{
		{"added", "a\nb\n", "a\n" + equal + "b\n", "a\nb\nmine\n"},
		{"removed", "a\n" + equal + "b\n", "a\nb\n", "a\n" + equal + "b\nmine\n"},
		{"replaced", "a\n" + equal + "b\n", "a\n" + strings.Repeat("other\n", 80_000) + "b\n", "a\n" + equal + "b\nmine\n"},
	} {
		for _, rewinds := range []bool{false, true} {
			b.Run(fmt.Sprint(c.name, " rewinds ", rewinds), func(b *testing.B) {
				for b.Loop() {
					r := New(file(c.old))
					r.Observe(file(c.now), by("s", "1"))
					var d Decision
					var err error
					if rewinds {
						d, _, err = r.Rewind(Undone{"s", []string{"1"}})
					} else {
						ids := []uint64{}
						for _, h := range r.Hunks() {
							ids = append(ids, h.ID)
						}
						d, err = r.Decide(ids, false, nil)
					}
					require.NoError(b, err)
					r.Observe(file(c.then), nil)
					require.NoError(b, r.Undo(d))
				}
			})
		}
	}
}

// BenchmarkRewind takes back what a turn has done in 150,000 lines, pending.
func BenchmarkRewind(b *testing.B) {
	text := func(line func(i int) string) Content {
		var t strings.Builder
		for i := range 150_000 {
			t.WriteString(line(i))
		}
		return Content{Exists: true, Data: []byte(t.String()), Mode: 0o644}
	}
	base := text(func(i int) string { return fmt.Sprintf("line %d\n", i) })
	for name, now := range map[string]Content{
		"replaced": text(func(i int) string { return fmt.Sprintf("agent's line %d\n", i) }),
		"every second": text(func(i int) string {
			return fmt.Sprintf("%s %d\n", []string{"line", "agent's line"}[i%2], i)
		}),
		"between": text(func(i int) string { return fmt.Sprintf("line %d\nagent's line %d\n", i, i) }),
	} {
		b.Run(name, func(b *testing.B) {
			r := New(base)
			r.Observe(now, &Source{SessionID: "s", TurnID: "t", Via: "edit"})
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := r.Copy().Rewind(Undone{Session: "s", Turns: []string{"t"}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
