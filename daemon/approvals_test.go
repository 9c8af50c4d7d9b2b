package daemon

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/allow"
	"cursord/daemon/internal/approvals"
	"cursord/daemon/internal/params"
	"cursord/sessions"
)

// An asker is a turn whose agent is the test, and what that agent is told.
type asker struct {
	t    *testing.T
	w    *workspace
	turn *liveTurn

	mu   sync.Mutex
	told map[string]agent.ApprovalAnswer // guarded by mu; by request
}

func asks(t *testing.T, w *workspace) *asker {
	a := &asker{t: t, w: w, told: map[string]agent.ApprovalAnswer{}}
	a.turn = w.aTurn(t)
	w.in(t, func() { a.turn.control = agent.NewControl() })
	a.turn.control.Begin(agent.Reach{Answer: func(id string, answer agent.ApprovalAnswer) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		if _, twice := a.told[id]; twice {
			t.Errorf("the agent was told twice: %s", id)
		}
		a.told[id] = answer
		return nil
	}})
	return a
}

func run(id, command string) agent.ApprovalRequested {
	return agent.ApprovalRequested{ID: id, Kind: agent.ApprovalPermission, Title: "Run a command", Command: command, Whole: command != "", Options: []agent.ApprovalOption{
		{ID: "once", Label: "Yes", Kind: agent.AllowOnce}, {ID: "no", Label: "No", Kind: agent.RejectOnce},
	}}
}

// asks returns the approval for a request, once it is stored.
func (a *asker) asks(req agent.ApprovalRequested) *sessions.Approval {
	a.t.Helper()
	a.w.says(a.turn, req)
	a.w.settled(a.t)
	for _, p := range a.pending() {
		if p.Command == req.Command {
			return p
		}
	}
	return nil
}

func (a *asker) pending() []*sessions.Approval {
	a.t.Helper()
	list, err := a.w.d.Approvals(a.w.root)
	require.NoError(a.t, err)
	return list
}

// answered waits until the agent has the answer to a request.
func (a *asker) answered(request string) (answer agent.ApprovalAnswer) {
	a.t.Helper()
	require.Eventually(a.t, func() (has bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		answer, has = a.told[request]
		return has
	}, patience, time.Millisecond, request)
	return answer
}

func (a *asker) untold() {
	a.t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	require.Empty(a.t, a.told)
}

func (a *asker) status(id string) sessions.ApprovalStatus {
	a.t.Helper()
	a.w.settled(a.t)
	stored, err := a.w.d.store.Approval(id)
	require.NoError(a.t, err)
	return stored.Status
}

func (a *asker) waits(want bool) {
	a.t.Helper()
	turn, err := a.w.d.store.Turn(a.turn.turn.ID)
	require.NoError(a.t, err)
	require.Equal(a.t, want, turn.Waiting)
}

func kindOf(t *testing.T, err error) api.ErrorKind {
	t.Helper()
	var e *api.Error
	require.True(t, errors.As(err, &e), "%v", err)
	return e.Kind
}

