package lsp

import (
	"strings"
	"time"

	"cursord/daemon/paths"
	"cursord/editors/lsp/localfile"
	"cursord/editors/lsp/protocol"
)

// followPause is the shortest time between writes of a transcript while its session goes on. A transcript that takes long to
// read is written less often.
const followPause = 300 * time.Millisecond

// A transcript is the file of a session's transcript that the user has opened. The file follows the session until the editor
// closes it. Editors that load files again show it; in Helix a command does. With the setting liveTranscript the open
// document follows too, by edits, and then has unsaved changes.
type transcript struct {
	session string
	text    string         // the text of the file
	lines   map[string]int // at which turns and items begin in it, by id
	waiting bool           // it is about to be read
	again   bool           // it must be read once more after that
	same    int            // the number of reads without news since the latest news
	took    time.Duration
}

// transcriptCommand writes a session's transcript and shows its end.
func (s *Server) transcriptCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	id := t.Session
	if id == "" {
		id = w.latestSession()
	}
	if id == "" {
		s.show(levelInfo, "cursord: no session yet: %s begins one", s.client.Key("ask"))
		return nil, nil
	}
	one := &transcript{session: id}
	s.readTranscript(one, func(err error) {
		if err != nil {
			s.complain(err)
			return
		}
		w.transcript = one
		line := max(strings.Count(one.text, "\n")-1, 0)
		_ = s.write(w, transcriptFile, one.text, &protocol.Range{Start: protocol.Position{Line: line}, End: protocol.Position{Line: line}}) // write shows errors
		s.follow(w, id)                                                                                                                     // for news that came meanwhile
	})
	return nil, nil
}

// readTranscript reads the transcript of a session. The loop calls then after it.
func (s *Server) readTranscript(t *transcript, then func(error)) {
	l, begun := s.daemon, time.Now()
	go func() {
		read, err := s.opts.Transcript(s.ctx, l.client, t.session)
		s.post(func() {
			if t.took = time.Since(begun); err == nil {
				t.text, t.lines = read.Text, read.Lines
			}
			then(err)
		})
	}()
}

// sameReads bounds the reads without news: the daemon sends the agent's text before it stores it.
const sameReads = 6

// follow updates the open transcript of a session in a moment.
func (s *Server) follow(w *workspace, session string) {
	t := w.transcript
	if t == nil || t.session != session {
		return
	}
	t.same = 0
	if t.waiting {
		t.again = true
		return
	}
	s.readAgain(w, t)
}

func (s *Server) readAgain(w *workspace, t *transcript) {
	t.waiting = true
	s.after(max(followPause, 10*t.took), func() {
		was := t.text
		t.again = false
		s.readTranscript(t, func(err error) {
			if t.waiting = false; w.transcript != t || w.closed {
				return
			}
			if t.same++; err == nil && t.text != was {
				t.same = 0
				s.showFollowed(w, t)
			}
			if t.again || t.same < sameReads && w.runs(t.session) {
				s.readAgain(w, t)
			}
		})
	})
}

// runs reports whether a turn of a session has not ended.
func (w *workspace) runs(session string) bool {
	for _, p := range w.running {
		if p.session == session {
			return true
		}
	}
	return false
}

func (s *Server) showFollowed(w *workspace, t *transcript) {
	file, err := s.stateFile(w, transcriptFile)
	if err == nil {
		err = localfile.Put(file, t.text)
	}
	if err != nil {
		s.opts.Log.Warn("the transcript cannot be written", "err", err)
	}
	d := s.docs[paths.URI(file)]
	if d == nil || !s.client.Settings.LiveTranscript || !s.client.ApplyEdit {
		return
	}
	same := protocol.CommonPrefix(d.text.Content, t.text)
	e := s.newEdits()
	e.add(d.uri, protocol.TextEdit{Range: d.text.Span(same, len(d.text.Content), s.client.Encoding), NewText: t.text[same:]})
	s.apply(transcriptFile, e.workspaceEdit(), func(string) {}) // the next edit may be taken
}
