//go:build unix

package isolation

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
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
	randomScenarios = flag.Int("isolated.scenarios", 6, "how many random scenarios of isolated sessions are played")
	randomSeed      = flag.Uint64("isolated.seed", 1, "the first one's seed")
)

// A chance is a random scenario: an agent in a copy, a person in the work tree, decisions and restarts.
type chance struct {
	*world.World
	e     *world.Editor
	s     *sessions.Session
	rng   *rand.Rand
	n     int             // the number of the last new line
	given map[string]bool // the person's lines whose deletion was accepted at some time
	short bool            // the person has made a file shorter, which may be half of a save: the review waits a moment
	log   []string
}

func TestRandomIsolatedScenarios(t *testing.T) {
	bothKinds(t, testRandomIsolatedScenarios)
}

func testRandomIsolatedScenarios(t *testing.T) {
	for i := range uint64(*randomScenarios) {
		t.Run(fmt.Sprint("seed ", *randomSeed+i), func(t *testing.T) { playChance(t, *randomSeed+i) })
	}
}

func playChance(t *testing.T, seed uint64) {
	c := &chance{World: newWorld(t), rng: rand.New(rand.NewPCG(seed, 0)), given: map[string]bool{}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what happened:\n%s", strings.Join(c.log, "\n"))
		}
	})
	c.PutAll(world.Tree{"a": world.Numbered(12, nil), "b": strings.ReplaceAll(world.Numbered(8, nil), "\n", "\r\n"), "d/c": strings.TrimSuffix(world.Numbered(6, nil), "\n"), "e": ""})
	if seed%2 == 0 {
		c.Commits()
	}
	c.Start()
	c.e = c.Opens()
	c.s = c.e.Isolates()
	c.turn()
	for range 12 {
		c.step()
		c.check()
	}
	c.Plays(world.Done)
	c.quietly("the last turn", func() { c.e.Ok(c.s) })
	c.check()
	if c.rng.IntN(2) == 0 {
		c.decide("diff/accept", world.Obj{"all": true})
	}
	c.decide("diff/reject", world.Obj{"all": true})
	require.Empty(t, c.e.Diffs())
	require.Equal(t, c.filesIn(c.Root), c.filesIn(c.Seen(c.s)))
}

// filesIn lists a tree without folders, because an empty folder may be the person's or the agent's alone.
func (c *chance) filesIn(dir string) map[string]string {
	all := c.Whole(dir)
	maps.DeleteFunc(all, func(_, content string) bool { return content == "folder" })
	return all
}

func (c *chance) step() {
	switch c.rng.IntN(13) {
	case 12:
		c.thereAndBack()
	case 0, 1, 2:
		c.person()
	case 3, 4:
		c.turn()
	case 5, 6:
		if ids := c.ids(); len(ids) > 0 {
			c.decide("diff/accept", world.Obj{"hunks": []string{ids[c.rng.IntN(len(ids))]}})
		}
	case 7, 8:
		if ids := c.ids(); len(ids) > 0 {
			c.decide("diff/reject", world.Obj{"hunks": []string{ids[c.rng.IntN(len(ids))]}})
		}
	case 9:
		c.back("diff/undo")
	case 10:
		c.back("diff/redo")
	case 11:
		c.quietly("restart", func() {
			if c.rng.IntN(2) == 0 {
				c.Kill()
			} else {
				c.Stop()
			}
			c.Start()
			c.e = c.Opens()
		})
	}
}

// happens records a step.
func (c *chance) happens(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf(format, args...))
}

