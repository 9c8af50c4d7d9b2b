package lsp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"cursord/daemon/paths"
	"cursord/editors/lsp/localfile"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// The editor is shown these files. Each workspace has a folder for them below the state folder.
const (
	reviewFile     = "review.diff"
	sessionsFile   = "SESSIONS.md"
	transcriptFile = "chat.md"
	commentFile    = "COMMENT.md"
	questionFile   = "QUESTION.md"
)

// stateFolderOf returns the folder for the files of a workspace.
func (s *Server) stateFolderOf(w *workspace) string {
	sum := sha256.Sum256([]byte(w.path))
	return filepath.Join(s.opts.StateDir, "lsp", filepath.Base(w.path)+"-"+hex.EncodeToString(sum[:4]))
}

// stateFile returns the path of a workspace's file. It makes the folder.
func (s *Server) stateFile(w *workspace, name string) (string, error) {
	dir := s.stateFolderOf(w)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("%s cannot be made: %w", dir, err)
	}
	return filepath.Join(dir, name), nil
}

// putState writes a workspace's file.
func (s *Server) putState(w *workspace, name, text string) error {
	file, err := s.stateFile(w, name)
	if err != nil {
		return err
	}
	return localfile.Put(file, text)
}

// stateFolder returns the workspace to whose files a URI belongs; nil if it belongs to none.
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

// open asks the editor to show a file at a place.
func (s *Server) open(uri string, at *protocol.Range) {
	params := protocol.ShowDocumentParams{URI: uri, TakeFocus: true, Selection: at}
	// Some editors show the file and answer with an error.
	s.ask("window/showDocument", params, func(m rpc.Message) {
		var result struct{ Success bool }
		if e := protocol.Failed(m); e == nil && decode(m.Result, &result) && result.Success {
			return
		}
		file, err := paths.Local(uri)
		if err != nil {
			file = uri
		}
		if at != nil {
			file += fmt.Sprintf(":%d", at.Start.Line+1)
		}
		s.show(levelInfo, "cursord: open %s", file)
	})
}

// write writes a workspace's file and shows it. If the editor has the file open, its document is changed instead: editors
// refuse to save over a file that changed on disk.
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
		if err := localfile.Put(file, content); err != nil {
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
