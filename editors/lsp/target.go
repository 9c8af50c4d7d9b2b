package lsp

import (
	"fmt"
	"path/filepath"
	"strings"

	"cursord/daemon/paths"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/localfile"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// touched is the user's latest place, as far as requests show it.
type touched struct {
	uri string
	at  *protocol.Range
}

// touch notes the user's place; without a range only the document.
func (s *Server) touch(d *document, at *protocol.Range) {
	if d.workspace == nil {
		return
	}
	if at == nil && s.touched.uri == d.uri {
		return
	}
	s.touched = touched{uri: d.uri, at: at}
	if at != nil {
		d.workspace.at = location{uri: d.uri, line: at.Start.Line}
		d.at = at.Start.Line
	}
}

// folderAt returns the folder with a path; nil if there is none.
func (s *Server) folderAt(path string) *workspace {
	for _, w := range s.folders {
		if w.path == path || w.named == path {
			return w
		}
	}
	return nil
}

// folderOf returns the folder of a command.
func (s *Server) folderOf(t *target) (*workspace, error) {
	if t.Workspace != "" {
		path, err := paths.Local(t.Workspace)
		if err == nil {
			if w := s.folderAt(path); w != nil {
				return w, nil
			}
		}
		return nil, protocol.Invalid("workspace", t.Workspace+" is not open here")
	}
	if t.URI != "" {
		if w, _ := s.locate(t.URI); w != nil {
			return w, nil
		}
		if w := s.stateFolder(t.URI); w != nil {
			return w, nil
		}
	}
	if t.Path != "" {
		if w, _ := s.pathURI(t.Path); w != nil {
			return w, nil
		}
	}
	if d := s.docs[s.touched.uri]; d != nil && d.workspace != nil {
		return d.workspace, nil
	}
	if len(s.folders) == 0 {
		return nil, &rpc.Error{Code: codeRequestFailed, Message: "no folder is open: open a file of the project first"}
	}
	return s.folders[len(s.folders)-1], nil
}

// fileOf returns the folder of a file and its path there. name is written by a person or an editor: absolute, below "~", or
// relative to a folder or to the directory in which the editor was started.
func (s *Server) fileOf(name string) (*workspace, string) {
	name = localfile.AtHome(name)
	if strings.HasPrefix(name, "file:") {
		return s.locate(name)
	}
	if filepath.IsAbs(name) {
		return s.locate(paths.URI(name))
	}
	clean := filepath.ToSlash(filepath.Clean(name))
	switch open := s.openAs(clean); {
	case len(open) == 1:
		return open[0].workspace, open[0].path
	case len(open) > 1:
		return nil, "" // it cannot be told which
	}
	for _, w := range s.folders {
		if w.diffs[clean] != nil || w.hasFile(clean) {
			return w, clean
		}
	}
	return nil, ""
}

// openAs returns the open documents that an editor may mean by a name, wherever it was started: in a folder, within or above it.
func (s *Server) openAs(name string) (open []*document) {
	for _, d := range s.docs {
		if d.workspace != nil && localfile.MayBe(d.path, name) {
			open = append(open, d)
		}
	}
	return open
}

// pathURI returns the folder and the URI of a file: one in the folder, or one of those that editors are shown for it.
func (s *Server) pathURI(name string) (*workspace, string) {
	if w, file := s.fileOf(name); w != nil {
		return w, s.uriOf(w, file)
	}
	if strings.HasPrefix(name, "file:") {
		return s.stateFolder(name), name
	}
	file := localfile.AtHome(name)
	if !filepath.IsAbs(file) {
		return nil, ""
	}
	uri := paths.URI(filepath.Clean(file))
	w := s.stateFolder(uri)
	if w != nil {
		uri = paths.URI(filepath.Join(s.stateFolderOf(w), filepath.Base(file))) // as the editor was given it
	}
	return w, uri
}

// locationOf returns the location of a command: that of its argument, else the user's latest one.
func (s *Server) locationOf(w *workspace, t *target) (location, error) {
	at := w.at
	switch {
	case t.URI != "":
		at = location{uri: t.URI}
	case t.Path != "":
		in, uri := s.pathURI(t.Path)
		if n := len(s.openAs(t.Path)); in == nil && n > 1 {
			return location{}, protocol.Invalid("path", fmt.Sprintf("%s is the name of %d open files: %s", t.Path, n, s.client.ToName()))
		} else if in == nil {
			return location{}, protocol.Invalid("path", t.Path+" is in no folder that is open")
		}
		at = location{uri: uri}
	}
	if t.Line > 0 {
		at.line = t.Line - 1
	} else if t.Range != nil {
		at.line = t.Range.Start.Line
	}
	if d := s.docs[at.uri]; d != nil {
		at.line = min(at.line, max(d.text.CountLines()-1, 0)) // some cursors go behind the last line end
	}
	return at, nil
}

// A chooser returns the hunks of a command.
type chooser func(s *Server, w *workspace, t *target) ([]string, error)

// choose returns a target's folder and the hunks that a chooser finds there. It shows the chooser's error.
func (s *Server) choose(t *target, by chooser) (*workspace, []string, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, nil, err
	}
	found, err := by(s, w, t)
	if err != nil {
		return nil, nil, s.shown(err)
	}
	return w, found, nil
}