// edit returns a command that changes one or two files at random, with new lines of this author.
func (c *chance) edit(author, dir string) string {
	var files []string
	require.NoError(c.T, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(dir, path)
			files = append(files, rel)
		}
		return err
	}))
	c.n++
	line, fresh := fmt.Sprint(author, " ", c.n), fmt.Sprint([]string{"", "d/", "n/m/"}[c.rng.IntN(3)], author, c.n)
	made := fmt.Sprintf("mkdir -p $(dirname %[1]s); printf '%[2]s\\n%[2]s too\\n' >%[1]s", fresh, line)
	if len(files) == 0 {
		return made
	}
	f, at := files[c.rng.IntN(len(files))], 1+c.rng.IntN(8)
	switch c.rng.IntN(14) {
	case 0, 1, 2:
		return fmt.Sprintf("sed -i '%di %s' %s", at, line, f)
	case 3, 4, 5:
		return fmt.Sprintf("sed -i 's/^line %d\\(.\\?\\)$/%s\\1/' %s", at, line, f)
	case 6, 7:
		return fmt.Sprintf("sed -i '%dd' %s", at, f)
	case 8:
		return fmt.Sprintf("printf '%s' >>%s", line, f)
	case 9:
		return made
	case 10:
		return "rm " + f
	case 11:
		return fmt.Sprintf("mkdir -p $(dirname %s); mv %s %s", fresh, f, fresh)
	case 12:
		return "chmod " + []string{"755", "644"}[c.rng.IntN(2)] + " " + f
	}
	return fmt.Sprintf("ln -sfn %s %slink", f, author)
}

// person changes the work tree.
func (c *chance) person() {
	command := c.edit("user", c.Root)
	c.happens("person: %s", command)
	was := c.Whole(c.Root)
	c.does(command)
	for path, content := range c.Whole(c.Root) {
		c.short = c.short || len(content) < len(was[path])
	}
}

// thereAndBack changes a file of the work tree a few times, and then makes it what it was. The hunks are those from before.
func (c *chance) thereAndBack() {
	f := []string{"a", "b", "d/c"}[c.rng.IntN(3)]
	info, err := os.Lstat(c.Path(f))
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	was := c.shapes()
	before := c.Get(f)
	for range 1 + c.rng.IntN(3) {
		c.n++
		lines := strings.SplitAfter(before, "\n")
		switch at := c.rng.IntN(len(lines)); c.rng.IntN(4) {
		case 0:
			lines = slices.Insert(lines, at, fmt.Sprintf("user %d\n", c.n))
		case 1:
			lines[at] = fmt.Sprintf("user %d\n", c.n)
		case 2:
			lines = slices.Delete(lines, at, at+1)
		case 3:
			if here, err := os.ReadFile(filepath.Join(c.Seen(c.s), f)); err == nil {
				lines = strings.SplitAfter(string(here), "\n")
			}
		}
		c.happens("there: %s %q", f, lines)
		c.saves(f, strings.Join(lines, ""), info.Mode())
		c.e.Diffs()
	}
	c.happens("and back: %s", f)
	c.saves(f, before, info.Mode())
	c.comes(func() string {
		if is := c.shapes(); !maps.EqualFunc(was, is, slices.Equal) {
			return fmt.Sprintf("%q were %q", is, was)
		}
		return ""
	})
}

func (c *chance) saves(name, text string, mode os.FileMode) {
	c.short = c.short || len(text) < len(c.Get(name))
	require.NoError(c.T, os.WriteFile(c.Path(name), []byte(text), mode))
}

// comes fails unless there is nothing wrong, at once or, after a person has made a file shorter, in a while.
func (c *chance) comes(wrong func() string) {
	c.T.Helper()
	says := wrong()
	if says != "" && c.short {
		world.Comes(world.Patience, func() bool { says = wrong(); return says == "" })
	}
	require.Empty(c.T, says)
}

func (c *chance) shapes() map[string][]string {
	all := map[string][]string{}
	for path, d := range c.e.Diffs() {
		all[path] = shape(d)
	}
	return all
}

// does runs a command in the work tree. The command may fail.
func (c *chance) does(command string) {
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = c.Root
	_ = cmd.Run()
}

