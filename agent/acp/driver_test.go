//go:build unix

package acp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/agent/process"
)

const builtin = `{"fake":"say","text":"You asked: {{prompt}}"}
`

// builds are those whose words differ in this mode.
var builds = []string{"2026.02.13-41ac335", "2026.08.11-e8db854", "2026.08.25-3e8eec8", "2026.10.01-e373342"}

// TestTurns runs one script in each build: what people see is the same.
func TestTurns(t *testing.T) {
	for _, build := range builds {
		t.Run(build, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, build, `{"fake":"begin"}
{"fake":"think","text":"let me see"}
{"fake":"say","text":"I begin. "}
{"fake":"edit","path":"a.txt","text":"hello\n"}
{"fake":"shell","command":"echo out; exit 3"}
{"fake":"todos","params":[{"id":"1","content":"one","status":"in_progress"}]}
{"fake":"say","text":"Done."}
{"fake":"finish"}
`)
			out := w.run(t.Context(), nil)
			require.Equal(t, agent.Completed, out.Status, "%+v", out.Failure)
			require.Equal(t, "I begin. Done.", *out.Result)
			require.Equal(t, "hello\n", w.get("a.txt"))
			said := w.said()
			edit := `completed edit "Edit a.txt" 1 paths wrote a.txt`
			require.Equal(t, strings.Join([]string{
				"init", "thinking let me see", "ThinkingEnd", "text I begin. ", `start edit "Edit a.txt" 1 paths`,
				`start shell "echo out; exit 3"`, `failed shell "echo out; exit 3" exit=3 "out\n" error="exit code 3"`,
				`start todo "Update todos" [in_progress one]`, `completed todo "Update todos" [in_progress one]`, "text Done.",
			}, "\n"), strings.Replace(said, "\n"+edit, "", 1))
			require.Contains(t, said, edit)
		})
	}
}

// TestOneProcess: the turns of a session have one process while their settings are the same, and its chat after it.
func TestOneProcess(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", builtin)
	pid := func() int {
		all := process.Survivors(w.req.Mark)
		require.Len(t, all, 1)
		return all[0].ID
	}
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
	chat, first := w.req.Resume, pid()
	w.req.Prompt = "more"
	require.Equal(t, "You asked: more", *w.run(t.Context(), nil).Result)
	require.Equal(t, first, pid())

	w.req.Model = "fake-small"
	require.Equal(t, "You asked: more", *w.run(t.Context(), nil).Result, "what was said before is no text of the turn")
	require.NotEqual(t, first, pid(), "the model is an option of the start")
	require.Equal(t, chat, w.req.Resume)

	w.driver.End(w.req.Session)
	require.Empty(t, process.Survivors(w.req.Mark))
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
	require.Equal(t, chat, w.req.Resume, "loaded")

	w.driver.Rest()
	require.NoError(t, os.RemoveAll(w.home("acp-sessions")))
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
	require.NotEqual(t, chat, w.req.Resume, "the chat is gone, and another one has begun")
	require.Contains(t, w.said(), "init")
}

// TestIdle: a process that nobody uses ends.
func TestIdle(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", builtin)
	w.restart(time.Millisecond)
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
	require.Eventually(t, func() bool { return len(process.Survivors(w.req.Mark)) == 0 }, 30*time.Second, 5*time.Millisecond)
	w.driver.Close()
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
	require.Empty(t, process.Survivors(w.req.Mark), "a closed driver keeps nothing")
}

