package sessions

import "slices"

// A Spent is what a turn has used that was cut off its session, by a rewind for example. The oldest one of a session may be the sum of several turns
// (spentMax).
type Spent struct {
	Turns      int    `json:"turns"`
	Unknown    int    `json:"unknown,omitempty"` // how many of the turns have no token count
	At         Time   `json:"at"`                // when the latest of them began
	DurationMS int64  `json:"durationMs"`
	Usage      *Usage `json:"usage,omitempty"`
}

// spentMax bounds the list of a session: beyond it, the two oldest become one.
const spentMax = 100

// Spend notes what a turn has used, because the turn is about to be cut off the session. It does nothing for a turn that came with a fork.
func (s *Session) Spend(t *Turn) {
	if s.Copied(t) {
		return
	}
	one := Spent{Turns: 1, At: t.CreatedAt}
	if t.StartedAt != nil {
		if one.At = *t.StartedAt; t.EndedAt != nil {
			one.DurationMS = max(t.EndedAt.Sub(t.StartedAt.Time).Milliseconds(), 0)
		}
	}
	if one.Usage = t.Usage; t.Usage == nil {
		one.Unknown = 1
	}
	s.Spent = append(slices.Clone(s.Spent), one)
	if len(s.Spent) > spentMax {
		s.Spent[1] = s.Spent[0].plus(s.Spent[1])
		s.Spent = s.Spent[1:]
	}
}

func (a Spent) plus(b Spent) Spent {
	sum := Spent{Turns: a.Turns + b.Turns, Unknown: a.Unknown + b.Unknown, At: b.At, DurationMS: a.DurationMS + b.DurationMS}
	for _, u := range []*Usage{a.Usage, b.Usage} {
		if u == nil {
			continue
		}
		if sum.Usage == nil {
			sum.Usage = &Usage{}
		}
		sum.Usage.InputTokens += u.InputTokens
		sum.Usage.OutputTokens += u.OutputTokens
		sum.Usage.CacheReadTokens += u.CacheReadTokens
		sum.Usage.CacheWriteTokens += u.CacheWriteTokens
	}
	return sum
}
