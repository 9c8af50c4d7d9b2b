package lsp

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/agent/plaintext"
	"cursord/daemon/paths"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// A workspace is a folder of the editor's with what the daemon has published of it.
type workspace struct {
	path   string // without symlinks, as the daemon calls it
	named  string // as the editor calls it
	closed bool   // the editor has it no more
	heard  bool   // the daemon tells of it

	known   bool              // what there is to review, and the sessions, have been told of
	waiting []func(error)     // for that
	seqs    map[string]uint64 // of the diffs that were told of, by path

	diffs     map[string]*sessions.Diff // what is pending, by path
	sessions  map[string]*sessions.Session
	running   map[string]*progress // turns that have not ended
	own       map[string]bool      // turns that were begun here and have not ended
	prompts   map[string]string    // the prompts of turns that were heard of, cut, by turn
	session   string               // that the next prompt goes to, if one was chosen
	fresh     bool                 // the next prompt begins a new one; else it goes to the latest
	opening   *prompt              // is about to begin a session, to which the next prompts go
	untrusted []*prompt            // wait for a person's word on trust
	unsent    string               // the last prompt, if it did not become a turn
	diagnosed map[string]string    // URIs that have diagnostics, and of which file under review; of the list: ""
	shownFor  map[string][]string  // the same by the file
	moved     map[string]string    // where the files under review are that were renamed, by where they were
	at        spot                 // where a person was last, as far as that is known

	reviewing  bool          // the list of all hunks is about to be brought up to date
	reviewTook time.Duration // how long that took last
	reviewed   time.Time     // and when it had been

	telling    bool        // its state is about to be told
	hinting    bool        // it is about to be looked which open files are not as on disk
	transcript *transcript // that is open; nil if none is

	files   []string // that can be named in a prompt, as of filesAt
	filesAt time.Time
	listing bool     // they are being listed
	listed  []func() // wait for that

	counted map[int][]string // the hunks that menus have counted, by their numbers
	// listedTitles are the titles in the list of sessions that was opened last, by session.
	listedTitles map[string]string

	deciding []func(done func()) // decisions, one after the other; the first is on its way
	asking   int                 // of them, the daemon has not answered so many
	held     []*sessions.Diff    // came meanwhile
	moves    map[string][]string // from where diffs have said that files have come
}

// A spot is a place in a file.
type spot struct {
	uri  string
	line int
}

func (w *workspace) clear() {
	w.moved, w.counted = map[string]string{}, map[int][]string{}
	w.diffs, w.sessions, w.running = map[string]*sessions.Diff{}, map[string]*sessions.Session{}, map[string]*progress{}
	w.opening, w.untrusted = nil, nil
	w.known, w.seqs, w.fresh = false, map[string]uint64{}, false
	w.own, w.prompts = map[string]bool{}, map[string]string{}
	w.transcript = nil
	w.session, w.deciding, w.held = "", nil, nil
}

// addFolder takes a folder of the editor's.
func (s *Server) addFolder(uri string) *workspace {
	named, err := paths.Local(uri)
	if err != nil {
		s.opts.Log.Warn("a folder that is none of this machine", "uri", uri)
		return nil
	}
	real := named
	if resolved, err := filepath.EvalSymlinks(named); err == nil {
		real = resolved
	}
	for _, w := range s.folders {
		if w.path == real {
			return w
		}
	}
	w := &workspace{path: real, named: named, diagnosed: map[string]string{}, shownFor: map[string][]string{}}
	w.clear()
	s.folders = append(s.folders, w)
	// The innermost first.
	slices.SortStableFunc(s.folders, func(a, b *workspace) int { return cmp.Compare(len(b.path), len(a.path)) })
	for _, d := range s.docs {
		d.workspace, d.path = s.locate(d.uri)
	}
	switch {
	case s.daemon != nil:
		s.trySubscribe(w, firstPause)
	case s.opts.Running != nil && s.phase == serving:
		s.lookForDaemon()
	}
	s.tellStatus(w)
	return w
}

func (s *Server) didChangeFolders(p *protocol.FoldersChange) {
	for _, f := range p.Event.Removed {
		named, err := paths.Local(f.URI)
		if err != nil {
			continue
		}
		i := slices.IndexFunc(s.folders, func(w *workspace) bool { return w.named == named || w.path == named })
		if i < 0 {
			continue
		}
		w := s.folders[i]
		w.closed = true
		s.settle(w, errors.New(w.named+" is not open any more"))
		if s.daemon != nil {
			call(s, "workspace/unsubscribe", rpc.WorkspaceParams{Workspace: w.path}, func(struct{}, error) {})
		}
		s.folders = slices.Delete(s.folders, i, i+1)
		for _, p := range w.running {
			s.endProgress(p, "")
		}
		w.clear()
		s.publishAll(w)
		for _, d := range s.docs {
			d.workspace, d.path = s.locate(d.uri)
		}
	}
	for _, f := range p.Event.Added {
		s.addFolder(f.URI)
	}
}

