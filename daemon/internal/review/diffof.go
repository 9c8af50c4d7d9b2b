package review

import (
	"fmt"
	"slices"
	"strings"

	"cursord/daemon/paths"
	"cursord/diffs"
	"cursord/sessions"
)

// diffOf returns the review in the contract's form.
func (r *Reviewer) diffOf(f *file) *sessions.Diff {
	d := &sessions.Diff{
		Workspace: r.setup.Root, Path: f.path, Kind: sessions.DiffKind(f.review.Kind()), State: "clean", Baseline: "known",
		Rev: f.review.Rev(), Hunks: []sessions.Hunk{}, Turns: []string{},
		URI: paths.URI(paths.Absolute(r.setup.Root, f.path)),
	}
	if !f.review.BaselineKnown() {
		d.Baseline = "unknown"
	}
	describe(d, f.review)
	for _, h := range f.review.Hunks() {
		d.State = "pending"
		hunk := sessions.Hunk{
			ID: hunkID(f.n, h.ID), Kind: string(h.Kind), OldStart: h.OldStart, OldLines: h.OldLines,
			NewStart: h.NewStart, NewLines: h.NewLines, Lines: h.Lines, OldNoEOL: h.OldNoEOL, NewNoEOL: h.NewNoEOL,
			Isolated: f.tree.isolated(), Sources: []sessions.Source{},
		}
		if hunk.Lines == nil {
			hunk.Lines = []string{}
		}
		for _, id := range h.Linked {
			hunk.Linked = append(hunk.Linked, hunkID(f.n, id))
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

// sourceOf returns a source in the contract's form. In a copy everything is the agent's, also where the review says
// unknown, as older versions stored it.
func sourceOf(f *file, s diffs.Source) sessions.Source {
	if f.tree.isolated() && s.Via == diffs.ViaUnknown {
		s.Via = diffs.ViaTool
	}
	return sessions.Source{SessionID: s.SessionID, TurnID: s.TurnID, ItemID: s.ItemID, Via: sessions.Via(s.Via)}
}

// describe says what has changed beside the lines.
func describe(d *sessions.Diff, review *diffs.Review) {
	d.OldPath = review.OldPath()
	old, now := review.Baseline(), review.Current()
	if !review.Pending() {
		return
	}
	if old.Target != now.Target {
		d.OldTarget, d.NewTarget = strings.ToValidUTF8(old.Target, "\uFFFD"), strings.ToValidUTF8(now.Target, "\uFFFD")
	}
	if was, is := gitMode(old), gitMode(now); old.Exists && now.Exists && was != is {
		d.OldMode, d.NewMode = was, is
	}
}

// gitMode returns the mode of a content as git writes it, with all of its permission bits.
func gitMode(c diffs.Content) string {
	if c.Target != "" {
		return "120000"
	}
	if c.Mode == 0 {
		return "100644" // not known
	}
	return fmt.Sprintf("100%03o", c.Mode)
}

// hunkID names hunk id of review n: short enough to type, unique in the workspace.
func hunkID(n, id uint64) string { return fmt.Sprintf("%d.%d", n, id) }
