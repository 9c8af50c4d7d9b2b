package diffshape

import (
	"slices"

	"cursord/daemon/paths"
	"cursord/diffs"
	"cursord/sessions"
)

// A File is a file under review: its workspace and path, its number (a part of its hunks' ids), and whether it is in the
// copy of an isolated session.
type File struct {
	Workspace, Path string
	N               uint64
	Isolated        bool
}

// Diff returns the review of a file as clients see it.
func (f File) Diff(review *diffs.Review) *sessions.Diff {
	d := &sessions.Diff{
		Workspace: f.Workspace, Path: f.Path, Kind: sessions.DiffKind(review.Kind()), State: "clean", Baseline: "known",
		Rev: review.Rev(), Hunks: []sessions.Hunk{}, Turns: []string{},
		URI: paths.URI(paths.Absolute(f.Workspace, f.Path)),
	}
	if !review.BaselineKnown() {
		d.Baseline = "unknown"
	}
	Describe(d, review)
	hunks := review.Hunks
	if f.Isolated { // elsewhere the old lines show what was there before both
		hunks = review.HunksBeside
	}
	for _, h := range hunks() {
		d.State = "pending"
		hunk := sessions.Hunk{
			ID: HunkID(f.N, h.ID), Kind: string(h.Kind), OldStart: h.OldStart, OldLines: h.OldLines,
			NewStart: h.NewStart, NewLines: h.NewLines, Lines: h.Lines, OldNoEOL: h.OldNoEOL, NewNoEOL: h.NewNoEOL,
			Isolated: f.Isolated, Sources: []sessions.Source{},
		}
		if f.Isolated {
			hunk.Beside = h.Beside
		}
		if hunk.Lines == nil {
			hunk.Lines = []string{}
		}
		for _, id := range h.Linked {
			hunk.Linked = append(hunk.Linked, HunkID(f.N, id))
		}
		for _, s := range h.Sources {
			hunk.Sources = append(hunk.Sources, f.source(s))
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

// source returns a source as clients see it. In a copy every change is the agent's, also where an older version of cursord
// stored unknown.
func (f File) source(s diffs.Source) sessions.Source {
	if f.Isolated && s.Via == diffs.ViaUnknown {
		s.Via = diffs.ViaTool
	}
	return sessions.Source{SessionID: s.SessionID, TurnID: s.TurnID, ItemID: s.ItemID, Via: sessions.Via(s.Via)}
}
