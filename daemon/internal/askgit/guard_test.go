//go:build unix

package askgit

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A bench is a workspace with a repository, and another repository beside it.
type bench struct {
	t             *testing.T
	root, outside string
	g             *Guard
	claimed       []string
	trusts        bool
}

func newBench(t *testing.T, init ...string) *bench {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	b := &bench{t: t, root: filepath.Join(base, "ws"), outside: filepath.Join(base, "outside")}
	b.g = &Guard{Home: filepath.Join(base, "home"), Root: b.root, Trust: func(_, claim string) bool {
		b.claimed = append(b.claimed, claim)
		return b.trusts
	}}
	for dir, text := range map[string]string{b.root: "a\n", b.outside: "secret\n"} {
		b.put(filepath.Join(dir, "a"), text)
		b.git(dir, append([]string{"init", "-q"}, init...)...)
		b.git(dir, "add", "-A")
		b.git(dir, "commit", "-q", "-m", "x")
	}
	return b
}

func (b *bench) git(dir string, args ...string) string {
	b.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(b.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func (b *bench) put(name, text string) {
	b.t.Helper()
	require.NoError(b.t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(b.t, os.WriteFile(name, []byte(text), 0o644))
}

func (b *bench) in(name string) string { return filepath.Join(b.root, filepath.FromSlash(name)) }

func (b *bench) open() (*View, error) {
	b.t.Helper()
	r, ok := Find(b.root)
	require.True(b.t, ok)
	return b.g.Open(b.t.Context(), r)
}

// asks opens the repository and runs git.
func (b *bench) asks(args ...string) (string, error) {
	b.t.Helper()
	v, err := b.open()
	require.NoError(b.t, err)
	out, err := v.Run(b.t.Context(), Question{Most: 1 << 20}, args...)
	return strings.TrimSpace(string(out)), err
}

// TestWaysOut: places outside that a repository names are used only once they are trusted.
func TestWaysOut(t *testing.T) {
	secret := func(b *bench) (seen bool) { // whether the outside objects can be read
		out, err := b.asks("cat-file", "blob", b.git(b.outside, "rev-parse", "HEAD:a"))
		return err == nil && out == "secret"
	}
	hidden := func(b *bench) bool { // whether outside rules hide a file
		out, err := b.asks("ls-files", "--others", "--exclude-standard")
		require.NoError(b.t, err)
		return !strings.Contains(out, "new")
	}
	leads := func(b *bench) bool {
		_, err := b.open()
		if err != nil {
			require.ErrorIs(b.t, err, ErrLeadsAway)
		}
		return err == nil
	}
	swap := func(b *bench, name string) {
		require.NoError(b.t, os.RemoveAll(b.in(name)))
		require.NoError(b.t, os.Symlink(filepath.Join(b.outside, filepath.FromSlash(name)), b.in(name)))
	}
	for _, c := range []struct {
		name  string
		plant func(*bench)
		out   func(*bench) bool // whether it leads out
		claim string
	}{
		{"alternates", func(b *bench) { b.put(b.in(".git/objects/info/alternates"), b.outside+"/.git/objects\n") }, secret, "objects/info/alternates: "},
		{"relative alternates", func(b *bench) { b.put(b.in(".git/objects/info/alternates"), "../../../outside/.git/objects\n") }, secret, "objects/info/alternates: "},
		{"alternates of alternates", func(b *bench) {
			require.NoError(b.t, os.MkdirAll(b.in("lender/pack"), 0o755))
			b.put(b.in("lender/info/alternates"), b.outside+"/.git/objects\n")
			b.put(b.in(".git/objects/info/alternates"), b.in("lender")+"\n")
		}, secret, "objects/info/alternates: "},
		{"excludesFile", func(b *bench) {
			b.put(b.outside+"/rules", "new\n")
			b.put(b.in("new"), "")
			b.git(b.root, "config", "core.excludesFile", b.outside+"/rules")
		}, hidden, "core.excludesfile = "},
		{"a .git that leads away", func(b *bench) {
			require.NoError(b.t, os.RemoveAll(b.in(".git")))
			b.put(b.in(".git"), "gitdir: "+b.outside+"/.git\n")
		}, leads, ".git leads to "},
		{"a .git that is a link", func(b *bench) { swap(b, ".git") }, leads, ".git leads to "},
		{"a common folder", func(b *bench) { b.put(b.in(".git/commondir"), b.outside+"/.git\n") }, leads, ".git leads to "},
		{"linked objects", func(b *bench) { swap(b, ".git/objects") }, leads, ".git/objects leads to "},
		{"a linked index", func(b *bench) { swap(b, ".git/index") }, leads, ".git/index leads to "},
		{"linked refs", func(b *bench) { swap(b, ".git/refs") }, leads, ".git/refs leads to "},
		{"a linked configuration", func(b *bench) { swap(b, ".git/config") }, leads, ".git/config leads to "},
		{"linked rules", func(b *bench) { swap(b, ".git/info") }, leads, ".git/info leads to "},
		{"a link to nothing yet", func(b *bench) { swap(b, ".git/reftable") }, leads, ".git/reftable leads to "},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			c.plant(b)
			require.False(t, c.out(b))
			require.NotEmpty(t, b.claimed)
			require.True(t, strings.HasPrefix(b.claimed[0], c.claim), b.claimed[0])
			b.trusts = true
			require.True(t, c.out(b), "if a person wants it")
			b.trusts = false
			require.False(t, c.out(b), "and not any more")
		})
	}
}

// TestRepositoriesOfAllKinds: git reads repositories of all kinds, and needs of their configuration only the format of
// files.
func TestRepositoriesOfAllKinds(t *testing.T) {
	for _, c := range []struct {
		name    string
		init    []string
		prepare func(*bench)
	}{
		{"plain", nil, func(*bench) {}},
		{"SHA-256", []string{"--object-format=sha256"}, func(*bench) {}},
		{"a split index", nil, func(b *bench) { b.git(b.root, "update-index", "--split-index") }},
		{"packed", nil, func(b *bench) { b.git(b.root, "gc", "-q") }},
		{"a sparse index", nil, func(b *bench) {
			b.put(b.in("out/x"), "x\n")
			b.git(b.root, "add", "-A")
			b.git(b.root, "commit", "-q", "-m", "y")
			b.git(b.root, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
		}},
		{"core.bare and core.worktree", nil, func(b *bench) {
			b.git(b.root, "config", "core.worktree", b.outside)
			b.git(b.root, "config", "core.bare", "true")
		}},
		{"a detached HEAD", nil, func(b *bench) { b.git(b.root, "checkout", "-q", "--detach") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.init...)
			c.prepare(b)
			head, err := b.asks("rev-parse", "--verify", "HEAD^{commit}")
			require.NoError(t, err)
			require.NotEmpty(t, head)
			files, err := b.asks("ls-files", "--modified", "--stage")
			require.NoError(t, err)
			require.Contains(t, files, "\ta")
			text, err := b.asks("cat-file", "blob", head+":a")
			require.NoError(t, err)
			require.Equal(t, "a", text)
			require.Empty(t, b.claimed)
		})
	}
}

// TestConfigurationThatCannotBeRead: anything unreadable in the configuration's place is an error at once.
func TestConfigurationThatCannotBeRead(t *testing.T) {
	for name, plant := range map[string]func(b *bench, config string){
		"a pipe":   func(b *bench, config string) { require.NoError(b.t, syscall.Mkfifo(config, 0o600)) },
		"a folder": func(b *bench, config string) { require.NoError(b.t, os.Mkdir(config, 0o700)) },
		"nonsense": func(b *bench, config string) { b.put(config, "[core\n") },
		"too much": func(b *bench, config string) { b.put(config, strings.Repeat("#\n", configBytes)) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			require.NoError(t, os.Remove(b.in(".git/config")))
			plant(b, b.in(".git/config"))
			_, err := b.open()
			require.Error(t, err)
			require.False(t, errors.Is(err, ErrLeadsAway))
		})
	}
}