// atTarget returns the named hunks, or the one at the command's place.
func atTarget(s *Server, w *workspace, t *target) ([]string, error) {
	if len(t.Hunks) > 0 {
		return t.Hunks, nil
	}
	at, err := s.locationOf(w, t)
	if err != nil {
		return nil, err
	}
	for _, p := range s.placedAt(w, at.uri) {
		if r := p.LineRange(s.client.Encoding); r.Start.Line <= at.line && r.End.Line >= at.line {
			return []string{p.Hunk.ID}, nil
		}
	}
	return nil, &rpc.Error{Code: codeRequestFailed, Message: "no hunk here: " + s.client.Key("next") + " goes to one"}
}

// maxMenus bounds the menus whose hunks are kept.
const maxMenus = 100

// count keeps the hunks that the title of a menu's command counts, and returns a number for the command to name them: more
// hunks may come before it is chosen.
func (s *Server) count(w *workspace, ids []string) int {
	s.menus++
	delete(w.counted, s.menus-maxMenus)
	w.counted[s.menus] = ids
	return s.menus
}

// countedBy returns the hunks that a menu has counted, without those that are gone; false if the command is not from a menu.
func countedBy(w *workspace, t *target) (left []string, ok bool, err error) {
	if t.Counted == 0 {
		return nil, false, nil
	}
	for _, id := range w.counted[t.Counted] {
		if hunks.Find(w.diffs, id) != nil {
			left = append(left, id)
		}
	}
	if len(left) == 0 {
		err = &rpc.Error{Code: codeRequestFailed, Message: "none of these hunks is left: ask for the actions again"}
	}
	return left, true, err
}

// left returns the pending hunks and the number of their files.
func (w *workspace) left() (all []string, files int) {
	for _, path := range w.paths() {
		for _, h := range w.diffs[path].Hunks {
			all = append(all, h.ID)
		}
		files++
	}
	return all, files
}

// coming returns the number of pending hunks, with those that are about to come into unsaved documents, and that of their files.
func (w *workspace) coming() (n, files int) {
	all, files := w.left()
	n = len(all)
	for path, more := range w.mergeable {
		if n += more; w.diffs[path] == nil {
			files++
		}
	}
	return n, files
}

func inFile(s *Server, w *workspace, t *target) ([]string, error) {
	if left, ok, err := countedBy(w, t); ok {
		return left, err
	}
	file := t.Path
	if w.diffs[t.Path] == nil || t.Workspace == "" { // it is as an editor names it
		at, err := s.locationOf(w, t)
		if err != nil {
			return nil, err
		}
		if _, file = s.locate(at.uri); file == "" {
			for _, p := range s.placedAt(w, at.uri) {
				if r := p.LineRange(s.client.Encoding); r.Start.Line <= at.line && r.End.Line >= at.line {
					file = p.Diff.Path
				}
			}
		}
	}
	d := w.diffs[file]
	if d == nil {
		return nil, &rpc.Error{Code: codeRequestFailed, Message: "nothing to review in this file"}
	}
	return hunks.IDs(hunks.Pointers(d.Hunks)), nil
}

func everywhere(_ *Server, w *workspace, t *target) (all []string, _ error) {
	if left, ok, err := countedBy(w, t); ok {
		return left, err
	}
	for _, path := range w.paths() {
		all = append(all, hunks.IDs(hunks.Pointers(w.diffs[path].Hunks))...)
	}
	if len(all) == 0 {
		return nil, &rpc.Error{Code: codeRequestFailed, Message: "nothing to review"}
	}
	return all, nil
}
