package daemon

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"time"

	"cursord/agent"
	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/daemon/internal/approvals"
	"cursord/daemon/internal/params"
	"cursord/sessions"
)

// A question is a pending approval of a running turn. The loop owns it.
type question struct {
	approval *sessions.Approval // as it was last put
	turn     *liveTurn
	request  *agent.ApprovalRequested
	expiry   *time.Timer
}

// ask takes in a request of the agent. A person is asked unless a rule, the turn, or the request itself says what the answer is.
func (w *workspace) ask(c *commit, t *liveTurn, req *agent.ApprovalRequested) {
	a, why := approvals.New(req, t.turn, w.relativePaths(req.Paths))
	if why == "" && len(w.questionsOf(t)) >= approvals.MaxPending {
		why = fmt.Sprintf("%d others are pending", approvals.MaxPending)
	}
	if t.ctx.Err() != nil {
		why = "the turn is being ended"
	}
	if req.Call != nil {
		w.startCall(c, t, req.Call, true, true)
	}
	if calls := t.openCalls[req.CallID]; req.CallID != "" && len(calls) > 0 {
		last := calls[len(calls)-1]
		if a.ItemID = sessions.ItemID(t.turn.ID, last.index); last.asked {
			a.CreatedAt = last.started // by that a start after a crash knows that the call has not begun
		}
	}
	if why != "" {
		w.noticeDenied(c, t, a, "because "+why)
		if req.Call != nil { // so does a start after a crash know that it was refused
			w.put(c, approvals.Denied(a), nil)
		}
		no := req.Refusal()
		no.Unasked = "nobody was asked: " + why
		w.tellAgent(c, t, req.ID, no)
		return
	}
	var settled *sessions.Approval
	switch {
	case t.turn.Approvals == params.ApprovalsDeny:
		settled, why = approvals.Denied(a), "this turn asks nobody (approvals: deny)"
		w.noticeDenied(c, t, a, "because "+why)
	case w.rulesHold(t, a, req):
		if rule, allowed := w.rules.Allow(a.Command, w.d.settings().Approve); allowed {
			settled = approvals.Allowed(a, rule)
		}
		w.rules.Offer(a)
	}
	if settled != nil {
		w.put(c, settled, nil)
		answer := approvals.ForAgent(settled)
		answer.Unasked = why
		w.tellAgent(c, t, req.ID, answer)
		return
	}
	q := &question{approval: a, turn: t, request: req}
	w.questions[a.ID] = q
	w.put(c, a, nil)
	w.setWaiting(c, t)
	settings := w.d.settings()
	q.expiry = time.AfterFunc(settings.ApprovalTimeout, func() {
		w.do(func() { w.settle(q, approvals.Expired(q.approval)) })
	})
	title := t.session.session.Title
	c.after = append(c.after, func() {
		w.d.atEnd.Asked(settings.OnApproval, a, t.turn, title, approvals.About(a))
	})
}

// rulesHold reports whether rules may answer: only for commands of a POSIX shell that are all that is asked, in the workspace's folder, and not in a
// turn that is to read only.
func (w *workspace) rulesHold(t *liveTurn, a *sessions.Approval, req *agent.ApprovalRequested) bool {
	return a.Kind == sessions.ApprovalPermission && req.Whole && req.Dir == "" && t.turn.Mode == sessions.ModeAgent && runtime.GOOS != "windows"
}

// deniedNotices is how many notices a turn gets about what it was not allowed without a question.
const deniedNotices = 20

func (w *workspace) noticeDenied(c *commit, t *liveTurn, a *sessions.Approval, why string) {
	if t.deniedUnasked++; t.deniedUnasked > deniedNotices {
		return
	}
	text := "Denied without asking, " + why + ": " + plaintext.Cut(approvals.About(a), 200)
	if t.deniedUnasked == deniedNotices {
		text += ". Further ones are denied without a notice."
	}
	w.notice(c, t, text)
}

// settleIn ends a pending question: c has its end, and the agent is told once that is durable.
func (w *workspace) settleIn(c *commit, q *question, a *sessions.Approval) {
	q.expiry.Stop()
	delete(w.questions, q.approval.ID)
	w.put(c, a, nil)
	if call := q.request.Call; call != nil && a.Allowed() {
		w.startCall(c, q.turn, call, true, false) // so that it has begun no earlier, should the daemon be killed
	}
	w.ending[a.ID] = a
	c.after = append(c.after, func() { delete(w.ending, a.ID) })
	w.setWaiting(c, q.turn)
	answer := approvals.ForAgent(a)
	answer.CarryOut = approvals.AcceptsPlan(a) && w.carriesOut(c, q.turn)
	w.tellAgent(c, q.turn, q.request.ID, answer)
}

// carriesOut has a turn that plans go on in mode agent. It returns false if the turn does not plan, or if no further turn may write.
func (w *workspace) carriesOut(c *commit, t *liveTurn) bool {
	turn := *t.turn
	turn.Mode = sessions.ModeAgent
	goesOn := &liveTurn{session: t.session, turn: &turn}
	if t.turn.Mode != sessions.ModePlan || t.status() != sessions.TurnRunning || goesOn.writes() && w.writing() >= w.d.settings().ParallelTurns {
		return false
	}
	t.turn = &turn
	w.put(c, &turn, nil)
	return true
}

