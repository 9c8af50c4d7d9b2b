package lsp

import (
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"cursord/daemon/paths"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/localfile"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// tellPause is how long the user's typing is gathered before the daemon gets the text, which is always the whole one.
const tellPause = 100 * time.Millisecond

// A document is a text that the editor has open.
type document struct {
	uri       string
	workspace *workspace // nil if it is in none
	path      string     // in the workspace
	version   int
	text      *protocol.Text
	saved     string // the text when it was last opened, loaded or saved
	loaded    bool   // the file has had the text, which the editor has loaded or saved

	sent    bool   // the daemon knows that it is open
	unsent  bool   // the daemon does not have its latest text
	lacks   bool   // an agent changed lines on disk that it does not have, and a message has said so
	merging bool   // changes of its file are on their way into it
	hinted  uint64 // the sum of the file's content for which a message said that the document is older; 0: none did
	hinting bool   // it is about to be compared with the file
	clashes int    // hunks in conflict that a message has counted
	over    int    // hunks in conflict when it was saved, until the daemon has taken in the save
	waiting *time.Timer
	listing bool // its hunks are about to be published again
	at      int  // the line of the user's latest place in it, as far as it is known

	places     map[string]map[string]hunks.Mark // places of hunks, by the path of their diff and the hunk's id
	since      []hunks.LineEdit                 // edits since the version for which the daemon said the places
	placing    bool                             // the daemon is being asked for places
	placeAgain bool                             // it must be asked again after that
	arrives    func()                           // called at the next change: edits wait for it
}

func (s *Server) didOpen(p *protocol.DidOpenParams) {
	t := p.TextDocument
	d := &document{uri: t.URI, version: t.Version, text: protocol.NewText(t.Text), saved: t.Text}
	d.workspace, d.path = s.locate(t.URI)
	if d.workspace == nil && len(s.folders) == 0 {
		s.adopt(d)
	}
	d.loaded = d.workspace != nil && d.isOnDisk()
	s.docs[t.URI] = d
	s.touch(d, nil)
	s.tellDaemon(d)
	s.republish(d)
	s.viewShown(d, true)
}

// viewShown updates the list of all hunks when the editor opens or closes it. An open transcript gets what the editor had not loaded; a
// closed one is not followed.
func (s *Server) viewShown(d *document, open bool) {
	w := s.stateFolder(d.uri)
	switch {
	case w == nil:
	case d.uri == s.reviewURI(w):
		s.reviewSoon(w)
	case !strings.HasSuffix(d.uri, "/"+transcriptFile) || w.transcript == nil:
	case !open:
		w.transcript = nil
	case s.client.Settings.LiveTranscript && d.text.Content != w.transcript.text:
		s.showFollowed(w, w.transcript)
	}
}

func (s *Server) didChange(p *protocol.DidChangeParams) {
	d, version := s.docs[p.TextDocument.URI], p.TextDocument.Version
	if d == nil || version != nil && *version < d.version && s.client.ChangesOvertake() {
		return
	}
	if d.version++; version != nil {
		d.version = *version
	}
	was := d.text.Content
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			now := protocol.NewText(c.Text)
			d.typed(hunks.LinesBetween(d.text, now))
			d.text = now
		} else {
			d.typed(hunks.LinesOfEdit(d.text, *c.Range, s.client.Encoding, c.Text))
			d.text = d.text.Edit(*c.Range, s.client.Encoding, c.Text)
		}
	}
	if d.loaded = d.workspace != nil && d.workspace.diffs[d.path] != nil && d.isOnDisk(); d.loaded {
		d.saved = d.text.Content // the editor loaded the file
	} else if s.applying == 0 {
		s.typing.Typed()
	}
	if d.workspace == nil {
		s.listChanged(d, was)
	} else {
		s.hintOldText(d)
	}
	s.touch(d, nil)
	s.tellSoon(d)
	s.republishSoon(d)
	if then := d.arrives; then != nil {
		d.arrives = nil
		then()
	}
}

func (s *Server) didSave(p *protocol.DidSaveParams) {
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return
	}
	if p.Text != nil && *p.Text != d.text.Content {
		now := protocol.NewText(*p.Text)
		d.typed(hunks.LinesBetween(d.text, now))
		d.text = now
	}
	d.saved, d.hinted, d.loaded = d.text.Content, 0, true
	if s.savedPrompt(d) || s.savedSessions(d) || d.workspace == nil {
		return
	}
	d.over = hunks.Conflicts(d.workspace.diffs[d.path])
	if !d.sent {
		s.flush(d)
	} else {
		// A text that the daemon got only now would equal the file, like a text that the editor has loaded. A version that is new
		// to the daemon says that the file has the user's text.
		d.unsent = false
		s.notifyDaemon("document/didSave", rpc.DidSaveParams{URI: d.uri, Version: &d.version})
		s.askPlacesIn(d)
	}
	s.republish(d)
}

