package weave

import (
	"errors"
	"fmt"
	"strings"

	"cursord/diffs/internal/linetext"
)

// A RunShape stands for Count atoms with consecutive ids: ins, del, user (1) and both (2), first id, count.
type RunShape [5]uint64

// ShapeOf returns atoms without their texts; bare are the indices of those without a line end.
func ShapeOf(atoms []Atom) (runs []RunShape, bare []int) {
	for i := range atoms {
		a := &atoms[i]
		if LacksEOL(a.Text) {
			bare = append(bare, i)
		}
		user := Bit(a.User) + 2*Bit(a.Both)
		if n := len(runs); n > 0 {
			if p := &runs[n-1]; p[0] == uint64(a.Ins) && p[1] == uint64(a.Del) && p[2] == user && p[3]+p[4] == a.ID {
				p[4]++
				continue
			}
		}
		runs = append(runs, RunShape{uint64(a.Ins), uint64(a.Del), user, a.ID, 1})
	}
	return runs, bare
}

// Bit returns 1 for true.
func Bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Restore makes the atoms from their shape and from the texts of both sides: each line is in one of them.
func (w *Weave) Restore(runs []RunShape, bare []int, base, now string, edits int32) error {
	texts := map[Side][]string{Baseline: linetext.Split(base), Current: linetext.Split(now)}
	if base == now { // share one copy
		texts[Current] = texts[Baseline]
	}
	take := func(on Side) (line string, ok bool) {
		if len(texts[on]) == 0 {
			return "", false
		}
		line, texts[on] = texts[on][0], texts[on][1:]
		return line, true
	}
	for _, run := range runs {
		ins, del := int32(run[0]), int32(run[1])
		if ins != 0 && del != 0 || ins < 0 || del < 0 || ins > edits || del > edits {
			return fmt.Errorf("a line with edits %d and %d of %d", ins, del, edits)
		}
		for k := range run[4] {
			a := Atom{ID: run[3] + k, Ins: ins, Del: del, User: run[2]&1 != 0, Both: run[2]&2 != 0}
			for _, on := range []Side{Baseline, Current} {
				if !a.On(on) {
					continue
				}
				line, ok := take(on)
				if !ok || a.Text != "" && TrimEnd(line) != TrimEnd(a.Text) {
					return fmt.Errorf("line %d", len(w.Atoms))
				}
				a.Text = line
			}
			if len(bare) > 0 && bare[0] == len(w.Atoms) {
				a.Text, bare = strings.TrimSuffix(a.Text, w.LineEnd()), bare[1:]
			}
			w.Atoms = append(w.Atoms, a)
		}
	}
	if len(texts[Baseline]) > 0 || len(texts[Current]) > 0 {
		return errors.New("lines left over")
	}
	return nil
}

// TrimEnd returns a line without its end.
func TrimEnd(line string) string { return strings.TrimRight(line, "\r\n") }
