package attempts

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/sessions"
)

const (
	promptMax = 1 << 10 // bytes of a group's prompt
	answerMax = 200     // characters of an attempt's last line
	turnsMax  = 100     // how far back in a session turns are looked for
	pageMax   = 1000    // sessions read at once
)

// A Store is what Groups reads; sessions.Store has it.
type Store struct {
	Sessions func(root, cursor string, limit int) ([]*sessions.Session, string, error)
	Turns    func(session, before string, limit int) ([]*sessions.Turn, bool, error)
	Item     func(id string) (*sessions.Item, error)
}

// Groups lists the groups of attempts of a workspace, the latest first; with a group only that. diffs is what is to review there.
func Groups(st Store, root, group string, diffs []*sessions.Diff) ([]api.AttemptGroup, error) {
	list, err := Members(st, root, group)
	if err != nil {
		return nil, err
	}
	byGroup := map[string]*api.AttemptGroup{}
	for _, s := range list {
		turns, _, err := st.Turns(s.ID, "", turnsMax)
		switch {
		case errors.Is(err, sessions.ErrNotFound) || err == nil && len(turns) == 0:
			continue // it was deleted meanwhile, or its turn is not stored yet
		case err != nil:
			return nil, err
		}
		g := byGroup[s.Attempt.Group]
		if g == nil {
			g = &api.AttemptGroup{Group: s.Attempt.Group, CreatedAt: s.CreatedAt}
			byGroup[g.Group] = g
		}
		if s.CreatedAt.Before(g.CreatedAt.Time) {
			g.CreatedAt = s.CreatedAt
		}
		g.Of = max(g.Of, s.Attempt.Of)
		first := turns[len(turns)-1]
		g.Prompt = cmp.Or(g.Prompt, strings.Clone(plaintext.Cut(first.Prompt, promptMax)))
		a := attempt(s, turns)
		if a.Check != nil {
			a.Check.ExitCode = exitCode(st, a.Check.TurnID)
		}
		count(&a, turns, diffs)
		g.Attempts = append(g.Attempts, a)
	}
	groups := []api.AttemptGroup{}
	for _, g := range byGroup {
		slices.SortFunc(g.Attempts, func(a, b api.AttemptState) int {
			return cmp.Or(a.Number-b.Number, strings.Compare(a.SessionID, b.SessionID))
		})
		groups = append(groups, *g)
	}
	slices.SortFunc(groups, func(a, b api.AttemptGroup) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt.Time), strings.Compare(b.Group, a.Group))
	})
	return groups, nil
}

// Members lists the sessions of a workspace that are attempts; with a group only its.
func Members(st Store, root, group string) (list []*sessions.Session, err error) {
	for cursor := ""; ; {
		page, next, err := st.Sessions(root, cursor, pageMax)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			if s.Attempt != nil && (group == "" || s.Attempt.Group == group) {
				list = append(list, s)
			}
		}
		if next == "" {
			return list, nil
		}
		cursor = next
	}
}

// Others lists the sessions of a group except those to keep. Where there are none, and where one to keep is not among them, it returns an
// api.Error.
func Others(st Store, root, group string, keep []string) ([]*sessions.Session, error) {
	list, err := Members(st, root, group)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, api.Errorf(api.KindNotFound, "no attempts of group %s are left", group)
	}
	for _, id := range keep {
		if !slices.ContainsFunc(list, func(s *sessions.Session) bool { return s.ID == id }) {
			return nil, api.Invalid("keep", "session %s is none of the group", id)
		}
	}
	return slices.DeleteFunc(list, func(s *sessions.Session) bool { return slices.Contains(keep, s.ID) }), nil
}

// attempt describes a session by its turns, the latest first.
func attempt(s *sessions.Session, turns []*sessions.Turn) api.AttemptState {
	a := api.AttemptState{Number: s.Attempt.Number, SessionID: s.ID}
	var last *sessions.Turn // of the agent
	for _, t := range turns {
		switch {
		case t.Check && a.Check == nil:
			a.Check = &api.AttemptCheck{
				TurnID: t.ID, Command: t.Prompt, Status: t.Status, Error: t.Error, Output: said(t), Stale: last != nil, EndedAt: t.EndedAt,
			}
		case !t.Check && last == nil:
			last = t
		}
	}
	if last != nil {
		a.TurnID, a.Status, a.Waiting, a.Error, a.Model = last.ID, last.Status, last.Waiting, last.Error, last.Model
		a.StartedAt, a.EndedAt, a.Answer = last.StartedAt, last.EndedAt, lastLine(said(last))
	}
	return a
}

func said(t *sessions.Turn) string {
	if t.Result == nil {
		return ""
	}
	return *t.Result
}

// lastLine returns the last line of a text that has something on it.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.Clone(plaintext.FirstLine(text[strings.LastIndexByte(text, '\n')+1:], answerMax))
}

// exitCode returns that of the command of a check; nil if it has none. Notices may stand before its item.
func exitCode(st Store, turn string) *int {
	const most = 10
	for index := range most {
		item, err := st.Item(sessions.ItemID(turn, index))
		if err != nil {
			return nil
		}
		if item.Tool != nil {
			return item.Tool.ExitCode
		}
	}
	return nil
}

// count counts what is left to review of an attempt.
func count(a *api.AttemptState, turns []*sessions.Turn, diffs []*sessions.Diff) {
	checks := map[string]bool{}
	for _, t := range turns {
		checks[t.ID] = t.Check
	}
	for _, d := range diffs {
		before := a.Hunks
		for i := range d.Hunks {
			h := &d.Hunks[i]
			of := func(s sessions.Source) bool { return s.SessionID == a.SessionID }
			if !slices.ContainsFunc(h.Sources, of) {
				continue
			}
			if a.Check != nil && !slices.ContainsFunc(h.Sources, func(s sessions.Source) bool { return of(s) && !checks[s.TurnID] }) {
				a.Check.Hunks++
				continue
			}
			a.Hunks++
			if len(h.Beside) > 0 || h.InConflict() {
				a.Beside++
			}
			for _, l := range h.Lines {
				if strings.HasPrefix(l, "+") {
					a.Added++
				} else if strings.HasPrefix(l, "-") {
					a.Removed++
				}
			}
		}
		if a.Hunks > before {
			a.Files++
		}
	}
}