func (s *Server) didClose(p *protocol.DocumentParams) {
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return
	}
	if d.waiting != nil {
		d.waiting.Stop()
	}
	delete(s.docs, d.uri)
	s.closedPrompt(d)
	s.viewShown(d, false)
	if d.sent {
		s.notifyDaemon("document/didClose", rpc.DidCloseParams{URI: d.uri})
	}
	if d.workspace != nil {
		s.republish(d)
		s.remind(d.workspace)
	}
}

// didChangeWatchedFiles names open files under review that the editor may still show as they were. Editors that watch files
// anyway send this notification; it is not registered, because the daemon watches files.
func (s *Server) didChangeWatchedFiles(p *protocol.WatchedFilesParams) {
	for _, c := range p.Changes {
		if d := s.docs[c.URI]; d != nil && d.workspace != nil && d.workspace.diffs[d.path] != nil {
			s.hintStale(d.workspace)
		}
	}
}

// tellDaemon sends the daemon a document that it does not have.
func (s *Server) tellDaemon(d *document) {
	if d.workspace == nil || s.daemon == nil {
		return
	}
	version, text := d.version, &d.text.Content
	if !d.sent && d.unsavedText() && version > 0 {
		version, text = version-1, &d.saved // from it the daemon knows on which lines of the file the user's changes are
	}
	s.notifyDaemon("document/didOpen", rpc.DidOpenParams{URI: d.uri, Version: version, Text: text, Saved: d.loaded})
	if version < d.version {
		s.notifyDaemon("document/didChange", rpc.DidChangeParams{URI: d.uri, Version: d.version, Text: d.text.Content})
	}
	d.sent, d.unsent = true, false
	s.askPlacesIn(d)
}

// askPlacesIn asks the daemon for the places of hunks in a document whose text it has.
func (s *Server) askPlacesIn(d *document) {
	for _, diff := range d.workspace.diffs {
		if diff.Path == d.path || diff.OldPath == d.path {
			s.askPlaces(d.workspace, diff)
		}
	}
}

// tellSoon sends the daemon the latest text of a document in a moment.
func (s *Server) tellSoon(d *document) {
	if d.workspace == nil {
		return
	}
	d.unsent = true
	if d.waiting == nil {
		d.waiting = s.after(tellPause, func() {
			d.waiting = nil
			if s.docs[d.uri] == d {
				s.flush(d)
			}
		})
	}
}

// flush sends the daemon the latest text of a document, unless it has it.
func (s *Server) flush(d *document) {
	if !d.unsent || d.workspace == nil {
		return
	}
	if !d.sent {
		s.tellDaemon(d)
		return
	}
	d.unsent = false
	s.notifyDaemon("document/didChange", rpc.DidChangeParams{URI: d.uri, Version: d.version, Text: d.text.Content, Saved: d.loaded})
	s.askPlacesIn(d)
}

// flushAll sends the daemon all latest texts. Requests that depend on them come after it.
func (s *Server) flushAll() {
	for _, d := range s.docs {
		s.flush(d)
	}
}

func (s *Server) notifyDaemon(method string, params any) {
	if s.daemon != nil {
		// After an error the link ends, and the next one sends all documents.
		_ = s.daemon.client.Notify(method, params)
	}
}

// isOnDisk reports whether a document of a workspace has the text of its file.
func (d *document) isOnDisk() bool {
	info, err := os.Lstat(paths.Absolute(d.workspace.path, d.path))
	if more := strings.Count(d.text.Content, "\n") + len(protocol.ByteOrderMark); err != nil || info.Size() < int64(len(d.text.Content)-more) || info.Size() > int64(len(d.text.Content)+more) {
		return false
	}
	disk, ok := d.workspace.readFile(d.path)
	return ok && localfile.SameText(d.text.Content, disk) && (d.text.Content == disk || !strings.Contains(d.saved, "\r")) // else it has lost its CRs
}

// merge brings changes on disk, an agent's or another program's, into the unsaved document of that file, as one step of the editor's undo.
func (s *Server) merge(w *workspace, diff *sessions.Diff) {
	d := s.docAt(w, diff.Path)
	if diff.Mergeable == 0 || d == nil || d.merging || d.unsent || !s.client.ApplyEdit {
		return
	}
	d.merging, d.clashes = true, hunks.Conflicts(diff)
	call(s, "diff/merge", rpc.MergeParams{Workspace: w.path, Path: diff.Path}, func(done rpc.UndoResult, err error) {
		if err != nil || len(done.Edits) == 0 {
			d.merging = false // the next change offers it again
			return
		}
		s.applyEdits(w, done.Edits, func(failure string) {
			if d.merging = false; failure == "" {
				d.hinted = 0 // the text is not older than the file any more
				overlaps := slices.ContainsFunc(done.Diffs, func(one *sessions.Diff) bool { return one.Overlaps > 0 })
				s.show(levelInfo, "cursord: %s", s.client.Merged(path.Base(diff.Path), d.clashes, overlaps))
			}
		})
	})
}

// unsavedText reports whether a document has unsaved changes.
func (d *document) unsavedText() bool { return d.text.Content != d.saved }
