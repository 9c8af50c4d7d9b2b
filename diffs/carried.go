package diffs

import (
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// Carried takes the origins of another file's text, and that r's file is gone. Where a turn has removed lines here and written them there, in
// the same order, it has carried them: they are of who wrote them here. If these are less than half of what it removed here, the text is
// another one.
func (r *Review) Carried(origins []Origin, text string) []Origin {
	lines := trimmed(linetext.Split(text))
	from := r.carried(origins, lines)
	if len(from) == 0 {
		return origins
	}
	var all []Origin
	removed := r.past.Replaced()
	for _, o := range origins {
		for i := o.From; i < o.To; i++ {
			if by, is := from[i]; is {
				all = r.origin(all, i, max(by, -by), Origin{ByText: by < 0}, lines[i], removed)
			} else if n := len(all) - 1; n >= 0 && i > o.From && all[n].like(&o) {
				all[n].To = i + 1
			} else {
				one := o
				one.From, one.To = i, i+1
				all = append(all, one)
			}
		}
	}
	return all
}

// TakeOver notes which lines a turn has carried here from another file, which is gone, as Carried finds them: so they stay known when that
// file comes back, or this one goes. It reports whether there are any.
func (r *Review) TakeOver(from *Review) bool {
	lines, first, at := r.present().lines, map[int]history.First{}, map[int32]int64{}
	if from.is || len(lines) == 0 || len(from.past.Graves()) == 0 {
		return false
	}
	for i, by := range from.carried(r.Origins(), trimmed(weave.Texts(lines))) {
		n := history.First{Known: true}
		if src := from.sources.of([]int32{max(by, -by)}); len(src) > 0 {
			n.Whose = r.sources.edit(src[0])
			if at[n.Whose] = from.past.When(max(by, -by)); by < 0 {
				n.Whose = -n.Whose
			}
		}
		first[i] = n
	}
	if len(first) == 0 {
		return false
	}
	r.past = r.past.Learn(first, at)
	return true
}

// carried returns the edits that wrote lines of another file here which a turn has carried there, by the numbers of the lines.
func (r *Review) carried(origins []Origin, lines []string) map[int]int32 {
	from := map[int]int32{}
	var turns []string
	for _, o := range origins {
		turn := o.turn()
		if turn == "" || slices.Contains(turns, turn) {
			continue
		}
		turns = append(turns, turn)
		var dead, there []string
		var by []int32
		var at []int
		for _, g := range r.past.Graves() {
			for _, d := range g.Lines {
				if src := r.sources.of([]int32{d.Del}); len(src) > 0 && (&Origin{Source: &src[0]}).turn() == turn {
					dead, by = append(dead, weave.TrimEnd(d.Text)), append(by, d.Wrote())
				}
			}
		}
		for _, o := range origins {
			for i := o.From; i < min(o.To, len(lines)) && o.turn() == turn; i++ {
				there, at = append(there, lines[i]), append(at, i)
			}
		}
		var both []string
		carried := map[int]int32{}
		linetext.Common(dead, there, func(i, j int) { both, carried[at[j]] = append(both, dead[i]), by[i] })
		if n := linetext.Known(both); n == 0 || 2*n < linetext.Known(dead) {
			continue
		}
		for i, by := range carried {
			from[i] = by
		}
	}
	return from
}

// turn names the turn whose edit wrote the lines; "" if they are not known, or only by their text.
func (o *Origin) turn() string {
	if o.Source == nil || o.ByText || o.Source.Commit != "" {
		return ""
	}
	return o.Source.SessionID + " " + o.Source.TurnID
}

// trimmed cuts the ends off lines, in place.
func trimmed(lines []string) []string {
	for i, l := range lines {
		lines[i] = weave.TrimEnd(l)
	}
	return lines
}
