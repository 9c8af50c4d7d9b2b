package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cursord/agent"
	"cursord/agent/failure"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/drivers"
	"cursord/daemon/internal/params"
	"cursord/sessions"
)

// A liveSession is a session with unfinished turns, or with changes that are not stored. The loop owns it.
type liveSession struct {
	session  *sessions.Session // as it was last put
	unstored int               // number of puts under way
	turns    int               // number of unfinished turns
	build    string            // of the agent in the latest turn that ran; "" if that is not known
	running  bool
	filling  bool                             // its turns are being copied from elsewhere; see fill
	rewinds  bool                             // its last turns are being taken back
	resend   func(c *commit, ls *liveSession) // puts the turn that takes their place; nil: none does
}

// A turnReply takes the answer to a request to start a turn.
type turnReply = func(*sessions.Session, *sessions.Turn, error)

// A waiter is a turn/wait request.
type waiter struct {
	client api.ClientID
	reply  func(*sessions.Turn, error)
	stop   func() bool // ends the watch of the request's context
}

// Why a running turn's context is cancelled.
var (
	errTurnCancelled = errors.New("the turn was cancelled")
	errDaemonStops   = errors.New("the daemon stops")
	errBroken        = errors.New("an internal error ended the turn")
)

// StartTurn stores a turn and replies; the turn's notifications follow.
func (d *Daemon) StartTurn(p api.TurnParams, reply turnReply) {
	fail := func(err error) { reply(nil, nil, err) }
	w, err := d.workspace(p.Workspace)
	if err != nil {
		if e := (*api.Error)(nil); p.SessionID != "" && errors.As(err, &e) && e.Hint == "" {
			e.Hint = "if the folder was moved, start a session with this one's transcript there: recap (cursord run --session ID --recap)"
		}
		fail(err)
		return
	}
	defer w.release()
	if err := params.CheckTurn(&p); err != nil {
		fail(err)
		return
	}
	d.tryDisk()
	perm, pics := w.permits(&p), w.pictures(&p)
	if !w.do(func() { w.startTurn(p, perm, pics, reply) }) {
		pics.Drop()
		fail(api.ErrStopped)
	}
}

var errTurnTaken = api.Invalid("turnId", "another turn has this id")

func (w *workspace) startTurn(p api.TurnParams, perm permitted, pics *turnPictures, answer turnReply) {
	reply := func(s *sessions.Session, t *sessions.Turn, err error) {
		if w.turns[p.TurnID] == nil {
			w.d.freeTurn(p.TurnID, w)
		}
		if err != nil || !slices.Equal(t.Images, pics.Paths) { // or the turn exists already
			go pics.Drop()
		}
		answer(s, t, err)
	}
	fail := func(err error) { reply(nil, nil, err) }
	if w.stopping || w.d.stops() {
		fail(api.ErrStopped)
		return
	}
	recapOf, err := w.recapSource(&p)
	if err != nil {
		fail(err)
		return
	}
	if s, t, err := w.repeated(&p); t != nil || err != nil {
		reply(s, t, err)
		return
	}
	if err := w.mayStart(perm, pics); err != nil {
		fail(err)
		return
	}
	ls, err := w.sessionOfTurn(&p, perm, pics)
	if err != nil {
		fail(err)
		return
	}
	if p.Recap && p.SessionID != "" {
		recapOf = p.SessionID
	}
	begin := func(c *commit, ls *liveSession, stored turnReply) {
		w.beginTurn(c, ls, &p, perm, pics, recapOf, stored)
	}
	if p.Rewind != "" {
		go w.resend(p, begin, reply)
		return
	}
	var c commit
	begin(&c, ls, reply)
	w.submit(&c)
	w.schedule()
}

// repeated returns the turn that has the id of p, and its session, if p asks for the same; nil if no turn has the id. p has the id then.
func (w *workspace) repeated(p *api.TurnParams) (*sessions.Session, *sessions.Turn, error) {
	if p.TurnID == "" {
		return nil, nil, nil
	}
	if !w.d.claimTurn(p.TurnID, w) {
		return nil, nil, errTurnTaken
	}
	t, err := w.turn(p.TurnID)
	if errors.Is(err, sessions.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, api.StoreError(err)
	}
	if t.Workspace != w.root || p.SessionID != "" && p.SessionID != t.SessionID || !params.AsksFor(p, t) {
		return nil, nil, errTurnTaken
	}
	s, err := w.session(t.SessionID)
	if err == nil {
		err = drivers.Keep(s, p.Isolation, p.Driver)
	}
	if err != nil {
		return nil, nil, err
	}
	return s, t, nil
}

