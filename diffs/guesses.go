package diffs

import (
	"slices"

	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// tellingPending is telling for a line that is pending: the review shows it as an edit's already.
const tellingPending = 4

// Tell drops those guesses (ByText) among the origins of a text whose lines anybody may have typed. One guess is a run of lines of the same
// turn; lines of few letters, such as a brace, do not end it. It stays if the lines of the run that the text has only once are telling.
func Tell(origins []Origin, text string) (told []Origin) {
	lines, count := trimmed(linetext.Split(text)), map[string]int{}
	for _, l := range lines {
		count[l]++
	}
	of := func(o *Origin) []string { return lines[min(o.From, len(lines)):min(o.To, len(lines))] }
	twice := func(l string) bool { return count[l] > 1 }
	for i := 0; i < len(origins); {
		if !origins[i].ByText {
			told = append(told, origins[i])
			i++
			continue
		}
		known, end := 0, i
		for k := i; k < len(origins); k++ {
			o := &origins[k]
			these := of(o)
			switch {
			case o.ByText && o.Source.TurnID == origins[i].Source.TurnID:
				for _, l := range these {
					if count[l] == 1 {
						known += linetext.Tells(l)
					}
				}
				end = k + 1
				continue
			case o.Source == nil && len(these) == 1 && linetext.Key(these[0]) == "":
				continue
			}
			break
		}
		for ; i < end; i++ {
			o := origins[i]
			switch {
			case o.ByText && known < linetext.Telling && (!o.Once || slices.ContainsFunc(of(&o), twice)):
				o = Origin{From: o.From, To: o.To, Commit: o.Commit, Pending: o.Pending && o.Commit != ""}
			case o.ByText:
				o.Commit = ""
			}
			if n := len(told) - 1; n >= 0 && told[n].like(&o) {
				told[n].To = o.To
			} else {
				told = append(told, o)
			}
		}
	}
	return told
}

// doubtful returns a function that reports whether a line of a text may be the person's who has written the text over another one that had
// the line, too. Adjacent pending lines are the edits', as a reject has it, if one of them is in the text once and tells something.
func doubtful(lines []weave.Atom) func(line int) bool {
	count, theirs := map[string]int{}, make([]bool, len(lines))
	for _, l := range lines {
		count[weave.TrimEnd(l.Text)]++
	}
	for from, to := 0, 0; from < len(lines); from = to + 1 {
		told := false
		for to = from; to < len(lines) && lines[to].Ins != 0; to++ {
			told = told || count[weave.TrimEnd(lines[to].Text)] == 1 && linetext.Tells(lines[to].Text) >= tellingPending
		}
		for i := from; i < to; i++ {
			theirs[i] = told
		}
	}
	return func(line int) bool { return line >= len(theirs) || !theirs[line] }
}
