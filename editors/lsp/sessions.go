package lsp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/editors/lsp/listed"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// latestSession returns the session that was chosen for the next prompt, else the latest one.
func (w *workspace) latestSession() string {
	if w.session != "" {
		return w.session
	}
	if all := w.latestSessions(); len(all) > 0 {
		return all[0].ID
	}
	return ""
}

// latestSessions returns the known sessions, the latest one first.
func (w *workspace) latestSessions() []*sessions.Session {
	return slices.SortedFunc(maps.Values(w.sessions), func(a, b *sessions.Session) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt.Time), strings.Compare(b.ID, a.ID))
	})
}

// resumeCommand chooses the session for the next prompt, or lists the sessions.
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
			in.session, in.opening, in.fresh = read.Session.ID, nil, false
			s.show(levelInfo, "cursord: the next prompt goes to session %s", plaintext.FirstLine(read.Session.Title, 60))
		})
		return nil, nil
	}
	s.listSessions(w)
	return nil, nil
}

// maxListed bounds the number of sessions in the list.
const maxListed = 300

// listSessions opens the list of all sessions: the folder's first, then those of other folders.
func (s *Server) listSessions(w *workspace) {
	call(s, "workspace/list", struct{}{}, func(folders rpc.WorkspaceList, err error) {
		if err != nil {
			s.complain(err)
			return
		}
		call(s, "session/list", rpc.SessionListParams{Limit: maxListed}, func(list rpc.SessionList, err error) {
			if err != nil {
				s.complain(err)
				return
			}
			if len(list.Sessions) == 0 {
				s.show(levelInfo, "cursord: no session yet: %s begins one", s.client.Key("ask"))
				return
			}
			s.countHunks(w, folders.Workspaces, map[string]listed.Hunks{}, func(counts map[string]listed.Hunks) {
				text, first := s.sessionsText(w, counts, list.Sessions)
				_ = s.write(w, sessionsFile, text, &protocol.Range{Start: protocol.Position{Line: first}, End: protocol.Position{Line: first}}) // write shows errors
			})
		})
	})
}

// countHunks calls then with the hunks of folders: those of w as the editor sees them.
func (s *Server) countHunks(w *workspace, folders []api.WorkspaceInfo, counts map[string]listed.Hunks, then func(map[string]listed.Hunks)) {
	i := slices.IndexFunc(folders, func(f api.WorkspaceInfo) bool { return f.PendingHunks > 0 && f.Workspace != w.path })
	if i < 0 {
		counts[w.path] = listed.CountHunks(maps.Values(w.diffs))
		then(counts)
		return
	}
	call(s, "diff/list", rpc.DiffParams{Workspace: folders[i].Workspace}, func(list rpc.DiffList, err error) {
		if counts[folders[i].Workspace] = listed.CountHunks(slices.Values(list.Diffs)); err != nil { // the folder may be gone
			counts[folders[i].Workspace] = listed.Hunks{All: folders[i].PendingHunks}
		}
		s.countHunks(w, folders[i+1:], counts, then)
	})
}

// sessionsText returns the list of sessions and the line of the first session.
func (s *Server) sessionsText(w *workspace, counts map[string]listed.Hunks, list []*sessions.Session) (text string, first int) {
	w.listedTitles = map[string]string{}
	by := map[string][]*sessions.Session{}
	roots := []string{w.path}
	for _, one := range list {
		if w.listedTitles[one.ID] = listed.Title(one.Title); one.Workspace == w.path {
			w.sessions[one.ID] = one
		}
		by[one.Workspace] = append(by[one.Workspace], one)
		if !slices.Contains(roots, one.Workspace) {
			roots = append(roots, one.Workspace)
		}
	}
	var b strings.Builder
	b.WriteString(listed.About)
	for _, root := range roots {
		head := "\n## " + root
		if n := counts[root].All; n > 0 {
			head += fmt.Sprintf(" · %s to review", plaintext.Count(n, "hunk"))
		}
		b.WriteString(head + "\n\n")
		if first == 0 {
			first = strings.Count(b.String(), "\n")
		}
		if len(by[root]) == 0 {
			b.WriteString("None yet.\n")
		}
		for _, one := range by[root] {
			b.WriteString(s.sessionLine(w, one, counts[root].Of[one.ID]) + "\n")
		}
	}
	return b.String(), first
}

// sessionLine returns the line of a session in the list: the title first, the id last.
func (s *Server) sessionLine(w *workspace, one *sessions.Session, hunks int) string {
	mark := ""
	if one.State != sessions.SessionIdle {
		mark = " · " + string(one.State)
	}
	if hunks > 0 {
		mark += " · " + plaintext.Count(hunks, "hunk")
	}
	if one.Workspace == w.path && one.ID == s.nextSession(w) {
		mark += " · goes on here"
	}
	return listed.Line(one, mark)
}

