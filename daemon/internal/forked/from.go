package forked

import (
	"slices"

	"cursord/daemon/api"
	"cursord/sessions"
)

// From lists a turn and the later ones of its session, in their order, and says when the turn was asked for. If last is not "", the session's
// last turn must have this id; else From returns an error of kind conflict. page is [sessions.Store.Turns].
func From(page func(session, before string, limit int) ([]*sessions.Turn, bool, error), session, turn, last string) (ids []string, asked sessions.Time, err error) {
	for before := ""; ; {
		turns, more, err := page(session, before, 0)
		if err != nil {
			return nil, asked, api.StoreError(err)
		}
		if last != "" && before == "" && len(turns) > 0 && turns[0].ID != last {
			return nil, asked, &api.Error{Kind: api.KindConflict, Message: "the turns of this session are not those that were shown any more", Hint: "look at them again"}
		}
		for _, t := range turns {
			if ids = append(ids, t.ID); t.ID == turn {
				slices.Reverse(ids)
				return ids, t.CreatedAt, nil
			}
		}
		if !more || len(turns) == 0 {
			return nil, asked, api.Errorf(api.KindNotFound, "no turn %s", turn)
		}
		before = turns[len(turns)-1].ID
	}
}
