// Package atend runs the user's commands at the end of each turn and when the agent asks a person: on_turn_end and on_approval of the
// configuration. It never runs a shell. A command gets the turn, or the approval, as JSON on its stdin. What it does, and how it
// ends, changes nothing for the turn.
package atend

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode"

	"cursord/agent/plaintext"
	"cursord/agent/process"
	"cursord/sessions"
)

const (
	limit    = 30 * time.Second // for one command
	grace    = 2 * time.Second  // for commands that run when the daemon ends
	atOnce   = 4                // commands at once; others wait
	shownMax = 200              // of a value in an argument, in bytes
)

// A Runner runs commands. It owns their processes.
type Runner struct {
	log    *slog.Logger
	ctx    context.Context // of all commands
	cancel context.CancelFunc
	room   chan struct{}

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

// New returns a Runner, which must be closed.
func New(log *slog.Logger) *Runner {
	ctx, cancel := context.WithCancel(context.Background())
	return &Runner{log: log, ctx: ctx, cancel: cancel, room: make(chan struct{}, atOnce)}
}

// Run starts the command for an ended turn, in a session with a title, and does not wait for it. An empty command does
// nothing.
func (r *Runner) Run(command []string, turn *sessions.Turn, title string) {
	if len(command) > 0 {
		r.run("on_turn_end", Arguments(command, turn, title), turn, turn.ID, turn.Workspace)
	}
}

// Asked starts the command for a pending approval of a turn, as Run does; about says what is asked.
func (r *Runner) Asked(command []string, a *sessions.Approval, turn *sessions.Turn, title, about string) {
	if len(command) > 0 {
		r.run("on_approval", replaced(command, turn, title, about, string(a.Status), "{approval}", a.ID, "{kind}", string(a.Kind)), a, turn.ID, turn.Workspace)
	}
}

// run starts a command in the workspace's folder, with input as JSON on its stdin.
func (r *Runner) run(setting string, args []string, input any, turn, workspace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return
	}
	r.running.Go(func() {
		select {
		case r.room <- struct{}{}:
			defer func() { <-r.room }()
		case <-r.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(r.ctx, limit)
		defer cancel()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdin = bytes.NewReader(raw)
		cmd.WaitDelay = grace // in case the command does not read its stdin
		cmd.Dir = os.TempDir()
		if info, err := os.Stat(workspace); err == nil && info.IsDir() {
			cmd.Dir = workspace
		}
		if err := process.Run(ctx, cmd); err != nil {
			r.log.Warn(setting+": the command failed", "command", args[0], "turn", turn, "err", err)
		}
	})
}

// Close ends the running commands after a short grace.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	stop := time.AfterFunc(grace, r.cancel)
	r.running.Wait()
	stop.Stop()
	r.cancel()
}

// Arguments returns a command with the words in braces replaced by values of the turn. A value is one line; an argument that
// a value would turn into an option gets a blank in front.
func Arguments(command []string, turn *sessions.Turn, title string) []string {
	summary := string(turn.Status)
	switch {
	case turn.Error != nil:
		summary = turn.Error.Message
	case turn.Result != nil && strings.TrimSpace(*turn.Result) != "":
		summary = *turn.Result
	}
	return replaced(command, turn, title, summary, string(turn.Status))
}

func replaced(command []string, turn *sessions.Turn, title, summary, status string, more ...string) []string {
	values := strings.NewReplacer(append([]string{
		"{title}", line(cmp.Or(title, turn.Prompt)), "{summary}", line(summary), "{prompt}", line(turn.Prompt), "{status}", status,
		"{workspace}", turn.Workspace, "{session}", turn.SessionID, "{turn}", turn.ID,
	}, more...)...)
	args := []string{command[0]}
	for _, arg := range command[1:] {
		made := values.Replace(arg)
		if strings.HasPrefix(made, "-") && !strings.HasPrefix(arg, "-") {
			made = " " + made
		}
		args = append(args, made)
	}
	return args
}

// line makes a text one line, without characters that a terminal would obey.
func line(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, plaintext.StripANSI(text))
	return plaintext.Cut(strings.Join(strings.Fields(text), " "), shownMax)
}