// savedSessions renames the sessions whose titles the user has changed in the list; it returns false for other documents.
func (s *Server) savedSessions(d *document) bool {
	w := s.sessionsListed(d)
	if w == nil {
		return false
	}
	renamed, damaged := listed.Renamed(d.text.Content, w.listedTitles)
	for id, title := range renamed {
		w.listedTitles[id] = title
		call(s, "session/update", rpc.SessionUpdateParams{SessionID: id, Title: &title}, func(_ rpc.SessionResult, err error) {
			if err != nil {
				s.complain(err)
				return
			}
			s.show(levelInfo, "cursord: the session is called “%s” now", title)
		})
	}
	if damaged > 0 {
		s.show(levelWarning, `cursord: %s not read: a session's line begins with "- "`, plaintext.Count(damaged, "line"))
	}
	return true
}

// deleteCommand deletes a session, and updates the list. It asks first, if the editor can show questions.
func (s *Server) deleteCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	if t.Session == "" {
		return nil, s.shown(protocol.Invalid("session", "is missing: choose this command from the list of sessions, "+s.client.Key("resume")))
	}
	sure := func() {
		call(s, "session/delete", rpc.SessionParams{SessionID: t.Session}, func(_ struct{}, err error) {
			if err != nil {
				s.complain(err)
				return
			}
			if delete(w.sessions, t.Session); w.session == t.Session {
				w.session = ""
			}
			s.show(levelInfo, "cursord: deleted the session %s", w.listedTitles[t.Session])
			s.listSessions(w)
		})
	}
	s.inCopy(t.Session, func(hunks int) {
		if !s.client.Questions && hunks > 0 {
			s.show(levelWarning, "cursord: %s", listed.Refusal(w.listedTitles[t.Session], hunks))
			return
		} else if !s.client.Questions {
			sure()
			return
		}
		const keep, remove = "Keep it", "Delete it"
		s.question(listed.Question(w.listedTitles[t.Session], hunks), []protocol.MessageAction{{Title: keep}, {Title: remove}}, func(title string, _ error) {
			if title == remove {
				sure()
			}
		})
	})
	return nil, nil
}

// inCopy calls then with the number of hunks in a session's copy, which are lost with it. It shows errors.
func (s *Server) inCopy(session string, then func(hunks int)) {
	call(s, "session/read", rpc.SessionReadParams{SessionID: session, Limit: 1}, func(read api.Transcript, err error) {
		if err != nil {
			s.complain(err)
			return
		}
		call(s, "diff/list", rpc.DiffParams{Workspace: read.Session.Workspace}, func(list rpc.DiffList, err error) {
			if _, n := sessions.InCopy(list.Diffs, session); err != nil {
				s.complain(err)
			} else {
				then(n)
			}
		})
	})
}

// sessionsListed returns the folder whose list of sessions a document is; nil for other documents.
func (s *Server) sessionsListed(d *document) *workspace {
	if d == nil || !strings.HasSuffix(d.uri, "/"+sessionsFile) {
		return nil
	}
	return s.stateFolder(d.uri)
}

// sessionActions returns the actions for a line of the list of sessions; false for other documents.
func (s *Server) sessionActions(d *document, r protocol.Range) ([]protocol.CodeAction, bool) {
	w := s.sessionsListed(d)
	if w == nil {
		return nil, false
	}
	id := listed.ID(d.text.Line(d.text.LineAt(r.Start, s.client.Encoding)))
	if id == "" {
		return nil, true
	}
	t := target{Workspace: w.path, Session: id}
	actions := []protocol.CodeAction{
		{Title: "Resume this session", Kind: protocol.KindQuickFix, IsPreferred: true, Command: commandOf("Resume this session", commandResume, t)},
		{Title: "Ask in this session…", Kind: protocol.KindQuickFix, Command: commandOf("Ask in this session…", commandCompose, t)},
		{Title: "Open its transcript", Kind: protocol.KindQuickFix, Command: commandOf("Open its transcript", commandTranscript, t)},
	}
	for _, p := range w.running {
		if p.session == id {
			t := target{Workspace: w.path, Turn: p.turn}
			actions = append(actions, protocol.CodeAction{
				Title: "Cancel its turn", Kind: protocol.KindQuickFix, Command: commandOf("Cancel its turn", commandCancel, t),
			})
		}
	}
	actions = append(actions, protocol.CodeAction{
		Title: "Delete this session", Kind: protocol.KindQuickFix, Command: commandOf("Delete this session", commandDelete, t),
	})
	return actions, true
}
