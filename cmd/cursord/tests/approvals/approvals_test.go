//go:build unix

package approvals

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

// TestAsked: every client learns what the agent asks; the command waits for the first answer, and the second one is too late.
func TestAsked(t *testing.T) {
	t.Parallel()
	w := asking(t, "", runs, `{"fake":"say","text":"over"}`)
	first, second := w.Opens(), w.Opens()
	turn := first.Asks(world.Obj{"prompt": "run it"})
	a := asked(second)
	require.Equal(t, a.ID, asked(first).ID)
	require.Equal(t, sessions.ApprovalPermission, a.Kind)
	require.Equal(t, "echo ran >>ran", a.Command)
	require.Equal(t, turn.ID, a.TurnID)
	require.NotNil(t, a.Option("cursord:folder"))
	first.Until("the turn waits", func(n world.Notification) bool { return n.Turn != nil && n.Turn.Waiting })
	require.Len(t, pending(first), 1)
	notRun(w)
	third := w.Opens()
	require.Equal(t, a.ID, asked(third).ID, "it is in the snapshot")

	failed := first.Fails("approval/answer", world.Obj{"approvalId": a.ID, "optionId": "sure"})
	require.Equal(t, -32602, failed.Code)
	require.Equal(t, "optionId", failed.Data.Field)
	notRun(w)
	var answered rpc.ApprovalResult
	second.Must("approval/answer", world.Obj{"approvalId": a.ID, "optionId": a.Chosen(sessions.AllowOnce).ID}, &answered)
	require.Equal(t, sessions.ApprovalAnswered, answered.Approval.Status)
	late := first.Fails("approval/answer", world.Obj{"approvalId": a.ID, "optionId": a.Chosen(sessions.RejectOnce).ID})
	require.Equal(t, -32003, late.Code)
	for _, e := range []*world.Editor{first, second, third} {
		require.Equal(t, "allow-once", ended(e, a.ID).Answer.OptionID)
	}
	end := first.Ends(turn.ID)
	require.Equal(t, sessions.TurnCompleted, end.Status)
	require.False(t, end.Waiting)
	require.Equal(t, "ran\n", w.Get("ran"))
	require.Empty(t, pending(first))
}

// TestNothingRunsUnallowed: whatever ends the question but a yes, the command does not run, and nothing stays pending.
func TestNothingRunsUnallowed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings string
		end      func(w *world.World, e *world.Editor, a *sessions.Approval)
		approval sessions.ApprovalStatus
		turn     sessions.TurnStatus
	}{
		"no": {"", func(_ *world.World, e *world.Editor, a *sessions.Approval) {
			e.Must("approval/answer", world.Obj{"approvalId": a.ID, "optionId": a.Chosen(sessions.RejectOnce).ID}, nil)
		}, sessions.ApprovalAnswered, sessions.TurnCompleted},
		"a cancel": {"", func(_ *world.World, e *world.Editor, a *sessions.Approval) {
			e.Must("turn/cancel", world.Obj{"turnId": a.TurnID}, nil)
		}, sessions.ApprovalWithdrawn, sessions.TurnCancelled},
		"nobody": {"approval_timeout = \"1s\"\n", func(*world.World, *world.Editor, *sessions.Approval) {}, sessions.ApprovalExpired, sessions.TurnCompleted},
		"a killed agent": {"", func(w *world.World, e *world.Editor, a *sessions.Approval) {
			for _, pid := range world.Processes(w.T, "CURSORD_SOCKET="+w.Socket(), "CURSORD_FAKE_SCRIPT="+w.Script) {
				if pid != w.Cmd.Process.Pid {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		}, sessions.ApprovalWithdrawn, sessions.TurnFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := asking(t, c.settings, runs, `{"fake":"say","text":"over"}`)
			e := w.Opens()
			turn := e.Asks(world.Obj{"prompt": "run it"})
			a := asked(e)
			c.end(w, e, a)
			require.Equal(t, c.approval, ended(e, a.ID).Status)
			require.Equal(t, c.turn, e.Ends(turn.ID).Status)
			require.Empty(t, pending(e))
			failed := e.Fails("approval/answer", world.Obj{"approvalId": a.ID, "optionId": a.Chosen(sessions.AllowOnce).ID})
			require.Equal(t, -32003, failed.Code)
			notRun(w)
		})
	}
}

