package recap

import (
	"encoding/json"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/sessions"
)

// Stored is Text for a session of the store; root is its workspace, and said what the
// prompt says of the review beside it. What cannot be read of the review is left out.
func Stored(store *sessions.Store, root, session string, said []string, limit int) (text, remark string, err error) {
	pages := func(before string) ([]*sessions.Turn, []*sessions.Item, bool, error) {
		return store.Transcript(session, before, 0)
	}
	review := Review{Session: session, Said: said, Inherited: inherited(store, session)}
	review.Pending, _ = store.PendingDiffs(root)
	review.Decisions = decisions(store, root)
	return Text(pages, review, limit)
}

// decisions returns a workspace's, from old to new. What cannot be read is left out.
func decisions(store *sessions.Store, root string) (all []*decisionlog.Group) {
	stored, _ := store.Decisions(root)
	for _, d := range stored {
		g := &decisionlog.Group{N: d.N}
		if json.Unmarshal(d.Data, g) == nil {
			all = append(all, g)
		}
	}
	return all
}

// Told returns for an export what a session of the store was told of the decisions that stand, from old to new, as far as Latest goes.
func Told(store *sessions.Store, root, session string) (told []api.Told) {
	var all []decisionlog.Rejection
	for _, g := range decisions(store, root) {
		for _, said := range g.Rejections {
			if !g.Undone && said.Session == session {
				all = append(all, said)
			}
		}
	}
	for _, said := range Latest(all) {
		told = append(told, api.Told{Text: said.Text, Comment: said.Comment})
	}
	return told
}

// latestSize bounds the texts about decisions that go with an export, in bytes.
const latestSize = 64 << 10

// Latest returns the last of some texts about decisions: as many as an export has.
func Latest(all []decisionlog.Rejection) []decisionlog.Rejection {
	left := latestSize
	for i, said := range slices.Backward(all) {
		if left -= len(said.Text) + 1; left < 0 {
			return all[i+1:]
		}
	}
	return all
}

// inherited returns Review.Inherited of a session.
func inherited(store *sessions.Store, session string) func(sessions.Source) bool {
	s, err := store.Session(session)
	if err != nil || s.ForkedFrom == nil {
		return nil
	}
	last := lastCopied(store, s)
	if last == nil {
		return nil
	}
	until := map[string]sessions.Time{} // by session: the latest time of a turn that was copied from it
	for s != nil && s.ForkedFrom != nil {
		from := s.ForkedFrom.SessionID
		if _, seen := until[from]; seen {
			break
		}
		until[from] = *last
		if s.CreatedAt.Before(last.Time) {
			until[from] = s.CreatedAt // what it was forked from has gone on since
		}
		s, _ = store.Session(from)
	}
	return func(src sessions.Source) bool {
		latest, is := until[src.SessionID]
		if !is || src.TurnID == "" {
			return is
		}
		t, err := store.Turn(src.TurnID)
		return err != nil || !t.CreatedAt.After(latest.Time) // the session may be gone
	}
}

// lastCopied returns when the latest of a fork's turns that are copies was asked for; nil if it has none.
func lastCopied(store *sessions.Store, s *sessions.Session) *sessions.Time {
	for before := ""; ; {
		turns, more, err := store.Turns(s.ID, before, 0)
		for _, t := range turns {
			if s.Copied(t) {
				return &t.CreatedAt
			}
			before = t.ID
		}
		if err != nil || !more || len(turns) == 0 {
			return nil
		}
	}
}
