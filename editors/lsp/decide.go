package lsp

import (
	"fmt"
	"time"

	"cursord/daemon"
	"cursord/rpc"
)

// lookAgain is after how long it is looked whether the editor has loaded what was written under it.
const lookAgain = time.Second

// decide accepts or rejects hunks: in documents that the editor has open by an edit where the agent's change is apart from
// them, and else by the daemon.
func (s *Server) decide(w *workspace, accept bool, chosen []string) {
	rest := chosen
	if accept && s.client.applyEdit {
		var edit *workspaceEdit
		edit, rest = s.acceptEdit(w, chosen)
		if edit != nil {
			n := len(chosen) - len(rest)
			s.apply("accept", edit, func(failure string) {
				if failure != "" {
					s.show(levelWarning, "cursord: not accepted: %s", failure)
					return
				}
				s.showAccepted(n)
			})
		}
	}
	if len(rest) == 0 {
		return
	}
	method, verb := "diff/reject", "rejected"
	if accept {
		method, verb = "diff/accept", "accepted"
	}
	call(s, method, rpc.DecideParams{Workspace: w.path, Hunks: &rest}, func(done daemon.Decided, err error) {
		if err != nil {
			s.complain(err)
			return
		}
		s.applyEdits(w, done.Edits, func(failure string) {
			if failure != "" {
				s.show(levelWarning, "cursord: %s, but not in your buffer: %s", verb, failure)
				return
			}
			message := fmt.Sprintf("cursord: %s %s", verb, number(done.Applied, "hunk"))
			if len(done.Skipped) > 0 {
				message += fmt.Sprintf(", %s could not be: %s", number(len(done.Skipped), "hunk"), done.Skipped[0].Kind)
			}
			s.show(levelInfo, "%s", message)
			s.hintStale(w)
		})
	})
}

// acceptedCommand comes behind an edit that accepted hunks.
func (s *Server) acceptedCommand(t *target) (any, error) {
	s.showAccepted(len(t.Hunks))
	return nil, nil
}

func (s *Server) showAccepted(n int) {
	s.show(levelInfo, "cursord: accepted %s in your buffers – save to write (:wa)", number(n, "hunk"))
}

// stepping takes the last decision back, or makes it again.
func stepping(method, done, nothing string) commander {
	return func(s *Server, t *target) (any, error) {
		w, err := s.folderOf(t)
		if err != nil {
			return nil, err
		}
		call(s, method, rpc.UndoParams{Workspace: w.path}, func(result rpc.UndoResult, err error) {
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
		return nil, nil
	}
}

// hintStale says, in a moment, which open files the editor shows as they were before somebody wrote them.
func (s *Server) hintStale(w *workspace) {
	s.after(lookAgain, func() {
		if n := s.countStale(w); n > 0 {
			s.show(levelWarning, "cursord: %s changed on disk – reload to see it (:reload-all; unsaved edits are lost)", number(n, "open file"))
		}
	})
}

func (s *Server) countStale(w *workspace) (n int) {
	for _, d := range s.docs {
		if d.workspace != w {
			continue
		}
		if d.unsavedText() && !d.stale {
			continue // a person's text, which is another than the file's
		}
		if disk, ok := w.readFile(d.path); ok && !sameText(d.text.s, disk) {
			n++
		}
	}
	return n
}
