package daemon

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/sessions"
)

// A TurnList is a page of turns; next is the cursor of the next page, or "".
type TurnList struct {
	Turns []*sessions.Turn
	Next  string
}

// ListTurns returns turns, the latest first. With a session it returns that session's. Otherwise it goes through the
// sessions of a workspace (root "": of all), the most recently updated first, and returns those turns that run or wait and,
// unless active is set, the latest turn of each other session. limit counts turns of a session, or else sessions; it is 100
// for 0 and at most 1000.
func (d *Daemon) ListTurns(root, session string, active bool, limit int, cursor string) (TurnList, error) {
	if session != "" {
		return d.turnsOf(root, session, active, limit, cursor)
	}
	if root != "" {
		r, err := d.knownRoot(root)
		if err != nil {
			return TurnList{}, err
		}
		root = r
	}
	page, next, err := d.store.Sessions(root, cursor, pageSize(limit))
	if errors.Is(err, sessions.ErrBadCursor) {
		return TurnList{}, api.Invalid("cursor", "is not from turn/list")
	}
	if err != nil {
		return TurnList{}, api.StoreError(err)
	}
	list, present := TurnList{Next: next}, d.activeTurns(root, "")
	for _, s := range page {
		known := len(list.Turns)
		for _, t := range present {
			if t.SessionID == s.ID {
				list.Turns = append(list.Turns, t)
			}
		}
		if active || len(list.Turns) > known {
			continue
		}
		switch last, err := d.store.LastTurn(s.ID); {
		case err == nil:
			list.Turns = append(list.Turns, last)
		case !errors.Is(err, sessions.ErrNotFound): // it has none, or was deleted meanwhile
			return TurnList{}, api.StoreError(err)
		}
	}
	return list, nil
}

func (d *Daemon) turnsOf(root, session string, active bool, limit int, before string) (list TurnList, err error) {
	s, err := d.store.Session(session)
	if err != nil {
		return list, api.StoreError(err)
	}
	if root != "" {
		if root, err = d.knownRoot(root); err != nil {
			return list, err
		}
		if root != s.Workspace {
			return list, &api.Error{Kind: api.KindNotFound, Message: "this session belongs to another workspace", Hint: "leave workspace out"}
		}
	}
	if active {
		list.Turns = d.activeTurns(s.Workspace, session)
		return list, nil
	}
	turns, more, err := d.store.Turns(session, before, pageSize(limit))
	if errors.Is(err, sessions.ErrNotFound) && before != "" {
		return list, api.Invalid("cursor", "is not from turn/list")
	}
	if list.Turns = turns; more {
		list.Next = turns[len(turns)-1].ID
	}
	return list, api.StoreError(err)
}

// activeTurns returns the turns of a session that run or wait, the latest first; session "" stands for all of a workspace,
// root "" for every workspace.
func (d *Daemon) activeTurns(root, session string) (list []*sessions.Turn) {
	for _, w := range d.loops() {
		if root != "" && root != w.root {
			continue
		}
		_ = w.call(func() { // an ended loop has none
			for _, t := range w.turns {
				if !t.status().Final() && (session == "" || session == t.turn.SessionID) {
					list = append(list, t.turn)
				}
			}
		})
	}
	slices.SortFunc(list, func(a, b *sessions.Turn) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt.Time), strings.Compare(b.ID, a.ID))
	})
	return list
}

// enqueue stores a new turn, and its session as s, and puts the turn into the queue.
func (w *workspace) enqueue(c *commit, t *liveTurn, s *sessions.Session) {
	w.turns[t.turn.ID] = t
	w.queue = append(w.queue, t)
	w.d.unfinished.Add(1)
	t.session.turns++
	s.Turns++
	w.putSession(c, t.session, s)
	w.put(c, t.turn, nil)
}
