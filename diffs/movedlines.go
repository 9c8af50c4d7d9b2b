package diffs

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

// moved finds lines that a turn has removed in one place and written in another, unchanged. Each is of who wrote it first. found is called
// with the index of the present line.
func (r *Review) moved(lines []weave.Atom, found func(i int, by int32)) {
	var dead []gone
	at := map[string][]int{}
	for _, g := range r.past.Dead {
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
	for _, l := range weave.Texts(lines) {
		here[weave.TrimEnd(l)]++
	}
	turn := func(n int32) string {
		t, known := turns[n]
		if src := r.sources.of([]int32{n}); !known && len(src) > 0 && src[0].Commit == "" {
			t = src[0].SessionID + " " + src[0].TurnID
		}
		turns[n] = t
		return t
	}
	for _, run := range r.past.Stretches() {
		by := turn(run.By)
		if run.By <= 0 || by == "" {
			continue
		}
		to := min(run.To, len(lines))
		for i := run.From; i < to; {
			block, from := 0, 0
			places := at[weave.TrimEnd(lines[i].Text)]
			if len(places) > mostAlike {
				places = nil
			}
			for _, k := range places {
				n := 0
				for i+n < to && k+n < len(dead) && !used[k+n] && dead[k+n].text == weave.TrimEnd(lines[i+n].Text) && dead[k+n].Ins != run.By && turn(dead[k+n].Del) == by {
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
