//go:build unix

package world

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Poll waits until fits returns true.
func (tm *Tmux) Poll(what string, fits func() bool) {
	tm.T.Helper()
	if !Comes(Patience, fits) {
		tm.T.Fatalf("waited in vain for %s on\n%s", what, tm.Screen())
	}
}

// Shows waits until part of a text is on the screen.
func (tm *Tmux) Shows(part string) {
	tm.T.Helper()
	tm.Poll(part, func() bool { return strings.Contains(tm.Screen(), part) })
}

// A Tmux is a real terminal with a shell in a workspace.
type Tmux struct {
	T      *testing.T
	socket string

	mu  sync.Mutex // of what follows: a client of tmux that stays, because a new one for each look takes most of the time of looking
	in  io.WriteCloser
	out *bufio.Reader
}

// Terminal opens a terminal of 90 columns in the workspace, with env added to its environment.
func (w *World) Terminal(t *testing.T, env ...string) *Tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux")
	}
	tm := &Tmux{T: t, socket: filepath.Join(w.Dir, "tmux")}
	cmd := tm.Command("-f", os.DevNull, "new-session", "-d", "-x", "90", "-y", "24", "sh")
	cmd.Dir = w.Root
	w.Put("../shellrc", "PS1='$ '\n")
	cmd.Env = w.Env(append(env, "TERM=screen", "ENV="+w.Path("../shellrc"), "LC_ALL=C.UTF-8")...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { _ = tm.Command("kill-server").Run() })
	tm.Until("$")
	return tm
}

// Command is a command of tmux for this terminal.
func (tm *Tmux) Command(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-u", "-S", tm.socket}, args...)...)
}

// Types types text. Names of keys, such as Enter, stand for the keys.
func (tm *Tmux) Types(keys ...string) {
	tm.T.Helper()
	out, err := tm.Command(append([]string{"send-keys"}, keys...)...).CombinedOutput()
	require.NoError(tm.T, err, "%s", out)
}

// Answers types the answer to a question, and again if the question had just come or left the screen, until the answer is taken.
func (tm *Tmux) Answers(keys ...string) {
	tm.T.Helper()
	tm.AnswersAgain(keys, keys)
}

// AnswersAgain is Answers with other keys for the second time.
func (tm *Tmux) AnswersAgain(keys, again []string) {
	tm.T.Helper()
	counts := func() (taken, soon int) {
		out, _ := tm.Captures("-S", "-")
		text := strings.Join(strings.Fields(out), " ") // a narrow window breaks lines
		return strings.Count(text, "answered: ") + strings.Count(text, "ended without an answer"), strings.Count(text, "has just come") + strings.Count(text, "Here it is again") + strings.Count(text, "is above the window")
	}
	taken, soon := counts()
	tm.Types(keys...)
	typed := time.Now()
	tm.Poll("the answer to be taken", func() bool {
		nowTaken, nowSoon := counts()
		if nowTaken == taken && nowSoon > soon && time.Since(typed) > 600*time.Millisecond { // each refusal makes the question as good as new
			tm.Types(again...)
			soon, typed = nowSoon, time.Now()
		}
		return nowTaken > taken
	})
}

// Captures returns what "tmux capture-pane -p" prints, with more of its arguments.
func (tm *Tmux) Captures(args ...string) (string, error) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	if tm.in == nil {
		cmd := tm.Command("-C", "attach", "-f", "no-output,ignore-size")
		in, err := cmd.StdinPipe()
		if err != nil {
			return "", err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return "", err
		}
		if err := cmd.Start(); err != nil {
			return "", err
		}
		tm.T.Cleanup(func() {
			in.Close() // which ends it
			_ = cmd.Wait()
		})
		tm.in, tm.out = in, bufio.NewReader(out)
	}
	if _, err := fmt.Fprintln(tm.in, "capture-pane -p", strings.Join(args, " ")); err != nil {
		return "", err
	}
	// The answer is between "%begin TIME NUMBER 1" and "%end TIME NUMBER 1". What tmux does unasked has 0 in the place of the 1.
	var answer strings.Builder
	end := ""
	for {
		line, err := tm.out.ReadString('\n')
		if err != nil {
			return "", err
		}
		words, begins := strings.CutPrefix(line, "%begin ")
		switch {
		case end == "" && begins && strings.HasSuffix(words, " 1\n"):
			end = words
		case end == "":
		case line == "%end "+end:
			return answer.String(), nil
		case line == "%error "+end:
			return "", errors.New(strings.TrimSpace(answer.String()))
		default:
			answer.WriteString(line)
		}
	}
}

// Screen returns what is on the screen, without blanks at the ends of lines and empty lines at the end.
func (tm *Tmux) Screen() string {
	out, err := tm.Captures()
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.ReplaceAll(out, "\u00a0", " "), "\n") // people see no difference
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Until waits until the screen ends in a text.
func (tm *Tmux) Until(end string) {
	tm.T.Helper()
	var screen string
	if !Comes(Patience, func() bool { screen = tm.Screen(); return strings.HasSuffix(screen, end) }) {
		tm.T.Fatalf("the screen does not end in\n%s\nbut is\n%s", end, screen)
	}
}