// TestDaemonEnds: a daemon that ends, also by a crash, leaves nothing pending and nothing running, and the next one knows that.
func TestDaemonEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world.World){"stopped": (*world.World).Stop, "killed": (*world.World).Kill} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := asking(t, "", runs)
			e := w.Opens()
			turn := e.Asks(world.Obj{"prompt": "run it"})
			a := asked(e)
			end(w)
			w.Start()
			e = w.Opens()
			require.Empty(t, pending(e))
			failed := e.Fails("approval/answer", world.Obj{"approvalId": a.ID, "optionId": a.Chosen(sessions.AllowOnce).ID})
			require.Equal(t, -32003, failed.Code)
			require.Contains(t, failed.Message, "withdrawn")
			late := w.Joins()
			late.Must("workspace/subscribe", world.Obj{"workspace": w.Root, "after": 0}, nil)
			require.Equal(t, sessions.ApprovalWithdrawn, ended(late, a.ID).Status)
			require.Equal(t, sessions.TurnInterrupted, late.Until("the turn's end", func(n world.Notification) bool {
				return n.Turn != nil && n.Turn.ID == turn.ID
			}).Turn.Status)
			require.True(t, world.Comes(world.Patience, func() bool {
				return len(world.Processes(t, "CURSORD_TURN_ID="+turn.ID)) == 0
			}), "the agent lives on")
			notRun(w)
		})
	}
}

// TestClientsLeave: the client that started the turn goes away, and another one answers.
func TestClientsLeave(t *testing.T) {
	t.Parallel()
	w := asking(t, "", runs)
	e := w.Opens()
	turn := e.Asks(world.Obj{"prompt": "run it"})
	a := asked(e)
	e.Client.Close()
	other := w.Opens()
	require.Equal(t, a.ID, asked(other).ID)
	other.Must("approval/answer", world.Obj{"approvalId": a.ID, "optionId": "allow-once"}, nil)
	require.Equal(t, sessions.TurnCompleted, other.Ends(turn.ID).Status)
	require.Equal(t, "ran\n", w.Get("ran"))
}

// TestNobodyIsAsked: approvals "deny" says no at once, and says so.
func TestNobodyIsAsked(t *testing.T) {
	t.Parallel()
	w := asking(t, "", runs, `{"fake":"say","text":"over"}`)
	e := w.Opens()
	turn := e.Turn(world.Obj{"prompt": "run it", "approvals": "deny"})
	require.Equal(t, sessions.TurnCompleted, turn.Status)
	require.Equal(t, "deny", turn.Approvals)
	require.Contains(t, e.Notices(turn.ID), "Denied without asking, because this turn asks nobody (approvals: deny): echo ran >>ran")
	require.Contains(t, w.CursordOK("show", turn.SessionID), "rejected: this turn asks nobody (approvals: deny)")
	notRun(w)
	require.Empty(t, pending(e))
}

