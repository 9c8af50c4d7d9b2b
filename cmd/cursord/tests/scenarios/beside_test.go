//go:build unix

package scenarios

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

var (
	besideRuns = flag.Int("beside", 3, "how many rounds TestPersonsBesideCommands plays")
	besideSeed = flag.Uint64("beside.seed", 1, "the first one's seed; 0: others each time")
)

// TestPersonsBesideCommands has an agent's commands and a person take turns in rearranging a small workspace at random, and
// decides some hunks. Each line that a person typed is in a file, or in a hunk that removes it, until the person removes the
// line or accepts its removal. At the end, after a reject of everything, it is in a file.
func TestPersonsBesideCommands(t *testing.T) {
	t.Parallel()
	randomly(t, *besideRuns, *besideSeed, func(t *testing.T, seed uint64) { newBeside(t, seed).play() })
}

// A beside is a workspace with the lines of it that are a person's.
type beside struct {
	*shuffler
	t    *testing.T
	w    *world.World
	e    *world.Editor
	mine map[string]bool

	apart *sessions.Session // the session in whose copy the agent works; nil for the work tree
}

func newBeside(t *testing.T, seed uint64) *beside {
	b := &beside{shuffler: newShuffler(seed), t: t, w: world.New(t), mine: map[string]bool{}}
	all := world.Tree{"last": "last\n"}
	for _, name := range shuffledFiles {
		if b.n(4) > 0 {
			all[name] = b.lines("base", 1+b.n(6))
		}
	}
	b.w.PutAll(all)
	if b.n(2) == 0 {
		b.w.Commits()
	}
	b.w.Start()
	b.e = b.w.Opens()
	b.mine = b.onDisk()
	if b.n(3) == 0 {
		b.apart = b.e.Isolates()
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
			b.person(b.pending())
		case 2, 3:
			b.agent()
		case 4:
			b.decide()
		case 5:
			b.t.Log("the daemon is killed")
			pending := b.pending()
			b.w.Kill()
			b.person(pending)
			b.w.Start()
			b.e = b.w.Opens()
		}
		if b.n(2) == 0 { // otherwise the next step comes before any look
			b.nothingLost()
		}
	}
	b.t.Logf("all is rejected; apart: %t", b.apart != nil)
	if len(b.e.Diffs()) > 0 {
		out := b.e.Decides("diff/reject", world.Obj{"all": true})
		for _, s := range out.Skipped {
			b.t.Logf("left: %+v", s)
		}
	}
	b.nothingLost()
}

// person makes a person do some things while these diffs are pending.
func (b *beside) person(pending map[string]map[string]bool) {
	for range 1 + b.n(3) {
		was := b.onDisk()
		had := map[string]fs.FileMode{}
		for path := range pending {
			had[path] = kindOf(b.w.Path(path))
		}
		command := b.command("person")
		b.t.Logf("a person: %s", command)
		sh(b.w.Root, command)
		is := b.onDisk()
		maps.Copy(b.mine, minus(is, was))
		for line := range minus(was, is) {
			delete(b.mine, line)
		}
		// If a person removes a file, makes one, or makes a link of it, its review ends, and its pending hunks with it.
		for path, removed := range pending {
			if kindOf(b.w.Path(path)) != had[path] {
				b.mine = minus(b.mine, removed)
			}
		}
	}
}

// agent makes an agent run commands and edit files in turn.
func (b *beside) agent() {
	var script [][]string
	ahead := b.w.Path("../ahead") // the work tree after it
	require.NoError(b.t, os.RemoveAll(ahead))
	require.NoError(b.t, exec.Command("cp", "-a", b.w.Root, ahead).Run())
	for i := range 1 + b.n(4) {
		call := fmt.Sprint(i)
		name := shuffledFiles[b.n(len(shuffledFiles))]
		before, err := os.ReadFile(filepath.Join(ahead, filepath.FromSlash(name)))
		if b.apart == nil && err == nil && b.n(3) == 0 {
			if b.n(4) == 0 {
				b.t.Logf("an agent deletes %s", name)
				script = append(script, world.Deletes(call, name, string(before)))
				require.NoError(b.t, os.Remove(filepath.Join(ahead, name)))
				continue
			}
			after := b.edited(string(before))
			b.t.Logf("an agent edits %s", name)
			script = append(script, world.Edits(call, name, string(before), after))
			require.NoError(b.t, os.WriteFile(filepath.Join(ahead, name), []byte(after), 0o600))
			continue
		}
		command := b.command("agent")
		b.t.Logf("an agent: %s", command)
		script = append(script, world.Shells(call, "{ "+command+"; } 2>/dev/null; :"))
		sh(ahead, command)
	}
	b.w.Plays(world.Lines(script...)...)
	if b.apart == nil {
		require.Equal(b.t, sessions.TurnCompleted, b.e.Turn(nil).Status)
		return
	}
	was := everything(b.t, b.w.Root)
	b.e.Ok(b.apart)
	require.Equal(b.t, was, everything(b.t, b.w.Root))
}

