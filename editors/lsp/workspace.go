package lsp

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/agent/plaintext"
	"cursord/daemon/paths"
	"cursord/editors/lsp/approvals"
	"cursord/editors/lsp/found"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/localfile"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// A workspace is a folder of the editor with its state in the daemon.
type workspace struct {
	path   string // without symlinks, as the daemon writes it
	named  string // as the editor writes it
	closed bool   // the editor has closed it
	heard  bool   // the server has subscribed to it
	seen   bool   // the daemon knows it, if none runs

	known   bool              // its hunks and sessions have been loaded
	waiting []func(error)     // requests that wait for that
	seqs    map[string]uint64 // seqs of the latest diffs, by path

	diffs     map[string]*sessions.Diff // with pending hunks, by path
	sessions  map[string]*sessions.Session
	running   map[string]*progress // turns that have not ended, by id
	asks      approvals.Open       // what agents ask
	reminds   string               // the URI that has the diagnostic of a question that was closed
	mergeable map[string]int       // hunks that are about to come into unsaved documents, by path
	own       map[string]bool      // those of them that this editor started
	prompts   map[string]string    // the first words of prompts, by turn
	lost      string               // the latest of them whose agent had lost the chat
	session   string               // the chosen session for the next prompt
	fresh     bool                 // the next prompt begins a session; else it goes to the latest one
	opening   *prompt              // it is beginning a session, to which the next prompts go
	untrusted []*prompt            // they wait for the answer about trust
	unsent    string               // the latest prompt, if it did not become a turn
	diagnosed map[string]string    // URIs that have diagnostics, and of which file under review; of the list: ""
	shownFor  map[string][]string  // the same, by file
	moved     map[string]string    // where renamed files under review are, by their former paths
	at        location             // the user's latest place, as far as it is known
	visited   location             // the place in the list of all hunks to which next or prev has gone from a file; zero elsewhere

	reviewing  bool          // the list of all hunks is about to be updated
	reviewTook time.Duration // how long the latest update took
	reviewed   time.Time     // when the latest update ended

	telling    bool        // its status is about to be sent
	hinting    bool        // open files are about to be compared with the disk
	hintAgain  bool        // then also files count that were counted before
	transcript *transcript // the open transcript; nil if there is none

	offered found.Files // the transcripts that symbols have named

	files   []string // for completion, as of filesAt
	filesAt time.Time
	listing bool     // files is being made anew
	listed  []func() // requests that wait for files

	counted map[int][]string // the hunks that menus have counted, by the menu's number
	// listedTitles are the titles in the latest list of sessions, by session.
	listedTitles map[string]string

	deciding []func(done func()) // decisions in their order; the first one is being made
	asking   int                 // the number of decisions that the daemon has not answered
	held     []*sessions.Diff    // diffs that came meanwhile
	undone   []string            // titles of what redo makes again, the next one last
	moves    map[string][]string // former paths of files that diffs name, by path
}

// A location is a line of a file.
type location struct {
	uri  string
	line int
}

func (w *workspace) clear() {
	w.moved, w.counted = map[string]string{}, map[int][]string{}
	w.diffs, w.sessions, w.running = map[string]*sessions.Diff{}, map[string]*sessions.Session{}, map[string]*progress{}
	w.opening, w.untrusted = nil, nil
	w.known, w.seqs, w.fresh = false, map[string]uint64{}, false
	w.mergeable, w.asks, w.reminds = map[string]int{}, approvals.Open{}, ""
	w.own, w.prompts = map[string]bool{}, map[string]string{}
	w.transcript = nil
	w.offered.Remove()
	w.session, w.deciding, w.held, w.undone = "", nil, nil, nil
}

// addFolder adds a folder of the editor.
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
	// Inner folders come first.
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

// adopt adds a folder for a document of an editor that has named none: the document's repository, else its directory.
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

// locate returns the folder of a document and its path there; nil if it is in none.
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

// uriOf returns the URI of a file as the editor writes it: as it opened the file, else below its name of the folder.
func (s *Server) uriOf(w *workspace, file string) string {
	if d := s.docAt(w, file); d != nil {
		return d.uri
	}
	return paths.URI(paths.Absolute(w.named, file))
}

// docAt returns the open document of a file; nil if there is none.
func (s *Server) docAt(w *workspace, file string) *document {
	for _, d := range s.docs {
		if d.workspace == w && d.path == file {
			return d
		}
	}
	return nil
}

// diffChanged handles a new state of a file under review.
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
	if w.mergeable[d.Path] = d.Mergeable; d.Mergeable == 0 || !s.client.ApplyEdit {
		delete(w.mergeable, d.Path)
	}
	s.merge(w, d)
	s.publishDiff(w, d)
	if len(d.Hunks) > 0 {
		s.askPlaces(w, d)
	}
	if old != nil {
		s.publishDiff(w, old) // it may have been shown at other places
	}
	s.refresh()
	s.tellStatus(w)
	if len(w.running) == 0 || old != nil && slices.ContainsFunc(hunks.Pointers(old.Hunks), (*sessions.Hunk).Elsewhere) {
		s.hintNewlyStale(w) // somebody may have decided elsewhere; agents that write are followed by the turn's end
	}
	if doc := s.docAt(w, d.Path); doc != nil {
		s.sayConflicts(doc, d)
		disk, ok := w.readFile(d.Path)
		lacks := d.DiskOnly > 0 && !s.client.ApplyEdit && ok && !localfile.SameText(doc.saved, disk) // else the user has removed the lines
		if lacks && !doc.lacks {
			s.show(levelWarning, "cursord: on disk the agent has changed %s of %s that your unsaved buffer lacks – saving it undoes these changes",
				plaintext.Count(d.DiskOnly, "line"), d.Path)
		}
		doc.lacks = lacks
	}
}

// sayConflicts tells the user of new conflicts in a document, and of those that a save has ended.
func (s *Server) sayConflicts(doc *document, d *sessions.Diff) {
	if doc.merging {
		return // the message about the merge counts them
	}
	n := hunks.Conflicts(d)
	switch {
	case n > doc.clashes:
		s.show(levelWarning, "cursord: %s", s.client.AboutConflicts(path.Base(d.Path), n))
	case n < doc.over && !doc.unsavedText():
		s.show(levelWarning, "cursord: %s", s.client.AboutSave(doc.over-n))
		doc.over = 0
	}
	doc.clashes = n
}

func (s *Server) sessionChanged(w *workspace, one *sessions.Session) {
	if one == nil {
		return
	}
	w.sessions[one.ID] = one
}

// diffsOf returns the diffs of a file, also of one that has another name now.
func (w *workspace) diffsOf(file string) (all []*sessions.Diff) {
	if d := w.diffs[file]; d != nil {
		all = append(all, d)
	}
	if now, ok := w.moved[file]; ok && now != file && w.diffs[now] != nil {
		all = append(all, w.diffs[now])
	}
	return all
}

// noteShown notes whether a URI shows diagnostics because of a file.
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

// hasFile reports whether the folder has anything at a path.
func (w *workspace) hasFile(file string) bool {
	if !filepath.IsLocal(filepath.FromSlash(file)) {
		return false
	}
	_, err := os.Lstat(paths.Absolute(w.path, file))
	return err == nil
}

// readFile returns the content of a file of the folder.
func (w *workspace) readFile(file string) (string, bool) {
	return localfile.Read(paths.Absolute(w.path, file), rpc.MaxMessage)
}
