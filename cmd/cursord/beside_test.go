package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

var (
	besideRuns = flag.Int("beside", 4, "how many rounds TestPersonsBesideCommands plays")
	besideSeed = flag.Uint64("beside.seed", 0, "the one to play again; 0: others each time")
)

// TestPersonsBesideCommands has an agent's commands and a person in turn rearrange a small workspace at random, and some of
// it decided. Each line that a person typed is in a file, or in a hunk that removes it, until the person removes it or accepts
// that; in the end, with all rejected, it is in a file.
func TestPersonsBesideCommands(t *testing.T) {
	for range *besideRuns {
		seed := cmp.Or(*besideSeed, rand.Uint64())
		t.Run(fmt.Sprint(seed), func(t *testing.T) { newBeside(t, seed).play() })
	}
}

// A beside is a workspace with the lines in it that are a person's.
type beside struct {
	*shuffler
	t    *testing.T
	w    *world
	e    *editor
	mine map[string]bool
	made int

	apart *sessions.Session // in whose copy the agent works; nil: in the work tree
}

func newBeside(t *testing.T, seed uint64) *beside {
	b := &beside{shuffler: newShuffler(seed), t: t, w: newWorld(t), mine: map[string]bool{}}
	all := tree{"last": "last\n"}
	for _, name := range shuffledFiles {
		if b.n(4) > 0 {
			all[name] = b.lines("base", 1+b.n(6))
		}
	}
	b.w.putAll(all)
	if b.n(2) == 0 {
		b.w.commits()
	}
	b.w.start()
	b.e = b.w.opens()
	b.mine = b.onDisk()
	if b.n(3) == 0 {
		b.apart = b.e.isolates()
	}
	return b
}

func (b *beside) lines(whose string, n int) string {
	var all strings.Builder
	for range n {
		b.made++
		fmt.Fprintf(&all, "%s-%d\n", whose, b.made)
	}
	return all.String()
}

func (b *beside) play() {
	for range 1 + b.n(6) {
		switch b.n(6) {
		case 0, 1:
			b.person(b.e.diffs())
		case 2, 3:
			b.agent()
		case 4:
			b.decide()
		case 5:
			b.t.Log("the daemon is killed")
			diffs := b.e.diffs()
			b.w.kill()
			b.person(diffs)
			b.w.start()
			b.e = b.w.opens()
		}
		if b.n(2) == 0 { // else the next thing happens before anybody looks
			b.nothingLost()
		}
	}
	b.t.Logf("all is rejected; apart: %t", b.apart != nil)
	if len(b.e.diffs()) > 0 {
		out := b.e.decides("diff/reject", obj{"all": true})
		for _, s := range out.Skipped {
			b.t.Logf("left: %+v", s)
		}
	}
	b.nothingLost()
}

// person has a person do some things, while these diffs are pending.
func (b *beside) person(diffs map[string]*sessions.Diff) {
	for range 1 + b.n(3) {
		was := b.onDisk()
		had := map[string]bool{}
		for path := range diffs {
			had[path] = exists(b.w.path(path))
		}
		command := b.command("person")
		b.t.Logf("a person: %s", command)
		b.sh(command)
		is := b.onDisk()
		maps.Copy(b.mine, minus(is, was))
		for line := range minus(was, is) {
			delete(b.mine, line)
		}
		// Where a person removes a file, or makes one, its review ends, with what was pending in it.
		for path, d := range diffs {
			there := exists(b.w.path(path))
			for line := range b.removed(map[string]*sessions.Diff{path: d}) {
				if there != had[path] {
					delete(b.mine, line)
				}
			}
		}
	}
}

func (b *beside) agent() {
	var commands []string
	for range 1 + b.n(3) {
		commands = append(commands, b.command("agent"))
	}
	command := strings.Join(commands, "; ")
	b.t.Logf("an agent: %s", command)
	b.w.plays(lines(shells("s", "{ "+command+"; } 2>/dev/null; :"))...)
	if b.apart == nil {
		require.Equal(b.t, sessions.TurnCompleted, b.e.turn(nil).Status)
		return
	}
	was := everything(b.t, b.w.ws)
	b.e.ok(b.apart)
	require.Equal(b.t, was, everything(b.t, b.w.ws))
}

