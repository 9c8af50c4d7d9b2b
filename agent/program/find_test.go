//go:build unix

package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"cursord/agent/failure"
)

// program writes a program that prints its version.
func program(t *testing.T, path, script string) string {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	syscall.ForkLock.RLock() // a child that starts meanwhile would hold the file open: "text file busy"
	err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	return path
}

func TestFind(t *testing.T) {
	f := NewFinder()
	defer f.Close()
	dir := t.TempDir()
	at := Place{Path: ".:" + dir}
	_, err := f.Look(at)
	require.EqualError(t, err, "cursor-agent is not installed: there is neither cursor-agent nor agent on PATH")

	shared := program(t, filepath.Join(dir, "agent"), "echo 2026.10.01-e373342")
	found, err := f.Look(at)
	require.NoError(t, err)
	require.Equal(t, Found{Path: shared, Unsure: true}, found)
	found, err = f.Find(t.Context(), at)
	require.NoError(t, err)
	require.Equal(t, Found{Path: shared, Version: "2026.10.01-e373342"}, found)
	found, err = f.Look(at)
	require.NoError(t, err)
	require.Equal(t, Found{Path: shared, Version: "2026.10.01-e373342"}, found)

	main := program(t, filepath.Join(dir, "cursor-agent"), "exit 1")
	found, err = f.Find(t.Context(), at)
	require.NoError(t, err)
	require.Equal(t, Found{Path: main}, found, "it is not asked whose it is")
	for _, name := range []string{"other", filepath.Join(dir, "other")} {
		other := program(t, filepath.Join(dir, "other"), "exit 1")
		found, err = f.Look(Place{Program: name, Path: dir})
		require.NoError(t, err)
		require.Equal(t, other, found.Path)
	}
}

// TestWhatIsNamedIsWrong: the error says where the program's name comes from, and why it is no program.
func TestWhatIsNamedIsWrong(t *testing.T) {
	f := NewFinder()
	defer f.Close()
	dir := t.TempDir()
	plain, link := filepath.Join(dir, "plain"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	require.NoError(t, os.Symlink("/no/where", link))
	for program, why := range map[string]string{
		"/no/where":   "which is not there",
		dir:           "which is a folder",
		plain:         "which is not executable",
		link:          "a link to /no/where, which is not there",
		plain + "/in": "which cannot be read: not a directory",
		"other":       "which is not on the daemon's PATH",
	} {
		_, err := f.Find(t.Context(), Place{Program: program, By: "CURSORD_AGENT", Path: dir, Whose: "the daemon's"})
		require.EqualError(t, err, "CURSORD_AGENT names "+program+", "+why)
		var missing *NotFound
		require.ErrorAs(t, err, &missing)
		require.True(t, missing.Named)
		require.Contains(t, missing.Hint(), "remove it")
	}

	grok := program(t, filepath.Join(dir, "grok"), "echo grok 1.2.3")
	found, err := f.Find(t.Context(), Place{Program: grok, By: "the setting agent"})
	require.NoError(t, err)
	require.Equal(t, "the setting agent names "+grok+`, which may not be cursor-agent: its --version prints "grok 1.2.3", `+
		"but Cursor's prints a date and a commit, such as 2026.10.01-e373342", found.Foreign("grok 1.2.3"))
	require.Empty(t, found.Foreign("2026.10.01-e373342"))
	require.Empty(t, found.Foreign(""))

	broken := filepath.Join(dir, "broken")
	require.NoError(t, os.WriteFile(broken, []byte("#!/no/such/interpreter\n"), 0o700))
	for path, why := range map[string]string{
		broken: ": the file exists, but the program in its first line, or a library, is missing",
		dir:    ", which is a folder",
		plain:  ": it is not executable",
	} {
		_, err = Program{Path: path}.Version(t.Context())
		require.EqualError(t, err, "cannot run cursor-agent at "+path+why)
	}
}

// TestFindAsksSlowProgramsAgain: the first start of Cursor's agent takes longer than the finder waits.
func TestFindAsksSlowProgramsAgain(t *testing.T) {
	f := NewFinder()
	defer f.Close()
	f.patience = 300 * time.Millisecond
	dir := t.TempDir()
	slow := program(t, filepath.Join(dir, "agent"), "test -e "+filepath.Join(dir, "warm")+" || exec sleep 1000; echo 2026.10.01-e373342")
	at := Place{Path: dir}
	found, err := f.Find(t.Context(), at)
	require.EqualError(t, err, "there is no cursor-agent on PATH, and "+slow+" does not say in time what it is")
	var missing *NotFound
	require.ErrorAs(t, err, &missing)
	require.Equal(t, slow, missing.Silent)
	require.Contains(t, missing.Hint(), "try again in a moment")
	require.Len(t, found.NotTaken, 1)
	require.Contains(t, found.NotTaken[0].Why, "it does not answer: ")
	found, err = f.Look(at)
	require.NoError(t, err)
	require.True(t, found.Unsure, "it may be Cursor's")
	require.False(t, f.Broken(slow))

	f.patience = time.Minute
	require.NoError(t, os.WriteFile(filepath.Join(dir, "warm"), nil, 0o600))
	require.Eventually(t, func() bool {
		found, err = f.Find(t.Context(), at)
		return err == nil
	}, time.Minute, 50*time.Millisecond, "it is asked again soon")
	require.Equal(t, Found{Path: slow, Version: "2026.10.01-e373342"}, found)
}

func TestFindLeavesOthersAgentsAlone(t *testing.T) {
	f := NewFinder()
	defer f.Close()
	dir := t.TempDir()
	grok := program(t, filepath.Join(dir, "a", "agent"), "echo grok 1.2.3")
	broken := program(t, filepath.Join(dir, "b", "agent"), "exit 3")
	at := Place{Path: filepath.Join(dir, "a") + ":" + filepath.Join(dir, "b")}
	found, err := f.Find(t.Context(), at)
	require.ErrorContains(t, err, grok+` is another program: its --version prints "grok 1.2.3"`)
	require.Len(t, found.NotTaken, 2)
	require.Equal(t, broken, found.NotTaken[1].Path)
	require.Contains(t, found.NotTaken[1].Why, "does not print its version")

	ours := program(t, filepath.Join(dir, "c", "agent"), "echo 2026.10.01-e373342")
	at.Path += ":" + filepath.Join(dir, "c")
	found, err = f.Find(t.Context(), at)
	require.NoError(t, err)
	require.Equal(t, ours, found.Path)
	require.Len(t, found.NotTaken, 2)

	program(t, grok, "echo 2026.10.02-e373342 # another file")
	found, err = f.Find(t.Context(), at)
	require.NoError(t, err)
	require.Equal(t, Found{Path: grok, Version: "2026.10.02-e373342"}, found)
}

func TestFinderKnowsBuilds(t *testing.T) {
	f := NewFinder()
	dir := t.TempDir()
	bin := program(t, filepath.Join(dir, "agent"), "echo x >>"+filepath.Join(dir, "asked")+"; cat "+filepath.Join(dir, "build"))
	say := func(build string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "build"), []byte(build), 0o600))
	}
	say("2026.10.01-e373342")
	version, certain := f.Known(bin)
	require.Equal(t, "", version)
	require.False(t, certain)
	version, err := f.Version(t.Context(), bin)
	require.NoError(t, err)
	require.Equal(t, "2026.10.01-e373342", version)
	say("2026.10.02-e373342")
	version, certain = f.Known(bin)
	require.Equal(t, "2026.10.01-e373342", version)
	require.False(t, certain, "what a script leads to can change")
	version, err = f.Version(t.Context(), bin)
	require.NoError(t, err)
	require.Equal(t, "2026.10.02-e373342", version)

	// The folder of Cursor's installer names the build.
	installed := program(t, filepath.Join(dir, "versions", "2026.09.28-64d2043", "cursor-agent"), "exit 1")
	link := filepath.Join(dir, "cursor-agent")
	require.NoError(t, os.Symlink(installed, link))
	version, certain = f.Known(link)
	require.Equal(t, "2026.09.28-64d2043", version)
	require.True(t, certain)

	// A program is asked only once.
	system, err := exec.LookPath("true")
	require.NoError(t, err)
	elf, err := os.ReadFile(system)
	require.NoError(t, err)
	native := filepath.Join(dir, "native")
	require.NoError(t, os.WriteFile(native, elf, 0o700))
	_, _ = f.Version(t.Context(), native) // its output depends on the system
	_, certain = f.Known(native)
	require.True(t, certain)
	_, err = f.Version(t.Context(), filepath.Join(dir, "nothing"))
	require.Error(t, err)
	f.Close()
	_, err = f.Version(t.Context(), bin)
	require.Error(t, err)
}

