package daemon

import (
	"context"
	"slices"

	"cursord/sessions"
)

// CancelTurn ends a running turn or takes a queued one off the queue; on an ended one it changes nothing.
func (d *Daemon) CancelTurn(id string) (turn *sessions.Turn, err error) {
	w, err := d.workspaceOfTurn(id)
	if err != nil {
		return nil, err
	}
	defer w.release()
	if e := w.call(func() {
		t := w.turns[id]
		if t == nil || t.status().Final() {
			turn, err = w.turn(id)
			err = storeError(err)
			return
		}
		w.cancelTurn(t, sessions.TurnCancelled, errTurnCancelled)
		turn = t.turn
	}); e != nil {
		return nil, e
	}
	return turn, err
}

func (w *workspace) cancelTurn(t *liveTurn, status sessions.TurnStatus, cause error) {
	if t.status() == sessions.TurnRunning {
		t.cancel(cause)
		return
	}
	w.queue = slices.DeleteFunc(w.queue, func(q *liveTurn) bool { return q == t })
	turn := *t.turn
	turn.Status, turn.EndedAt = status, now()
	var c commit
	w.finish(&c, t, &turn)
	w.submit(&c)
	if w.stopping {
		w.count()
	} else {
		w.schedule() // the session's next one may have waited for this one alone
	}
}

// WaitTurn replies once the turn has ended, after its last notification to the client; cancelling ctx replies
// KindCancelled.
func (d *Daemon) WaitTurn(ctx context.Context, client ClientID, id string, reply func(*sessions.Turn, error)) {
	w, err := d.workspaceOfTurn(id)
	if err != nil {
		reply(nil, err)
		return
	}
	defer w.release()
	ok := w.do(func() {
		t := w.turns[id]
		if t == nil {
			turn, err := w.turn(id)
			w.afterAll(client, func() { reply(turn, storeError(err)) })
			return
		}
		wt := &waiter{client: client, reply: reply}
		t.waiters = append(t.waiters, wt)
		wt.stop = context.AfterFunc(ctx, func() {
			w.do(func() {
				if i := slices.Index(t.waiters, wt); i >= 0 {
					t.waiters = slices.Delete(t.waiters, i, i+1)
					reply(nil, &Error{Kind: KindCancelled, Message: "cancelled"})
				}
			})
		})
	})
	if !ok {
		reply(nil, errStopped)
	}
}

// turn returns the newest form of a turn, live or stored.
func (w *workspace) turn(id string) (*sessions.Turn, error) {
	if t := w.turns[id]; t != nil {
		return t.turn, nil
	}
	return w.d.store.Turn(id)
}