// TestPermission: a command runs if a person allows it, and begins when they do.
func TestPermission(t *testing.T) {
	const script = `{"fake":"shell","command":"echo ran >ran","ask":true}
{"fake":"say","text":"Done."}
`
	const asks = `asks a1 permission "echo ran >ran" command="echo ran >ran" allow-once:allowOnce allow-always:allowAlways reject-once:rejectOnce`
	for name, test := range map[string]struct {
		answer agent.ApprovalAnswer
		want   string
		ran    bool
	}{
		"yes":     {agent.ApprovalAnswer{OptionID: "allow-once"}, "start shell \"echo ran >ran\"\ncompleted shell \"echo ran >ran\" exit=0", true},
		"no":      {agent.ApprovalAnswer{OptionID: "reject-once"}, `rejected shell "echo ran >ran" error="a person refused it"`, false},
		"unasked": {agent.ApprovalAnswer{OptionID: "reject-once", Unasked: "nobody answered in time"}, `rejected shell "echo ran >ran" error="nobody answered in time"`, false},
		"nobody":  {agent.ApprovalAnswer{Cancelled: true}, `rejected shell "echo ran >ran" error="nobody allowed it"`, false},
		"unknown": {agent.ApprovalAnswer{OptionID: "allow-all"}, `rejected shell "echo ran >ran" error="nobody allowed it"`, false},
		"both":    {agent.ApprovalAnswer{OptionID: "allow-once", Cancelled: true}, `rejected shell "echo ran >ran" error="nobody allowed it"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "2026.10.01-e373342", script)
			out := w.run(t.Context(), func(ev agent.Event) {
				if r, ok := ev.(agent.ApprovalRequested); ok {
					require.ErrorIs(t, w.req.Control.Answer("a0", test.answer), agent.ErrUnknownApproval)
					require.NoError(t, w.req.Control.Answer(r.ID, test.answer))
					require.ErrorIs(t, w.req.Control.Answer(r.ID, test.answer), agent.ErrUnknownApproval, "once")
				}
			})
			require.Equal(t, agent.Completed, out.Status, "%+v", out.Failure)
			const start = "start shell \"echo ran >ran\"\n"
			said, want := w.said(), "init\n"+asks+"\n"+test.want+"\ntext Done."
			if strings.HasPrefix(said, "init\n"+start) { // on a busy machine the question comes so late that the call counts as begun
				said, want = strings.Replace(said, start, "", 1), strings.Replace(want, start, "", 1)
			}
			require.Equal(t, want, said)
			_, err := os.Stat(filepath.Join(w.dir, "ran"))
			require.Equal(t, test.ran, err == nil)
			require.ErrorIs(t, w.req.Control.Answer("a1", test.answer), agent.ErrNotRunning)
		})
	}
}

// TestQuestionsAndPlans are answered in the agent's words, whatever name it has for the request.
func TestQuestionsAndPlans(t *testing.T) {
	for _, prefix := range []string{"", "CURSORD_FAKE_ACP=underscore"} {
		w := newWorld(t, "2026.10.01-e373342", `{"fake":"question","text":"Which one?","options":["This","That"]}
{"fake":"question","text":"What name?"}
{"fake":"plan","text":"1. do it"}
{"fake":"request","method":"cursor/task","params":{"toolCallId":"x"}}
{"fake":"request","method":"cursor/generate_image","params":{}}
{"fake":"request","method":"cursor/fly","params":{}}
{"fake":"request","method":"fs/read_text_file","params":{"path":"/etc/passwd"}}
{"fake":"request","method":"session/request_permission","params":{"toolCall":{"toolCallId":"odd","title":"Odd"},"options":[{"optionId":"x","name":"Hm","kind":"allow_forever"}]}}
`)
		w.req.Env = append(w.req.Env, prefix)
		answers := map[string]agent.ApprovalAnswer{
			"Which one?": {OptionID: "o2"}, "What name?": {Text: "Joe"}, "Plan A plan": {OptionID: "reject", Text: "no tests"}, "Odd": {OptionID: "x"},
		}
		out := w.run(t.Context(), func(ev agent.Event) {
			if r, ok := ev.(agent.ApprovalRequested); ok {
				require.NoError(t, w.req.Control.Answer(r.ID, answers[r.Title]))
			}
		})
		require.Equal(t, agent.Completed, out.Status, "%+v", out.Failure)
		require.Equal(t, `Answer: That
Answer: Joe
Plan: {"outcome":{"outcome":"rejected","reason":"no tests"}}
cursor/task: {}
cursor/generate_image: {}
cursor/fly: {"code":-32601,"message":"cursord does not know this method"}
fs/read_text_file: {"code":-32601,"message":"cursord does not know this method"}
session/request_permission: {"outcome":{"outcome":"cancelled"}}
`, *out.Result)
		said := w.said()
		require.Contains(t, said, `asks a1 question "Which one?" o1:answer o2:answer`)
		require.Contains(t, said, `asks a2 question "What name?" or text`)
		require.Contains(t, said, `asks a3 plan "Plan A plan" detail="1. do it" accept:allowOnce reject:rejectOnce or text`)
		require.Contains(t, said, `asks a4 permission "Odd" cursord-no:rejectOnce`)
		require.Contains(t, said, `start question "Ask Which one?"
asks a1 question`, "a question is a call, so that the transcript has it")
		require.Contains(t, said, `completed question "Ask Which one?" "Which one?\n→ That\n"`)
		require.Contains(t, said, `completed question "Ask What name?" "What name?\n→ Joe\n"`)
		require.Contains(t, said, `rejected other "Plan A plan" error="the plan was rejected: no tests"`)
		require.Equal(t, 2, strings.Count(said, "notice "), said)
	}
}

// TestNobodyAnswers says of questions and plans, as of commands, why there is no answer of a person.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "2026.10.01-e373342", `{"fake":"question","text":"Which one?","options":["This","That"]}
{"fake":"plan","text":"1. do it"}
`)
	const why = "nobody answered in time"
	out := w.run(t.Context(), func(ev agent.Event) {
		if r, ok := ev.(agent.ApprovalRequested); ok {
			no := r.Refusal()
			no.Unasked = why
			require.NoError(t, w.req.Control.Answer(r.ID, no))
		}
	})
	require.Equal(t, agent.Completed, out.Status, "%+v", out.Failure)
	require.Contains(t, *out.Result, `Plan: {"outcome":{"outcome":"rejected","reason":"nobody answered in time"}}`)
	said := w.said()
	require.Contains(t, said, `completed question "Ask Which one?" "Which one?\n→ (no answer: nobody answered in time)\n"`)
	require.Contains(t, said, `rejected other "Plan A plan" error="the plan was rejected: nobody answered in time"`)
}

// TestCancel ends turns in every state, in builds that can and in one that cannot.
func TestCancel(t *testing.T) {
	for _, build := range builds {
		for name, script := range map[string]string{
			"hangs":   `{"fake":"say","text":"Hello"}` + "\n" + `{"fake":"hang"}` + "\n",
			"asks":    `{"fake":"say","text":"Hello"}` + "\n" + `{"fake":"shell","command":"touch ran","ask":true}` + "\n",
			"command": `{"fake":"say","text":"Hello"}` + "\n" + `{"fake":"shell","command":"sleep 1000"}` + "\n",
		} {
			t.Run(build+" "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, build, script)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				out := w.run(ctx, func(ev agent.Event) {
					switch ev.(type) {
					case agent.Text:
						if name == "hangs" {
							cancel()
						}
					case agent.ApprovalRequested, agent.ToolStart:
						cancel()
					}
				})
				require.Equal(t, agent.Cancelled, out.Status)
				require.NoFileExists(t, filepath.Join(w.dir, "ran"))
				for _, p := range process.Survivors(w.req.Mark) {
					require.NotContains(t, p.Command, "sleep")
				}
				w.script(builtin)
				require.Equal(t, "You asked: hi", *w.run(t.Context(), nil).Result, "the next turn works")
			})
		}
	}
}

// TestCancelAtTheStart ends turns that have no prompt yet.
func TestCancelAtTheStart(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", builtin)
	ctx, cancel := context.WithCancel(t.Context())
	w.req.Ready = make(chan struct{})
	cancel()
	require.Equal(t, agent.Cancelled, w.run(ctx, nil).Status)
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for len(process.Survivors(w.req.Mark)) == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	require.Equal(t, agent.Cancelled, w.run(ctx, nil).Status)
	require.Empty(t, w.said())
}

// TestLeftBehind: commands that outlive the turn are ended, after the grace, with a word about it.
func TestLeftBehind(t *testing.T) {
	for _, group := range []string{"false", "true"} {
		w := newWorld(t, "2026.10.01-e373342", `{"fake":"background","command":"sleep 1000","group":`+group+`}
{"fake":"say","text":"It runs."}
`)
		w.req.BackgroundGrace = 50 * time.Millisecond
		out := w.run(t.Context(), nil)
		require.Equal(t, agent.Completed, out.Status)
		require.Contains(t, w.said(), "notice Commands that the agent had left in the background were ended with the turn: sleep 1000")
		require.Empty(t, process.Survivors(w.req.Mark))
	}
	w := newWorld(t, "2026.10.01-e373342", `{"fake":"background","command":"while [ ! -e go ]; do sleep 0.01; done"}
{"fake":"say","text":"It runs."}
`)
	w.req.AwaitBackground = true
	out := w.run(t.Context(), func(ev agent.Event) {
		if waits, ok := ev.(agent.Waiting); ok && len(waits.Commands) > 0 {
			require.NoError(t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))
		}
	})
	require.Equal(t, agent.Completed, out.Status)
	require.NotContains(t, w.said(), "notice")
}

// TestEndings gives every end of the agent one outcome, with words for people.
func TestEndings(t *testing.T) {
	stops := map[string]agent.StopReason{
		"refusal": agent.StopRefusal, "limit": agent.StopMaxTokens, "limit of requests": agent.StopMaxRequests,
	}
	for name, test := range map[string]struct {
		script, status, want string
	}{
		"exit":      {`{"fake":"say","text":"a"}` + "\n" + `{"fake":"stderr","text":"Error: boom"}` + "\n" + `{"fake":"exit","code":1}` + "\n", "failed", "boom"},
		"quiet end": {`{"fake":"exit","code":0}` + "\n", "failed", "without a result"},
		"text":      {`{"fake":"say","text":"Error:RetriableError"}` + "\n", "completed", ""},
		"retriable": {`{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Error: RetriableError: [unavailable] connect ECONNREFUSED"}}}}` + "\n",
			"failed", "RetriableError: [unavailable] connect ECONNREFUSED"},
		"refusal":           {`{"fake":"stop","text":"refusal"}` + "\n", "failed", "the model refused to go on"},
		"limit":             {`{"fake":"stop","text":"max_tokens"}` + "\n", "completed", ""},
		"limit of requests": {`{"fake":"stop","text":"max_turn_requests"}` + "\n", "completed", ""},
		"no JSON":           {`hello` + "\n" + `{"fake":"say","text":"a"}` + "\n", "completed", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "2026.10.01-e373342", test.script)
			out := w.run(t.Context(), nil)
			require.Equal(t, test.status, string(out.Status))
			require.Equal(t, stops[name], out.Stop)
			if test.want != "" {
				require.Contains(t, out.Failure.Message, test.want)
			}
		})
	}
}

