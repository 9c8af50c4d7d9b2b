package acp

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/paths"
	"cursord/rpc"
	"cursord/sessions"
)

// An accepting is an accept whose files the editor writes, one after the other. Each file is a decision of its own.
type accepting struct {
	writing
	p      rpc.DecideParams
	left   []*sessions.Diff // the files that are still to be written, with the chosen hunks
	others []*sessions.Diff // those that the daemon writes, as far as the editor was not asked about them
	ids    []string         // the hunks of those that the daemon may write
	done   accepted
	then   func(accepted, error)

	err error // why the last file was left that was
}

// An accepted is what was decided, and by how many decisions.
type accepted struct {
	api.Decided
	decisions int
}

// acceptThrough accepts hunks of a copy. For each file it opens the editor's text as a document of this client, so that the daemon answers
// with edits and writes nothing; the editor writes the text with these. What is no change of a text the daemon writes, unless the editor has
// such a file unsaved.
func (s *Server) acceptThrough(at *session, p rpc.DecideParams, then func(accepted, error)) {
	call(s, "diff/list", rpc.DiffParams{Workspace: at.folder.path}, func(list rpc.DiffList, err error) {
		if err != nil {
			then(accepted{}, err)
			return
		}
		a := &accepting{writing: writing{s: s, at: at}, p: p}
		a.done.Diffs = []*sessions.Diff{}
		a.then = func(done accepted, err error) {
			at.writing = nil
			then(done, err)
		}
		at.writing = &a.writing
		chosen := 0
		for _, d := range list.Diffs {
			ours := *d
			ours.Hunks = slices.DeleteFunc(slices.Clone(d.Hunks), func(h sessions.Hunk) bool { return !selects(&p, d, &h) })
			chosen += len(ours.Hunks)
			text := d.Kind == sessions.DiffModified && d.OldPath == "" &&
				!slices.ContainsFunc(ours.Hunks, func(h sessions.Hunk) bool { return !h.Isolated || h.Kind != "text" })
			switch {
			case len(ours.Hunks) == 0:
			case text:
				a.left = append(a.left, &ours)
			default:
				a.others = append(a.others, &ours)
			}
		}
		if chosen == 0 || p.Lines != nil && chosen > 1 { // the daemon says what is wrong
			atOnce(s, "diff/accept", p, a.then)
			return
		}
		a.checkOthers()
	})
}

// checkOthers takes those files out of the others that the editor has unsaved, and then has the daemon write the rest.
func (a *accepting) checkOthers() {
	if len(a.others) == 0 {
		a.acceptOthers()
		return
	}
	d := a.others[0]
	a.others = a.others[1:]
	stays := func(why error) { a.skip(d, why); a.checkOthers() }
	accept := func() {
		for i := range d.Hunks {
			a.ids = append(a.ids, d.Hunks[i].ID)
		}
		a.checkOthers()
	}
	if !slices.ContainsFunc(d.Hunks, func(h sessions.Hunk) bool { return h.Isolated }) { // they are on disk already
		accept()
		return
	}
	a.held(cmp.Or(d.OldPath, d.Path), func(has held, err error) {
		switch {
		case a.stopped:
			a.then(a.done, errStopped)
		case err != nil:
			stays(unread(d.Path, "it was not accepted", err))
		case has.unsaved:
			stays(&rpc.Error{
				Code: rpc.CodeInternal, Data: rpc.ErrorData{Kind: api.KindConflict},
				Message: "the editor has changes of " + d.Path + " that are not saved, and this accept is not only one of its text, so it was not accepted: " +
					"save the file or close it, and accept again",
			})
		default:
			accept()
		}
	})
}

// unread is the error for a file of which the editor does not say what it holds.
func unread(path, so string, err error) error {
	return fmt.Errorf("the editor did not say what %s holds, so %s: %w", path, so, err)
}

func (a *accepting) acceptOthers() {
	if len(a.ids) == 0 {
		a.next()
		return
	}
	rest := rpc.DecideParams{Workspace: a.p.Workspace, Hunks: &a.ids, Lines: a.p.Lines, Both: a.p.Both, Replace: a.p.Replace}
	if len(a.left) == 0 && len(a.done.Skipped) == 0 {
		rest = a.p
	}
	call(a.s, "diff/accept", rest, func(done api.Decided, err error) {
		if err != nil {
			a.then(a.done, err)
			return
		}
		a.add(done)
		a.next()
	})
}

