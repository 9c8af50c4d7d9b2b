package acp

import (
	"slices"

	"cursord/rpc"
	"cursord/sessions"
)

// misses reports whether the editor has not been told that the turn began, nor that it ended.
func (at *session) misses(turnID string) bool {
	return !at.tell.Knows(turnID) && at.tell.End(turnID) == 0
}

// catchUp has what comes of a session wait for a turn that it misses. An editor that was away, or whose daemon was, gets what has changed in the
// order of the last changes: the items of a turn then come before the turn.
func (s *Server) catchUp(at *session, turnID string) {
	if at.news != nil {
		at.news.of[turnID] = true
		return
	}
	at.news = newNews()
	at.news.of[turnID] = true
	s.goesOn(at)
}

// withTurns reads the turns that the news of a session lack, and then calls then. The session may have been closed by then.
func (s *Server) withTurns(at *session, then func()) {
	if at.news != nil && len(at.lacks()) > 0 {
		s.readTurns(at, at.lacks(), "", then)
		return
	}
	then()
}

// lacks returns the ids of the turns that have news but whose beginning the editor has not got.
func (at *session) lacks() (ids []string) {
	for id := range at.news.of {
		if !at.news.hasBegun(id) && at.misses(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (s *Server) readTurns(at *session, wanted []string, cursor string, then func()) {
	call(s, "turn/list", rpc.TurnListParams{SessionID: at.info.ID, Cursor: cursor}, func(list rpc.TurnList, err error) {
		if at.news == nil {
			then()
			return
		}
		for _, t := range list.Turns {
			at.found(t)
		}
		lacks := at.lacks()
		left := slices.DeleteFunc(wanted, func(id string) bool { return !slices.Contains(lacks, id) })
		if len(left) > 0 && list.NextCursor != "" {
			s.readTurns(at, left, list.NextCursor, then)
			return
		}
		for _, id := range left { // it has been removed
			at.news.removed(id)
		}
		s.withTurns(at, then)
	})
}

// found takes a turn that was read, if it is lacking. Its end is left to its notification, which comes behind its items.
func (at *session) found(t *sessions.Turn) {
	switch {
	case !slices.Contains(at.lacks(), t.ID):
	case t.Status.Final() && t.Seq <= at.since: // the editor was not to be told of it
		at.tell.Shows(t)
	default:
		first := *begun(t)
		first.Seq = 0
		at.news.turns[t.ID] = &first
	}
}

func (n *news) hasBegun(turnID string) bool {
	t := n.turns[turnID]
	return t != nil && t.Status != sessions.TurnQueued
}