// TestAnApprovalIsAnsweredOnce: it is stored before anybody sees it, the first answer counts, and the agent gets it once.
func TestAnApprovalIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	w := openSpace(t, nil)
	a := asks(t, w)
	call := agent.Call{ID: "c1", Name: "shell", RawName: "shell", Title: "make", Command: "make"}
	w.says(a.turn, agent.ToolStart{Call: call})
	req := run("1", "make")
	req.CallID = "c1"
	p := a.asks(req)
	require.Equal(t, sessions.ItemID(a.turn.turn.ID, 0), p.ItemID)
	require.Equal(t, a.turn.turn.SessionID, p.SessionID)
	require.Equal(t, sessions.ApprovalPending, a.status(p.ID))
	a.waits(true)
	a.untold()

	n := &notebook{}
	subscribed := make(chan struct{})
	sub := w.d.Subscribe(w.root, SubscribeOptions{}, n.take, func(api.Subscribed, error) { close(subscribed) })
	<-subscribed
	defer sub.Close()
	require.Eventually(t, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, one := range n.sent {
			if one.Kind == sessions.KindApproval && one.ID == p.ID {
				return true
			}
		}
		return false
	}, patience, time.Millisecond, "it is in the snapshot while it is pending")

	for _, c := range []struct {
		id, option, text string
		kind             api.ErrorKind
	}{
		{p.ID, "maybe", "", api.KindInvalid}, {p.ID, "", "", api.KindInvalid}, {p.ID, "once", "please", api.KindInvalid},
		{"", "once", "", api.KindNotFound}, {"x-" + a.turn.turn.ID, "once", "", api.KindNotFound}, {"x-y", "once", "", api.KindNotFound}, {a.turn.turn.ID, "once", "", api.KindNotFound},
	} {
		_, err := w.d.AnswerApproval(c.id, c.option, c.text)
		require.Equal(t, c.kind, kindOf(t, err), "%+v", c)
	}
	a.untold()

	const clients = 8
	results := make(chan error, clients)
	for range clients {
		go func() {
			_, err := w.d.AnswerApproval(p.ID, "once", "")
			results <- err
		}()
	}
	won := 0
	for range clients {
		if err := <-results; err == nil {
			won++
		} else {
			require.Equal(t, api.KindConflict, kindOf(t, err))
			require.ErrorContains(t, err, `was answered with "`)
		}
	}
	require.Equal(t, 1, won)
	require.Equal(t, agent.ApprovalAnswer{OptionID: "once"}, a.answered("1"))
	require.Equal(t, sessions.ApprovalAnswered, a.status(p.ID))
	a.waits(false)
	require.Empty(t, a.pending())
	w.ends(a.turn)
	require.Eventually(t, func() bool { // its call is closed first
		turn, err := w.d.store.Turn(p.TurnID)
		return err == nil && turn.Status.Final()
	}, patience, time.Millisecond)
	require.Equal(t, sessions.ApprovalAnswered, a.status(p.ID), "its end changes nothing")
	_, err := w.d.AnswerApproval(p.ID, "no", "")
	require.Equal(t, api.KindConflict, kindOf(t, err))
}

// TestTheAgentIsToldWhatIsStored: no answer reaches the agent before it is on disk, and none does that is not stored.
func TestTheAgentIsToldWhatIsStored(t *testing.T) {
	t.Parallel()
	var gate commitGate
	w := openSpace(t, gate.commit)
	a := asks(t, w)
	p := a.asks(run("1", "make"))
	open := gate.close()
	answered := make(chan error, 1)
	go func() {
		_, err := w.d.AnswerApproval(p.ID, "once", "")
		answered <- err
	}()
	require.Eventually(t, func() bool { return len(a.pending()) == 0 }, patience, time.Millisecond)
	a.untold()
	_, err := w.d.AnswerApproval(p.ID, "no", "")
	require.Equal(t, api.KindConflict, kindOf(t, err), "the first answer counts before it is stored, too")
	require.ErrorContains(t, err, "was answered with")
	open()
	require.NoError(t, <-answered)
	require.Equal(t, "once", a.answered("1").OptionID)
}

