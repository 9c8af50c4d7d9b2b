package lsp

import (
	"cursord/rpc"
	"cursord/sessions"
)

// maxOffered bounds the acceptances that are kept of menus, and maxDecisions those that can be taken back.
const (
	maxOffered   = 4096
	maxDecisions = 1000
)

// An acceptance is a hunk that was accepted by an edit of a document. The daemon sees that as what a person typed, so it
// is taken back by an edit, too.
type acceptance struct {
	file string
	hunk *sessions.Hunk
}

// A decision is one that was made here; without acceptances it was the daemon's.
type decision []acceptance

// offer notes a hunk of which an editor gets the edit that accepts it.
func (s *Server) offer(w *workspace, p *placed) {
	if len(w.offered) >= maxOffered {
		clear(w.offered)
	}
	_, file := s.locate(p.uri)
	w.offered[p.hunk.ID] = acceptance{file: file, hunk: p.hunk}
}

// decided notes a decision.
func (w *workspace) decided(made decision) {
	if w.undone = nil; len(w.decisions) >= maxDecisions {
		w.decisions = w.decisions[1:]
	}
	w.decisions = append(w.decisions, made)
}

// undoCommand takes the last decision back: that of the daemon, or the edits that were one.
func (s *Server) undoCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	for len(w.decisions) > 0 {
		last := w.decisions[len(w.decisions)-1]
		if len(last) == 0 {
			break
		}
		if edit := s.takeBack(w, last); edit != nil {
			back := w.move(&w.decisions, &w.undone, last)
			s.applyStep(edit, "took the last accept back", back)
			return nil, nil
		}
		w.decisions = w.decisions[:len(w.decisions)-1] // the person has taken it back already
	}
	s.step(w, "diff/undo", "took the last decision back", "nothing to undo", w.move(&w.decisions, &w.undone, nil))
	return nil, nil
}

// redoCommand makes the decision again that was taken back last.
func (s *Server) redoCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	if n := len(w.undone); n > 0 && len(w.undone[n-1]) > 0 {
		last := w.undone[n-1]
		var ids []string
		for _, one := range last {
			ids = append(ids, one.hunk.ID)
		}
		edit, rest := s.acceptEdit(w, ids)
		if edit == nil || len(rest) > 0 {
			s.decide(w, true, ids) // the documents are others by now
			return nil, nil
		}
		s.applyStep(edit, "made the last accept again", w.move(&w.undone, &w.decisions, last))
		return nil, nil
	}
	s.step(w, "diff/redo", "made the last decision again", "nothing to redo", w.move(&w.undone, &w.decisions, nil))
	return nil, nil
}

// move puts the last decision of one list at the end of the other, and returns what takes that back: the next command
// may come before it is known whether this one could be done.
func (w *workspace) move(from, to *[]decision, one decision) (back func()) {
	wasFrom, wasTo := *from, *to
	if n := len(wasFrom); n > 0 {
		*from = wasFrom[: n-1 : n-1]
	}
	*to = append(wasTo[:len(wasTo):len(wasTo)], one)
	return func() { *from, *to = wasFrom, wasTo }
}

// applyStep has the editor take something back, or make it again.
func (s *Server) applyStep(edit *workspaceEdit, done string, back func()) {
	s.apply("cursord", edit, func(failure string) {
		if failure != "" {
			back()
			s.show(levelWarning, "cursord: nothing done: %s", failure)
			return
		}
		s.show(levelInfo, "cursord: %s in your buffers", done)
	})
}

// takeBack returns the edit that undoes acceptances, as far as the documents have them; nil if none does.
func (s *Server) takeBack(w *workspace, made decision) *workspaceEdit {
	all := s.newEdits()
	for _, one := range made {
		d := s.docAt(w, one.file)
		if d == nil {
			continue
		}
		old, now := sides(one.hunk)
		near := start(one.hunk.NewStart, one.hunk.NewLines)
		at := now.find(d.text, near, searchLimit)
		if at < 0 {
			continue
		}
		all.add(d.uri, d.text.replace(at+now.before, at+len(now.lines)-now.tail, old.changed(),
			old.tail == 0 && one.hunk.OldNoEOL, s.client.encoding))
	}
	return all.workspaceEdit()
}

// step has the daemon take its last decision back, or make it again.
func (s *Server) step(w *workspace, method, done, nothing string, back func()) {
	call(s, method, rpc.UndoParams{Workspace: w.path}, func(result rpc.UndoResult, err error) {
		if err != nil {
			back()
		}
		if kindOf(err) == "notFound" {
			s.show(levelInfo, "cursord: %s", nothing)
			return
		}
		if err != nil {
			s.complain(err)
			return
		}
		s.applyEdits(w, result.Edits, func(failure string) {
			if failure != "" {
				s.show(levelWarning, "cursord: %s, but not in your buffer: %s", done, failure)
				return
			}
			s.show(levelInfo, "cursord: %s", done)
			s.hintStale(w)
		})
	})
}