// settle is settleIn with a commit of its own, for a question that may have ended meanwhile.
func (w *workspace) settle(q *question, a *sessions.Approval) {
	if w.questions[q.approval.ID] != q {
		return
	}
	var c commit
	w.settleIn(&c, q, a)
	w.submit(&c)
}

// tellAgent answers the agent once c is durable. An agent that no longer waits, or has ended, needs no answer.
func (w *workspace) tellAgent(c *commit, t *liveTurn, request string, answer agent.ApprovalAnswer) {
	c.after = append(c.after, func() {
		if err := t.control.Answer(request, answer); err != nil {
			w.log.Debug("the agent takes no answer", "turn", t.turn.ID, "err", err)
		}
	})
}

// withdrawAsked ends the question that the agent has taken back; with request "", all questions of a turn that is ended.
func (w *workspace) withdrawAsked(c *commit, t *liveTurn, request string) {
	for _, q := range w.questionsOf(t) {
		if request == "" || q.request.ID == request {
			w.settleIn(c, q, approvals.Withdrawn(q.approval))
		}
	}
}

// questionsOf returns the pending questions of a turn, or of all turns, in the order in which they were asked.
func (w *workspace) questionsOf(t *liveTurn) (list []*question) {
	for _, q := range w.questions {
		if t == nil || q.turn == t {
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b *question) int { return cmp.Compare(a.approval.Seq, b.approval.Seq) })
	return list
}

// setWaiting stores whether a turn waits for a person, if that has changed.
func (w *workspace) setWaiting(c *commit, t *liveTurn) {
	waiting := len(w.questionsOf(t)) > 0
	if t.turn.Waiting == waiting || t.status() != sessions.TurnRunning {
		return
	}
	turn := *t.turn
	turn.Waiting = waiting
	t.turn = &turn
	w.put(c, &turn, nil)
}

// Approvals returns the pending approvals of a workspace, or of all, in the order in which they were asked.
func (d *Daemon) Approvals(path string) ([]*sessions.Approval, error) {
	list := []*sessions.Approval{}
	add := func(w *workspace) error {
		return w.call(func() {
			for _, q := range w.questionsOf(nil) {
				list = append(list, q.approval)
			}
		})
	}
	if path == "" {
		for _, w := range d.loops() {
			_ = add(w) // one that has ended has none
		}
		slices.SortStableFunc(list, func(a, b *sessions.Approval) int { return a.CreatedAt.Compare(b.CreatedAt.Time) })
		return list, nil
	}
	root, err := d.knownRoot(path)
	if err != nil {
		return nil, err
	}
	w, err := d.workspaceAt(root)
	if err != nil {
		return nil, err
	}
	defer w.release()
	return list, add(w)
}

// AnswerApproval answers a pending approval and returns it once that is durable; the agent is told after that. It returns
// KindConflict for one that is no longer pending, also if it was pending when the caller saw it.
func (d *Daemon) AnswerApproval(id, option, text string) (*sessions.Approval, error) {
	w, err := d.workspaceOfTurn(sessions.TurnOfApproval(id))
	if err != nil {
		return nil, approvals.Missing(id, err)
	}
	defer w.release()
	return stored(w, func(c *commit) (*sessions.Approval, error) {
		q := w.questions[id]
		if q == nil && w.ending[id] != nil {
			return nil, approvals.Pending(w.ending[id])
		}
		if q == nil {
			a, err := d.store.Approval(id)
			if err != nil {
				return nil, approvals.Missing(id, err)
			}
			return nil, approvals.Pending(approvals.Withdrawn(a))
		}
		a, err := approvals.Answer(q.approval, option, text)
		if err != nil {
			return nil, err
		}
		if option == approvals.FolderOption {
			if op := w.rules.Add(a.Command); op != nil {
				c.ops = append(c.ops, op)
			}
		}
		w.settleIn(c, q, a)
		return a, nil
	})
}

// ApprovalRules returns the rules that hold in a workspace. If remove is not 0, the stored one with that number is removed first.
func (d *Daemon) ApprovalRules(path string, remove uint64) ([]api.ApprovalRule, error) {
	root, err := d.knownRoot(path)
	if err != nil {
		return nil, err
	}
	w, err := d.workspaceAt(root)
	if err != nil {
		return nil, err
	}
	defer w.release()
	return stored(w, func(c *commit) ([]api.ApprovalRule, error) {
		if remove != 0 {
			op := w.rules.Remove(remove)
			if op == nil {
				e := api.Errorf(api.KindNotFound, "there is no rule %d in %s", remove, w.root)
				e.Hint = "cursord approvals --rules (approval/rules) lists them"
				return nil, e
			}
			c.ops = append(c.ops, op)
		}
		list := []api.ApprovalRule{}
		for _, r := range w.rules.List(w.d.settings().Approve) {
			one := api.ApprovalRule{N: r.N, Command: r.Command, Exact: r.Exact, Folder: r.Folder}
			if r.N != 0 {
				one.CreatedAt = &r.CreatedAt
			}
			list = append(list, one)
		}
		return list, nil
	})
}