// TestRefusedStarts explain themselves.
func TestRefusedStarts(t *testing.T) {
	for name, test := range map[string]struct {
		build, env, want string
		change           func(*agent.Request)
	}{
		"login":  {"2026.10.01-e373342", "CURSORD_FAKE_STATUS=logged-out", "agentNotLoggedIn", nil},
		"model":  {"2026.10.01-e373342", "", "modelUnavailable", func(r *agent.Request) { r.Model = "none" }},
		"old":    {"2026.01.09-aaaaaaa", "", "has no ACP mode", nil},
		"option": {"2026.02.13-41ac335", "", "does not know the option --auto-review", func(r *agent.Request) { r.AutoReview = true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.build, builtin)
			w.req.Env = append(w.req.Env, test.env)
			if test.change != nil {
				test.change(&w.req)
			}
			out := w.run(t.Context(), nil)
			require.Equal(t, agent.Failed, out.Status)
			require.Contains(t, out.Failure.Kind+" "+out.Failure.Message, test.want)
		})
	}
}

// TestSteering adds to a running turn in builds that do it.
func TestSteering(t *testing.T) {
	for _, build := range builds {
		t.Run(build, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, build, `{"fake":"say","text":"Go. "}
{"fake":"wait","path":"go"}
{"fake":"say","text":"End."}
`)
			var once sync.Once // an addition that comes when the agent has finished begins another turn of it
			added, steered := error(nil), build >= firstSteer
			out := w.run(t.Context(), func(ev agent.Event) {
				if text, ok := ev.(agent.Text); ok && text.Text == "Go. " {
					once.Do(func() { added = w.req.Control.Steer("faster") })
					require.NoError(t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))
				}
			})
			require.Equal(t, agent.Completed, out.Status)
			if !steered {
				require.ErrorIs(t, added, agent.ErrCannotSteer)
				require.Equal(t, "Go. End.", *out.Result)
				return
			}
			require.NoError(t, added)
			require.True(t, strings.HasSuffix(*out.Result, "End."))
		})
	}
}