// atOnce makes a decision by the daemon alone.
func atOnce(s *Server, method string, p rpc.DecideParams, then func(accepted, error)) {
	call(s, method, p, func(done api.Decided, err error) { then(accepted{done, 1}, err) })
}

// selects reports whether a decision selects a hunk.
func selects(p *rpc.DecideParams, d *sessions.Diff, h *sessions.Hunk) bool {
	switch {
	case p.Hunks != nil:
		return slices.Contains(*p.Hunks, h.ID)
	case p.TurnID != "":
		return slices.ContainsFunc(h.Sources, func(from sessions.Source) bool { return from.TurnID == p.TurnID })
	case p.Path != "":
		local, err := paths.Local(p.Path)
		return err == nil && (d.Path == local || filepath.Join(d.Workspace, d.Path) == local)
	}
	return p.All
}

func (a *accepting) add(done api.Decided) {
	a.done.Diffs = append(a.done.Diffs, done.Diffs...)
	a.done.Applied += done.Applied
	a.done.Skipped = append(a.done.Skipped, done.Skipped...)
	if done.Decision > 0 {
		a.done.Decision = done.Decision
		a.done.decisions++
	}
}

// skip leaves a file to be reviewed.
func (a *accepting) skip(d *sessions.Diff, why error) {
	kind := cmp.Or(kindOf(why), api.KindUnavailable)
	a.err = why
	a.done.Skipped = append(a.done.Skipped, api.Skipped{Path: d.Path, Kind: kind, Message: why.Error()})
}

// leaves leaves a file to be reviewed, and goes on with the next one.
func (a *accepting) leaves(d *sessions.Diff, why error) {
	a.skip(d, why)
	a.next()
}

// next accepts the next file.
func (a *accepting) next() {
	switch {
	case len(a.left) == 0 && a.done.decisions == 0 && len(a.done.Skipped) == 1 && a.err != nil:
		a.then(a.done, a.err)
		return
	case len(a.left) == 0:
		a.then(a.done, nil)
		return
	case a.stopped:
		a.then(a.done, errStopped)
		return
	}
	d := a.left[0]
	a.left = a.left[1:]
	if a.p.Rev != nil && *a.p.Rev != d.Rev {
		a.leaves(d, &rpc.Error{Code: rpc.CodeInternal, Message: d.Path + " has changed since you saw it", Data: rpc.ErrorData{Kind: api.KindConflict}})
		return
	}
	a.text(d.Path, func(text string, err error) {
		switch {
		case a.stopped:
			a.then(a.done, errStopped)
		case err != nil:
			a.leaves(d, unread(d.Path, "it was not accepted", err))
		default:
			a.accept(d, text)
		}
	})
}

// accept accepts the chosen hunks of a file in a text, and has the editor write what becomes of it.
func (a *accepting) accept(d *sessions.Diff, text string) {
	doc, err := a.open(d.Path, text)
	if err != nil {
		a.leaves(d, err)
		return
	}
	ids := []string{}
	for i := range d.Hunks {
		ids = append(ids, d.Hunks[i].ID)
	}
	disk, diskErr := os.ReadFile(a.shown(d.Path))
	params := rpc.DecideParams{
		Workspace: a.p.Workspace, Hunks: &ids, Lines: a.p.Lines, Both: a.p.Both, Replace: a.p.Replace, Comment: a.p.Comment, AsEdits: true,
	}
	call(a.s, "diff/accept", params, func(done api.Decided, err error) {
		if err != nil {
			doc.close()
			a.leaves(d, inText(d, text, err))
			return
		}
		takeBack := func(why error) {
			call(a.s, "diff/undo", rpc.UndoParams{Workspace: a.p.Workspace, Decision: done.Decision}, func(rpc.UndoResult, error) {
				doc.close()
				a.leaves(d, why)
			})
		}
		now, changed := edited(text, done.Edits, d.Path)
		switch {
		case changed:
		case diskErr == nil && done.Applied > 0 && !sameText(string(disk), text): // somebody has written the file meanwhile
			takeBack(&rpc.Error{
				Code: rpc.CodeInternal, Data: rpc.ErrorData{Kind: api.KindConflict},
				Message: d.Path + " has changed on disk beneath the editor's text, so it was not accepted: load or save it in the editor, and accept again",
			})
			return
		default:
			doc.close()
			a.add(done)
			a.next()
			return
		}
		doc.write(now, func(err error) {
			if err != nil {
				takeBack(fmt.Errorf("the editor did not write %s, so it was not accepted: %w", d.Path, err))
				return
			}
			doc.close()
			done.Edits = nil
			a.add(done)
			a.next()
		})
	})
}

