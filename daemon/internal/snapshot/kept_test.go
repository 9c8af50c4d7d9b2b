//go:build unix

package snapshot

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
	"cursord/diffs"
)

// A gardener changes a tree at random.
type gardener struct {
	t    *testing.T
	dir  string
	away string // a folder outside of the tree
	rand *rand.Rand
	did  []string

	keeps  *List
	linked []string // names of files that have others
	fresh  []string // those that were made since the last look
	blind  bool     // something has changed of which no event tells
}

func (g *gardener) full(name string) string { return filepath.Join(g.dir, filepath.FromSlash(name)) }

func (g *gardener) name() string {
	parts := []string{"a", "b", "src", "logs", "build", ".venv"}
	var at []string
	for range g.rand.IntN(3) {
		at = append(at, parts[g.rand.IntN(len(parts))])
	}
	names := []string{"f", "g.txt", "h.log", "tracked", ".gitignore"}
	return path.Join(append(at, names[g.rand.IntN(len(names))])...)
}

func (g *gardener) text(name string) string {
	if path.Base(name) == ".gitignore" {
		return []string{"*.log\n", "build/\n", "*\n", "!h.log\n*.txt\n", "/a/\n", ""}[g.rand.IntN(6)]
	}
	return strings.Repeat(fmt.Sprintln("text", g.rand.IntN(1000)), 1+g.rand.IntN(3))
}

// any returns a present path, a folder or a file.
func (g *gardener) any(folder bool) string {
	var all []string
	_ = filepath.WalkDir(g.dir, func(full string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && full != g.dir && d.IsDir() == folder {
			name, _ := filepath.Rel(g.dir, full)
			all = append(all, name)
		}
		return nil
	})
	if len(all) == 0 {
		return "none"
	}
	return all[g.rand.IntN(len(all))]
}

func (g *gardener) git(args ...string) {
	cmd := exec.Command("git", args...)
	cmd.Dir = g.dir
	_ = cmd.Run() // what cannot be done is not done
}

// change does one thing; what cannot be done is not done.
func (g *gardener) change(repo bool) {
	name := g.name()
	full := g.full(name)
	kinds := 15
	if repo {
		kinds = 21
	}
	kind := g.rand.IntN(kinds)
	g.did = append(g.did, fmt.Sprint(kind, " ", name))
	switch kind {
	case 0, 1, 2:
		_ = os.MkdirAll(filepath.Dir(full), 0o755)
		_ = os.WriteFile(full, []byte(g.text(name)), 0o644)
	case 3:
		full = g.full(g.any(false))
		if st := filestat.Of(full); st.Mode.IsRegular() {
			_ = os.WriteFile(full, []byte(g.text(filepath.Base(full))), 0o644)
			g.wrote(full)
		}
	case 4:
		full = g.full(g.any(false))
		_ = os.Remove(full)
	case 5:
		_ = os.Rename(g.full(g.any(false)), full)
	case 6:
		_ = os.Rename(g.full(g.any(true)), filepath.Dir(full))
	case 7:
		_ = os.RemoveAll(g.full(g.any(true)))
	case 8: // another name changes the file
		full = g.full(g.any(false))
		to := filepath.Join(g.away, fmt.Sprint(g.rand.Int64()))
		if g.rand.IntN(2) == 0 {
			to = g.full(g.name())
		}
		if filestat.Of(full).Mode.IsRegular() && os.Link(full, to) == nil {
			_ = os.WriteFile(to, []byte(g.text(filepath.Base(full))), 0o644)
			g.linked, g.fresh = append(g.linked, to), append(g.fresh, to)
			g.wrote(to)
		}
	case 9: // a folder comes to be elsewhere, and a link leads there
		dir := g.full(g.any(true))
		to := filepath.Join(g.away, fmt.Sprint(g.rand.Int64()))
		if os.Rename(dir, to) == nil && g.rand.IntN(2) == 0 {
			_ = os.Symlink(to, dir)
		} else if g.rand.IntN(2) == 0 {
			_ = os.Rename(to, dir)
		}
	case 10:
		_ = os.MkdirAll(full+".d/e", 0o755)
	case 11:
		_ = os.Symlink("f", full)
	case 12:
		full = g.full(g.any(g.rand.IntN(3) == 0))
		_ = os.Chmod(full, []os.FileMode{0o700, 0o755, 0o711, 0o600 | 0o100}[g.rand.IntN(4)])
		g.wrote(full)
	case 13: // by a name elsewhere that was there before
		if len(g.linked) > 0 {
			to := g.linked[g.rand.IntN(len(g.linked))]
			if st := filestat.Of(to); st.Mode.IsRegular() {
				_ = os.WriteFile(to, []byte(g.text("f")), 0o644)
				g.wrote(to)
			}
		}
	case 14: // its content changes, and its times as far as anybody can set them do not
		full = g.full(g.any(false))
		if info, err := os.Lstat(full); err == nil && info.Mode().IsRegular() {
			if text, err := os.ReadFile(full); err == nil && len(text) > 0 {
				text[0]++
				_ = os.WriteFile(full, text, 0o644)
				_ = os.Chtimes(full, info.ModTime(), info.ModTime())
				g.wrote(full)
			}
		}
	case 15:
		g.git("add", "-A")
	case 16:
		g.git("add", "-f", g.any(false))
	case 17:
		g.git("rm", "-q", "--cached", g.any(false))
	case 18:
		g.git("commit", "-q", "-m", "more")
	case 19:
		_ = os.WriteFile(g.full(".git/info/exclude"), []byte(g.text(".gitignore")), 0o644)
	case 20:
		if g.rand.IntN(4) == 0 {
			_ = os.MkdirAll(filepath.Dir(full), 0o755)
			g.git("init", "-q", filepath.Dir(name))
		}
	}
}