// mayStart returns why the workspace starts no turn of this kind at present, or nil.
func (w *workspace) mayStart(perm permitted, pics *turnPictures) error {
	if err := cmp.Or(perm.err, pics.err, w.d.agent.Missing()); err != nil {
		return err
	}
	if err := w.d.store.Trouble(); err != nil {
		return api.StoreError(err)
	}
	if !w.trusted {
		return api.Untrusted(w.root)
	}
	return perm.untrusted
}

// sessionOfTurn returns the session that takes the turn of p, or a new one.
func (w *workspace) sessionOfTurn(p *api.TurnParams, perm permitted, pics *turnPictures) (*liveSession, error) {
	ls, err := w.liveSession(p.SessionID)
	switch {
	case err != nil:
		return nil, err
	case ls == nil:
		made, err := w.newSession(api.SessionParams{Model: p.Model, Mode: p.Mode, Isolation: p.Isolation, Driver: p.Driver})
		if err == nil {
			err = perm.forbids(made, p)
		}
		if err != nil {
			return nil, err
		}
		made.ID, made.Attempt = cmp.Or(pics.session, made.ID), p.Attempt
		ls = &liveSession{session: made}
		w.sessions[made.ID] = ls
		return ls, nil
	case ls.filling:
		return nil, errFilling
	case ls.rewinds:
		return nil, errRewinding
	}
	err = drivers.Keep(ls.session, p.Isolation, p.Driver)
	if err == nil {
		err = perm.forbids(ls.session, p)
	}
	return ls, err
}

// putSession stores a session in the state that follows from its turns.
func (w *workspace) putSession(c *commit, ls *liveSession, s *sessions.Session) {
	switch {
	case ls.running:
		s.State = sessions.SessionRunning
	case ls.turns > 0:
		s.State = sessions.SessionQueued
	default:
		s.State = sessions.SessionIdle
	}
	s.UpdatedAt = sessions.Now()
	ls.session = s
	w.put(c, s, nil)
	ls.unstored++
	c.after = append(c.after, func() {
		if ls.unstored--; ls.unstored == 0 && ls.turns == 0 && !ls.filling && !ls.rewinds {
			delete(w.sessions, s.ID)
		}
	})
}

// schedule starts every queued turn that may run: one at a time in a session, and in the work tree as many that write as are
// configured. An isolated session has a tree of its own.
func (w *workspace) schedule() {
	writing := w.writing()
	waiting := map[*liveSession]bool{}
	w.queue = slices.DeleteFunc(w.queue, func(t *liveTurn) bool {
		if t.session.running || waiting[t.session] || t.writes() && writing >= w.d.settings().ParallelTurns {
			waiting[t.session] = true
			return false
		}
		if t.writes() {
			writing++
		}
		w.run(t)
		return true
	})
	w.count()
}

func (t *liveTurn) writes() bool {
	return t.turn.Mode == sessions.ModeAgent && t.session.session.Isolation != config.IsolationCopy
}

// writing counts the turns that run and write the work tree.
func (w *workspace) writing() (n int) {
	for _, t := range w.turns {
		if t.status() == sessions.TurnRunning && t.writes() {
			n++
		}
	}
	return n
}

// sessionStarted stores the agent's own id for the session, by which the next turn resumes.
func (w *workspace) sessionStarted(c *commit, t *liveTurn, init agent.Init) {
	if init.SessionID == "" {
		return
	}
	s := *t.session.session
	if s.AgentSessionID != nil && *s.AgentSessionID == init.SessionID {
		return
	}
	if s.AgentSessionID != nil && t.recapOf == "" {
		w.notice(c, t, chatGone)
	}
	s.AgentSessionID, s.Rewound = &init.SessionID, false
	w.putSession(c, t.session, &s)
}

const chatGone = "cursor-agent does not have this session's chat any more: it has begun a new one and does not know what was said " +
	"before. To tell it, ask again with the transcript as context: cursord run --recap --session %s"

