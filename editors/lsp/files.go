package lsp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"cursord/daemon/paths"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// The files that editors are shown are in a folder of each workspace's below the state's.
const (
	reviewFile     = "review.diff"
	sessionsFile   = "SESSIONS.md"
	transcriptFile = "chat.md"
	commentFile    = "COMMENT.md"
)

// stateFolderOf returns the folder of a workspace's files.
func (s *Server) stateFolderOf(w *workspace) string {
	sum := sha256.Sum256([]byte(w.path))
	return filepath.Join(s.opts.StateDir, "lsp", filepath.Base(w.path)+"-"+hex.EncodeToString(sum[:4]))
}

// stateFile returns the path of one of a workspace's files, whose folder it makes.
func (s *Server) stateFile(w *workspace, name string) (string, error) {
	dir := s.stateFolderOf(w)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("%s cannot be made: %w", dir, err)
	}
	return filepath.Join(dir, name), nil
}

// putState makes one of a workspace's files hold something.
func (s *Server) putState(w *workspace, name, text string) error {
	file, err := s.stateFile(w, name)
	if err != nil {
		return err
	}
	return putFile(file, text)
}

// stateFolder returns the workspace whose file a URI is, nil if it is none of those that are open here.
func (s *Server) stateFolder(uri string) *workspace {
	file, err := paths.Local(uri)
	if err != nil {
		return nil
	}
	for _, w := range s.folders {
		if own := s.stateFolderOf(w); filepath.Dir(file) == own || filepath.Dir(file) == filepath.Dir(paths.ResolveDirs(filepath.Join(own, promptFile))) {
			return w
		}
	}
	return nil
}

// open has the editor show a file at a place.
func (s *Server) open(uri string, at *protocol.Range) {
	params := protocol.ShowDocumentParams{URI: uri, TakeFocus: true, Selection: at}
	// Some editors do it, and do not say so.
	s.ask("window/showDocument", params, func(m rpc.Message) {
		var result struct{ Success bool }
		if e := failedAnswer(m); e == nil && decode(m.Result, &result) && result.Success {
			return
		}
		file, err := paths.Local(uri)
		if err != nil {
			file = uri
		}
		if at != nil {
			file += fmt.Sprintf(":%d", at.Start.Line+1)
		}
		s.show(levelInfo, "cursord: see %s", file)
	})
}

// write makes one of a workspace's files hold something, and has the editor show it. Where it shows the file already its document
// is changed, and not the file, which editors then would refuse to save.
func (s *Server) write(w *workspace, name, content string, at *protocol.Range) error {
	file, err := s.stateFile(w, name)
	if err != nil {
		return s.shown(err)
	}
	uri := paths.URI(file)
	d := s.docs[uri]
	if d != nil && d.text.Content == content {
		s.open(uri, at)
		return nil
	}
	if d == nil || !s.client.ApplyEdit || s.client.ReloadsByItself() {
		if err := putFile(file, content); err != nil {
			return s.shown(err)
		}
		s.open(uri, at)
		return nil
	}
	e := s.newEdits()
	e.add(uri, d.text.EditTo(content, s.client.Encoding))
	s.apply(name, e.workspaceEdit(), func(string) { s.open(uri, at) })
	return nil
}
