package forked

import "cursord/sessions"

// A Store has sessions and turns, as sessions.Store has.
type Store interface {
	Session(id string) (*sessions.Session, error)
	Turns(session, before string, limit int) ([]*sessions.Turn, bool, error)
}

// Inherited returns the sessions that a session is a fork of, the nearest first. For each turn that came from one of them, turns has the id that
// the turn has in the fork, by the id that it has there. What is gone from the store is left out.
func Inherited(store Store, s *sessions.Session) (from []string, turns map[string]string) {
	turns = map[string]string{}
	copies := map[string]string{}
	seen := map[string]bool{s.ID: true}
	each(store, s.ID, func(t *sessions.Turn) {
		if s.Copied(t) {
			copies[sessions.SameTurn(t)] = t.ID
		}
	})
	for at := s; at != nil && at.ForkedFrom != nil && !seen[at.ForkedFrom.SessionID]; {
		id := at.ForkedFrom.SessionID
		seen[id] = true
		from = append(from, id)
		each(store, id, func(t *sessions.Turn) {
			if copied := copies[sessions.SameTurn(t)]; copied != "" {
				turns[t.ID] = copied
			}
		})
		at, _ = store.Session(id)
	}
	return from, turns
}

// each calls do for the turns of a session, as far as they can be read.
func each(store Store, session string, do func(*sessions.Turn)) {
	for before, more := "", true; more; {
		page, others, err := store.Turns(session, before, 0)
		if err != nil || len(page) == 0 {
			return
		}
		for _, t := range page {
			do(t)
		}
		before, more = page[len(page)-1].ID, others
	}
}
