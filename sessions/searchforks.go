package sessions

// forks tells a search which places are in copies that came with a fork, so that each is found once.
type forks struct {
	s        *Store
	sessions map[string]*Session        // nil: it was deleted meanwhile
	turns    map[string]map[string]bool // the turns of a session, as SameTurn names them
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
	of := f.session(session)
	if of == nil || of.ForkedFrom == nil {
		return false
	}
	t, err := f.s.Turn(turn)
	return err == nil && of.Copied(t) && f.of(of.ForkedFrom.SessionID)[SameTurn(t)]
}

// of returns the turns of a session; of one that is gone, none.
func (f *forks) of(session string) map[string]bool {
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

// SameTurn returns what a turn and its copies have in common, and no other turn of the session.
func SameTurn(t *Turn) string { return t.CreatedAt.String() + "\x00" + t.Prompt }
