package review

import (
	"slices"

	"cursord/daemon/internal/diffshape"
	"cursord/daemon/paths"
	"cursord/diffs"
	"cursord/sessions"
)

// diffOf returns the review as clients see it.
func (r *Reviewer) diffOf(f *file) *sessions.Diff {
	d := &sessions.Diff{
		Workspace: r.setup.Root, Path: f.path, Kind: sessions.DiffKind(f.review.Kind()), State: "clean", Baseline: "known",
		Rev: f.review.Rev(), Hunks: []sessions.Hunk{}, Turns: []string{},
		URI: paths.URI(paths.Absolute(r.setup.Root, f.path)),
	}
	if !f.review.BaselineKnown() {
		d.Baseline = "unknown"
	}
	diffshape.Describe(d, f.review)
	for _, h := range f.review.Hunks() {
		d.State = "pending"
		hunk := sessions.Hunk{
			ID: diffshape.HunkID(f.n, h.ID), Kind: string(h.Kind), OldStart: h.OldStart, OldLines: h.OldLines,
			NewStart: h.NewStart, NewLines: h.NewLines, Lines: h.Lines, OldNoEOL: h.OldNoEOL, NewNoEOL: h.NewNoEOL,
			Isolated: f.tree.isolated(), Sources: []sessions.Source{},
		}
		if hunk.Lines == nil {
			hunk.Lines = []string{}
		}
		for _, id := range h.Linked {
			hunk.Linked = append(hunk.Linked, diffshape.HunkID(f.n, id))
		}
		for _, s := range h.Sources {
			hunk.Sources = append(hunk.Sources, sourceOf(f, s))
			if !slices.Contains(d.Turns, s.TurnID) {
				d.Turns = append(d.Turns, s.TurnID)
			}
		}
		for _, line := range h.Lines {
			switch line[0] {
			case '+':
				d.Added++
			case '-':
				d.Removed++
			}
		}
		d.Hunks = append(d.Hunks, hunk)
	}
	return d
}

// sourceOf returns a source as clients see it. In a copy everything is the agent's, also where the review says
// unknown, as older versions stored it.
func sourceOf(f *file, s diffs.Source) sessions.Source {
	if f.tree.isolated() && s.Via == diffs.ViaUnknown {
		s.Via = diffs.ViaTool
	}
	return sessions.Source{SessionID: s.SessionID, TurnID: s.TurnID, ItemID: s.ItemID, Via: sessions.Via(s.Via)}
}