// turn has the agent change the copy.
func (c *chance) turn() {
	in := c.Seen(c.s)
	if _, err := os.Stat(in); err != nil {
		in = c.Root
	}
	var script []string
	for i := range 1 + c.rng.IntN(3) {
		command := c.edit("agent", in)
		c.happens("agent: %s", command)
		script = append(script, world.Shells(fmt.Sprint("s", i), command)...)
	}
	c.Plays(append(script, world.Done)...)
	c.quietly("turn", func() { c.e.Ok(c.s) })
}

func (c *chance) ids() (ids []string) {
	for _, d := range c.e.Diffs() {
		ids = append(ids, world.HunkIDs(d)...)
	}
	slices.Sort(ids)
	return ids
}

// quietly runs a step that must not change the work tree.
func (c *chance) quietly(what string, do func()) {
	c.T.Helper()
	c.happens("%s", what)
	was := c.Whole(c.Root)
	do()
	require.Equal(c.T, was, c.Whole(c.Root), what)
}

func (c *chance) decide(method string, params world.Obj) {
	c.T.Helper()
	found := c.e.Diffs()
	if method == "diff/reject" {
		c.quietly(fmt.Sprint(method, params), func() { c.ask(method, params) })
		return
	}
	c.happens("%s %v", method, params)
	was := c.lines()
	chosen, _ := params["hunks"].([]string)
	for _, d := range found {
		for _, h := range d.Hunks {
			for _, l := range h.Lines {
				if l[0] == '-' && (chosen == nil || slices.Contains(chosen, h.ID) || len(h.Linked) > 0) {
					c.given[strings.TrimRight(l[1:], "\r")] = true
				}
			}
		}
	}
	c.ask(method, params)
	c.requireLines(was)
}

// back undoes a decision or redoes it.
func (c *chance) back(method string) {
	c.T.Helper()
	c.happens("%s", method)
	was := c.lines()
	c.ask(method, world.Obj{})
	c.requireLines(was)
}

// ask sends a request that may be refused if the error says why.
func (c *chance) ask(method string, params world.Obj) {
	c.T.Helper()
	params["workspace"] = c.Root
	if err := c.e.Call(method, params, nil); err != nil {
		c.happens("  refused: %v", err)
		require.NotContains(c.T, err.Error(), "internal")
	}
}

// lines counts the person's lines in the work tree.
func (c *chance) lines() map[string]int {
	lines := map[string]int{}
	for _, content := range c.Whole(c.Root) {
		_, text, _ := strings.Cut(content, " ") // behind the mode
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\r\n"); strings.HasPrefix(line, "user") {
				lines[line]++
			}
		}
	}
	return lines
}

func (c *chance) requireLines(was map[string]int) {
	c.T.Helper()
	now := c.lines()
	for line := range was {
		if !c.given[line] {
			require.NotZero(c.T, now[line], "the person's line %q is lost", line)
		}
	}
}

// check compares the pending diffs with both sides: their patch turns the work tree's files into the copy's.
func (c *chance) check() {
	c.T.Helper()
	c.comes(c.mismatch)
}

func (c *chance) mismatch() string {
	found := c.e.Diffs()
	var out struct{ Patch string }
	c.e.Must("diff/unified", world.Obj{"workspace": c.Root}, &out)
	if out.Patch == "" {
		return ""
	}
	dir := c.T.(*testing.T).TempDir()
	patch := filepath.Join(c.Dir, "patch")
	require.NoError(c.T, os.WriteFile(patch, []byte(out.Patch), 0o644))
	for _, args := range [][]string{{"cp", "-a", c.Root + "/.", dir}, {"git", "apply", "--whitespace=nowarn", patch}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, c.Env("GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Sprintf("%s: %s\n%s", args, said, out.Patch)
		}
	}
	made, copied := c.Whole(dir), c.Whole(c.Seen(c.s))
	for path, d := range found {
		for _, p := range []string{path, d.OldPath} {
			if p != "" && copied[p] != made[p] {
				return fmt.Sprintf("%s has %q, and by the patch %q\n%s", p, copied[p], made[p], out.Patch)
			}
		}
	}
	return ""
}