// TestRules: rules of the configuration and of the folder answer, until they are removed; the command line shows and removes them.
func TestRules(t *testing.T) {
	t.Parallel()
	w := asking(t, "[[approve]]\ncommand = \"touch one\"\n", `{"fake":"shell","ask":true,"command":"touch one two"}`, `{"fake":"shell","ask":true,"command":"touch one; echo ran >>ran"}`)
	e := w.Opens()
	turn := e.Asks(world.Obj{"prompt": "run it"})
	a := asked(e)
	require.Equal(t, "touch one; echo ran >>ran", a.Command, "the first one was allowed by the rule")
	w.Exists("two")
	notRun(w)
	require.Equal(t, "answered: Always in this folder, exactly this command\n", w.CursordOK("approve", a.ID[:3], "a"))
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	require.Equal(t, "ran\n", w.Get("ran"))

	require.Equal(t, sessions.TurnCompleted, e.Turn(world.Obj{"prompt": "again"}).Status, "nobody is asked")
	require.Equal(t, "ran\nran\n", w.Get("ran"))
	rules := w.CursordOK("approvals", "--rules")
	require.Contains(t, rules, "  1  touch one; echo ran >>ran  (this folder, exactly this command)\n")
	require.Contains(t, rules, "  -  touch one  (configuration)\n")
	require.NotContains(t, w.CursordOK("approvals", "--rules", "--remove", "1"), "echo ran")
	turn = e.Asks(world.Obj{"prompt": "once more"})
	require.True(t, world.Comes(world.Patience, func() bool { return len(pending(e)) == 1 }))
	require.Equal(t, "answered: Reject\n", w.CursordOK("deny"))
	e.Ends(turn.ID)
	require.Equal(t, "ran\nran\n", w.Get("ran"))
}

// TestQuestionsAndPlans are answered by the command line: by number, and by yes and no.
func TestQuestionsAndPlans(t *testing.T) {
	t.Parallel()
	w := asking(t, "", `{"fake":"question","text":"Which colour?","options":["Red","Blue"]}`, `{"fake":"plan","text":"# Paint\n\nPaint it."}`)
	e := w.Opens()
	turn := e.Asks(world.Obj{"prompt": "ask"})
	q := asked(e)
	require.Equal(t, sessions.ApprovalQuestion, q.Kind)
	listed := w.CursordOK("approvals")
	require.Contains(t, listed, "Which colour?")
	require.Contains(t, listed, q.ID[:6]+" 1  (Red)")
	tag, _, _ := strings.Cut(q.ID, "-")
	waits := "\n    answer with one of:\n      cursord approve " + tag + " 1  (Red)\n      cursord approve " + tag + " 2  (Blue)\n"
	asksNow := func(what, kind string) {
		t.Helper()
		for _, args := range [][]string{{"status"}, {"show", turn.SessionID}, {"sessions"}, {"sessions", "--all"}} {
			out, errOut, status := w.Cursord(args...)
			require.Zero(t, status, errOut)
			require.Regexp(t, `\n  `+regexp.QuoteMeta(what)+`\n    `+kind+`, asked (now|\d+.* ago) by turn `+turn.ID+" \".*\"\n", out+errOut, args)
			require.Contains(t, out+errOut, waits, args)
			if args[0] != "show" {
				require.Contains(t, out, "waits for you", args)
			}
		}
	}
	asksNow("Which colour?", "question")
	out, errOut, _ := w.Cursord("sessions", "-w", w.Folder("other"))
	require.NotContains(t, out+errOut, tag)
	var other struct{ Session *sessions.Session }
	e.Must("session/create", world.Obj{"workspace": w.Root}, &other)
	require.NotContains(t, w.CursordOK("show", other.Session.ID), tag)
	_, errOut, status := w.Cursord("approve")
	require.Equal(t, 2, status, errOut)
	require.Contains(t, errOut, "say which answer")
	require.Contains(t, w.CursordOK("approve", strings.ToUpper(q.ID[:4]), "2"), "Blue")
	plan := e.Until("the plan", func(n world.Notification) bool { return n.Approval != nil && n.Approval.Kind == sessions.ApprovalPlan }).Approval
	require.Contains(t, plan.Detail, "Paint it.")
	require.Contains(t, w.CursordOK("approvals"), "Paint it.")
	tag, _, _ = strings.Cut(plan.ID, "-")
	waits = "\n    # Paint…\n    answer with: cursord approve " + tag + ", or cursord deny " + tag + "\n"
	asksNow(plan.Title, "plan")
	_, errOut, status = w.Cursord("approve", "--text", "but hurry")
	require.Equal(t, 2, status, errOut)
	require.Contains(t, errOut, "gets no text with the yes")
	require.Len(t, pending(e), 1)
	w.CursordOK("approve")
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	require.NotContains(t, w.CursordOK("show", turn.SessionID), "wait for you")
	said := strings.Join(e.Said(turn.ID, sessions.ItemAssistant), "")
	require.Contains(t, said, "Answer: Blue")
	require.Contains(t, said, "accepted")
	_, errOut, status = w.Cursord("approve", q.ID, "1")
	require.Equal(t, 1, status)
	require.Contains(t, errOut, "no longer pending")
}

