//go:build unix

package acp

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// A quirk plays what a client sends and expects, where it differs from others.
type quirk struct {
	agent        []string // the agent's script; nil: one that says "Hello"
	asks         bool     // the agent asks people
	environment  func(variable string) bool
	capabilities any
	initialize   world.Obj // what else it says of itself
	play         func(c *client)
}

// chooses answers a permission with the first option that the client takes for one of these kinds; nil if it finds none.
func chooses(m rpc.Message, kinds ...string) any {
	var p struct {
		Options []struct{ OptionID, Kind string }
	}
	_ = json.Unmarshal(m.Params, &p)
	for _, kind := range kinds {
		for _, o := range p.Options {
			if o.Kind == kind {
				return selects(o.OptionID)
			}
		}
	}
	return nil
}

var question = []string{`{"fake":"question","text":"Which colour?","options":["red","blue"]}`, `{"fake":"say","text":"Done."}`}

// replies returns what the agent was told about its question, as a load shows it.
func (c *client) replies(session string) string {
	c.t.Helper()
	again := opens(c.w, nil)
	again.loads(session)
	var b strings.Builder
	for _, call := range callsOf(again.updates(session, 0, "")) {
		fmt.Fprintln(&b, call.content)
	}
	return b.String()
}

var quirks = map[string]quirk{
	// It drops updates of a session that it does not know yet, sets its defaults right behind session/new, and shows questions as forms.
	"Zed": {
		agent: question, asks: true,
		capabilities: world.Obj{
			"fs": world.Obj{"readTextFile": true, "writeTextFile": true}, "terminal": true, "auth": world.Obj{"terminal": true},
			"session": world.Obj{"configOptions": world.Obj{"boolean": world.Obj{}}}, "elicitation": world.Obj{"form": world.Obj{}, "url": world.Obj{}},
			"_meta": world.Obj{"terminal_output": true, "terminal-auth": true},
		},
		initialize: world.Obj{"clientInfo": world.Obj{"name": "zed", "title": "Zed", "version": "1.0"}},
		play: func(c *client) {
			c.answering(func(m rpc.Message) any {
				require.Equal(c.t, "elicitation/create", m.Method)
				return world.Obj{"action": "accept", "content": world.Obj{"answer": optionOf(m, "blue")}}
			})
			made := c.sends("session/new", world.Obj{"cwd": c.w.Root + "/", "mcpServers": []any{}})
			var result struct {
				SessionID     string
				ConfigOptions []option
			}
			require.NoError(c.t, c.answers(made, &result))
			for _, m := range c.all() {
				if m.IsResponse() && string(m.ID) == made {
					break
				}
				require.NotEqual(c.t, "session/update", m.Method, "nothing of the session comes before the answer")
			}
			s := result.SessionID
			types := map[string]string{}
			for _, o := range result.ConfigOptions {
				types[o.ID] = o.Type
			}
			require.Equal(c.t, "boolean", types["auto_review"])
			ids := []string{
				c.sends("session/set_config_option", world.Obj{"sessionId": s, "configId": "model", "value": "fake-large"}),
				c.sends("session/set_config_option", world.Obj{"sessionId": s, "configId": "auto_review", "type": "boolean", "value": false}),
				c.sends("session/set_mode", world.Obj{"sessionId": s, "modeId": "agent"}),
			}
			prompt := c.asks(s, "Ask")
			for _, id := range ids {
				require.NoError(c.t, c.answers(id, nil))
			}
			require.Equal(c.t, "end_turn", c.stops(prompt))
			require.Contains(c.t, c.replies(s), "→ blue")
			_ = c.cmd.Process.Kill() // when its thread is closed
		},
	},
	// It does not start a bridge again that has ended with its daemon.
	"JetBrains": {
		initialize: world.Obj{"clientInfo": world.Obj{"name": "JetBrains IDE", "version": "2026.2"}},
		play: func(c *client) {
			s := c.session()
			require.Equal(c.t, "end_turn", c.prompts(s, "Say hello"))
			c.w.Cursord("stop", "--force")
			mark := c.mark()
			require.Equal(c.t, "end_turn", c.prompts(s, "Again"))
			require.Contains(c.t, said(c.updates(s, mark, ""), "agent_message_chunk"), "Hello")
		},
	},
	// It skips lines that do not begin with "{", encodes empty tables as [], sends a word for a list, opens two sessions at once, prompts before
	// the cancelled prompt is answered, shows options by their kinds, and ends the agent by SIGTERM.
	"CodeCompanion": {
		agent: waiting("go"), capabilities: world.Obj{"fs": world.Obj{"readTextFile": true, "writeTextFile": true}, "session": []any{}, "_meta": []any{}},
		initialize: world.Obj{"clientInfo": world.Obj{"name": "CodeCompanion.nvim", "version": "1.0.0"}},
		play: func(c *client) {
			open := world.Obj{"cwd": c.w.Root, "mcpServers": "inherit_from_config"}
			first, second := c.sends("session/new", open), c.sends("session/new", open)
			var one, other struct{ SessionID string }
			require.NoError(c.t, c.answers(second, &other))
			require.NoError(c.t, c.answers(first, &one))
			require.NotEqual(c.t, one.SessionID, other.SessionID)
			cancelled := c.asks(one.SessionID, "Do it")
			c.update(0, "begun")
			c.notifies("session/cancel", world.Obj{"sessionId": one.SessionID})
			next := c.asks(one.SessionID, "Do that instead")
			require.Equal(c.t, "cancelled", c.stops(cancelled))
			c.w.Put("../go", "")
			require.Equal(c.t, "end_turn", c.stops(next))
			require.Error(c.t, c.calls("session/load", world.Obj{"sessionId": "nobody", "cwd": c.w.Root, "mcpServers": []any{}}, nil), "it then makes a session")
			require.NoError(c.t, c.cmd.Process.Signal(syscall.SIGTERM))
			// what is on stderr fails the test at its end
		},
	},
	// Whatever is on stderr is an error for it; null and false are alike. It interrupts the turn when a person rejects something once, so no
	// answer to a question may be of that kind.
	"agent-shell": {
		agent: question, asks: true, capabilities: world.Obj{"fs": world.Obj{"readTextFile": true, "writeTextFile": true}, "terminal": nil},
		play: func(c *client) {
			c.answering(func(m rpc.Message) any {
				var p struct {
					Options []struct{ OptionID, Name, Kind string }
				}
				require.NoError(c.t, json.Unmarshal(m.Params, &p))
				for _, o := range p.Options {
					if o.Name == "red" {
						require.NotEqual(c.t, "reject_once", o.Kind)
						return selects(o.OptionID)
					}
				}
				return nil
			})
			c.line("what the shell printed")
			c.notifies("no/such", world.Obj{})
			require.Error(c.t, c.calls("no/such", nil, nil))
			s := c.session()
			require.Equal(c.t, "end_turn", c.prompts(s, "Ask"))
			require.Contains(c.t, c.replies(s), "→ red")
			// what is on stderr fails the test at its end
		},
	},
	// It gives the agent PATH alone, does not name itself, repeats earlier messages, selects an option without a name where a kind is missing, and
	// sets models as they were set before there were options.
	"avante": {
		agent: question, asks: true, environment: func(v string) bool { return !strings.HasPrefix(v, "HOME=") && !strings.HasPrefix(v, "XDG_") },
		play: func(c *client) {
			c.answering(func(m rpc.Message) any {
				if yes := chooses(m, "allow_once"); yes != nil {
					return yes
				}
				return world.Obj{"outcome": world.Obj{"outcome": "selected"}}
			})
			s := c.session()
			require.Equal(c.t, -32601, c.fails("session/set_model", world.Obj{"sessionId": s, "modelId": "m"}).Code)
			require.Equal(c.t, "end_turn", c.stops(c.sends("session/prompt", world.Obj{"sessionId": s, "prompt": []world.Obj{
				{"type": "text", "text": "<previous_user_message>Hi</previous_user_message>"}, {"type": "text", "text": "Ask"},
			}})))
			require.Contains(c.t, c.replies(s), "→ (no answer)")
		},
	},
	// With --approve-all it takes the first option that allows, or else the first. It prefers session/resume.
	"acpx": {
		agent: question, asks: true, capabilities: world.Obj{"fs": world.Obj{"readTextFile": true, "writeTextFile": true}, "terminal": true},
		initialize: world.Obj{"clientInfo": world.Obj{"name": "acpx", "version": "0.1.0"}},
		play: func(c *client) {
			c.answering(func(m rpc.Message) any {
				if yes := chooses(m, "allow_once", "allow_always"); yes != nil {
					return yes
				}
				var p struct{ Options []struct{ OptionID string } }
				_ = json.Unmarshal(m.Params, &p)
				return selects(p.Options[0].OptionID)
			})
			s := c.session()
			require.Equal(c.t, "end_turn", c.prompts(s, "Ask"))
			require.Contains(c.t, c.replies(s), "→ (no answer)")
			next := opens(c.w, nil)
			next.must("session/resume", world.Obj{"sessionId": s, "cwd": c.w.Root, "mcpServers": []any{}}, nil)
			require.Empty(c.t, said(next.updates(s, 0, ""), "agent_message_chunk"))
			var list listed
			next.must("session/list", world.Obj{"cwd": c.w.Root}, &list)
			require.Equal(c.t, s, list.Sessions[0].SessionID)
		},
	},
	// They ask for the agent's own picker of models, which cursord does not have.
	"hapi and kandev": {
		capabilities: world.Obj{"_meta": world.Obj{"parameterizedModelPicker": true}},
		play:         func(c *client) { require.Equal(c.t, "end_turn", c.prompts(c.session(), "Say hello")) },
	},
}

