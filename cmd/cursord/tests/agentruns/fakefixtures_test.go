//go:build unix

package agentruns

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/cmd/cursord/tests/world"
)

// fakeFixtures says which scene makes the fake agent print a fixture of agent/testdata.
var fakeFixtures = []struct {
	fixture string // as a glob below agent/testdata
	scene   string
	args    string
	env     string
	ends    bool // the command in the background ends after the last line
	stays   bool // the agent waits for it; the test ends the agent
}{
	{fixture: "*/turn-whole", scene: "turn"},
	{fixture: "*/turn-pieces", scene: "turn", args: "--stream-partial-output"},
	{fixture: "2026.08.25-3e8eec8/background-ends", scene: "background", args: "--stream-partial-output", ends: true},
	{fixture: "*/background-whole", scene: "background", stays: true},
	{fixture: "*/background-pieces", scene: "background", args: "--stream-partial-output", stays: true},
	{fixture: "2026.09.02-c22c1a3/task-notification-whole", scene: "notified", ends: true},
	{fixture: "2026.09.02-c22c1a3/task-notification-pieces", scene: "notified", args: "--stream-partial-output", ends: true},
	{fixture: "2026.09.02-c22c1a3/background-shell-timeout", scene: "background", args: "--stream-partial-output --background-shell-timeout 0.01"},
	{fixture: "2026.09.02-c22c1a3/edit-without-force", scene: "edit"},
	{fixture: "2026.09.02-c22c1a3/untrusted"},
	{fixture: "2026.09.15/sandbox-unavailable", args: "--sandbox enabled", env: "CURSORD_FAKE_SANDBOX=unavailable"},
	{fixture: "2026.09.18/auto-review-holds", scene: "held", args: "--auto-review"},
	{fixture: "2026.09.28-64d2043/signed-out", env: "CURSORD_FAKE_STATUS=logged-out"},
	{fixture: "2026.10.01-e373342/no-models", env: "CURSORD_FAKE_MODELS=none"},
	{fixture: "2026.10.01-e373342/rejected", scene: "rejected"},
	{fixture: "2026.10.01-e373342/unknown-option", args: "--x"},
}

// TestFakeAgentIsLikeItsFixtures has the fake agent play scenes as a build does. Its stream, its stderr and its exit status
// must mean the same as the fixtures of the build, which were written without it.
func TestFakeAgentIsLikeItsFixtures(t *testing.T) {
	t.Parallel()
	data := world.Top("agent", "testdata")
	for _, tt := range fakeFixtures {
		names, err := filepath.Glob(filepath.Join(data, filepath.FromSlash(tt.fixture)+".ndjson"))
		require.NoError(t, err)
		require.NotEmpty(t, names, tt.fixture)
		for _, name := range names {
			build := filepath.Base(filepath.Dir(name))
			t.Run(build+"/"+filepath.Base(tt.fixture), func(t *testing.T) {
				stream, err := os.ReadFile(name)
				require.NoError(t, err)
				want := newMeaning("/repo")
				for line := range strings.Lines(string(stream)) {
					want.line(line)
				}
				head, err := os.ReadFile(strings.TrimSuffix(name, ".ndjson") + ".want")
				require.NoError(t, err)

				dir, err := filepath.EvalSymlinks(t.TempDir())
				require.NoError(t, err)
				ws, bin := filepath.Join(dir, "ws"), filepath.Join(dir, "bin")
				require.NoError(t, os.Mkdir(ws, 0o700))
				require.NoError(t, os.Mkdir(bin, 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(ws, "a.txt"), []byte("one\n"), 0o600))
				require.NoError(t, os.WriteFile(filepath.Join(bin, "npm"), []byte("#!/bin/sh\nwhile [ -d $PWD ] && [ ! -e ../go ]; do sleep 0.01; done\n"), 0o700))

				args := append([]string{"fake-agent", "--build", build, "-p", "--output-format", "stream-json", "--workspace", ws}, strings.Fields(tt.args)...)
				if build >= "2026.02" && !strings.HasSuffix(name, "untrusted.ndjson") {
					args = append(args, "--trust")
				}
				cmd := exec.Command("cursord", append(args, "go")...)
				cmd.Env = append(os.Environ(), "CURSORD_FAKE_SCRIPT="+filepath.Join(data, "scenes", tt.scene+".scene"), "PATH="+bin+":"+os.Getenv("PATH"), tt.env)
				var stderr strings.Builder
				cmd.Stderr = &stderr
				out, err := cmd.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, cmd.Start())
				got := newMeaning(ws)
				for lines := bufio.NewReader(out); ; {
					line, err := lines.ReadString('\n')
					got.line(line)
					if err != nil {
						break
					}
					// The last message is what the agent says before it waits.
					if strings.HasPrefix(line, `{"type":"assistant"`) && !strings.Contains(line, "timestamp_ms") {
						switch {
						case tt.ends:
							require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
						case tt.stays:
							require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
						}
					}
				}
				cmd.Wait()
				require.Equal(t, want.String(), got.String())
				for i, shape := range want.shapes {
					require.Greater(t, len(got.shapes), i)
					require.Equal(t, shape, got.shapes[i])
				}
				require.Len(t, got.shapes, len(want.shapes))
				var says string
				for line := range strings.Lines(string(head)) {
					switch kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); kind {
					case "stderr":
						says += rest + "\n"
					case "exit":
						code, err := strconv.Atoi(rest)
						require.NoError(t, err)
						require.Equal(t, code, cmd.ProcessState.ExitCode(), stderr.String())
					case "stays":
						require.Equal(t, 143, cmd.ProcessState.ExitCode())
					}
					if line == "--\n" {
						break
					}
				}
				require.Equal(t, says, strings.ReplaceAll(stderr.String(), ws, "/repo"))
			})
		}
	}
}

