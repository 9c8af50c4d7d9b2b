package lsp

import (
	"cmp"
	"slices"

	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// LSP has no such requests. They are for editors that show two texts side by side.

type changesParams struct {
	Workspace string `json:"workspace,omitempty"` // a path or URI; "": all folders
}

type changesResult struct {
	Files []changedFile `json:"files"`
}

// A changedFile is a file with pending hunks.
type changedFile struct {
	Workspace string `json:"workspace"`
	URI       string `json:"uri"` // as the editor writes it
	Path      string `json:"path"`
	Kind      string `json:"kind"` // a sessions.DiffKind
	Hunks     int    `json:"hunks"`
	Added     int    `json:"added"`
	Removed   int    `json:"removed"`
}

// changes lists the files with pending hunks, by folder and path.
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

// fileNow returns the path that a file under review has, or had, in the work tree.
func fileNow(d *sessions.Diff) string {
	if d.OldPath != "" && slices.ContainsFunc(d.Hunks, func(h sessions.Hunk) bool { return h.Isolated }) {
		return d.OldPath
	}
	return d.Path
}

// A comparison has both sides of a file: before the agent and after. A side that is null is the file as the editor has it.
type comparison struct {
	URI    string              `json:"uri"`
	Path   string              `json:"path"`
	Before *string             `json:"before"`
	After  *string             `json:"after"`
	Lenses []protocol.CodeLens `json:"lenses"` // the decisions, at lines of After
}

// compare returns both sides of a file under review; null for another file.
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

// A status counts a folder's turns and pending hunks. Editors with the initialization option status are sent it.
type status struct {
	Workspace string `json:"workspace"`
	Running   int    `json:"running"` // turns that have not ended
	Files     int    `json:"files"`   // with pending hunks
	Hunks     int    `json:"hunks"`
}

// tellStatus sends a folder's status in a moment, also if it may be the same as before.
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