// adopt makes the folder of a document the editor's, which has named none: that of its repository, else its own.
func (s *Server) adopt(d *document) {
	file, err := paths.Local(d.uri)
	if err != nil || s.stateFolder(d.uri) != nil {
		return
	}
	root := filepath.Dir(file)
	for dir := root; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			root = dir
			break
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	s.addFolder(paths.URI(root))
	d.workspace, d.path = s.locate(d.uri)
}

// locate returns the folder that a document is in, and its path there; nil for one that is in none.
func (s *Server) locate(uri string) (*workspace, string) {
	file, err := paths.Local(uri)
	if err != nil || !strings.HasPrefix(uri, "file:") {
		return nil, ""
	}
	for _, name := range []string{file, paths.ResolveDirs(file)} {
		for _, w := range s.folders {
			for _, root := range []string{w.path, w.named} {
				if rel, inside := paths.Within(root, name); inside {
					return w, rel
				}
			}
		}
	}
	return nil, ""
}

// uriOf returns how the editor names a file: as it did when it opened it, else below its own name of the folder.
func (s *Server) uriOf(w *workspace, file string) string {
	if d := s.docAt(w, file); d != nil {
		return d.uri
	}
	return paths.URI(paths.Absolute(w.named, file))
}

// docAt returns the open document of a file, nil if there is none.
func (s *Server) docAt(w *workspace, file string) *document {
	for _, d := range s.docs {
		if d.workspace == w && d.path == file {
			return d
		}
	}
	return nil
}

// diffChanged takes the state of a file under review.
func (s *Server) diffChanged(w *workspace, d *sessions.Diff) {
	if d == nil {
		return
	}
	if w.asking > 0 {
		w.held = append(w.held, d)
		return
	}
	w.seqs[d.Path] = d.Seq
	old := w.diffs[d.Path]
	if old != nil && old.OldPath != "" {
		delete(w.moved, old.OldPath)
	}
	if d.State == "pending" && d.OldPath != "" {
		w.moved[d.OldPath] = d.Path
	}
	w.noteMove(d)
	if d.State == "pending" && len(d.Hunks) > 0 {
		w.diffs[d.Path] = d
	} else {
		delete(w.diffs, d.Path)
	}
	s.merge(w, d)
	s.publishDiff(w, d)
	if len(d.Hunks) > 0 {
		s.askPlaces(w, d)
	}
	if old != nil {
		s.publishDiff(w, old) // it may have been shown elsewhere
	}
	s.refresh()
	s.tellStatus(w)
	if doc := s.docAt(w, d.Path); doc != nil {
		disk, ok := w.readFile(d.Path)
		lacks := d.DiskOnly > 0 && !s.client.ApplyEdit && ok && !sameText(doc.saved, disk) // else the user has taken the lines out
		if lacks && !doc.lacks {
			s.show(levelWarning, "cursord: the agent has changed %s of %s on disk that your unsaved buffer does not have – a save over it undoes that",
				plaintext.Count(d.DiskOnly, "line"), d.Path)
		}
		doc.lacks = lacks
	}
}

func (s *Server) sessionChanged(w *workspace, one *sessions.Session) {
	if one == nil {
		return
	}
	w.sessions[one.ID] = one
}

// diffsOf returns what is to review in a file, also in one that was there and is under another name now.
func (w *workspace) diffsOf(file string) (all []*sessions.Diff) {
	if d := w.diffs[file]; d != nil {
		all = append(all, d)
	}
	if now, ok := w.moved[file]; ok && now != file && w.diffs[now] != nil {
		all = append(all, w.diffs[now])
	}
	return all
}

// noteShown notes whether something is listed at a URI, because of a file.
func (w *workspace) noteShown(uri, file string, shown bool) {
	if was, ok := w.diagnosed[uri]; ok {
		left := slices.DeleteFunc(w.shownFor[was], func(one string) bool { return one == uri })
		if w.shownFor[was] = left; len(left) == 0 {
			delete(w.shownFor, was)
		}
		delete(w.diagnosed, uri)
	}
	if shown {
		w.diagnosed[uri] = file
		w.shownFor[file] = append(w.shownFor[file], uri)
	}
}

// paths returns the files under review, sorted.
func (w *workspace) paths() []string { return slices.Sorted(maps.Keys(w.diffs)) }

// hasFile reports whether there is something at a path of the folder.
func (w *workspace) hasFile(file string) bool {
	if !filepath.IsLocal(filepath.FromSlash(file)) {
		return false
	}
	_, err := os.Lstat(paths.Absolute(w.path, file))
	return err == nil
}

// readFile returns what is on disk at a path of the folder.
func (w *workspace) readFile(file string) (string, bool) {
	name := paths.Absolute(w.path, file)
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > rpc.MaxMessage {
		return "", false
	}
	b, err := os.ReadFile(name)
	return string(b), err == nil
}
