package lsp

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// lookAgain is after how long it is looked whether the editor has loaded what was written under it.
const lookAgain = time.Second

// decide accepts or rejects hunks: in documents that the editor has open by an edit where the agent's change is apart from
// them, and else by the daemon.
func (s *Server) decide(w *workspace, accept bool, chosen []string) {
	rest, left := chosen, ""
	if accept && len(chosen) > 1 {
		if chosen, left = w.withoutConflicts(chosen); len(chosen) == 0 {
			s.show(levelWarning, "cursord: accepted nothing; %s", left)
			return
		}
		rest = chosen
	}
	if accept && s.client.applyEdit {
		var edit *workspaceEdit
		edit, rest = s.acceptEdit(w, chosen)
		if edit != nil {
			edited := slices.DeleteFunc(slices.Clone(chosen), func(id string) bool { return slices.Contains(rest, id) })
			s.apply("accept", edit, func(failure string) {
				if failure != "" {
					s.show(levelWarning, "cursord: not accepted: %s", failure)
					return
				}
				s.accepted(w, edited)
			})
		}
	}
	if len(rest) == 0 {
		return
	}
	s.decideThere(w, accept, rest, left, true)
}

// withoutConflicts returns those of chosen hunks that do not conflict with what a person has not saved, and says how many do.
func (w *workspace) withoutConflicts(chosen []string) (rest []string, left string) {
	n := 0
	for _, id := range chosen {
		if h := w.hunk(id); h != nil && h.InConflict() {
			n++
		} else {
			rest = append(rest, id)
		}
	}
	if n > 0 {
		left = fmt.Sprintf("left %s of lines that you have changed too (decide each by itself)", number(n, "hunk"))
	}
	return rest, left
}

// hunk returns the one with an id, or nil.
func (w *workspace) hunk(id string) *sessions.Hunk {
	for _, d := range w.diffs {
		for i := range d.Hunks {
			if d.Hunks[i].ID == id {
				return &d.Hunks[i]
			}
		}
	}
	return nil
}

// acceptBothCommand accepts a hunk behind the lines that a person has changed and not saved.
func (s *Server) acceptBothCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	chosen, err := atTarget(s, w, t)
	if err != nil {
		return nil, s.shown(err)
	}
	s.flushAll()
	call(s, "diff/accept", rpc.DecideParams{Workspace: w.path, Hunks: &chosen, Both: true}, s.whenDecided(w, "accepted", ""))
	return nil, nil
}

// withoutYours returns those of chosen hunks that are certainly the agent's, and says which are not; "" if all are.
func (w *workspace) withoutYours(chosen []string) (rest []string, left string) {
	const shown = 5
	where := map[string]string{}
	for _, d := range w.diffs {
		yours := d.MaybeYours()
		for i := range d.Hunks {
			if h := &d.Hunks[i]; yours[h.ID] {
				where[h.ID] = fmt.Sprintf("%s:%d", d.Path, firstChanged(h))
			}
		}
	}
	var places []string
	for _, id := range chosen {
		if at, yours := where[id]; yours {
			places = append(places, at)
		} else {
			rest = append(rest, id)
		}
	}
	n := len(places)
	if n == 0 {
		return rest, ""
	}
	if n > shown {
		places = append(places[:shown], fmt.Sprintf("and %d more", n-shown))
	}
	return rest, fmt.Sprintf("left %s that may be yours: %s (reject each by itself)", number(n, "hunk"), strings.Join(places, ", "))
}

// firstChanged returns the line of the file, from 1, at which a hunk's first change is.
func firstChanged(h *sessions.Hunk) int {
	context := slices.IndexFunc(h.Lines, func(line string) bool { return !strings.HasPrefix(line, " ") })
	return max(h.NewStart+max(context, 0), 1)
}

// decideThere has the daemon decide. What was left is said with what was done. With again it is tried once more without the hunks that are not there any more: of
// many that were shown, some may just have been decided, or have become others.
func (s *Server) decideThere(w *workspace, accept bool, chosen []string, left string, again bool) {
	method, verb := "diff/reject", "rejected"
	if accept {
		method, verb = "diff/accept", "accepted"
	}
	call(s, method, rpc.DecideParams{Workspace: w.path, Hunks: &chosen}, func(done api.Decided, err error) {
		if kindOf(err) == "notFound" && again && len(chosen) > 1 {
			call(s, "diff/list", rpc.DiffParams{Workspace: w.path}, func(list rpc.DiffList, listErr error) {
				var present []string
				for _, d := range list.Diffs {
					for _, h := range d.Hunks {
						if slices.Contains(chosen, h.ID) {
							present = append(present, h.ID)
						}
					}
				}
				if listErr != nil || len(present) == 0 {
					s.complain(err)
					return
				}
				s.decideThere(w, accept, present, left, false)
			})
			return
		}
		s.whenDecided(w, verb, left)(done, err)
	})
}

// whenDecided returns what says how a decision of the daemon's went, and makes its edits.
func (s *Server) whenDecided(w *workspace, verb, left string) func(api.Decided, error) {
	return func(done api.Decided, err error) {
		if err != nil {
			s.complain(err)
			return
		}
		w.decided(nil)
		s.applyEdits(w, done.Edits, func(failure string) {
			if failure != "" {
				s.show(levelWarning, "cursord: %s, but not in your buffer: %s", verb, failure)
				return
			}
			message := fmt.Sprintf("cursord: %s %s", verb, number(done.Applied, "hunk"))
			if left != "" {
				s.show(levelWarning, "%s; %s", message, left)
			} else {
				s.show(levelInfo, "%s", message)
			}
			s.hintStale(w)
		})
	}
}

// acceptedCommand comes behind an edit that accepted hunks.
func (s *Server) acceptedCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	s.accepted(w, t.Hunks)
	return nil, nil
}

// accepted tells of hunks that were accepted by an edit.
func (s *Server) accepted(w *workspace, ids []string) {
	var made []acceptance
	for _, id := range ids {
		if one, ok := w.offered[id]; ok {
			made = append(made, one)
		}
	}
	if len(made) > 0 {
		w.decided(made)
	}
	s.show(levelInfo, "cursord: accepted %s in your buffers – save to write%s", number(len(ids), "hunk"), s.client.toSave())
}

// hintStale says, in a moment, which open files the editor shows as they were before somebody wrote them.
func (s *Server) hintStale(w *workspace) {
	if w.hinting {
		return
	}
	w.hinting = true
	s.after(lookAgain, func() {
		w.hinting = false
		if n := s.countStale(w); n > 0 {
			s.show(levelWarning, "cursord: %s changed on disk – reload to see it%s", number(n, "open file"), s.client.toReload())
		}
	})
}

func (s *Server) countStale(w *workspace) (n int) {
	for _, d := range s.docs {
		if d.workspace != w {
			continue
		}
		if d.unsavedText() {
			continue // a person's text, which is another than the file's
		}
		if disk, ok := w.readFile(d.path); ok && !sameText(d.text.s, disk) {
			n++
		}
	}
	return n
}
