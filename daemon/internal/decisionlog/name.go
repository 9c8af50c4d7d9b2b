package decisionlog

import (
	"fmt"
	"time"

	"cursord/daemon/api"
)

// Name says to people which decision a group is, at a time: what was decided, where and when, such as
// "the reject of 2 hunks in a.txt (14:03)".
func (g *Group) Name(now time.Time) string {
	step := g.Step()
	name := "the " + string(step.Kind) + " of 1 hunk"
	if step.Hunks != 1 {
		name = fmt.Sprintf("the %s of %d hunks", step.Kind, step.Hunks)
	}
	paths := map[string]bool{} // several sessions may have changed one file
	for _, f := range g.Files {
		paths[f.Path] = true
	}
	switch len(paths) {
	case 0:
	case 1:
		name += " in " + g.Files[0].Path
	default:
		name += fmt.Sprintf(" in %d files", len(paths))
	}
	if step.Kind == api.StepCommit {
		name = fmt.Sprintf("the accept of %s by a commit", name[len("the commit of "):])
	}
	if g.At == 0 {
		return name
	}
	at, layout := time.UnixMilli(g.At).In(now.Location()), "15:04"
	if at.Format(time.DateOnly) != now.Format(time.DateOnly) {
		layout = "2 Jan 15:04"
	}
	return fmt.Sprintf("%s (%s)", name, at.Format(layout))
}

// NotNext refuses a step that is to be about another decision than the next one.
func NotNext(undo bool) error {
	e := &api.Error{Kind: api.KindConflict, Message: "another decision was made since", Hint: "undo that one first: cursord undo"}
	if !undo {
		e.Message, e.Hint = "another decision was undone since", "redo that one first: cursord redo"
	}
	return e
}

// NothingTo is the error of a step if no decision in a folder is left for it. passed counts those that were passed over.
func NothingTo(undo bool, passed int, root string) error {
	verb, again := "undo", "taken back"
	if !undo {
		verb, again = "redo", "made again"
	}
	e := &api.Error{Kind: api.KindNotFound, Message: "there is nothing to " + verb + " in " + root}
	switch {
	case passed == 1:
		e.Hint = "1 decision cannot be " + again + " while its lines are changed"
	case passed > 1:
		e.Hint = fmt.Sprintf("%d decisions cannot be %s while their lines are changed", passed, again)
	}
	return e
}
