package diffs

import (
	"fmt"
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// beneathRemoval finds the lines of a text that others' pending edit has removed with the file. Those that the edits to take back had removed are
// beneath it again, and those that they wrote are not.
func (r *Review) beneathRemoval(under *beneath, of map[int32]bool, back *history.Back) {
	if r.whole != nil || !r.was || r.is || back.Beneath == nil || back.Body.Kind != history.Absent {
		under.lacks = slices.ContainsFunc(back.Beneath, func(b history.Buried) bool { return b.Back })
		return
	}
	line := func(text string, mine bool, del int32) string { // of which only like ones are the same
		if mine {
			del = 0
		}
		return fmt.Sprint(del, " ", weave.TrimEnd(text))
	}
	var buried, removed []string
	for _, b := range back.Beneath {
		buried = append(buried, line(b.Text, b.Back, b.Del))
	}
	for _, a := range r.weave.Atoms {
		removed = append(removed, line(a.Text, of[a.Del], a.Del))
	}
	same := map[int]int{} // by line of buried: where removed has it
	linetext.Common(buried, removed, func(i, j int) { same[i] = j })
	type key struct {
		text string
		mine bool // the edits have removed it
	}
	goes := map[key]int{} // how many lines are elsewhere in the history, or were written by the edits and removed by others
	for i, b := range back.Beneath {
		if _, found := same[i]; b.Back && !found {
			goes[key{weave.TrimEnd(b.Text), true}]++
		}
	}
	for _, o := range back.Over {
		goes[key{weave.TrimEnd(o.Text), false}]++
	}
	lines, at := []weave.Atom{}, 0
	upTo := func(end int) {
		for ; at < end; at++ {
			a := r.weave.Atoms[at]
			if k := (key{weave.TrimEnd(a.Text), of[a.Del]}); goes[k] > 0 {
				goes[k]--
				under.changes = true
				continue
			}
			lines = append(lines, a)
		}
	}
	for i, b := range back.Beneath {
		j, found := same[i]
		switch {
		case found:
			upTo(j)
			lines, at = append(lines, r.weave.Atoms[j]), j+1
		case b.Back && slices.Contains(r.op.Edits, b.Del):
			lines, under.changes = append(lines, weave.Atom{Text: b.Text, ID: r.weave.ID(), Del: b.Del}), true
		case b.Back:
			under.lacks = true
		}
	}
	upTo(len(r.weave.Atoms))
	under.removed = lines
}