// optionOf returns the value of a form's answer with this title.
func optionOf(m rpc.Message, title string) string {
	var p struct {
		RequestedSchema struct {
			Properties struct {
				Answer struct {
					OneOf []struct{ Const, Title string }
				}
			}
		}
	}
	_ = json.Unmarshal(m.Params, &p)
	for _, o := range p.RequestedSchema.Properties.Answer.OneOf {
		if o.Title == title {
			return o.Const
		}
	}
	return ""
}

// TestQuirks plays what is particular to clients.
func TestQuirks(t *testing.T) {
	t.Parallel()
	for name, q := range quirks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agent := q.agent
			if agent == nil {
				agent = world.Playing([]string{world.Piece("Hello"), world.Flush("Hello"), world.Succeeds("Hello")})
			}
			var w *world.World
			if q.asks {
				w = asking(t, agent...)
			} else {
				w = trusted(t, agent...)
			}
			cmd := exec.Command("cursord", "acp")
			for _, v := range w.Env() {
				if q.environment == nil || q.environment(v) {
					cmd.Env = append(cmd.Env, v)
				}
			}
			c := startsAs(w, cmd)
			hello := world.Obj{"protocolVersion": 1}
			if q.capabilities != nil {
				hello["clientCapabilities"] = q.capabilities
			}
			for member, value := range q.initialize {
				hello[member] = value
			}
			c.must("initialize", hello, nil)
			q.play(c)
		})
	}
}