// A meaning is the content of a stream without the parts that differ between two runs: the cuts of pieces, ids, times and
// counts.
type meaning struct {
	dec   *agent.Decoder
	dir   string
	ids   map[string]int
	lines []string

	shapes []string // shapes of the lines, without repetitions in a row
}

// shapeOf returns the names of all members of a line. The members of a notification are not published.
func shapeOf(line string) string {
	var v any
	if json.Unmarshal([]byte(line), &v) != nil {
		return strings.TrimSpace(line)
	}
	if strings.Contains(line, `"task_notification"`) {
		return "task_notification"
	}
	var names []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				walk(path+"."+name, inner)
			}
		case []any:
			for _, inner := range v {
				walk(path+"[]", inner)
			}
		default:
			names = append(names, fmt.Sprintf("%s %T", path, v))
		}
	}
	walk("", v)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), "\n")
}

func newMeaning(dir string) *meaning {
	return &meaning{dec: agent.NewDecoder(), dir: dir, ids: map[string]int{}}
}

func (m *meaning) line(line string) {
	if shape := shapeOf(line); shape != "" && (len(m.shapes) == 0 || m.shapes[len(m.shapes)-1] != shape) {
		m.shapes = append(m.shapes, shape)
	}
	for _, ev := range m.dec.Line([]byte(line)) {
		m.add(ev)
	}
}

func (m *meaning) add(ev agent.Event) {
	switch ev := ev.(type) {
	case agent.Init:
		m.say("init", ev.Dir)
	case agent.Text:
		m.grow("text ", ev.Text)
	case agent.Thinking:
		m.grow("thinking ", ev.Text)
	case agent.ToolStart:
		m.say("start", m.call(ev.Call))
	case agent.ToolEnd:
		m.say(string(ev.State), m.call(ev.Call))
	case agent.Result:
		text := ""
		if ev.Text != nil {
			text = *ev.Text
		}
		m.say("result", fmt.Sprintf("%v %q usage=%v", ev.OK, text, ev.Usage != nil))
	case agent.Unreadable:
		m.say("unreadable", ev.Line)
	case agent.Failure:
		m.say("failure", ev.Message)
	case agent.Waiting, agent.BackgroundEnded: // these depend on the members of a notification, which are not published
	default:
		m.say(fmt.Sprintf("%T", ev), "")
	}
}

func (m *meaning) grow(kind, text string) {
	if last := len(m.lines) - 1; last >= 0 && strings.HasPrefix(m.lines[last], kind) {
		m.lines[last] += text
		return
	}
	m.lines = append(m.lines, kind+text)
}

func (m *meaning) say(kind, what string) {
	m.lines = append(m.lines, strings.TrimSpace(kind+" "+strings.ReplaceAll(what, m.dir, "/repo")))
}

func (m *meaning) call(c agent.Call) string {
	if _, ok := m.ids[c.ID]; !ok {
		m.ids[c.ID] = len(m.ids)
	}
	s := fmt.Sprintf("%d %s/%s %q %q %q", m.ids[c.ID], c.Name, c.RawName, c.Title, c.Paths, c.Command)
	if c.ExitCode != nil {
		s += fmt.Sprintf(" exit=%d", *c.ExitCode)
	}
	s += fmt.Sprintf(" %q %q", c.Output, c.Error)
	for _, change := range c.Changes {
		s += fmt.Sprintf(" %s deleted=%v", change.Path, change.Deleted)
		for _, side := range []*string{change.Before, change.After} {
			if side == nil {
				s += " ?"
			} else {
				s += fmt.Sprintf(" %q", *side)
			}
		}
	}
	return s
}

func (m *meaning) String() string { return strings.Join(m.lines, "\n") }
