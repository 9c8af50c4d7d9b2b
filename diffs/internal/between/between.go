// Package between tells a file's history which lines a step has changed.
package between

import (
	"cursord/diffs/history"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// Edits returns the edits between two lists of present lines, which edit n made or, for 0, a person or a decision. atoms are those of the
// weave with the later lines, and removed says of lines that were pending as removed by which edit, by id. A line is known by its id and,
// where these are new, by its text.
func Edits(atoms, old, now []weave.Atom, removed map[uint64]int32, n int32) (edits []history.Edit) {
	same := func(a, b *weave.Atom) bool { return a.ID == b.ID && a.ID != 0 }
	from, oldEnd, nowEnd := 0, len(old), len(now)
	for from < oldEnd && from < nowEnd && same(&old[from], &now[from]) {
		from++
	}
	for oldEnd > from && nowEnd > from && same(&old[oldEnd-1], &now[nowEnd-1]) {
		oldEnd, nowEnd = oldEnd-1, nowEnd-1
	}
	if from == oldEnd && from == nowEnd {
		return nil
	}
	place := make(map[uint64]int, nowEnd-from)
	for j := from; j < nowEnd; j++ {
		if now[j].ID != 0 {
			place[now[j].ID] = j
		}
	}
	dead := make(map[uint64]int32)
	for i := range atoms {
		if a := &atoms[i]; a.Del != 0 {
			dead[a.ID] = a.Del
		}
	}
	i, j := from, from
	upTo := func(oldTo, nowTo int) {
		edits = append(edits, region(old[i:oldTo], now[j:nowTo], i, dead, removed, n)...)
		i, j = oldTo, nowTo
	}
	for k := from; k < oldEnd; k++ {
		if at, stays := place[old[k].ID]; stays && at >= j {
			upTo(k, at)
			i, j = k+1, at+1
		}
	}
	upTo(oldEnd, nowEnd)
	return edits
}

// region returns the edits of a part in which no line has the same id; at is the number of its first old line.
func region(old, now []weave.Atom, at int, dead, removed map[uint64]int32, n int32) (edits []history.Edit) {
	i, j := 0, 0
	upTo := func(oldTo, nowTo int) {
		e := history.Edit{From: at + i}
		for ; i < oldTo; i++ {
			by := dead[old[i].ID]
			if by == 0 {
				by = n
			}
			e.Removed = append(e.Removed, history.Removed{Text: old[i].Text, By: by, Pending: old[i].Ins != 0})
		}
		for ; j < nowTo; j++ {
			by := n // an agent may write again what an earlier edit has removed
			if n == 0 {
				by = now[j].Ins
			}
			e.Added = append(e.Added, history.Added{Text: now[j].Text, By: by, Was: removed[now[j].ID]})
		}
		if len(e.Removed)+len(e.Added) > 0 {
			edits = append(edits, e)
		}
	}
	if len(old) > 0 && len(now) > 0 {
		linetext.Common(weave.Texts(old), weave.Texts(now), func(o, w int) {
			if now[w].Ins == 0 {
				upTo(o, w)
				i, j = o+1, w+1
			}
		})
	}
	upTo(len(old), len(now))
	return edits
}