// TestApprovalsEnd: whatever ends an approval but a yes is a no for the agent, and none is pending after its turn.
func TestApprovalsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    func(a *asker)
		status sessions.ApprovalStatus
		told   agent.ApprovalAnswer
	}{
		"turn's end":      {func(a *asker) { a.w.ends(a.turn) }, sessions.ApprovalWithdrawn, agent.ApprovalAnswer{Cancelled: true}},
		"agent":           {func(a *asker) { a.w.says(a.turn, agent.ApprovalWithdrawn{ID: "1"}) }, sessions.ApprovalWithdrawn, agent.ApprovalAnswer{Cancelled: true}},
		"a broken turn":   {func(a *asker) { a.turn.cancel(errBroken); a.w.ends(a.turn) }, sessions.ApprovalWithdrawn, agent.ApprovalAnswer{Cancelled: true}},
		"the daemon ends": {func(a *asker) { a.w.in(a.t, a.w.stop) }, sessions.ApprovalWithdrawn, agent.ApprovalAnswer{Cancelled: true}},
		"nobody": {func(a *asker) {
			a.w.in(a.t, func() {
				for _, q := range a.w.questions {
					q.expiry.Reset(0)
				}
			})
		}, sessions.ApprovalExpired, agent.ApprovalAnswer{OptionID: "no", Unasked: "nobody answered in time (approval_timeout)"}},
		"cancel": {func(a *asker) {
			_, err := a.w.d.CancelTurn(nil, a.turn.turn.ID)
			require.NoError(a.t, err)
		}, sessions.ApprovalWithdrawn, agent.ApprovalAnswer{Cancelled: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openSpace(t, nil)
			a := asks(t, w)
			p := a.asks(run("1", "make"))
			c.end(a)
			require.Equal(t, c.told, a.answered("1"))
			require.Equal(t, c.status, a.status(p.ID))
			a.waits(false)
			require.Empty(t, a.pending())
			_, err := w.d.AnswerApproval(p.ID, "once", "")
			require.Equal(t, api.KindConflict, kindOf(t, err))
			if a.turn.ctx.Err() != nil { // what it asks while it is ended is denied
				if !a.turn.status().Final() {
					w.says(a.turn, run("2", "make again"))
					require.Equal(t, agent.ApprovalAnswer{OptionID: "no", Unasked: "nobody was asked: the turn is being ended"}, a.answered("2"))
					require.Empty(t, a.pending())
					require.Contains(t, a.notices(), "Denied without asking, because the turn is being ended: make again")
				}
			}
		})
	}
}

// notices returns the texts of the turn's notices.
func (a *asker) notices() (texts []string) {
	a.t.Helper()
	a.w.settled(a.t)
	_, items, _, err := a.w.d.store.Transcript(a.turn.turn.SessionID, "", 0)
	require.NoError(a.t, err)
	for _, it := range items {
		if it.Kind == sessions.ItemNotice {
			texts = append(texts, it.Text)
		}
	}
	return texts
}

// TestNobodyIsAsked: a turn that asks nobody, and requests that nobody could read, are denied at once, with notices.
func TestNobodyIsAsked(t *testing.T) {
	t.Parallel()
	w := openSpace(t, nil)
	a := asks(t, w)
	w.in(t, func() {
		turn := *a.turn.turn
		turn.Approvals = params.ApprovalsDeny
		a.turn.turn = &turn
	})
	require.Nil(t, a.asks(run("1", "make")))
	require.Equal(t, "no", a.answered("1").OptionID)
	require.Equal(t, []string{"Denied without asking, because this turn asks nobody (approvals: deny): make"}, a.notices())
	for n := range 2 * deniedNotices {
		w.says(a.turn, run(fmt.Sprint("more", n), "make"))
	}
	a.answered(fmt.Sprint("more", 2*deniedNotices-1))
	require.Len(t, a.notices(), deniedNotices)
	require.Contains(t, a.notices()[deniedNotices-1], "Further ones")

	b := asks(t, w)
	odd := run("odd", "make")
	odd.Kind = "wish"
	require.Nil(t, b.asks(odd))
	require.Equal(t, "no", b.answered("odd").OptionID)
	for n := range approvals.MaxPending {
		require.NotNil(t, b.asks(run(fmt.Sprint(n), fmt.Sprint("make ", n))))
	}
	require.Nil(t, b.asks(run("one more", "make x")))
	require.Equal(t, "no", b.answered("one more").OptionID)
	require.Len(t, b.pending(), approvals.MaxPending)
	require.Equal(t, "make 0", b.pending()[0].Command, "in the order in which they were asked")
	require.Len(t, b.notices(), 2)
	w.ends(b.turn)
	w.settled(t)
	require.Empty(t, b.pending())
}

