// Package origins says to clients where lines come from: those of a file (file/why), and those that a commit adds (commit/why). It keeps what a
// workspace knows of commits (Answers), and asks the workspaces of the repository's other work trees (Teller).
package origins

import (
	"fmt"
	"slices"
	"time"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/diffs"
	"cursord/sessions"
)

func (t *Teller) turn(id string) *sessions.Turn {
	turn, known := t.turns[id]
	if !known {
		if t.turns == nil {
			t.turns = map[string]*sessions.Turn{}
		}
		turn, _ = t.Store.Turn(id) // without it, its session was deleted, or a rewind has removed it
		t.turns[id] = turn
	}
	return turn
}

// lines returns origins in the form for clients.
func (t *Teller) lines(origins []diffs.Origin) []api.WhyLine {
	lines := make([]api.WhyLine, len(origins))
	for i, o := range origins {
		lines[i] = api.WhyLine{From: o.From, To: o.To, Commit: o.Commit}
		if o.Source == nil {
			continue
		}
		src := &api.WhySource{
			SessionID: o.Source.SessionID, TurnID: o.Source.TurnID, ItemID: o.Source.ItemID, State: api.WhyAccepted, ByText: o.ByText || o.Source.Imported,
			MaybeYours: o.Source.Via == diffs.ViaUnknown, Was: o.Was, WasMore: o.WasMore,
		}
		if turn := t.turn(src.TurnID); turn != nil {
			src.Prompt = turn.Asked()
		}
		if o.Pending {
			src.State = api.WhyPending
		}
		if o.At != 0 {
			src.At = &sessions.Time{Time: time.UnixMilli(o.At).UTC()}
		}
		lines[i].Source = src
	}
	return lines
}

// model returns ":" and a turn's model; "" if it is not known.
func (t *Teller) model(id string) string {
	turn := t.turn(id)
	if turn == nil || turn.Model == nil || *turn.Model == "" {
		return ""
	}
	return ":" + plaintext.FirstLine(*turn.Model, 100)
}

// Left says to clients what a rewind has left of a file.
func Left(path string, left diffs.Left) (skipped []api.Skipped) {
	skip := func(is bool, kind api.ErrorKind, message string) {
		if is {
			skipped = append(skipped, api.Skipped{Path: path, Kind: kind, Message: message})
		}
	}
	skip(left.Changed, api.KindChangedSince, "")
	skip(left.Maybe, api.KindMaybeYours, "what may be yours, since it is not surely the agent's")
	skip(left.Lost, api.KindForgotten, "what it held before is not known")
	skip(left.Told, api.KindImported, "the session was imported, and an export does not have what its lines replaced")
	skip(left.Gone, api.KindNotFound, "it is gone since; if it was moved, it stays as it is there")
	return skipped
}

// Dropped says to people that the histories of some files of a workspace were dropped.
func Dropped(root string, paths []string) string {
	what := paths[0]
	if n := len(paths); n > 1 {
		what = fmt.Sprintf("%s and %d other files", what, n-1)
	}
	return fmt.Sprintf("What agents wrote in %s in %s and you accepted is not known any more, so that rewind and why cannot tell it: it was more than history_size keeps. "+
		"Set a larger one (cursord config set history_size 256MB) to keep more", what, root)
}

// Cut returns the part of origins that is about the lines from from to to (exclusive), or from from on for to < 0.
func Cut(origins []diffs.Origin, from, to int) []diffs.Origin {
	cut := []diffs.Origin{}
	for _, o := range origins {
		if o.From = max(o.From, from); to >= 0 {
			o.To = min(o.To, to)
		}
		if o.From < o.To {
			cut = append(cut, o)
		}
	}
	return cut
}

// FromGone returns the origins of a text with what the reviews of files know that are gone: a turn has carried lines from there, or a person has
// moved the file.
func FromGone(lines []diffs.Origin, text string, gone []*diffs.Review) []diffs.Origin {
	for _, review := range gone {
		lines = review.Carried(lines, text)
	}
	if !slices.ContainsFunc(lines, func(o diffs.Origin) bool { return o.Source == nil }) {
		return lines
	}
	return diffs.Tell(Moved(lines, Nearest(text, gone), true), text)
}

// Nearest finds the history of which the text has the most known lines, and returns the origins of the text's lines in it. It returns nil
// if no history has at least half of its known lines in the text.
func Nearest(text string, of []*diffs.Review) (best []diffs.Origin) {
	most := 0
	for _, review := range of {
		found, n := review.OriginsOf(text), 0
		for _, o := range found {
			if o.Source != nil {
				n += o.To - o.From
			}
		}
		if n > most && 2*n >= review.Known() {
			best, most = found, n
		}
	}
	return best
}

// Moved returns origins with those of another list for the lines that have none. byText says that these are known by their text: another
// file's that a person has moved.
func Moved(origins, others []diffs.Origin, byText bool) (all []diffs.Origin) {
	for _, o := range origins {
		if o.Source != nil {
			all = append(all, o)
			continue
		}
		at := o.From
		for _, from := range Cut(others, o.From, o.To) {
			if from.Source == nil {
				continue
			}
			if at < from.From {
				all = append(all, diffs.Origin{From: at, To: from.From, Commit: o.Commit})
			}
			from.ByText, from.Pending = from.ByText || byText, false
			all, at = append(all, from), from.To
		}
		if at < o.To {
			all = append(all, diffs.Origin{From: at, To: o.To, Commit: o.Commit})
		}
	}
	return all
}

// OfACopy returns the origins of a copy's lines without doubt: where only the agent works, no line may be a person's.
func OfACopy(lines []diffs.Origin) []diffs.Origin {
	for i, o := range lines {
		if o.Source != nil && o.Source.Via == diffs.ViaUnknown {
			src := *o.Source
			src.Via, lines[i].Source = diffs.ViaTool, &src
		}
	}
	return lines
}

// mostFormer bounds the former lines of an answer, in bytes.
const mostFormer = 64 << 10

// Former adds to origins of a review's text what their lines were before, as far as mostFormer allows.
func Former(lines []diffs.Origin, review *diffs.Review) {
	most := mostFormer
	for i := range lines {
		o := &lines[i]
		for _, was := range review.Former(*o) {
			if most -= len(was) + 1; most < 0 {
				o.WasMore++
			} else {
				o.Was = append(o.Was, was)
			}
		}
	}
}
