// Package recap puts a session's transcript into words for an agent that does not have its chat. If the transcript is longer
// than it may be, what matters most stays, in the order of time: the latest turn, then prompts, final answers and what is
// known of the review, then what else the agent said and did.
package recap

import (
	"slices"
	"strings"

	"cursord/agent/plaintext"
	"cursord/sessions"
)

const (
	lineMax  = 1 << 10 // bytes of the line for a tool call
	itemsMax = 20_000  // items that are read
)

// Pages returns a page of a session: turns and their items, from old to new. With "" it returns the latest page, else the
// page before the item with this id. more reports whether earlier pages exist.
type Pages func(before string) (turns []*sessions.Turn, items []*sessions.Item, more bool, err error)

// A turn is an ended turn of the session.
type turn struct {
	of     *sessions.Turn
	items  []*sessions.Item // from new to old, without those of which nothing can be told
	answer *sessions.Item   // the last of them that is a text; nil: none is
	more   int              // how many others there are, for which the limit has no room
	taken  map[*sessions.Item]string
	prompt string // "" if the turn is left out
}

// A recap is chosen from the turns of a session.
type recap struct {
	limit int // bytes
	size  int // of what is taken, in bytes
	turns []*turn
	older bool // there are turns, or parts of the oldest one, that were not read
}

// Text returns the conversation of a session's ended turns with what review holds, and a sentence for people about it. Both
// are "" if there was no conversation and nothing of the session is pending. The text has at most limit bytes, and says where something
// is left out. An error comes from pages.
func Text(pages Pages, review Review, limit int) (text, remark string, err error) {
	r := &recap{limit: limit}
	if err := r.read(pages); err != nil {
		return "", "", err
	}
	about := review.lines(limit / 4)
	if len(r.turns) == 0 {
		if !slices.ContainsFunc(review.Pending, review.concerns) {
			return "", "", nil
		}
		return about, "a fresh chat has begun, with what waits in review as context", nil // a rewind was undone: the work is back, not its turns
	}
	r.size = len(about) + len(leftOut) + 1
	r.choose()
	told, cut := 0, false
	var parts []string
	for _, t := range slices.Backward(r.turns) {
		if t.prompt == "" {
			r.older = true
			continue
		}
		told++
		all, some := t.parts()
		parts, cut = append(parts, all...), cut || some
	}
	if r.older {
		parts = slices.Insert(parts, 0, leftOut)
	}
	if about != "" {
		parts = append(parts, about)
	}
	remark = "a fresh chat has begun, with the transcript of " + plaintext.Count(told, "earlier turn") + " as context"
	switch {
	case r.older:
		remark += "; the oldest of it did not fit"
	case cut:
		remark += "; some steps of the agent did not fit"
	}
	return strings.Join(parts, "\n"), remark, nil
}

// read reads the session from its end, until prompts and answers alone would be too long.
func (r *recap) read(pages Pages) error {
	before, essential, details, read := "", 0, 0, 0
	for {
		turns, items, more, err := pages(before)
		if err != nil {
			return err
		}
		byTurn := map[string][]*sessions.Item{}
		for _, it := range items {
			byTurn[it.TurnID] = append(byTurn[it.TurnID], it)
		}
		for _, t := range slices.Backward(turns) {
			if !t.Status.Final() {
				continue // the turn that asks, or a later one
			}
			if n := len(r.turns); n == 0 || r.turns[n-1].of.ID != t.ID {
				r.turns = append(r.turns, &turn{of: t, taken: map[*sessions.Item]string{}})
				essential += len(r.asked(t, false))
			}
			last := r.turns[len(r.turns)-1]
			for _, it := range slices.Backward(byTurn[t.ID]) {
				size := len(r.part(it, false))
				switch {
				case size == 0:
				case last.answer == nil && isText(it):
					essential += size
					last.answer, last.items = it, append(last.items, it)
				case details+size > r.limit:
					last.more++
				default:
					details += size
					last.items = append(last.items, it)
				}
			}
		}
		read += len(items)
		if !more || len(items) == 0 {
			return nil
		}
		if essential > r.limit || read >= itemsMax {
			r.older = true
			return nil
		}
		before = items[0].ID
	}
}

// choose takes what matters most, each kind up to its part of the limit, and from the newest on.
func (r *recap) choose() {
	for i, t := range r.turns[:1] {
		r.prompt(i, t, r.limit)
		r.answer(i, t, r.limit)
	}
	each := func(do func(i int, t *turn, limit int) bool, limit int) {
		for i, t := range r.turns {
			if !do(i, t, limit) {
				return
			}
		}
	}
	each(r.prompt, r.limit/2)
	each(r.answer, r.limit*3/4)
	r.details(0, r.turns[0], r.limit*7/8)
	each(r.prompt, r.limit)
	each(r.answer, r.limit)
	each(r.details, r.limit)
}

// prompt takes a turn's prompt, with room for what may be said of its steps. It returns false if there is no room.
func (r *recap) prompt(i int, t *turn, limit int) bool {
	if t.prompt != "" {
		return true
	}
	text := markUser + r.asked(t.of, i == 0) + "\n"
	if !r.fits(len(text)+len(endOf(t.of.Status))+len(stepsLeftOut)+8, limit) {
		return false
	}
	t.prompt = text
	return true
}

func (r *recap) answer(i int, t *turn, limit int) bool {
	return t.answer == nil || r.item(t, t.answer, i == 0, limit)
}

func (r *recap) details(i int, t *turn, limit int) bool {
	if t.answer != nil && t.taken[t.answer] == "" {
		return true // they mean little without it
	}
	for _, it := range t.items {
		if !r.item(t, it, i == 0, limit) {
			return false
		}
	}
	return true
}

func (r *recap) item(t *turn, it *sessions.Item, latest bool, limit int) bool {
	if t.taken[it] != "" {
		return true
	}
	if t.prompt == "" {
		return false // an answer means little without its prompt
	}
	part := r.part(it, latest)
	if !r.fits(len(part), limit) {
		return false
	}
	t.taken[it] = part
	return true
}

func (r *recap) fits(size, limit int) bool {
	if r.size+size+1 > limit {
		return false
	}
	r.size += size + 1
	return true
}
