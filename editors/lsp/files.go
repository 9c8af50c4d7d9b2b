package lsp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"cursord/daemon"
	"cursord/rpc"
)

// The files that editors are shown are in a folder of each workspace's below the state's.
const (
	reviewFile     = "review.diff"
	sessionsFile   = "SESSIONS.md"
	transcriptFile = "chat.md"
	ownerFile      = "workspace"
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
	if err := os.WriteFile(filepath.Join(dir, ownerFile), []byte(w.path+"\n"), 0o600); err != nil {
		return "", err
	}
	return filepath.Join(dir, name), nil
}

// stateFolder returns the workspace whose file a URI is; nil if it is none of those. An editor may have another server
// serve such a file than the one that made it.
func (s *Server) stateFolder(uri string) *workspace {
	file, err := daemon.LocalPath(uri)
	if err != nil {
		return nil
	}
	dir := filepath.Dir(file)
	if filepath.Base(filepath.Dir(dir)) != "lsp" {
		return nil
	}
	for _, w := range s.folders {
		if own := s.stateFolderOf(w); dir == own || dir == resolveDirs(own) {
			return w
		}
	}
	if parent := filepath.Dir(filepath.Dir(dir)); parent != s.opts.StateDir && resolveDirs(filepath.Join(s.opts.StateDir, "x")) != filepath.Join(parent, "x") {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, ownerFile))
	if err != nil {
		return nil
	}
	return s.addFolder(daemon.FileURI(strings.TrimSuffix(string(b), "\n")))
}

// open has the editor show a file at a place.
func (s *Server) open(uri string, at *Range) {
	params := showDocumentParams{URI: uri, TakeFocus: true, Selection: at}
	// Some editors do it, and do not say so.
	s.ask("window/showDocument", params, func(m rpc.Message) {
		var result struct{ Success bool }
		if e := failedAnswer(m); e == nil && decode(m.Result, &result) && result.Success {
			return
		}
		file, err := daemon.LocalPath(uri)
		if err != nil {
			file = uri
		}
		if at != nil {
			file += fmt.Sprintf(":%d", at.Start.Line+1)
		}
		s.show(levelInfo, "cursord: see %s", file)
	})
}

// write makes one of a workspace's files hold something, and has the editor show it.
func (s *Server) write(w *workspace, name, content string, at *Range) error {
	file, err := s.stateFile(w, name)
	if err != nil {
		return s.shown(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		return s.shown(err)
	}
	uri := daemon.FileURI(file)
	d := s.docs[uri]
	if d == nil || d.text.s == content || !s.client.applyEdit {
		s.open(uri, at)
		return nil
	}
	e := s.newEdits()
	e.add(uri, textEdit{Range: d.text.span(0, len(d.text.s), s.client.encoding), NewText: content})
	s.apply(name, e.workspaceEdit(), func(string) { s.open(uri, at) })
	return nil
}

// reviewURI returns where all that is to review in a folder can be read.
func (s *Server) reviewURI(w *workspace) string {
	return daemon.FileURI(filepath.Join(s.stateFolderOf(w), reviewFile))
}

// reviewText returns all that is to review in a folder as a patch, and for each file the line where its part begins.
func reviewText(w *workspace) (string, map[string]int) {
	var b strings.Builder
	at := map[string]int{}
	for _, path := range w.paths() {
		d := w.diffs[path]
		at[path] = strings.Count(b.String(), "\n")
		old := d.OldPath
		if old == "" {
			old = d.Path
		}
		fmt.Fprintf(&b, "diff --cursord a/%s b/%s\n", old, d.Path)
		for i, h := range d.Hunks {
			if h.Kind != "text" {
				fmt.Fprintf(&b, "# %d/%d %s\n", i+1, len(d.Hunks), summary(d, &d.Hunks[i]))
			}
			if len(h.Lines) == 0 {
				continue
			}
			fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@ %s\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.ID)
			for _, line := range h.Lines {
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String(), at
}

// writeReview brings the file up to date, for the hunks that are shown in it.
func (s *Server) writeReview(w *workspace) {
	text, _ := reviewText(w)
	file, err := s.stateFile(w, reviewFile)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		s.opts.Log.Warn("the list of changes cannot be written", "err", err)
	}
}

// placedInReview returns the hunks that are shown in the file that lists all, because they have no file of their own.
func (s *Server) placedInReview(w *workspace) (all []placed) {
	uri := s.reviewURI(w)
	_, at := reviewText(w)
	for _, path := range w.paths() {
		for _, p := range s.place(w, w.diffs[path]) {
			if p.uri == uri {
				p.from, p.to, p.text = at[path], at[path]+1, nil
				all = append(all, p)
			}
		}
	}
	return all
}

func (s *Server) diffCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	text, at := reviewText(w)
	if text == "" {
		s.show(levelInfo, "cursord: nothing to review")
		return nil, nil
	}
	line := 0
	if d := s.docs[s.touched.uri]; d != nil && d.workspace == w {
		line = at[d.path]
	}
	return nil, s.write(w, reviewFile, text, &Range{Start: Position{Line: line}, End: Position{Line: line}})
}

// transcriptCommand writes what was said in a session, and shows its end.
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
		s.show(levelInfo, "cursord: no session yet: cursord.ask begins one")
		return nil, nil
	}
	l := s.daemon
	go func() {
		b, err := s.opts.Transcript(l.ctx, l.client, id)
		s.post(func() {
			if err != nil {
				s.complain(err)
				return
			}
			line := max(strings.Count(string(b), "\n")-1, 0)
			_ = s.write(w, transcriptFile, string(b), &Range{Start: Position{Line: line}, End: Position{Line: line}}) // it is told
		})
	}()
	return nil, nil
}