func (b *beside) decide() {
	diffs := b.e.diffs()
	if len(diffs) == 0 {
		return
	}
	path := slices.Sorted(maps.Keys(diffs))[b.n(len(diffs))]
	method := []string{"diff/accept", "diff/reject"}[b.n(2)]
	b.t.Logf("%s %s", method, path)
	out := b.e.decides(method, obj{"path": path})
	for _, s := range out.Skipped {
		b.t.Logf("left: %+v", s)
	}
	if method == "diff/accept" {
		for line := range b.removed(map[string]*sessions.Diff{path: diffs[path]}) {
			delete(b.mine, line)
		}
	}
}

func (b *beside) command(whose string) string {
	file := func() string {
		if b.n(5) == 0 {
			return fmt.Sprintf("new%d", b.n(3))
		}
		return "'" + shuffledFiles[b.n(len(shuffledFiles))] + "'"
	}
	dir := func() string {
		return []string{"d", "d/in", "e", "e/f/g", "moved"}[b.n(5)]
	}
	switch b.n(11) {
	case 0:
		return "mv " + file() + " " + file()
	case 1:
		return "mv " + file() + " " + dir() + "/"
	case 2:
		return "mv -T " + dir() + " " + dir()
	case 3:
		return "rm -f " + file()
	case 4:
		return "rm -rf " + dir()
	case 5:
		x, y := dir(), dir()
		return "mv " + x + " tmp && { mv " + y + " " + x + "; mv tmp " + y + "; }"
	case 6:
		return "sed -i '2d' " + file()
	case 7:
		return "sed -i '1s/.*/" + strings.TrimSpace(b.lines(whose, 1)) + "/' " + file()
	case 8:
		return "mkdir -p " + dir() + "/made; echo " + strings.TrimSpace(b.lines(whose, 1)) + " > " + dir() + "/made/m"
	default:
		return "echo " + strings.TrimSpace(b.lines(whose, 1)) + " >> " + file()
	}
}

func (b *beside) sh(command string) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = b.w.ws
	_ = cmd.Run() // what cannot be done is not
}

// nothingLost requires each of the person's lines in a file, or in a hunk that removes it.
func (b *beside) nothingLost() {
	b.t.Helper()
	disk, diffs := b.onDisk(), b.e.diffs()
	removed := b.removed(diffs)
	for _, line := range slices.Sorted(maps.Keys(b.mine)) {
		if !disk[line] && !removed[line] {
			b.t.Fatalf("%s is lost; listed:%s\non disk: %v", line, describeDiffs(diffs), slices.Sorted(maps.Keys(everything(b.t, b.w.ws))))
		}
	}
}

func (b *beside) onDisk() map[string]bool {
	all := map[string]bool{}
	for _, text := range everything(b.t, b.w.ws) {
		for line := range strings.Lines(text[strings.Index(text, " ")+1:]) {
			if line = strings.TrimSpace(line); line != "" && strings.Contains(line, "-") {
				all[line] = true
			}
		}
	}
	return all
}

// removed returns the lines that hunks remove.
func (b *beside) removed(diffs map[string]*sessions.Diff) map[string]bool {
	all := map[string]bool{}
	for _, d := range diffs {
		for _, h := range d.Hunks {
			for _, line := range h.Lines {
				if text, ok := strings.CutPrefix(line, "-"); ok {
					all[strings.TrimSpace(text)] = true
				}
			}
		}
	}
	return all
}

func minus(a, b map[string]bool) map[string]bool {
	left := map[string]bool{}
	for k := range a {
		if !b[k] {
			left[k] = true
		}
	}
	return left
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestATurnRightAfterASave has a person save a file under review just before an agent's command adds to it. The save was
// taken for the command's.
func TestATurnRightAfterASave(t *testing.T) {
	w := newWorld(t)
	w.put("f", "1\n2\n3\n")
	w.start()
	e := w.opens()
	w.plays(lines(shells("s", "sed -i 2d f"))...)
	e.turn(nil)
	require.Len(t, e.diffs(), 1)
	w.plays(lines(shells("s", "echo agent >> f"))...)
	w.put("f", "1\n3\nperson\n")
	e.turn(nil)
	require.Equal(t, "1\n3\nperson\nagent\n", w.get("f"))
	e.decides("diff/reject", obj{"all": true})
	require.Equal(t, "1\n2\n3\nperson\n", w.get("f"))
}