// TestFind finds a folder's repository by names alone.
func TestFind(t *testing.T) {
	b := newBench(t)
	require.NoError(t, os.MkdirAll(b.in("d/e"), 0o755))
	r, ok := Find(b.in("d/e"))
	require.True(t, ok)
	require.Equal(t, Repository{b.in(".git"), b.root}, r)
	_, ok = At(b.in("d/e"))
	require.False(t, ok)
	require.NoError(t, os.Mkdir(b.in("d/.git"), 0o755)) // not a repository
	r, ok = Find(b.in("d/e"))
	require.True(t, ok)
	require.Equal(t, b.root, r.Top)
	b.put(b.in("d/e/.git"), "gitdir: nowhere\n")
	r, ok = Find(b.in("d/e"))
	require.False(t, ok)
	require.Equal(t, b.in("d/e/nowhere"), r.Dir)
}

func TestFormatConfig(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	list := []Setting{
		{Key: "core.autocrlf", Value: "input"}, {Key: `filter.a."b\c.smudge`, Value: "x \"y\" \\ ; # z\n\tw "}, {Key: "core.sparsecheckout", Bare: true},
	}
	got, err := parseConfig(t.Context(), []byte(FormatConfig(list)), nil)
	require.NoError(t, err)
	require.Equal(t, list, got)
	got, err = parseConfig(t.Context(), nil, nil)
	require.NoError(t, err)
	require.Empty(t, got)
}

// TestAnAnswerThatEndsLate: the end of git's output may come long after git's own end, as on a busy machine.
func TestAnAnswerThatEndsLate(t *testing.T) {
	b := newBench(t)
	b.put(b.outside+"/bin/git", "#!/bin/sh\n(sleep 0.5; echo late) &\n")
	require.NoError(t, os.Chmod(b.outside+"/bin/git", 0o700))
	v, err := b.open()
	require.NoError(t, err)
	t.Setenv("PATH", b.outside+"/bin:"+os.Getenv("PATH"))
	out, err := v.Run(t.Context(), Question{Most: 1 << 20}, "rev-parse", "--git-dir")
	require.NoError(t, err)
	require.Equal(t, "late\n", string(out))
}