// wrote notes that a file was changed by a name of which nothing is told, if it is one, and the file may have others.
func (g *gardener) wrote(full string) {
	name, err := filepath.Rel(g.dir, full)
	if _, n := filestat.Linked(full); n > 1 && (err != nil || !g.keeps.kept.watch.Covers(paths.Parent(filepath.ToSlash(name)))) {
		g.blind = true
	}
}

// lose has the watch lose everything, by chance or because there is something that it cannot know: whatever that was, all is looked at next.
func (g *gardener) lose() {
	for _, to := range g.fresh {
		if _, n := filestat.Linked(to); n < 2 { // nobody has seen it
			g.blind = true
		}
	}
	g.fresh = nil
	if g.blind || g.rand.IntN(8) == 0 {
		g.keeps.kept.watch.Close()
		g.did = append(g.did, "lost")
	}
	g.blind = false
}

// settle waits until another change would show in the times of what was changed last.
func (g *gardener) settle() {
	mark := filepath.Join(g.away, "mark")
	require.NoError(g.t, os.WriteFile(mark, []byte(fmt.Sprint(g.rand.Int64())), 0o644))
	st := filestat.Of(mark)
	require.Eventually(g.t, func() bool { return !st.Racy(clock.Now()) }, time.Minute, time.Millisecond)
}

// held returns what a snapshot knows of the files.
func held(s *Snapshot) map[string]string {
	all := map[string]string{}
	for name := range s.files.all() {
		c, known := s.At(name)
		all[name] = fmt.Sprint(s.files.get(name).Stat, known, c)
	}
	return all
}

// files returns the paths of all files on the disk.
func (g *gardener) files() map[string]bool {
	all := map[string]bool{}
	_ = filepath.WalkDir(g.dir, func(full string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(g.dir, full)
			all[name] = true
		}
		return nil
	})
	return all
}