// TestNoAnswer: deny ends a question, and the turn goes on.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	w := asking(t, "", `{"fake":"question","text":"Which colour?","options":["Red","Blue"]}`)
	e := w.Opens()
	turn := e.Asks(world.Obj{"prompt": "ask"})
	q := asked(e)
	require.Equal(t, "ended without an answer\n", w.CursordOK("deny", q.ID))
	require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
	require.Contains(t, strings.Join(e.Said(turn.ID, sessions.ItemAssistant), ""), "skipped")
	require.Empty(t, pending(e))
}

// TestLongAnswersAreWhole: two opposite answers looked the same in the list and in JSON, because both were cut.
func TestLongAnswersAreWhole(t *testing.T) {
	t.Parallel()
	same := strings.Repeat("Do whatever you think is best for this project. ", 5)
	w := asking(t, "", fmt.Sprintf(`{"fake":"question","text":"Which?","options":["%s delete NOTHING","%[1]s delete EVERYTHING"]}`, same))
	e := w.Opens()
	turn := e.Asks(world.Obj{"prompt": "ask"})
	q := asked(e)
	require.Equal(t, same+"delete EVERYTHING", q.Options[1].Label)
	for _, args := range [][]string{{"approvals"}, {"approvals", "--json"}, {"status"}} {
		require.Contains(t, w.CursordOK(args...), "project. delete NOTHING", args)
		require.Contains(t, w.CursordOK(args...), "project. delete EVERYTHING", args)
	}
	w.CursordOK("approve", q.ID, "1")
	e.Ends(turn.ID)
}

// TestOnApproval runs the person's command with what is asked.
func TestOnApproval(t *testing.T) {
	t.Parallel()
	w := asking(t, "on_approval = [\"sh\", \"-c\", \"cat >asked.json; echo \\\"$1\\\" >asked.txt\", \"_\", \"{kind} {summary}\"]\n", runs)
	e := w.Opens()
	turn := e.Asks(world.Obj{"prompt": "run it"})
	a := asked(e)
	require.True(t, world.Comes(world.Patience, func() bool { return strings.HasSuffix(w.Get("asked.txt"), "\n") }))
	require.Equal(t, "permission echo ran >>ran\n", w.Get("asked.txt"))
	require.Contains(t, w.Get("asked.json"), a.ID)
	w.CursordOK("deny")
	e.Ends(turn.ID)
	notRun(w)
}

// TestAnAgentDoesNotAnswer: a process of the agent cannot allow what the agent asks, nor take rules away.
func TestAnAgentDoesNotAnswer(t *testing.T) {
	t.Parallel()
	self := `until cursord approve >out 2>&1 || grep -q 'decide about their own' out; do sleep 0.05; done; cursord approvals --rules --remove 1 >>out 2>&1; cp out copy; mv copy tried`
	w := asking(t, "", fmt.Sprintf(`{"fake":"background","command":%q}`, self), runs)
	e := w.Opens()
	turn := e.Asks(world.Obj{"prompt": "run it"})
	a := asked(e)
	require.True(t, world.Comes(world.Patience, func() bool { return w.Get("tried") != "(absent)" }))
	require.Equal(t, 2, strings.Count(w.Get("tried"), "agents must not decide about their own work"), w.Get("tried"))
	notRun(w)
	require.Equal(t, a.ID, pending(e)[0].ID)
	w.CursordOK("deny")
	e.Ends(turn.ID)
	notRun(w)
}
