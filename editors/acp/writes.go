package acp

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/paths"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// writeLimit bounds how long an editor may take to read or write a file. Some never answer.
const writeLimit = time.Minute

// An accepting is an accept whose files the editor writes, one after the other. Each file is a decision of its own.
type accepting struct {
	s    *Server
	at   *session
	p    rpc.DecideParams
	left []*sessions.Diff // the files that are still to be written, with the chosen hunks
	done accepted
	then func(accepted, error)

	err     error // why the last file was left that was
	stopped bool
	abort   func() // gives up the request that the editor has not answered; nil before the first
}

var errStopped = errors.New("it was cancelled")

// An accepted is what was decided, and by how many decisions.
type accepted struct {
	api.Decided
	decisions int
}

// stop ends an accepting: what the editor has not written stays to be reviewed.
func (a *accepting) stop() {
	if a.stopped = true; a.abort != nil {
		a.abort()
	}
}

// acceptThrough accepts hunks of a copy. For each file it opens the editor's text as a document of this client, so that the daemon answers
// with edits and writes nothing; the editor writes the text with these. What is no change of a text the daemon writes.
func (s *Server) acceptThrough(at *session, p rpc.DecideParams, then func(accepted, error)) {
	call(s, "diff/list", rpc.DiffParams{Workspace: at.folder.path}, func(list rpc.DiffList, err error) {
		if err != nil {
			then(accepted{}, err)
			return
		}
		a := &accepting{s: s, at: at, p: p}
		a.then = func(done accepted, err error) {
			at.accepting = nil
			then(done, err)
		}
		at.accepting = a
		others := []string{}
		for _, d := range list.Diffs {
			ours := *d
			ours.Hunks = slices.DeleteFunc(slices.Clone(d.Hunks), func(h sessions.Hunk) bool { return !selects(&p, d, &h) })
			text := d.Kind == sessions.DiffModified && d.OldPath == "" &&
				!slices.ContainsFunc(ours.Hunks, func(h sessions.Hunk) bool { return !h.Isolated || h.Kind != "text" })
			switch {
			case len(ours.Hunks) == 0:
			case text && p.Lines == nil:
				a.left = append(a.left, &ours)
			default:
				for i := range ours.Hunks {
					others = append(others, ours.Hunks[i].ID)
				}
			}
		}
		if len(a.left) == 0 {
			atOnce(s, "diff/accept", p, a.then)
			return
		}
		if len(others) == 0 {
			a.next()
			return
		}
		rest := rpc.DecideParams{Workspace: p.Workspace, Hunks: &others, Lines: p.Lines, Both: p.Both, Replace: p.Replace}
		call(s, "diff/accept", rest, func(done api.Decided, err error) {
			if err != nil {
				a.then(a.done, err)
				return
			}
			a.add(done)
			a.next()
		})
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

// leaves leaves a file to be reviewed, and goes on with the next one.
func (a *accepting) leaves(d *sessions.Diff, why error) {
	kind := cmp.Or(kindOf(why), api.KindUnavailable)
	a.err = why
	a.done.Skipped = append(a.done.Skipped, api.Skipped{Path: d.Path, Kind: kind, Message: why.Error()})
	a.next()
}

// next accepts the next file.
func (a *accepting) next() {
	switch {
	case len(a.left) == 0 && a.done.decisions == 0 && len(a.done.Skipped) == 1:
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
	a.text(d, func(text string, err error) {
		switch {
		case a.stopped:
			a.then(a.done, errStopped)
		case err != nil:
			a.leaves(d, fmt.Errorf("the editor did not say what %s holds, so it was not accepted: %w", d.Path, err))
		default:
			a.accept(d, text)
		}
	})
}

// text calls then with the editor's text of a file. That on disk would not do: what is unsaved in the editor would be lost.
func (a *accepting) text(d *sessions.Diff, then func(string, error)) {
	a.askInTime("fs/read_text_file", protocol.ReadParams{SessionID: a.at.info.ID, Path: a.shown(d)}, func(m rpc.Message, err error) {
		var read protocol.ReadResult
		if err == nil && (protocol.Decode(m.Result, &read) != nil || read.Content == nil) {
			err = errors.New("fs/read_text_file: the answer has no content")
		}
		if err != nil {
			then("", err)
			return
		}
		then(*read.Content, nil)
	})
}

// shown is a file's path as the editor spells it.
func (a *accepting) shown(d *sessions.Diff) string {
	return filepath.Join(a.at.cwd, filepath.FromSlash(d.Path))
}

// accept accepts the chosen hunks of a file in a text, and has the editor write what becomes of it.
func (a *accepting) accept(d *sessions.Diff, text string) {
	l := a.s.need()
	uri := paths.URI(filepath.Join(a.at.folder.path, filepath.FromSlash(d.Path)))
	closes := func() { _ = l.client.Notify("document/didClose", rpc.DidCloseParams{URI: uri}) } // the connection's end closes it too
	ids := []string{}
	for i := range d.Hunks {
		ids = append(ids, d.Hunks[i].ID)
	}
	if err := l.client.Notify("document/didOpen", rpc.DidOpenParams{URI: uri, Version: 1, Text: &text}); err != nil {
		a.leaves(d, unreachable())
		return
	}
	params := rpc.DecideParams{Workspace: a.p.Workspace, Hunks: &ids, Both: a.p.Both, Replace: a.p.Replace, Comment: a.p.Comment, AsEdits: true}
	call(a.s, "diff/accept", params, func(done api.Decided, err error) {
		if err != nil {
			closes()
			a.leaves(d, inText(d, text, err))
			return
		}
		now, changed := edited(text, done.Edits, d.Path)
		if !changed {
			closes()
			a.add(done)
			a.next()
			return
		}
		_ = l.client.Notify("document/didChange", rpc.DidChangeParams{URI: uri, Version: 2, Text: now})
		before, _ := os.Stat(a.shown(d))
		a.askInTime("fs/write_text_file", protocol.WriteParams{SessionID: a.at.info.ID, Path: a.shown(d), Content: now}, func(_ rpc.Message, err error) {
			if err == nil && now != text && unchanged(before, a.shown(d)) {
				err = errors.New("it says that it did, and the file has not changed")
			}
			if err != nil {
				call(a.s, "diff/undo", rpc.UndoParams{Workspace: a.p.Workspace, Decision: done.Decision}, func(rpc.UndoResult, error) {
					closes()
					a.leaves(d, fmt.Errorf("the editor did not write %s, so it was not accepted: %w", d.Path, err))
				})
				return
			}
			saved := 2
			_ = l.client.Notify("document/didSave", rpc.DidSaveParams{URI: uri, Version: &saved})
			closes()
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

// unchanged reports whether nobody has written a file since it was looked at.
func unchanged(before os.FileInfo, path string) bool {
	now, err := os.Stat(path)
	return err == nil && before != nil && os.SameFile(before, now) && before.ModTime().Equal(now.ModTime()) && before.Size() == now.Size()
}

// askInTime asks the editor and calls then once: with the answer, or with an error if it refuses, takes too long, or is asked no more.
func (a *accepting) askInTime(method string, params any, then func(rpc.Message, error)) {
	var limit *time.Timer
	s := a.s
	id := s.ask(method, params, func(m rpc.Message) {
		limit.Stop()
		if m.Error == nil {
			then(m, nil)
			return
		}
		e := &rpc.Error{}
		_ = protocol.Decode(m.Error, e)
		then(m, fmt.Errorf("%s: %s", method, e.Message))
	})
	giveUp := func(err error) {
		if s.asked[id] != nil {
			limit.Stop()
			s.withdraw(id)
			then(rpc.Message{}, err)
		}
	}
	a.abort = func() { giveUp(errStopped) }
	limit = time.AfterFunc(writeLimit, func() {
		s.post(func() { giveUp(fmt.Errorf("%s: no answer within %v", method, writeLimit)) })
	})
}

// edited returns a text with the edits of its file, and whether there are any.
func edited(text string, all []api.DocumentEdits, path string) (string, bool) {
	changed := false
	for _, of := range all {
		if of.Path != path {
			continue
		}
		for _, e := range slices.Backward(of.Edits) { // so that the places of the others stay
			from, to := offset(text, e.Range.Start), offset(text, e.Range.End)
			text = text[:from] + e.NewText + text[max(from, to):]
			changed = true
		}
	}
	return text, changed
}

// offset returns the place of a position in bytes. Characters are counted in UTF-16.
func offset(text string, p api.Position) int {
	at := 0
	for range p.Line {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			return len(text)
		}
		at += n + 1
	}
	units := 0
	for i, c := range text[at:] {
		if units >= p.Character || c == '\n' {
			return at + i
		}
		units++
		if c > 0xffff {
			units++
		}
	}
	return len(text)
}