// found returns what a scan finds that leaves some changes since the moment leave. A path at which there was a file that git ignored does not count: whether it is found is left open.
func found(t *testing.T, s *Snapshot, there map[string]bool, leave int64) (all []string) {
	list, left := s.Scan(t.Context(), true, func(c ChangeTime) Attribution {
		return Attribution{Source: &diffs.Source{Via: "shell"}, Leave: strings.HasSuffix(c.Path, "g.txt") && c.When > leave}
	})
	for _, c := range list {
		if there[c.Path] && !c.Was.Exists() {
			continue
		}
		from := ""
		if c.From != nil {
			from = c.From.Path
		}
		all = append(all, fmt.Sprintln(c.Path, c.Was, c.Is, c.Known, c.Before, c.After.Content, "from", from))
	}
	slices.Sort(left.made)
	return append(all, left.String())
}

// TestWhatIsKeptIsWhatIsRead: a snapshot that is taken from an earlier one knows what one knows that lists and reads all, and a
// scan that looks at folders finds what one finds that lists all.
func TestWhatIsKeptIsWhatIsRead(t *testing.T) {
	if filestat.Tells(t.TempDir()) == filestat.TellsNothing {
		t.Skip("here the states of folders tell nothing of the names in them")
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	again, looked, told := 0, 0, 0
	for seed := range keptSeeds {
		for _, repo := range []bool{true, false} {
			t.Run(fmt.Sprint(seed, repo), func(t *testing.T) {
				dir, err := filepath.EvalSymlinks(t.TempDir())
				require.NoError(t, err)
				g := &gardener{t: t, dir: dir, away: t.TempDir(), rand: rand.New(rand.NewPCG(uint64(seed), 1))}
				for _, name := range []string{"a/tracked", "src/b/tracked", "tracked", "logs/h.log", ".venv/f", "build/g.txt"} {
					require.NoError(t, os.MkdirAll(filepath.Dir(g.full(name)), 0o755))
					require.NoError(t, os.WriteFile(g.full(name), []byte(g.text(name)), 0o644))
				}
				require.NoError(t, os.WriteFile(g.full(".gitignore"), []byte("build/\n*.log\n"), 0o644))
				require.NoError(t, os.WriteFile(g.full(".venv/.gitignore"), []byte("*\n"), 0o644))
				if repo {
					commitAll(t, dir)
				}
				guard := &askgit.Guard{Home: filepath.Join(t.TempDir(), "git"), Root: dir}
				state := t.TempDir()
				take := func(l *List) *Snapshot {
					s, _ := l.Take(dir, state, "", guard, false, nil)
					<-s.Ready()
					require.Empty(t, s.Useless())
					return s
				}
				var keeps List
				g.keeps = &keeps
				for range 8 {
					settled := g.rand.IntN(4) > 0
					if settled {
						g.settle()
					}
					g.lose()
					before := keeps.kept.last
					g.did = append(g.did, fmt.Sprint("take, settled ", settled))
					one := take(&keeps)
					if before != nil && one.files.base == before.files.base {
						again++
					}
					all := one
					if settled { // else the two would see other files as just changed
						all = take(new(List))
						require.Equal(t, held(all), held(one), "%q", g.did)
						for name := range all.dirs {
							require.Contains(t, one.dirs, name, "%q", g.did)
						}
						<-all.left
						all.looked = nil // it lists all
					}
					there := g.files()
					for range 2 {
						for range g.rand.IntN(4) {
							g.change(repo)
						}
						g.lose()
						g.did = append(g.did, "scan")
						if one.sight.watch != nil {
							if _, _, ok := one.sight.watch.Since(0); ok {
								told++
							}
						}
						is := found(t, one, there, one.began)
						if settled {
							require.Equal(t, found(t, all, there, one.began), is, "%q", g.did)
						}
						if !one.reruled && one.looked != nil {
							looked++
						}
					}
					one.Close()
					all.Close()
				}
			})
		}
	}
	require.Greater(t, again, keptSeeds/2)
	require.Greater(t, looked, keptSeeds)
	if runtime.GOOS == "linux" {
		require.Greater(t, told, keptSeeds)
	}
	t.Log(again, looked, told)
}

const keptSeeds = 4
