//go:build unix

package scenarios

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// everything lists a folder with modes, contents and targets of links, without git's own files.
func everything(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" {
			return fs.SkipDir
		}
		name, _ := filepath.Rel(root, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			all[name] = "folder"
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[name] = "-> " + target
			return err
		default:
			data, err := os.ReadFile(path)
			all[name] = info.Mode().String() + " " + string(data)
			return err
		}
		return nil
	}))
	return all
}

// TestCommands has commands rearrange small workspaces.
func TestCommands(t *testing.T) {
	t.Parallel()
	before := world.Tree{
		"last": "last\n", "a": "a\n", "b": "b\n", "x.sh": "#!/bin/sh\n", "d/a": "in d\n", "d/in/b": "in d/in\n", "d/in/c": "c\n", "e/in/z": "z\n",
		"bin": "\x00\x01", "many": world.Numbered(40, nil),
	}
	for _, command := range []string{
		"rm -r d; ln -s e d",
		"rm -r d; ln -s d/a d",
		"rm a; mkdir a; echo in > a/in",
		"rm a; mkdir a; mv d d2; mkdir -p d/a",
		"mv d f; mv f/in g; mkdir h; mv g h/",
		"mv a t; mv b a; mv t b",
		"mv d t; mv e d; mv t e",
		"rm -r *",
		"rm -r d; echo file > d",
		"chmod +x a; chmod -x x.sh; printf '\\0new' > bin; sed -i 's/^line 7$/seven/; /^line 20$/d' many",
		"mv many d/in/; echo more >> d/in/many; cp -r d copy; ln -s ../a d/link",
		"mkdir -p n/e/w; echo n > n/e/w/f; mv d/in/b n/e/; mv e/in/z e/; rmdir e/in",
	} {
		for _, isolated := range []bool{true, false} {
			for _, git := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, isolated %t, git %t", command, isolated, git), func(t *testing.T) {
					playCommand(t, before, command, isolated, git)
				})
			}
		}
	}
}

var (
	commandRuns = flag.Int("commands", 5, "how many random commands TestRandomCommands has agents run")
	commandSeed = flag.Uint64("commands.seed", 1, "the first one's seed; 0: others each time")
)

// TestRandomCommands has commands rearrange small workspaces at random.
func TestRandomCommands(t *testing.T) {
	t.Parallel()
	randomly(t, *commandRuns, *commandSeed, func(t *testing.T, seed uint64) {
		s := newShuffler(seed)
		playCommand(t, s.tree(), s.commands(1+s.n(6)), s.n(2) == 0, s.n(2) == 0)
	})
}

// randomly runs a test with a seed, which it prints so that the run can be repeated. Seed 0 takes a new one each time.
func randomly(t *testing.T, runs int, first uint64, play func(*testing.T, uint64)) {
	for i := range uint64(runs) {
		seed := first + i
		if first == 0 {
			seed = rand.Uint64()
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { play(t, seed) })
	}
}

// playCommand has an agent run a command in a workspace, or in its copy. A reject of everything restores the former
// workspace, an accept of everything keeps the command's result, and an undo restores the state before the decision.
func playCommand(t *testing.T, before world.Tree, command string, isolated, git bool) {
	t.Logf("isolated: %t, git: %t, command: %s", isolated, git, command)
	w := world.New(t)
	w.PutAll(before)
	if git {
		w.Commits()
	}
	w.Rests()
	was := everything(t, w.Root)
	w.Plays(world.Lines(world.Shells("s", command))...)
	w.Start()
	e := w.Opens()
	if isolated {
		e.Ok(e.Isolates())
		require.Equal(t, was, everything(t, w.Root))
	} else {
		e.Turn(nil)
	}
	copied := exec.Command("cp", "-a", w.Root, w.Path("../by hand"))
	require.NoError(t, copied.Run())
	if isolated {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = w.Path("../by hand")
		_ = cmd.Run()
	}
	made := everything(t, w.Path("../by hand"))
	decides := func(method string, want map[string]string) {
		t.Helper()
		var out api.Decided
		params := world.Obj{"workspace": w.Root}
		if method == "diff/accept" || method == "diff/reject" {
			params["all"] = true
		}
		if err := e.Call(method, params, &out); err != nil {
			t.Logf("%s: %v", method, err)
			requireSame(t, was, made) // nothing was pending
		}
		require.Empty(t, out.Skipped)
		requireSame(t, want, everything(t, w.Root))
	}
	if isolated {
		decides("diff/accept", made)
		decides("diff/undo", was)
		decides("diff/reject", was)
	} else {
		decides("diff/reject", was)
		decides("diff/undo", made)
		decides("diff/redo", was)
		decides("diff/undo", made)
		decides("diff/accept", made)
	}
	require.Empty(t, e.Diffs())
}

