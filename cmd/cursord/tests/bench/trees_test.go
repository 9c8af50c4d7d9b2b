//go:build unix

package bench

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

var millionFiles = flag.Bool("bench.million", false, "also measure a tree of 1,000,000 files, which takes 6 GB of the temporary folder")

// took runs a program in a folder and returns how long that took, and how much time of processors.
func took(b *testing.B, dir string, argv ...string) (all, cpu time.Duration) {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	start := time.Now()
	require.NoError(b, cmd.Run())
	return time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// peak returns the most that a process has had in memory, in MB; 0 where the system does not say.
func peak(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			kb, _ := strconv.ParseFloat(f[1], 64)
			return kb / 1024
		}
	}
	return 0
}

// memory returns what a process has in memory, in MB: its own share (PSS), and all (RSS); 0 where the system does not say.
func memory(pid int) (pss, rss float64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && (f[0] == "Pss:" || f[0] == "Rss:") {
			kb, _ := strconv.ParseFloat(f[1], 64)
			if f[0] == "Pss:" {
				pss = kb / 1024
			} else {
				rss = kb / 1024
			}
		}
	}
	return pss, rss
}

// BenchmarkLargeTrees measures what turns cost in trees of 100 (nearly the costs of a turn alone), 10,000 and 100,000 files (40,000 without git), beside "git status", or "find -newer" where there is
// no git: until the agent runs in the first turn and in later ones, until the files of its command are known, and from the agent's
// last line to the turn's end; the processor time of the daemon alone, in a whole turn without a command and with one; and its memory, also the
// most that it had up to the end of a first turn. Each time is also told as a multiple of git status or find. A flag adds 1,000,000 files.
func BenchmarkLargeTrees(b *testing.B) {
	usesBuilt(b)
	for _, kind := range []string{"git", "plain"} {
		for _, files := range []int{100, 10_000, 40_000, 100_000, 1_000_000} {
			wanted := files != 40_000
			if kind == "plain" {
				wanted = files <= 40_000 // without git, 50,000 entries are listed
			}
			if !wanted || files > 10_000 && testing.Short() || files > 100_000 && !*millionFiles {
				continue
			}
			b.Run(fmt.Sprint(kind, "-", files), func(b *testing.B) { turnsIn(b, kind == "git", files) })
		}
	}
}

func turnsIn(b *testing.B, byGit bool, files int) {
	w := world.New(b)
	text := strings.Repeat("some text of no meaning\n", 40)
	for i := range files {
		w.Put(fmt.Sprintf("src/%d/%d/%d", i/2500, i/50%50, i), text)
	}
	beside := []string{"find", ".", "-newer", w.Script}
	if byGit {
		w.Git("init", "-q")
		w.Commits()
		beside = []string{"git", "status", "--porcelain"}
		took(b, w.Root, beside...) // refreshes the index
	}
	w.Rests()
	marks := filepath.Join(w.Dir, "marks")
	mark := world.Execs("date +%s%N >> " + marks)
	var e *world.Editor
	turn := func(calls ...[]string) (begun, ended time.Duration, marked []time.Time) {
		require.NoError(b, os.WriteFile(marks, nil, 0o600))
		script := []string{mark, world.InitLine}
		for _, c := range calls {
			script = append(script, c...)
		}
		w.Plays(append(script, mark, world.Done)...)
		start := time.Now()
		e.Turn(nil)
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
	var others, firsts, laters, known, ends, othersCPU, laterCPU, commandCPU delays
	times := func() {
		for range 3 {
			all, cpu := took(b, w.Root, beside...)
			others, othersCPU = append(others, all), append(othersCPU, cpu)
		}
	}
	used := func() time.Duration { return cpuTime(w.Cmd.Process.Pid) }
	most := 0.0
	for range 3 { // each daemon has a first turn
		if e != nil {
			w.Cursord("stop", "--force")
		}
		w.Start()
		e = w.Opens()
		times()
		first, _, _ := turn()
		firsts, most = append(firsts, first), max(most, peak(w.Cmd.Process.Pid))
	}
	round := 0
	for b.Loop() {
		times()
		round++
		was := used()
		later, _, _ := turn()
		laters, laterCPU = append(laters, later), append(laterCPU, used()-was)
		was = used()
		// The mark before the last call is the end of the command; the mark after it is there when the daemon has seen both.
		_, ended, marked := turn(world.Shells("c", fmt.Sprintf("for i in 1 2 3 4 5 6 7 8 9 10; do echo %d > src/0/0/new$i; done; date +%%s%%N >> %s", round, marks)))
		commandCPU = append(commandCPU, used()-was)
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
	pss, rss := memory(w.Cmd.Process.Pid)
	b.ReportMetric(others.quantile(0.5)/1000, "ms-beside")
	for name, d := range map[string]delays{"first": firsts, "later": laters, "command": known, "end": ends} {
		b.ReportMetric(d.quantile(0.5)/1000, "ms-"+name)
		b.ReportMetric(d.quantile(0.5)/others.quantile(0.5), "x-"+name)
	}
	b.ReportMetric(othersCPU.quantile(0.5)/1000, "ms-cpu-beside")
	b.ReportMetric(laterCPU.quantile(0.5)/othersCPU.quantile(0.5), "x-cpu-later")
	b.ReportMetric(commandCPU.quantile(0.5)/othersCPU.quantile(0.5), "x-cpu-command")
	b.ReportMetric(most, "MB-peak-first")
	b.ReportMetric(peak(w.Cmd.Process.Pid), "MB-peak")
	b.ReportMetric(pss, "MB-PSS")
	b.ReportMetric(rss, "MB-RSS")
	b.ReportMetric(0, "ns/op")
}
