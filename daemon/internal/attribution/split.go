package attribution

import (
	"strings"

	"cursord/diffs"
)

// Formatted has a review take in what hooks of the turns in the list have changed in lines that their turn has just written; now is what
// the file holds. The other changes are a person's.
func (l *Sources) Formatted(review *diffs.Review, now diffs.Content) {
	current := review.Current()
	if !isText(now) || !isText(current) {
		return
	}
	for _, turn := range l.All() {
		text := Split(string(current.Data), string(now.Data), review.Wrote(func(s diffs.Source) bool { return s.TurnID == turn.TurnID }))
		if text != string(current.Data) {
			current.Data = []byte(text)
			review.Observe(current, &turn)
		}
	}
}

// Split returns text with some of the changes towards now: those that touch lines for which mine is true. So it separates a
// formatter's changes of the agent's fresh lines from others. mine has one entry for each line of text; an insertion touches
// the two lines around it.
func Split(text, now string, mine []bool) string {
	lines := lineList(text)
	if len(mine) != len(lines) {
		return text
	}
	var b strings.Builder
	at := 0
	for _, e := range diffs.LineEdits(text, now) {
		for ; at < e.From; at++ {
			b.WriteString(lines[at])
		}
		if touchesOnly(mine, e) {
			b.WriteString(e.Text)
		} else {
			for i := e.From; i < e.To; i++ {
				b.WriteString(lines[i])
			}
		}
		at = e.To
	}
	for ; at < len(lines); at++ {
		b.WriteString(lines[at])
	}
	return b.String()
}

func touchesOnly(mine []bool, e diffs.LineEdit) bool {
	if e.From == e.To {
		return (e.From == 0 || mine[e.From-1]) && (e.To == len(mine) || mine[e.To]) && len(mine) > 0
	}
	for _, own := range mine[e.From:e.To] {
		if !own {
			return false
		}
	}
	return true
}

func lineList(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines
}
