package lsp

import (
	"fmt"
	"hash/maphash"
	"path"
	"slices"
	"time"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/localfile"
	"cursord/rpc"
)

// lookAgain is how long an editor may take to load files that were written.
const lookAgain = time.Second

// answerPatience bounds how long a decision waits for the editor to make the edits of the one before.
const answerPatience = 10 * time.Second

// decide accepts or rejects hunks; several says that nobody named a single one. Accepting hunks of a copy changes files that the editor has open
// by edits. An accept of a single one takes the agent's side where the user has changed the same lines, that of several keeps both.
func (s *Server) decide(w *workspace, accept, several bool, chosen []string) {
	left := ""
	if h := hunks.Find(w.diffs, chosen[0]); accept && !several && len(chosen) == 1 && h != nil && len(h.Beside) > 0 {
		s.acceptSide(w, chosen, rpc.DecideParams{Replace: true})
		return
	}
	if accept && (several || len(chosen) > 1) {
		if chosen, left = hunks.WithoutConflicts(w.diffs, chosen); len(chosen) == 0 {
			s.show(levelWarning, "cursord: accepted nothing; %s", left)
			return
		}
	}
	s.decideThere(w, accept, chosen, left)
}

// acceptBothCommand accepts the hunk of a target, and keeps the user's lines.
func (s *Server) acceptBothCommand(t *target) (any, error) {
	w, chosen, err := s.choose(t, atTarget)
	if err != nil {
		return nil, err
	}
	s.acceptSide(w, chosen, rpc.DecideParams{Both: true})
	return nil, nil
}

// acceptSide accepts hunks whose lines the user has changed, too, as how says.
func (s *Server) acceptSide(w *workspace, chosen []string, how rpc.DecideParams) {
	how.Workspace, how.Hunks, how.AsEdits = w.path, &chosen, s.client.ApplyEdit
	s.inTurn(w, func(done func()) {
		decisionCall(s, w, "diff/accept", how, s.whenDecided(w, "accepted", "", chosen, done))
	})
}

// decideThere decides hunks in the daemon. left says what was left out, for the message. If a hunk is gone, it tries once
// more with those that are still there: some of many may just have been decided, or may have changed.
func (s *Server) decideThere(w *workspace, accept bool, chosen []string, left string) {
	method, verb := "diff/reject", "rejected"
	if accept {
		method, verb = "diff/accept", "accepted"
	}
	s.inTurn(w, func(done func()) {
		ask := func(chosen []string, then func(api.Decided, error)) {
			decisionCall(s, w, method, rpc.DecideParams{Workspace: w.path, Hunks: &chosen, AsEdits: accept && s.client.ApplyEdit}, then)
		}
		ask(chosen, func(decided api.Decided, err error) {
			if kindOf(err) != "notFound" || len(chosen) < 2 {
				s.whenDecided(w, verb, left, chosen, done)(decided, err)
				return
			}
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
					done()
					return
				}
				ask(present, s.whenDecided(w, verb, left, present, done))
			})
		})
	})
}

// whenDecided returns a function for the daemon's answer to a decision: it makes the edits, reports the result and calls
// done.
func (s *Server) whenDecided(w *workspace, verb, left string, chosen []string, done func()) func(api.Decided, error) {
	return func(decided api.Decided, err error) {
		if err != nil {
			s.complain(err)
			done()
			return
		}
		all := w.editedAll(chosen, decided.Edits)
		s.applyEdits(w, decided.Edits, func(failure string) {
			defer done()
			if failure != "" {
				s.show(levelWarning, "cursord: %s, but your buffer could not be changed: %s", verb, failure)
				return
			}
			message := fmt.Sprintf("cursord: %s %s", verb, plaintext.Count(decided.Applied, "hunk"))
			switch {
			case len(decided.Edits) == 0 || verb != "accepted":
			case all:
				message += " in your buffers – save to write" + s.client.ToSave()
			default:
				message += ", some in your buffers – save to write" + s.client.ToSave()
			}
			message += "; " + hunks.Left(w.diffs, decided.Diffs)
			if left != "" {
				s.show(levelWarning, "%s; %s", message, left)
			} else {
				s.show(levelInfo, "%s%s", message, s.client.Back(verb, decided.Applied))
			}
			s.followMoves(w, decided.Diffs)
			s.hintStale(w)
		})
	}
}

// hintStale counts, in a moment, the open files that the editor does not show as they are on disk, and says how to load
// them.
func (s *Server) hintStale(w *workspace) {
	w.hintAgain = true
	s.hintNewlyStale(w)
}

// hintNewlyStale is hintStale for changes that somebody else has made. It says nothing while all stale files have been
// counted before.
func (s *Server) hintNewlyStale(w *workspace) {
	if w.hinting || s.client.ReloadsByItself() {
		return
	}
	w.hinting = true
	s.after(lookAgain, func() {
		again := w.hintAgain
		w.hinting, w.hintAgain = false, false
		if n, fresh := s.countStale(w); n > 0 && (again || fresh) {
			s.show(levelWarning, "cursord: %s changed on disk – %s", plaintext.Count(n, "open file"), s.client.ToReload(s.anyUnsaved()))
		}
	})
}

// hintOldText warns once, when the user pauses, that the typed text is older than the file: a save would undo what is on disk.
func (s *Server) hintOldText(d *document) {
	if d.hinted == 0 || d.hinting || !d.unsavedText() {
		return
	}
	d.hinting = true
	version := d.version
	s.after(lookAgain, func() {
		d.hinting = false
		if s.docs[d.uri] != d || d.workspace == nil || d.hinted == 0 || d.merging {
			return
		}
		if d.version != version {
			s.hintOldText(d)
			return
		}
		if disk, ok := d.workspace.readFile(d.path); ok && d.unsavedText() && !localfile.SameText(d.saved, disk) && !localfile.SameText(d.text.Content, disk) {
			d.hinted = 0
			s.show(levelWarning, "cursord: %s is newer on disk – %s", path.Base(d.path), s.client.ToReloadFirst())
		}
	})
}

// anyUnsaved reports whether a document has unsaved changes.
func (s *Server) anyUnsaved() bool {
	for _, d := range s.docs {
		if d.unsavedText() {
			return true
		}
	}
	return false
}

// countStale counts the saved documents whose files have changed since. fresh says that one was not counted before as its
// file is now.
func (s *Server) countStale(w *workspace) (n int, fresh bool) {
	for _, d := range s.docs {
		if d.workspace != w || d.unsavedText() {
			continue
		}
		disk, ok := w.readFile(d.path)
		if !ok || localfile.SameText(d.text.Content, disk) {
			d.hinted = 0
			continue
		}
		n++
		if sum := max(maphash.String(contentSeed, disk), 1); sum != d.hinted {
			d.hinted, fresh = sum, true
		}
	}
	return n, fresh
}

var contentSeed = maphash.MakeSeed()