// inText returns the error of an accept in an editor's text. Where that has other lines than the file at a hunk, it has no such hunk.
func inText(d *sessions.Diff, text string, err error) error {
	disk, readErr := os.ReadFile(filepath.Join(d.Workspace, filepath.FromSlash(d.Path)))
	if kindOf(err) != api.KindNotFound || readErr != nil || string(disk) == text {
		return err
	}
	return &rpc.Error{
		Code: rpc.CodeInternal, Data: rpc.ErrorData{Kind: api.KindConflict},
		Message: "the editor has changed lines of " + d.Path + " which the agent has changed too, and they are not saved, so it was not accepted: " +
			"save the file and accept again to have both, or /reject the agent's",
	}
}

// undoThrough takes a decision back as acceptThrough makes it. The editor writes the file if there is only one, so that either all is taken back or
// nothing; of several, none may be unsaved in the editor.
func (s *Server) undoThrough(at *session, p rpc.UndoParams, then func(rpc.UndoResult, error)) {
	w := &writing{s: s, at: at}
	at.writing = w
	end := func(result rpc.UndoResult, err error) {
		at.writing = nil
		then(result, err)
	}
	dry := p
	dry.DryRun = true
	call(s, "diff/undo", dry, func(would rpc.UndoResult, err error) {
		if err != nil || would.Step == nil || len(would.Diffs) > 0 { // a daemon of an older build has taken it back
			end(would, err)
			return
		}
		var only *held
		left := would.Step.Paths
		var check func()
		check = func() {
			if len(left) == 0 {
				w.undo(p, would.Step, only, end)
				return
			}
			path := left[0]
			left = left[1:]
			w.held(path, func(has held, err error) {
				switch one := len(would.Step.Paths) == 1; {
				case errors.Is(err, errStopped):
					end(rpc.UndoResult{}, err)
				case err != nil:
					end(rpc.UndoResult{}, unread(path, "nothing was taken back", err))
				case has.unsaved && !one:
					end(rpc.UndoResult{}, &rpc.Error{
						Code: rpc.CodeInternal, Data: rpc.ErrorData{Kind: api.KindConflict},
						Message: "the editor has changes of " + path + " that are not saved, and this decision is about more files, so nothing was taken back: " +
							"save the file or close it, and send /undo again",
					})
				default:
					if one && has.known {
						only = &has
					}
					check()
				}
			})
		}
		check()
	})
}

// undo takes a decision back: about the file that the editor holds, if only is not nil; else on disk.
func (w *writing) undo(p rpc.UndoParams, step *api.Step, only *held, then func(rpc.UndoResult, error)) {
	if only == nil {
		call(w.s, "diff/undo", p, then)
		return
	}
	path := step.Paths[0]
	doc, err := w.open(path, only.text)
	if err != nil {
		then(rpc.UndoResult{}, err)
		return
	}
	p.AsEdits = true
	call(w.s, "diff/undo", p, func(undone rpc.UndoResult, err error) {
		now, changed := edited(only.text, undone.Edits, path)
		if err != nil || !changed {
			doc.close()
			then(undone, err)
			return
		}
		doc.write(now, func(err error) {
			if err != nil {
				call(w.s, "diff/redo", rpc.RedoParams{Workspace: p.Workspace, Decision: undone.Step.Decision}, func(rpc.UndoResult, error) {
					doc.close()
					then(rpc.UndoResult{}, fmt.Errorf("the editor did not write %s, so nothing was taken back: %w", path, err))
				})
				return
			}
			doc.close()
			undone.Edits = nil
			then(undone, nil)
		})
	})
}