// latestSession returns the session that the next prompt goes to, else the one that was used last.
func (w *workspace) latestSession() string {
	if w.session != "" {
		return w.session
	}
	latest := ""
	for id, one := range w.sessions {
		if latest == "" || one.UpdatedAt.After(w.sessions[latest].UpdatedAt.Time) {
			latest = id
		}
	}
	return latest
}

// resumeCommand goes on with a session, or shows those that there are.
func (s *Server) resumeCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	if t.Session != "" {
		call(s, "session/read", rpc.SessionReadParams{SessionID: t.Session, Limit: 1}, func(read struct {
			Session struct{ ID, Workspace, Title string }
		}, err error) {
			if err != nil {
				s.complain(err)
				return
			}
			in := s.folderAt(read.Session.Workspace)
			if in == nil {
				s.show(levelWarning, "cursord: that session is of %s, which is not open here", read.Session.Workspace)
				return
			}
			in.session = read.Session.ID
			s.show(levelInfo, "cursord: the next prompt goes to session %s", cut(read.Session.Title, 60))
		})
		return nil, nil
	}
	call(s, "session/list", rpc.SessionListParams{Workspace: w.path, Limit: 100}, func(list rpc.SessionList, err error) {
		if err != nil {
			s.complain(err)
			return
		}
		if len(list.Sessions) == 0 {
			s.show(levelInfo, "cursord: no session yet: cursord.ask begins one")
			return
		}
		var b strings.Builder
		b.WriteString("# Sessions\n\nA code action on a line (in Helix: space a) goes on with that session, or opens what was said.\n\n")
		first := strings.Count(b.String(), "\n")
		for _, one := range list.Sessions {
			w.sessions[one.ID] = one
			mark := " "
			if one.ID == w.session {
				mark = "*"
			}
			title := cut(one.Title, 60)
			if title == "" {
				title = "(no title)"
			}
			fmt.Fprintf(&b, "-%s%s · %s · %s · %s\n", mark, title, one.UpdatedAt.Local().Format("2006-01-02 15:04"), number(one.Turns, "turn"), one.ID)
		}
		_ = s.write(w, sessionsFile, b.String(), &Range{Start: Position{Line: first}, End: Position{Line: first}}) // it is told
	})
	return nil, nil
}

// sessionActions returns what can be done about a line in the list of sessions; false for other documents.
func (s *Server) sessionActions(d *document, r Range) ([]codeAction, bool) {
	if d == nil || !strings.HasSuffix(d.uri, "/"+sessionsFile) {
		return nil, false
	}
	w := s.stateFolder(d.uri)
	if w == nil {
		return nil, false
	}
	line := d.text.line(d.text.lineAt(r.Start, s.client.encoding))
	fields := strings.Fields(line)
	if !strings.HasPrefix(line, "-") || len(fields) < 2 {
		return nil, true
	}
	t := target{Workspace: w.path, Session: fields[len(fields)-1]}
	return []codeAction{
		{Title: "Resume this session", Kind: kindQuickFix, IsPreferred: true, Command: commandOf("Resume this session", commandResume, t)},
		{Title: "Open its transcript", Kind: kindQuickFix, Command: commandOf("Open its transcript", commandTranscript, t)},
	}, true
}

// hunkPlace is where next and prev go.
type hunkPlace struct {
	path string
	line int
	p    placed
}

// goTo shows the next hunk, or the one before, across files.
func (s *Server) goTo(t *target, step int) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	at, err := s.spotOf(w, t)
	if err != nil {
		return nil, err
	}
	var all []hunkPlace
	for _, path := range w.paths() {
		for _, p := range s.place(w, w.diffs[path]) {
			if !p.isDone() {
				all = append(all, hunkPlace{path: p.uri, line: p.lineRange(s.client.encoding).Start.Line, p: p})
			}
		}
	}
	if len(all) == 0 {
		s.show(levelInfo, "cursord: nothing to review")
		return nil, nil
	}
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].path != all[j].path {
			return all[i].path < all[j].path
		}
		return all[i].line < all[j].line
	})
	here := func(h hunkPlace) int {
		switch {
		case h.path != at.uri:
			return strings.Compare(h.path, at.uri)
		default:
			return h.line - at.line
		}
	}
	i := 0
	if step > 0 {
		if i = sort.Search(len(all), func(i int) bool { return here(all[i]) > 0 }); i == len(all) {
			i = 0
		}
		if at.uri == "" {
			i = 0
		}
	} else if i = sort.Search(len(all), func(i int) bool { return here(all[i]) >= 0 }) - 1; i < 0 {
		i = len(all) - 1
	}
	one := all[i]
	w.at = spot{uri: one.p.uri, line: one.line}
	r := one.p.lineRange(s.client.encoding)
	s.open(one.p.uri, &Range{Start: r.Start, End: r.Start})
	return map[string]any{"uri": one.p.uri, "range": r, "hunk": one.p.hunk.ID}, nil
}