// requireSame compares trees without empty folders, which are not reviewed.
func requireSame(t *testing.T, want, have map[string]string) {
	t.Helper()
	files := func(all map[string]string) map[string]string {
		all = maps.Clone(all)
		maps.DeleteFunc(all, func(_, what string) bool { return what == "folder" })
		return all
	}
	require.Equal(t, files(want), files(have))
}

// A shuffler makes random trees and commands.
type shuffler struct {
	*rand.Rand
	made int
}

func newShuffler(seed uint64) *shuffler { return &shuffler{Rand: rand.New(rand.NewPCG(seed, 0))} }

func (s *shuffler) n(n int) int { return s.IntN(n) }

func (s *shuffler) text() string {
	s.made++
	switch s.n(6) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("\x00%d", s.made)
	case 2:
		return fmt.Sprintf("no end %d", s.made)
	default:
		return world.Numbered(1+s.n(20), map[int]string{1: fmt.Sprintf("number %d", s.made)})
	}
}

var (
	shuffledDirs  = []string{"d", "d/in", "e", "e/f/g"}
	shuffledFiles = []string{"a", "b", "d/a", "d/b", "d/in/a", "d/in/c", "e/a", "e/f/g/z", "odd name", "x.log", "d/y.log"}
)

func (s *shuffler) tree() world.Tree {
	all := world.Tree{"last": "last\n"}
	for _, f := range shuffledFiles {
		if s.n(4) > 0 {
			all[f] = s.text()
		}
	}
	if s.n(2) == 0 {
		all[".gitignore"] = "*.o\n"
	}
	return all
}

func (s *shuffler) commands(n int) string {
	var all []string
	file := func() string {
		if s.n(5) == 0 {
			return fmt.Sprintf("'new%d'", s.n(3))
		}
		return "'" + shuffledFiles[s.n(len(shuffledFiles))] + "'"
	}
	dir := func() string { return "'" + shuffledDirs[s.n(len(shuffledDirs))] + "'" }
	for range n {
		s.made++
		all = append(all, [...]func() string{
			func() string { return "mv " + file() + " " + file() },
			func() string { return "mv " + file() + " " + dir() + "/" },
			func() string { return "mv " + dir() + " " + fmt.Sprintf("moved%d", s.n(2)) },
			func() string { return "mv " + fmt.Sprintf("moved%d", s.n(2)) + " " + dir() },
			func() string { return "rm -f " + file() },
			func() string { return "rm -rf " + dir() },
			func() string { return "rm -rf " + file() + "; mkdir -p " + file() },
			func() string { return "rm -rf " + dir() + "; ln -s " + file() + " " + dir() },
			func() string { return "ln -sfn " + file() + " " + file() },
			func() string { return "cp " + file() + " " + file() },
			func() string { return "cp -r " + dir() + " " + fmt.Sprintf("copy%d", s.n(2)) },
			func() string { return fmt.Sprintf("echo more%d >> ", s.made) + file() },
			func() string { return fmt.Sprintf("sed -i '2s/$/ changed%d/;4d' ", s.made) + file() },
			func() string { return "chmod +x " + file() },
			func() string {
				return "mkdir -p " + dir() + fmt.Sprintf("/made; echo m%d > ", s.made) + dir() + "/made/m"
			},
			func() string { return "echo '*.tmp' >> .gitignore" },
		}[s.n(16)]())
	}
	return "{ " + strings.Join(all, "; ") + "; } 2>/dev/null; :"
}
