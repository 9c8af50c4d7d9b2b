package callchanges

import (
	"fmt"
	"maps"
	"slices"

	"cursord/agent/plaintext"
	"cursord/sessions"
)

// Refused notes calls that have ended and were refused, by the index of their items: their titles. If one has changed something all the same,
// Take has say tell people, once.
func (l *Log) Refused(turn string, titles map[int]string, items []string, say func(text string)) {
	t := l.turns[turn]
	for i, title := range titles {
		if t == nil || i >= len(items) {
			continue
		}
		if t.say = say; t.refused == nil {
			t.refused = map[string]string{}
		}
		t.refused[items[i]] = title
	}
}

// tell tells people that a call was made although it was refused. While a client has one of the files open, and may yet report its change as a
// person's save, they are told when the turn is over.
func (t *turn) tell(item string, c *call, opened func(path string) bool) {
	title, refused := t.refused[item]
	delete(t.untold, item)
	if !refused || len(c.changes) == 0 {
		return
	}
	text := c.although(title)
	if opened != nil && slices.ContainsFunc(c.changes, func(one sessions.Change) bool { return opened(one.Path) }) {
		if t.untold == nil {
			t.untold = map[string]string{}
		}
		t.untold[item] = text
		return
	}
	delete(t.refused, item)
	t.say(text)
}

// tellRest tells people what they have not been told yet, in the order of the calls.
func (t *turn) tellRest() {
	for _, item := range slices.Sorted(maps.Keys(t.untold)) {
		t.say(t.untold[item])
		delete(t.refused, item)
	}
	t.untold = nil
}

// although says that a call was made although it was refused.
func (c *call) although(title string) string {
	what := plaintext.OneLine("", c.changes[0].Path)
	if n := len(c.changes) + c.more - 1; n > 0 {
		what += fmt.Sprintf(" and %s", plaintext.Count(n, "other file"))
	}
	if c.certain {
		return fmt.Sprintf("The agent did this although it was refused: %s. It has changed %s.", title, what)
	}
	have := "has"
	if len(c.changes)+c.more > 1 {
		have = "have"
	}
	return fmt.Sprintf("The agent may have done this although it was refused: %s. Since it asked, %s %s changed, and nobody has said who did that.", title, what, have)
}
