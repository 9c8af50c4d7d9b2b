package forked

import (
	"cmp"

	"cursord/diffs"
	"cursord/sessions"
)

// A Store has sessions and turns, as sessions.Store has.
type Store interface {
	Session(id string) (*sessions.Session, error)
	Turn(id string) (*sessions.Turn, error)
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

// Earlier returns a function that reports whether a turn, that of told, has come with a fork of its session as another, that of known. Sessions
// may be imported in any order.
func Earlier(store Store) func(known, told diffs.Source) bool {
	is := map[[2]diffs.Source]bool{}
	return func(known, told diffs.Source) bool {
		which := [2]diffs.Source{known, told}
		earlier, asked := is[which]
		if !asked {
			earlier = copied(store, told.SessionID, told.TurnID, known.SessionID, known.TurnID)
			is[which] = earlier
		}
		return earlier
	}
}

// copied reports whether a turn of a fork is a copy of a turn of another session.
func copied(store Store, session, turn, fork, copy string) bool {
	of, noSession := store.Session(session)
	in, noFork := store.Session(fork)
	was, noTurn := store.Turn(turn)
	is, noCopy := store.Turn(copy)
	return cmp.Or(noSession, noFork, noTurn, noCopy) == nil && in.Copied(is) && of.CreatedAt.Before(in.CreatedAt.Time) &&
		sessions.SameTurn(was) == sessions.SameTurn(is)
}
