// Package origins says to clients where lines come from: those of a file (file/why), and those that a commit adds (commit/why).
package origins

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/daemon/internal/commits"
	"cursord/diffs"
	"cursord/sessions"
)

// A Teller looks up the turns of origins, each once.
type Teller struct {
	Turn func(id string) (*sessions.Turn, error)

	turns map[string]*sessions.Turn // nil: gone
}

func (t *Teller) turn(id string) *sessions.Turn {
	turn, known := t.turns[id]
	if !known {
		if t.turns == nil {
			t.turns = map[string]*sessions.Turn{}
		}
		turn, _ = t.Turn(id) // without it, its session was deleted, or a rewind has removed it
		t.turns[id] = turn
	}
	return turn
}

// Lines returns origins in the form for clients.
func (t *Teller) Lines(origins []diffs.Origin) []api.WhyLine {
	lines := make([]api.WhyLine, len(origins))
	for i, o := range origins {
		lines[i] = api.WhyLine{From: o.From, To: o.To, Commit: o.Commit}
		if o.Source == nil {
			continue
		}
		src := &api.WhySource{
			SessionID: o.Source.SessionID, TurnID: o.Source.TurnID, ItemID: o.Source.ItemID, State: api.WhyAccepted, ByText: o.ByText || o.Source.Imported,
			Was: o.Was, WasMore: o.WasMore,
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

// Commit returns where the lines of a commit come from. of returns the origins of all lines of a text of a file, and whether a
// history of the file was dropped.
func (t *Teller) Commit(
	ctx context.Context, c commits.Commit, of func(path, text string) (origins []diffs.Origin, forgotten bool, err error),
) (out api.CommitWhy, err error) {
	out = api.CommitWhy{Commit: c.ID, Files: []api.CommitFile{}, Trailers: []string{}}
	models, sure := map[string]int{}, map[string]bool{}
	for _, f := range c.Files {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		all, forgotten, err := of(f.Path, f.Text)
		if err != nil {
			return out, err
		}
		var origins []diffs.Origin
		for _, r := range f.Lines {
			origins = append(origins, Cut(all, r.From, r.To)...)
		}
		lines := t.Lines(origins)
		for _, l := range lines {
			if l.Source != nil {
				model := t.model(l.Source.TurnID)
				models[model] += l.To - l.From
				sure[model] = sure[model] || !l.Source.ByText
			}
		}
		out.Files = append(out.Files, api.CommitFile{Path: f.Path, Lines: lines, Forgotten: forgotten})
	}
	for _, model := range slices.SortedFunc(maps.Keys(models), func(a, b string) int { return cmp.Or(models[b]-models[a], cmp.Compare(a, b)) }) {
		by := "Assisted-by: cursor-agent" + model
		if !sure[model] {
			by += " (a guess by the text)"
		}
		out.Trailers = append(out.Trailers, by)
	}
	return out, nil
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

// Nearest returns the origins of a text in that one of some files' histories of which it has the most known lines, and at least half;
// nil if there is none.
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
