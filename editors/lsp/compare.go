package lsp

import (
	"cmp"
	"slices"

	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// The requests below are not LSP's: they are for editors that show two texts side by side.

type changesParams struct {
	Workspace string `json:"workspace,omitempty"` // a path or URI; "": all folders
}

type changesResult struct {
	Files []changedFile `json:"files"`
}

// A changedFile is a file with something to review.
type changedFile struct {
	Workspace string `json:"workspace"`
	URI       string `json:"uri"` // as the editor names it
	Path      string `json:"path"`
	Kind      string `json:"kind"` // of sessions.DiffKind
	Hunks     int    `json:"hunks"`
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
}

// changes lists the files with something to review, by folders and paths.
func (s *Server) changes(p *changesParams) (changesResult, error) {
	folders := slices.SortedFunc(slices.Values(s.folders), func(a, b *workspace) int { return cmp.Compare(a.path, b.path) })
	if p.Workspace != "" {
		w, err := s.folderOf(&target{Workspace: p.Workspace})
		if err != nil {
			return changesResult{}, err
		}
		folders = []*workspace{w}
	}
	result := changesResult{Files: []changedFile{}}
	for _, w := range folders {
		for _, path := range w.paths() {
			d := w.diffs[path]
			result.Files = append(result.Files, changedFile{
				Workspace: w.path, URI: s.uriOf(w, fileNow(d)), Path: d.Path, Kind: string(d.Kind),
				Hunks: len(d.Hunks), Added: d.Added, Removed: d.Removed,
			})
		}
	}
	return result, nil
}

// fileNow returns the path at which a file under review is in the work tree, or was.
func fileNow(d *sessions.Diff) string {
	if d.OldPath != "" && slices.ContainsFunc(d.Hunks, func(h sessions.Hunk) bool { return h.Isolated }) {
		return d.OldPath
	}
	return d.Path
}

// A comparison is what was before the agent and what it made, of one file. A side that is null is the file itself, as the
// editor has it.
type comparison struct {
	URI    string              `json:"uri"`
	Path   string              `json:"path"`
	Before *string             `json:"before"`
	After  *string             `json:"after"`
	Lenses []protocol.CodeLens `json:"lenses"` // the decisions, at lines of the side after
}

// compare returns both sides of a file under review; null if nothing of it is.
func (s *Server) compare(p *protocol.DocumentParams) (*comparison, error) {
	w, path := s.locate(p.TextDocument.URI)
	if w == nil {
		return nil, nil
	}
	for _, d := range w.diffs {
		if d.Path == path || fileNow(d) == path {
			return s.comparisonOf(w, d), nil
		}
	}
	return nil, nil
}

func (s *Server) comparisonOf(w *workspace, d *sessions.Diff) *comparison {
	file := fileNow(d)
	c := &comparison{URI: s.uriOf(w, file), Path: d.Path, Lenses: []protocol.CodeLens{}}
	var base *protocol.Text
	if doc := s.docAt(w, file); doc != nil {
		base = doc.text
	} else if content, ok := w.readFile(file); ok {
		base = protocol.NewText(content)
	}
	list := s.place(w, d)
	before, after := hunks.BothSides(base, list, func(p *hunks.Placed, line int) {
		c.Lenses = append(c.Lenses, lensesOf(w, p, line)...)
	})
	if base == nil || before != hunks.WithoutMark(base.Content) {
		c.Before = &before
	}
	if base == nil || after != hunks.WithoutMark(base.Content) {
		c.After = &after
	}
	return c
}

// A status is what an editor that has asked for it, by the initialization option status, is told of a folder.
type status struct {
	Workspace string `json:"workspace"`
	Running   int    `json:"running"` // turns
	Files     int    `json:"files"`   // with something to review
	Hunks     int    `json:"hunks"`
}

// tellStatus tells of a folder's state, in a moment. It does so whenever something may have changed, be it that the counts are
// the same.
func (s *Server) tellStatus(w *workspace) {
	if !s.client.Settings.Status || w.telling {
		return
	}
	w.telling = true
	s.after(refreshPause, func() {
		w.telling = false
		if !w.closed {
			hunks, files := w.left()
			s.tell("status "+w.path, "cursord/status", status{Workspace: w.path, Running: len(w.running), Files: files, Hunks: len(hunks)})
		}
	})
}
