package acp

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/daemon/paths"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
)

// writeLimit bounds how long an editor may take to read or write a file. Some never answer.
const writeLimit = time.Minute

// A writing is a decision, or its undo, whose files the editor writes. Paths are relative to the session's folder.
type writing struct {
	s       *Server
	at      *session
	stopped bool
	abort   func() // gives up the request that the editor has not answered; nil before the first
}

var errStopped = errors.New("it was cancelled")

// stop ends a writing: what the editor has not written stays as it is.
func (w *writing) stop() {
	if w.stopped = true; w.abort != nil {
		w.abort()
	}
}

// shown is a file's path as the editor spells it.
func (w *writing) shown(path string) string {
	return filepath.Join(w.at.cwd, filepath.FromSlash(path))
}

// text calls then with the editor's text of a file. That on disk would not do: what is unsaved in the editor would be lost.
func (w *writing) text(path string, then func(string, error)) {
	w.askInTime("fs/read_text_file", protocol.ReadParams{SessionID: w.at.info.ID, Path: w.shown(path)}, func(m rpc.Message, err error) {
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

// A held is what an editor has of a file.
type held struct {
	text    string
	known   bool // the editor has a text of the file, as far as it says
	unsaved bool // the text differs from the disk
}

// held calls then with what the editor has of a file. A file that is no text, or not there, need not be one that the editor can read.
func (w *writing) held(path string, then func(held, error)) {
	disk, err := os.ReadFile(w.shown(path))
	there := err == nil
	if there && (!utf8.Valid(disk) || bytes.IndexByte(disk, 0) >= 0) {
		then(held{}, nil)
		return
	}
	w.text(path, func(text string, err error) {
		switch {
		case w.stopped:
			then(held{}, errStopped)
		case err != nil && there:
			then(held{}, err)
		case err != nil:
			then(held{}, nil)
		default:
			then(held{text: text, known: true, unsaved: !sameText(string(disk), text)}, nil)
		}
	})
}

// sameText compares a text of a file with that of an editor, which may leave out its line ends and its byte order mark.
func sameText(file, text string) bool {
	plain := func(s string) string { return strings.ReplaceAll(strings.TrimPrefix(s, "\ufeff"), "\r\n", "\n") }
	return file == text || plain(file) == plain(text)
}

// An opened is an editor's text of a file as a document of this client. The daemon then answers with edits of the text, and writes nothing.
type opened struct {
	w          *writing
	path, text string
	uri        string
}

func (w *writing) open(path, text string) (*opened, error) {
	o := &opened{w: w, path: path, text: text, uri: paths.URI(filepath.Join(w.at.folder.path, filepath.FromSlash(path)))}
	if err := o.notify("document/didOpen", rpc.DidOpenParams{URI: o.uri, Version: 1, Text: &text}); err != nil {
		return nil, unreachable()
	}
	return o, nil
}

func (o *opened) notify(method string, params any) error {
	return o.w.s.need().client.Notify(method, params)
}

// close forgets the document. The end of the connection does so, too.
func (o *opened) close() { _ = o.notify("document/didClose", rpc.DidCloseParams{URI: o.uri}) }

// write has the editor write a text. If that fails, the daemon takes the text for one that the editor has not saved.
func (o *opened) write(now string, then func(error)) {
	_ = o.notify("document/didChange", rpc.DidChangeParams{URI: o.uri, Version: 2, Text: now})
	shown := o.w.shown(o.path)
	before, _ := os.Stat(shown)
	o.w.askInTime("fs/write_text_file", protocol.WriteParams{SessionID: o.w.at.info.ID, Path: shown, Content: now}, func(_ rpc.Message, err error) {
		if err == nil && now != o.text && unchanged(before, shown) {
			err = errors.New("it says that it did, and the file has not changed")
		}
		if err == nil {
			saved := 2
			_ = o.notify("document/didSave", rpc.DidSaveParams{URI: o.uri, Version: &saved})
		}
		then(err)
	})
}

// unchanged reports whether nobody has written a file since it was looked at.
func unchanged(before os.FileInfo, path string) bool {
	now, err := os.Stat(path)
	return err == nil && before != nil && os.SameFile(before, now) && before.ModTime().Equal(now.ModTime()) && before.Size() == now.Size()
}

// askInTime asks the editor and calls then once: with the answer, or with an error if it refuses, takes too long, or is asked no more.
func (w *writing) askInTime(method string, params any, then func(rpc.Message, error)) {
	var limit *time.Timer
	s := w.s
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
	w.abort = func() { giveUp(errStopped) }
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
