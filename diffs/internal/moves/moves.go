// Package moves finds present lines that edits have only moved, or taken away and brought back. Lines are given without their ends.
package moves

import (
	"slices"

	"cursord/diffs/history"
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// fewMoved is how many lines one after another are a moved block whatever they hold, if one of them has some letters.
const fewMoved = 3

// mostAlike bounds the removed lines with the text of a written line: a line that is there more often begins no moved block.
const mostAlike = 32

// A gone is a line that edits have removed. end says that the next one was not the line below it.
type gone struct {
	history.Dead
	text string
	end  bool
}

// Moved finds lines that a turn has removed in one place and written in another, unchanged. Each is of who wrote it first. turnOf names the
// turn of an edit; "" if nobody knows it. found is called with the index of the present line.
func Moved(past *history.File, lines []string, turnOf func(edit int32) string, found func(i int, by int32)) {
	var dead []gone
	at := map[string][]int{}
	for _, g := range past.Dead {
		for _, d := range g.Lines {
			text := weave.TrimEnd(d.Text)
			at[text] = append(at[text], len(dead))
			dead = append(dead, gone{Dead: d, text: text})
		}
		if n := len(dead); n > 0 {
			dead[n-1].end = true
		}
	}
	here, turns, used := map[string]int{}, map[int32]string{}, make([]bool, len(dead))
	for _, l := range lines {
		here[l]++
	}
	turn := func(n int32) string {
		t, known := turns[n]
		if !known {
			t = turnOf(n)
			turns[n] = t
		}
		return t
	}
	for _, run := range past.Stretches() {
		by := turn(run.By)
		if run.By <= 0 || by == "" {
			continue
		}
		to := min(run.To, len(lines))
		for i := run.From; i < to; {
			block, from := 0, 0
			places := at[lines[i]]
			if len(places) > mostAlike {
				places = nil
			}
			for _, k := range places {
				n := 0
				for i+n < to && k+n < len(dead) && !used[k+n] && dead[k+n].text == lines[i+n] && dead[k+n].Ins != run.By && turn(dead[k+n].Del) == by {
					if n++; dead[k+n-1].end {
						break
					}
				}
				if n > block {
					block, from = n, k
				}
			}
			known := func(d gone) bool {
				return linetext.Tells(d.text) >= linetext.Telling && here[d.text] == 1 && len(at[d.text]) == 1
			}
			if b := dead[from : from+block]; !slices.ContainsFunc(b, known) && (block < fewMoved || !slices.ContainsFunc(b, func(d gone) bool { return linetext.Key(d.text) != "" })) {
				i++
				continue
			}
			for k := range block {
				used[from+k] = true
				found(i+k, dead[from+k].Wrote())
			}
			i += block
		}
	}
}

// BroughtBack finds the lines of a run that had been removed in its place: dead are the lines that are gone there. It calls found with the
// index of each in the run, and with the edit that wrote it first. A line of few letters, such as a brace, may be anywhere: it counts only
// beside a line with more that was brought back, or if the lines brought back are all of the run or of the dead ones.
func BroughtBack(run []string, dead []history.Dead, found func(i int, by int32)) {
	if len(dead) == 0 {
		return
	}
	was, first := make([]string, len(dead)), map[string]history.Dead{}
	for i, d := range dead {
		was[i] = weave.TrimEnd(d.Text)
		if old, seen := first[was[i]]; !seen || d.Del < old.Del {
			first[was[i]] = d
		}
	}
	var pairs [][2]int
	linetext.Common(was, run, func(i, j int) { pairs = append(pairs, [2]int{i, j}) })
	for len(pairs) > 0 {
		n := 1
		for n < len(pairs) && pairs[n][0] == pairs[0][0]+n && pairs[n][1] == pairs[0][1]+n {
			n++
		}
		together := run[pairs[0][1]:][:n]
		if n == min(len(run), len(dead)) || slices.ContainsFunc(together, func(l string) bool { return linetext.Key(l) != "" }) {
			for k, text := range together {
				d := first[text]
				found(pairs[0][1]+k, d.Wrote())
			}
		}
		pairs = pairs[n:]
	}
}