// endTurn gives a turn its final status, the last change of it that is published.
func (w *workspace) endTurn(c *commit, t *liveTurn, out *agent.Outcome) {
	turn := *t.turn
	turn.EndedAt = now()
	turn.RequestID, turn.Result, turn.StopReason = out.RequestID, out.Result, sessions.StopReason(out.Stop)
	if u := out.Usage; u != nil {
		turn.Usage = &sessions.Usage{
			InputTokens: u.Input, OutputTokens: u.Output, CacheReadTokens: u.CacheRead, CacheWriteTokens: u.CacheWrite,
		}
	}
	switch {
	case errors.Is(context.Cause(t.ctx), errBroken):
		turn = *w.broken(t)
	case out.Status == agent.Completed:
		turn.Status = sessions.TurnCompleted
	case out.Status == agent.Cancelled && errors.Is(context.Cause(t.ctx), errDaemonStops):
		turn.Status = sessions.TurnInterrupted
	case out.Status == agent.Cancelled:
		turn.Status = sessions.TurnCancelled
	default:
		turn.Status = sessions.TurnFailed
		if f := out.Failure; f != nil {
			turn.Error = &sessions.TurnError{Kind: f.Kind, Message: f.Message, Hint: cmp.Or(f.Hint, hintUnknown(turn.SessionID)), Detail: f.Detail}
		}
		if e := turn.Error; e != nil && e.Kind == string(api.KindAgentNotLoggedIn) {
			w.d.agent.NotLoggedIn(e.Message)
		}
		if e := turn.Error; e != nil && t.unread == 1 && strings.Contains(t.unreadTop, e.Message) {
			t.unread = 0 // the turn failed because of it, and the error says so
		}
	}
	w.endItems(c, t, turn.Status, func(c *commit) {
		if out.SessionID != "" {
			w.sessionStarted(c, t, agent.Init{SessionID: out.SessionID})
		}
		w.finish(c, t, &turn)
	})
}

// hintUnknown says what to do about a failure for which there are only the agent's own words.
func hintUnknown(session string) string {
	return fmt.Sprintf("try again, or update the agent with `cursor-agent update`; \"cursord logs\" has what the daemon noted; "+
		"\"cursord show %s\" has all that the agent said of it", session)
}

// broken returns the end of a turn that a fault in the daemon has ended.
func (w *workspace) broken(t *liveTurn) *sessions.Turn {
	turn := *t.turn
	turn.Status, turn.EndedAt = sessions.TurnFailed, now()
	turn.Error = &sessions.TurnError{
		Kind: failure.KindProtocol, Message: "an internal error ended this turn", Hint: "see the log (cursord logs), and please report it",
	}
	return &turn
}

// finish stores a turn's end, and before it the session's state.
func (w *workspace) finish(c *commit, t *liveTurn, turn *sessions.Turn) {
	if t.status() == sessions.TurnRunning {
		t.session.running = false
	}
	t.session.turns--
	w.withdrawAsked(c, t, "")
	turn.Background, turn.Waiting = nil, false
	s := *t.session.session
	if command := w.checkAfter(t, turn); command != "" {
		w.enqueue(c, newCheck(t.session, turn, command, t.env), &s) // in the same commit, so that no end of the daemon comes in between
	} else {
		w.putSession(c, t.session, &s)
	}
	t.turn = turn
	w.put(c, turn, nil)
	c.after = append(c.after, func() {
		delete(w.turns, turn.ID)
		w.touch()
		w.d.freeTurn(turn.ID, w)
		for _, wt := range t.waiters {
			wt.stop()
			w.afterAll(wt.client, func() { wt.reply(turn, nil) })
		}
		t.waiters = nil
		w.d.atEnd.Run(w.d.settings().OnTurnEnd, turn, s.Title)
		w.d.unfinished.Done()
		w.d.rest()
		go w.d.giveWay()
	})
}

// count updates the numbers that other goroutines read.
func (w *workspace) count() {
	running, queued, background := int32(0), int32(len(w.queue)), int32(0)
	for _, t := range w.turns {
		if t.status() == sessions.TurnRunning {
			running++
			background += int32(len(t.turn.Background))
		}
	}
	w.running.Store(running)
	w.background.Store(background)
	w.queued.Store(queued)
}

// stop ends every turn of the workspace: queued ones at once, running ones when their agents have ended.
func (w *workspace) stop() {
	w.stopping = true
	for _, t := range slices.Clone(w.queue) {
		w.cancelTurn(t, sessions.TurnInterrupted, errDaemonStops)
	}
	for _, t := range w.turns {
		if t.status() == sessions.TurnRunning {
			w.cancelTurn(t, sessions.TurnInterrupted, errDaemonStops)
		}
	}
}
