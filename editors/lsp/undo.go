package lsp

import (
	"fmt"
	"os"
	"slices"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/daemon/paths"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// undoCommand takes the latest decision back.
func (s *Server) undoCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	s.inTurn(w, func(done func()) {
		params := rpc.UndoParams{Workspace: w.path, AsEdits: s.client.ApplyEdit}
		took := s.stepped(w, "took the last decision back", "nothing to undo", done)
		decisionCall(s, w, "diff/undo", params, func(result rpc.UndoResult, err error) {
			if err == nil && result.Step != nil {
				w.undone = append(w.undone, fmt.Sprintf("Make again: %s %s", result.Step.Kind, plaintext.Count(result.Step.Hunks, "hunk")))
			}
			took(result, err)
		})
	})
	return nil, nil
}

// redoCommand makes the decision again that was taken back last.
func (s *Server) redoCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	s.inTurn(w, func(done func()) {
		params := rpc.RedoParams{Workspace: w.path, AsEdits: s.client.ApplyEdit}
		made := s.stepped(w, "made the last decision again", "nothing to redo", done)
		decisionCall(s, w, "diff/redo", params, func(result rpc.UndoResult, err error) {
			if err != nil {
				w.undone = nil // another decision was made since
			} else if n := len(w.undone); n > 0 {
				w.undone = w.undone[:n-1]
			}
			made(result, err)
		})
	})
	return nil, nil
}

// redoActions offers what redo makes again.
func (w *workspace) redoActions() (actions []protocol.CodeAction) {
	if n := len(w.undone); n > 0 {
		title := w.undone[n-1]
		actions = append(actions, protocol.CodeAction{
			Title: title, Kind: protocol.KindSource + ".cursord", Command: commandOf(title, commandRedo, target{Workspace: w.path}),
		})
	}
	return actions
}

// stepped returns a function for the daemon's answer to an undo or redo: it makes the edits and reports the result.
func (s *Server) stepped(w *workspace, did, nothing string, done func()) func(rpc.UndoResult, error) {
	return func(result rpc.UndoResult, err error) {
		if err != nil {
			defer done()
			if kindOf(err) == "notFound" {
				s.show(levelInfo, "cursord: %s", nothing)
				return
			}
			s.complain(err)
			return
		}
		s.applyEdits(w, result.Edits, func(failure string) {
			defer done()
			if failure != "" {
				s.show(levelWarning, "cursord: %s, but your buffer could not be changed: %s", did, failure)
				return
			}
			s.show(levelInfo, "cursord: %s", did)
			s.followMoves(w, result.Diffs)
			s.hintStale(w)
		})
	}
}

// inTurn runs a decision after those before it, when the documents have their changes.
func (s *Server) inTurn(w *workspace, decide func(done func())) {
	w.deciding = append(w.deciding, decide)
	if len(w.deciding) == 1 {
		s.decideNext(w)
	}
}

// decideNext runs the first decision that waits. If the editor does not answer, the next one goes on after answerPatience.
func (s *Server) decideNext(w *workspace) {
	s.flushAll()
	ended := false
	done := func() {
		if ended {
			return
		}
		if ended = true; len(w.deciding) == 0 {
			return // the folder was closed
		}
		if w.deciding = w.deciding[1:]; len(w.deciding) > 0 {
			s.decideNext(w)
		}
	}
	w.deciding[0](done)
	s.after(answerPatience, done)
}

// decisionCall is call for a decision. Diffs that come meanwhile are shown after the answer's edits.
func decisionCall[R any](s *Server, w *workspace, method string, params any, then func(R, error)) {
	w.asking++
	if method != "diff/undo" && method != "diff/redo" {
		w.undone = nil
	}
	call(s, method, params, func(result R, err error) {
		then(result, err)
		if w.asking--; w.asking > 0 || w.closed {
			return
		}
		held := w.held
		w.held = nil
		for _, d := range held {
			s.diffChanged(w, d)
		}
	})
}

// followMoves renames the editor's documents whose files a decision has moved.
func (s *Server) followMoves(w *workspace, diffs []*sessions.Diff) {
	if !s.client.ApplyEdit || !s.client.DocumentChanges || !slices.Contains(s.client.Resources, "rename") {
		return
	}
	there := func(path string) bool {
		_, err := os.Lstat(paths.Absolute(w.path, path))
		return err == nil
	}
	for _, d := range diffs {
		for _, from := range w.moves[d.Path] {
			to := d.Path
			if !there(to) {
				from, to = to, from
			}
			if doc := s.docAt(w, from); doc != nil && s.docAt(w, to) == nil && !there(from) && there(to) {
				e := s.newEdits()
				e.before = append(e.before, protocol.ResourceOperation{Kind: "rename", OldURI: doc.uri, NewURI: paths.URI(paths.Absolute(w.named, to))})
				s.apply("cursord", e.workspaceEdit(), func(failure string) {
					if failure != "" {
						s.show(levelWarning, "cursord: %s is %s now: open it there", from, to)
					}
				})
			}
		}
	}
}

// noteMove keeps the former path of a moved file for when the move is decided.
func (w *workspace) noteMove(d *sessions.Diff) {
	if d.OldPath == "" || slices.Contains(w.moves[d.Path], d.OldPath) {
		return
	}
	if w.moves == nil {
		w.moves = map[string][]string{}
	}
	w.moves[d.Path] = append(w.moves[d.Path], d.OldPath)
}

// editedAll reports whether edits have changed the files of all these hunks.
func (w *workspace) editedAll(hunks []string, edits []api.DocumentEdits) bool {
	for _, d := range w.diffs {
		for _, h := range d.Hunks {
			if slices.Contains(hunks, h.ID) && !slices.ContainsFunc(edits, func(e api.DocumentEdits) bool { return e.Path == d.Path || e.Path == d.OldPath }) {
				return false
			}
		}
	}
	return true
}
