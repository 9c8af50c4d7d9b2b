// Package atend runs the user's command at the end of each turn: the configuration's on_turn_end. It never runs a shell, and the
// command gets the turn as JSON on its stdin. What the command does, and how it ends, changes nothing for the turn.
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
	limit    = 30 * time.Second // for a command
	grace    = 2 * time.Second  // for those that run when the daemon ends
	atOnce   = 4                // commands; others wait
	shownMax = 200              // bytes of a value in an argument
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

// New returns a runner, to be closed.
func New(log *slog.Logger) *Runner {
	ctx, cancel := context.WithCancel(context.Background())
	return &Runner{log: log, ctx: ctx, cancel: cancel, room: make(chan struct{}, atOnce)}
}

// Run has a command run for a turn that has ended, in a session with a title, and does not wait for it. No command: nothing.
func (r *Runner) Run(command []string, turn *sessions.Turn, title string) {
	if len(command) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	told, err := json.Marshal(turn)
	if err != nil {
		return
	}
	args := Arguments(command, turn, title)
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
		cmd.Stdin = bytes.NewReader(told)
		cmd.WaitDelay = grace // for a stdin that nobody reads
		cmd.Dir = os.TempDir()
		if info, err := os.Stat(turn.Workspace); err == nil && info.IsDir() {
			cmd.Dir = turn.Workspace
		}
		if err := process.Run(ctx, cmd); err != nil {
			r.log.Warn("on_turn_end: the command failed", "command", command[0], "turn", turn.ID, "err", err)
		}
	})
}

// Close ends the commands that run, after a moment of grace.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	stop := time.AfterFunc(grace, r.cancel)
	r.running.Wait()
	stop.Stop()
	r.cancel()
}

// Arguments returns a command with what stands for something of the turn in braces replaced. Each value is one line; an argument that
// would become an option by it begins with a blank.
func Arguments(command []string, turn *sessions.Turn, title string) []string {
	summary := string(turn.Status)
	switch {
	case turn.Error != nil:
		summary = turn.Error.Message
	case turn.Result != nil && strings.TrimSpace(*turn.Result) != "":
		summary = *turn.Result
	}
	values := strings.NewReplacer(
		"{title}", line(cmp.Or(title, turn.Prompt)), "{summary}", line(summary), "{prompt}", line(turn.Prompt), "{status}", string(turn.Status),
		"{workspace}", turn.Workspace, "{session}", turn.SessionID, "{turn}", turn.ID,
	)
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

// line makes one line of a text, without what a terminal would obey.
func line(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, plaintext.StripANSI(text))
	return plaintext.Cut(strings.Join(strings.Fields(text), " "), shownMax)
}