func TestFinderEndsProgramsThatDoNotAnswer(t *testing.T) {
	f := NewFinder()
	dir := t.TempDir()
	bin := program(t, filepath.Join(dir, "agent"), "echo $$ >"+filepath.Join(dir, "pid")+"; exec sleep 1000")
	ended := make(chan error, 1)
	go func() {
		_, err := f.Version(t.Context(), bin)
		ended <- err
	}()
	pid := 0
	require.Eventually(t, func() bool {
		said, _ := os.ReadFile(filepath.Join(dir, "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(said)))
		return pid != 0 && strings.HasSuffix(string(said), "\n")
	}, 10*time.Second, 5*time.Millisecond)
	f.Close()
	require.Error(t, <-ended)
	require.ErrorIs(t, unix.Kill(pid, 0), unix.ESRCH)
}

func TestAsk(t *testing.T) {
	t.Setenv("CURSOR_API_KEY", "")
	bin := program(t, filepath.Join(t.TempDir(), "agent.sh"), `case $1 in
--version) echo 2026.10.01-abc1234 ;;
status) echo '✓ Logged in as ann@example.org' ;;
models) echo 'auto - Auto (default)'; (sleep 100 &) ;;
esac
`)
	version, err := Program{Path: bin}.Version(t.Context())
	require.NoError(t, err)
	require.Equal(t, "2026.10.01-abc1234", version)
	account, err := Program{Path: bin}.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ann@example.org", account.Name)
	models, err := Program{Path: bin}.Models(t.Context())
	require.NoError(t, err)
	require.Equal(t, []Model{{ID: "auto", Name: "Auto"}}, models)

	bin = program(t, filepath.Join(t.TempDir(), "agent.sh"), `case $1 in
status) echo 'Not logged in' ;;
*) echo 'Error: Authentication required.' >&2; exit 1 ;;
esac
`)
	account, err = Program{Path: bin}.Status(t.Context())
	require.NoError(t, err)
	require.False(t, account.LoggedIn)
	var failed *failure.Error
	_, err = Program{Path: bin}.Models(t.Context())
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "agentNotLoggedIn", failed.Kind)
	t.Setenv("CURSOR_API_KEY", "k")
	account, err = Program{Path: bin}.Status(t.Context())
	require.NoError(t, err)
	require.True(t, account.APIKey)

	_, err = Program{Path: filepath.Join(t.TempDir(), "nothing")}.Version(t.Context())
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "agentNotInstalled", failed.Kind)
}