// TestRulesAnswer: a rule of the configuration or of the folder answers for a person, and only what it covers.
func TestRulesAnswer(t *testing.T) {
	t.Parallel()
	w := openSpace(t, nil)
	rule, err := allow.Parse("go vet")
	require.NoError(t, err)
	c := *w.d.settings()
	c.Approve = []config.Approve{{Command: "go vet", Rule: rule}}
	w.d.Configure(c)
	a := asks(t, w)
	require.Nil(t, a.asks(run("vet", "go vet ./...")))
	require.Equal(t, "once", a.answered("vet").OptionID)
	p := a.asks(run("1", "go vet; rm x"))
	require.NotNil(t, p)
	require.NotNil(t, p.Option(approvals.FolderOption))
	require.Nil(t, a.asks(run("odd", "for x in y; do z; done")).Option(approvals.FolderOption), "no rule can be made of it")

	p = a.asks(run("2", "cat x"))
	got, err := w.d.AnswerApproval(p.ID, approvals.FolderOption, "")
	require.NoError(t, err)
	require.Equal(t, approvals.FolderOption, got.Answer.OptionID)
	require.Equal(t, "once", a.answered("2").OptionID, "in the agent's own words")
	require.Nil(t, a.asks(run("3", "cat  x")))
	require.Equal(t, "once", a.answered("3").OptionID)
	require.Nil(t, a.asks(run("with more", "cat x -n")))
	require.Equal(t, "once", a.answered("with more").OptionID)
	require.NotNil(t, a.asks(run("another", "cat y")))

	elsewhere := run("elsewhere", "cat x")
	elsewhere.Dir = "/other"
	p = a.asks(elsewhere)
	require.NotNil(t, p, "a rule is about this folder")
	require.Nil(t, p.Option(approvals.FolderOption))
	require.Equal(t, "The command would run in /other", p.Detail)
	more := run("more", "cat x")
	more.Whole = false
	p = a.asks(more)
	require.NotNil(t, p, "a rule is about commands that are all that is asked")
	require.Nil(t, p.Option(approvals.FolderOption))
	require.Nil(t, a.asks(run("any", "sudo -n")).Option(approvals.FolderOption), "the rule would not say what runs")

	rules, err := w.d.ApprovalRules(w.root, 0)
	require.NoError(t, err)
	require.Len(t, rules, 2)
	require.Equal(t, "cat x", rules[0].Command)
	stored, err := w.d.store.Rules(w.root)
	require.NoError(t, err)
	require.Len(t, stored, 1)

	w.in(t, func() {
		turn := *a.turn.turn
		turn.Mode = sessions.ModePlan
		a.turn.turn = &turn
	})
	require.NotNil(t, a.asks(run("4", "cat x -n")), "a turn that is to read only asks")

	_, err = w.d.ApprovalRules(w.root, 7)
	require.Equal(t, api.KindNotFound, kindOf(t, err))
	rules, err = w.d.ApprovalRules(w.root, rules[0].N)
	require.NoError(t, err)
	require.Len(t, rules, 1)
	b := asks(t, w)
	require.NotNil(t, b.asks(run("5", "cat x")))
	w.ends(a.turn)
	w.ends(b.turn)
	w.settled(t)
}

// TestApprovalsAreListedAsTheyWereAsked, also those of one moment.
func TestApprovalsAreListedAsTheyWereAsked(t *testing.T) {
	t.Parallel()
	w := openSpace(t, nil)
	a := asks(t, w)
	var asked, listed []string
	var events []agent.Event
	for i := range 12 {
		command := fmt.Sprintf("echo %d", i)
		asked, events = append(asked, command), append(events, run(command, command))
	}
	w.says(a.turn, events...)
	w.settled(t)
	for _, p := range a.pending() {
		listed = append(listed, p.Command)
	}
	require.Equal(t, asked, listed)
}
