package sessions

// forks tells a search which turns are copies that came with a fork, so that a place is found once. It keeps what it has read.
type forks struct {
	s        *Store
	sessions map[string]*Session        // by id; nil: it was deleted meanwhile
	turns    map[string]map[string]bool // of each session: its turns, as SameTurn names them
}

func (f *forks) session(id string) *Session {
	one, known := f.sessions[id]
	if !known {
		one, _ = f.s.Session(id)
		f.sessions[id] = one
	}
	return one
}

// copied reports whether a turn came with a fork from a session that still has it.
func (f *forks) copied(session, turn string) bool {
	fork := f.session(session)
	if fork == nil || fork.ForkedFrom == nil {
		return false
	}
	t, err := f.s.Turn(turn)
	return err == nil && fork.Copied(t) && f.turnsOf(fork.ForkedFrom.SessionID)[SameTurn(t)]
}

// turnsOf returns the turns of a session, as SameTurn names them; none if the session is gone.
func (f *forks) turnsOf(session string) map[string]bool {
	have, known := f.turns[session]
	if known {
		return have
	}
	have = map[string]bool{}
	f.turns[session] = have
	for before, more := "", true; more; {
		page, others, err := f.s.Turns(session, before, 0)
		if err != nil || len(page) == 0 {
			break
		}
		for _, t := range page {
			have[SameTurn(t)] = true
		}
		before, more = page[len(page)-1].ID, others
	}
	return have
}

// SameTurn returns a text that a turn and its copies in forks have in common, and no other turn of the session.
func SameTurn(t *Turn) string { return t.CreatedAt.String() + "\x00" + t.Prompt }