func (b *beside) decide() {
	pending := b.pending()
	if len(pending) == 0 {
		return
	}
	path := slices.Sorted(maps.Keys(pending))[b.n(len(pending))]
	method := []string{"diff/accept", "diff/reject"}[b.n(2)]
	b.t.Logf("%s %s", method, path)
	out := b.e.Decides(method, world.Obj{"path": path})
	for _, s := range out.Skipped {
		b.t.Logf("left: %+v", s)
	}
	if method == "diff/accept" {
		b.mine = minus(b.mine, pending[path])
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
	sed := "sed -i "
	if whose == "agent" {
		sed += "--follow-symlinks " // otherwise the command replaces a link by a copy of a person's lines, which are not the person's
	}
	switch b.n(14) {
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
		return sed + "'2d' " + file()
	case 7:
		return sed + "'1s/.*/" + strings.TrimSpace(b.lines(whose, 1)) + "/' " + file()
	case 8:
		return "mkdir -p " + dir() + "/made; echo " + strings.TrimSpace(b.lines(whose, 1)) + " > " + dir() + "/made/m"
	case 9:
		return "ln -sfn " + file() + " " + file()
	case 10:
		if whose == "agent" {
			return "true" // a copy of a person's lines is not the person's
		}
		return "cp " + file() + " " + file()
	case 11:
		return "chmod +x " + file()
	default:
		return "echo " + strings.TrimSpace(b.lines(whose, 1)) + " >> " + file()
	}
}

// edited removes lines of a text, changes some, or adds some.
func (b *beside) edited(text string) string {
	var all strings.Builder
	for line := range strings.Lines(text) {
		switch b.n(5) {
		case 0:
		case 1:
			all.WriteString(b.lines("agent", 1))
		case 2:
			all.WriteString(line + b.lines("agent", 1))
		default:
			all.WriteString(line)
		}
	}
	return all.String()
}

func sh(dir, command string) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	_ = cmd.Run() // impossible changes are left out
}

// nothingLost requires each of the person's lines to be in a file, or in a hunk that removes it.
func (b *beside) nothingLost() {
	b.t.Helper()
	lost := minus(b.mine, b.onDisk())
	for _, removed := range b.pending() {
		lost = minus(lost, removed)
	}
	if len(lost) > 0 {
		b.t.Fatalf("lost: %v; listed:%s\non disk: %q", lost, describeDiffs(b.e.Diffs()), everything(b.t, b.w.Root))
	}
}

func (b *beside) onDisk() map[string]bool {
	all := map[string]bool{}
	for _, text := range everything(b.t, b.w.Root) {
		for line := range strings.Lines(text[strings.Index(text, " ")+1:]) {
			if line = strings.TrimSpace(line); line != "" && strings.Contains(line, "-") {
				all[line] = true
			}
		}
	}
	return all
}

// pending returns the lines that pending hunks remove, by path.
func (b *beside) pending() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for path, d := range b.e.Diffs() {
		removed := map[string]bool{}
		take := func(line string) {
			if text, ok := strings.CutPrefix(line, "-"); ok {
				removed[strings.TrimSpace(text)] = true
			}
		}
		for _, h := range d.Hunks {
			for _, line := range h.Lines {
				take(line)
			}
		}
		if d.NewTarget != "" { // only the patch shows the file that a link has replaced
			var out struct{ Patch string }
			b.e.Must("diff/unified", world.Obj{"workspace": b.w.Root, "path": path}, &out)
			for line := range strings.Lines(out.Patch) {
				take(line)
			}
		}
		all[path] = removed
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

// kindOf distinguishes a file, a link, a folder and nothing.
func kindOf(path string) fs.FileMode {
	info, err := os.Lstat(path)
	if err != nil {
		return fs.ModeIrregular
	}
	return info.Mode().Type()
}

// TestATurnRightAfterASave has a person save a file under review just before an agent's command adds to it. The save was
// once taken for the command's.
func TestATurnRightAfterASave(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "1\n2\n3\n")
	w.Start()
	e := w.Opens()
	w.Plays(world.Lines(world.Shells("s", "sed -i 2d f"))...)
	e.Turn(nil)
	require.Len(t, e.Diffs(), 1)
	w.Plays(world.Lines(world.Shells("s", "echo agent >> f"))...)
	w.Put("f", "1\n3\nperson\n")
	e.Turn(nil)
	require.Equal(t, "1\n3\nperson\nagent\n", w.Get("f"))
	e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, "1\n2\n3\nperson\n", w.Get("f"))
}
