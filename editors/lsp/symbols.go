package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/daemon/paths"
	"cursord/editors/lsp/found"
	"cursord/editors/lsp/localfile"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

const (
	maxSymbols    = 10  // of one answer: they stand above those of language servers
	maxTranscript = 10  // the sessions whose transcripts are read for one answer
	searchAtLeast = 300 // places that a search asks for: a session has many, and the answer some of each
	// symbolPatience bounds how long an answer waits for transcripts. Those that come later are there for the next key.
	symbolPatience = 500 * time.Millisecond
)

// symbols returns the sessions and the places in transcripts that have a query; without one, the latest sessions. A symbol is a
// line of a file, so the transcripts of these sessions are written first.
func (s *Server) symbols(p *protocol.SymbolParams) (any, error) {
	none := []protocol.Symbol{}
	w, err := s.folderOf(&target{})
	if err != nil || s.client.Settings.Symbols != nil && !*s.client.Settings.Symbols {
		return none, nil
	}
	return s.whereSeen(w, func(err error) (any, error) {
		if err != nil || s.daemon == nil {
			return none, nil
		}
		id := s.answering
		if strings.TrimSpace(p.Query) == "" {
			var latest []sessions.Match
			for _, one := range w.latestSessions() {
				latest = append(latest, sessions.Match{SessionID: one.ID, Title: one.Title, In: "title"})
			}
			s.answerSymbols(w, id, latest)
			return nil, errLater
		}
		call(s, "search", rpc.SearchParams{Query: p.Query, Workspace: w.path, Limit: searchAtLeast}, func(said rpc.SearchResult, err error) {
			s.answerSymbols(w, id, said.Matches) // of an error, such as that of a query without a word: none
		})
		return nil, errLater
	})
}

// answerSymbols answers a request with matches, of a few sessions each, once their transcripts are written.
func (s *Server) answerSymbols(w *workspace, id []byte, matches []sessions.Match) {
	places := map[string]found.Transcript{}
	left, answered := 0, false
	answer := func() {
		if answered {
			return
		}
		answered = true
		list := []protocol.Symbol{}
		for i := range matches {
			m := &matches[i]
			if t, written := places[m.SessionID]; written && len(list) < maxSymbols {
				at := protocol.Position{Line: t.LineOf(m)}
				list = append(list, found.Symbol(m, protocol.Location{URI: s.offeredURI(w, m.SessionID), Range: protocol.Range{Start: at, End: at}}))
			}
		}
		s.reply(id, list, nil)
	}
	var ids []string
	for i := range matches {
		if one := matches[i].SessionID; !slices.Contains(ids, one) && len(ids) < maxTranscript {
			ids = append(ids, one)
		}
	}
	for _, one := range ids {
		seq, open := w.seqOf(one), s.docs[s.offeredURI(w, one)]
		if t, fresh := w.offered.Read(one, seq); fresh && open == nil && !w.runs(one) {
			places[one] = t
			continue
		}
		left++
		read := &transcript{session: one}
		s.readTranscript(read, func(err error) {
			t := found.Transcript{Text: read.text, Lines: read.lines}
			switch left--; {
			case err != nil || w.closed:
			case open != nil: // and the editor goes on showing its text
				t.Text = open.text.Content
				places[one] = t
			default:
				if err := s.offer(w, one, seq, t); err == nil {
					places[one] = t
				}
			}
			if left == 0 {
				answer()
			}
		})
	}
	if left == 0 {
		answer()
		return
	}
	s.after(symbolPatience, answer)
}

// offer writes the transcript of a session, with its seq, to the file that symbols name.
func (s *Server) offer(w *workspace, session string, seq uint64, t found.Transcript) error {
	dir := s.stateFolderOf(w)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = w.offered.Write(dir, session, seq, t, localfile.Put)
	}
	if err != nil {
		s.opts.Log.Warn("a transcript cannot be written", "err", err)
	}
	return err
}

// seqOf returns the seq of a session's latest change; 0 if it has not changed since the server knows the folder.
func (w *workspace) seqOf(session string) uint64 {
	if one := w.sessions[session]; one != nil {
		return one.Seq
	}
	return 0
}

// isTranscript reports whether a file that the editor was shown is a transcript.
func isTranscript(uri string) bool {
	name := uri[strings.LastIndexByte(uri, '/')+1:]
	return name == transcriptFile || found.IsName(name)
}

func (s *Server) offeredURI(w *workspace, session string) string {
	return paths.URI(filepath.Join(s.stateFolderOf(w), found.Name(session)))
}
