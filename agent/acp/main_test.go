//go:build unix

package acp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cursord/agent"
	"cursord/agent/fake"
	"cursord/agent/process"
	"cursord/agent/program"
)

// TestMain is the agent, if a test has started it as one.
func TestMain(m *testing.M) {
	if os.Getenv("ACP_TEST_AGENT") != "" {
		os.Exit(fake.Main(os.Args[1:], time.Now))
	}
	goleak.VerifyTestMain(m)
}

// A world is a workspace with an agent that plays scripts.
type world struct {
	t      *testing.T
	dir    string
	driver *Driver
	env    []string
	req    agent.Request

	mu     sync.Mutex
	events []string // guarded by mu
	kept   []string // guarded by mu; what the next turn is to tell
}

func newWorld(t *testing.T, build, script string) *world {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	home := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	w := &world{t: t, dir: dir}
	w.restart(0)
	mark := "ACP_TEST_MARK=" + home
	w.req = agent.Request{
		Bin: self, Version: build, Dir: dir, Prompt: "hi", Session: "s", Mark: mark,
		Env: []string{
			"ACP_TEST_AGENT=1", "HOME=" + home, "CURSOR_CONFIG_DIR=" + home, "CURSORD_FAKE_SCRIPT=" + filepath.Join(home, "script"),
			"CURSORD_FAKE_BUILD=" + build, "CURSORD_FAKE_LOG=" + filepath.Join(home, "log"), mark,
		},
	}
	w.env = w.req.Env
	w.script(script)
	t.Cleanup(func() {
		w.driver.Close()
		require.Empty(t, process.Survivors(mark), "processes are left")
	})
	return w
}

// restart gives the world another driver, as a daemon has that starts.
func (w *world) restart(idle time.Duration) {
	w.driver = New(agent.NewLauncher(program.LoadBuilds(nil, nil)), Options{
		Version: "test", Idle: idle,
		Keep: func(_ string, texts []string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.kept = texts
		},
		Kept: func(string) []string {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.kept
		},
	})
}

// home is the folder outside of the workspace.
func (w *world) home(name string) string {
	return filepath.Join(strings.TrimPrefix(w.env[1], "HOME="), name)
}

func (w *world) script(text string) {
	require.NoError(w.t, os.WriteFile(w.home("script"), []byte(text), 0o600))
}

func (w *world) get(name string) string {
	data, err := os.ReadFile(filepath.Join(w.dir, name))
	require.NoError(w.t, err)
	return string(data)
}

// run runs a turn; seen is told each event.
func (w *world) run(ctx context.Context, seen func(agent.Event)) agent.Outcome {
	w.req.Control = agent.NewControl()
	w.mu.Lock()
	w.events = nil
	w.mu.Unlock()
	out := w.driver.Run(ctx, w.req, func(events []agent.Event) {
		for _, ev := range events {
			w.mu.Lock()
			w.events = append(w.events, transcribe(ev))
			w.mu.Unlock()
			if seen != nil {
				seen(ev)
			}
		}
	})
	w.req.Resume = out.SessionID
	return out
}

// said returns the events of the latest turn, with runs of text joined.
func (w *world) said() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return transcript(w.events)
}

func transcript(events []string) string {
	var lines []string
	for _, ev := range events {
		kind, rest, _ := strings.Cut(ev, " ")
		if n := len(lines); n > 0 && (kind == "text" || kind == "thinking") && strings.HasPrefix(lines[n-1], kind+" ") {
			lines[n-1] += rest
			continue
		}
		lines = append(lines, ev)
	}
	return strings.Join(lines, "\n")
}

// transcribe returns an event as one line.
func transcribe(ev agent.Event) string {
	call := func(c agent.Call) string {
		s := fmt.Sprintf("%s %q", c.Name, c.Title)
		if len(c.Paths) > 0 {
			s += fmt.Sprintf(" %d paths", len(c.Paths))
		}
		if c.ExitCode != nil {
			s += fmt.Sprintf(" exit=%d", *c.ExitCode)
		}
		if c.Output != "" {
			s += fmt.Sprintf(" %q", c.Output)
		}
		if c.Error != "" {
			s += fmt.Sprintf(" error=%q", c.Error)
		}
		for _, t := range c.Todos {
			s += fmt.Sprintf(" [%s %s]", t.Status, t.Content)
		}
		for _, ch := range c.Changes {
			s += " wrote " + filepath.Base(ch.Path)
			if ch.Deleted {
				s += " (gone)"
			}
		}
		return s
	}
	switch ev := ev.(type) {
	case agent.Init:
		return "init"
	case agent.Text:
		return "text " + strings.ReplaceAll(ev.Text, "\n", `\n`)
	case agent.Thinking:
		return "thinking " + ev.Text
	case agent.ToolStart:
		return "start " + call(ev.Call)
	case agent.ToolEnd:
		return string(ev.State) + " " + call(ev.Call)
	case agent.Notice:
		return "notice " + ev.Text
	case agent.Failure:
		return "failure " + ev.Message
	case agent.Unknown:
		return "unknown " + ev.Type
	case agent.Waiting:
		return strings.TrimSpace("waiting " + strings.Join(ev.Commands, "; "))
	case agent.ApprovalRequested:
		s := fmt.Sprintf("asks %s %s %q", ev.ID, ev.Kind, ev.Title)
		if ev.Command != "" {
			s += fmt.Sprintf(" command=%q", ev.Command)
		}
		if ev.Detail != "" {
			s += fmt.Sprintf(" detail=%q", ev.Detail)
		}
		for _, o := range ev.Options {
			s += fmt.Sprintf(" %s:%s", o.ID, o.Kind)
		}
		if ev.Text {
			s += " or text"
		}
		return s
	case agent.ApprovalWithdrawn:
		return "withdraws " + ev.ID
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", ev), "agent.")
}
