package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// CancelTurn ends a running turn, or removes a queued one from the queue. It does nothing to an ended turn. A process of an agent
// can cancel turns of its own session, and those that the session's agents have started.
func (d *Daemon) CancelTurn(c *api.Caller, id string) (turn *sessions.Turn, err error) {
	bounds := d.boundsOf(c)
	w, err := d.workspaceOfTurn(id)
	if err != nil {
		return nil, err
	}
	defer w.release()
	if e := w.call(func() {
		t := w.turns[id]
		if t == nil || t.status().Final() {
			turn, err = w.turn(id)
			err = api.StoreError(err)
			return
		}
		if err = bounds.Cancel(t.turn, t.by); err != nil {
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
		var c commit
		if w.withdrawAsked(&c, t, ""); len(c.ops) > 0 {
			w.submit(&c)
		}
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
		w.schedule() // the session's next turn may have waited only for this one
	}
}

// WaitTurn replies once the turn has ended, after the last notification of it to the client. If ctx is cancelled, it replies
// KindCancelled.
func (d *Daemon) WaitTurn(ctx context.Context, client api.ClientID, id string, reply func(*sessions.Turn, error)) {
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
			w.afterAll(client, func() { reply(turn, api.StoreError(err)) })
			return
		}
		wt := &waiter{client: client, reply: reply}
		t.waiters = append(t.waiters, wt)
		wt.stop = context.AfterFunc(ctx, func() {
			w.do(func() {
				if i := slices.Index(t.waiters, wt); i >= 0 {
					t.waiters = slices.Delete(t.waiters, i, i+1)
					reply(nil, &api.Error{Kind: api.KindCancelled, Message: "cancelled"})
				}
			})
		})
	})
	if !ok {
		reply(nil, api.ErrStopped)
	}
}

// turn returns the newest form of a turn, live or stored.
func (w *workspace) turn(id string) (*sessions.Turn, error) {
	if t := w.turns[id]; t != nil {
		return t.turn, nil
	}
	return w.d.store.Turn(id)
}

// endItems closes everything that is open when the turn ends; last ends the turn, in the commit that it gets.
func (w *workspace) endItems(c *commit, t *liveTurn, status sessions.TurnStatus, last func(*commit)) {
	text := sessions.ItemCancelled
	if status == sessions.TurnCompleted {
		text = sessions.ItemCompleted
	}
	w.endText(c, t, text)
	var open []int
	for _, calls := range t.openCalls {
		for _, o := range calls {
			open = append(open, o.index)
		}
	}
	t.openCalls = map[string][]openCall{}
	slices.Sort(open)
	held := status == sessions.TurnCompleted && t.turn.AutoReview
	w.endCalls(c, t, open, held, func(c *commit) {
		if text := t.denied.Text(t.turn, func(option string) bool { return w.d.agent.Offers(t.turn.AgentVersion, option) }); text != "" {
			w.notice(c, t, text)
		}
		if t.unread > 0 {
			w.notice(c, t, fmt.Sprintf("%s of the agent's output could not be understood; the first: %s",
				plaintext.Count(t.unread, "line"), wire.CutText(t.unreadTop, 200)))
		}
		last(c)
	})
}

// endedAtOnce is how many open calls are closed in one commit, so that memory never holds more of them.
const endedAtOnce = 256

// endCalls closes the items of calls that the agent has not ended, and then calls last. The store has these items once c is
// durable, so they are closed after c. held says that the calls were not allowed.
func (w *workspace) endCalls(c *commit, t *liveTurn, open []int, held bool, last func(*commit)) {
	if len(open) == 0 {
		last(c)
		return
	}
	c.after = append(c.after, func() {
		n := min(len(open), endedAtOnce)
		var c commit
		if w.guard(func() {
			for _, index := range open[:n] {
				if item := w.cancelCall(&c, sessions.ItemID(t.turn.ID, index)); held && item != nil && item.Tool != nil {
					t.denied.Hold(item.Tool)
				}
			}
			w.endCalls(&c, t, open[n:], held, last)
		}) {
			c = commit{}
			w.finish(&c, t, w.broken(t))
		}
		w.submit(&c)
		w.schedule() // the turn may have ended
	})
}

// cancelCall closes the item of a call that has not ended; nil if there is none.
func (w *workspace) cancelCall(c *commit, id string) *sessions.Item {
	item, err := w.d.store.Item(id)
	var detail []byte
	if err == nil {
		detail, err = w.d.store.ItemDetail(id)
	}
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		w.log.Error("an item could not be read and stays as it is", "item", id, "err", err)
	}
	if item == nil {
		return nil
	}
	item.Status, item.EndedAt = sessions.ItemCancelled, now()
	w.put(c, item, detail)
	return item
}