// TestModes: a mode that only reads holds, and the next turn has its own.
func TestModes(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", `{"fake":"edit","path":"a","text":"x"}`+"\n")
	w.req.Mode = "ask"
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
	require.Contains(t, w.said(), "failed edit")
	require.NoFileExists(t, filepath.Join(w.dir, "a"))
	w.req.Mode = "agent"
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
	require.Equal(t, "x", w.get("a"))
}

// TestLostEdit: an edit whose end nobody reports, and which was never made, is no success.
func TestLostEdit(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", `{"fake":"edit","path":"a","text":"x","lost":true}`+"\n")
	require.Equal(t, agent.Completed, w.run(t.Context(), nil).Status)
	require.Contains(t, w.said(), `failed edit "Edit a" 1 paths error="the agent did not report its end, and the file has not changed since the turn began" wrote a`)
}

// TestHang: an agent that is silent for too long is ended, but not while a person is asked.
func TestHang(t *testing.T) {
	w := newWorld(t, "2026.10.01-e373342", `{"fake":"say","text":"a"}`+"\n"+`{"fake":"hang"}`+"\n")
	w.req.IdleTimeout = 300 * time.Millisecond
	out := w.run(t.Context(), nil)
	require.Equal(t, agent.Failed, out.Status)
	require.Equal(t, "agentHung", out.Failure.Kind)
}
