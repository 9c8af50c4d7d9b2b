package lsp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cursord/rpc"
	"cursord/sessions"
)

// latestSession returns the session that the next prompt goes to, else the one that was used last.
func (w *workspace) latestSession() string {
	if w.session != "" {
		return w.session
	}
	if all := w.latestSessions(); len(all) > 0 {
		return all[0].ID
	}
	return ""
}

// latestSessions returns the sessions that are known, the one that was used last first.
func (w *workspace) latestSessions() []*sessions.Session {
	return slices.SortedFunc(maps.Values(w.sessions), func(a, b *sessions.Session) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt.Time), strings.Compare(b.ID, a.ID))
	})
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
			in.session, in.opening = read.Session.ID, nil
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
		b.WriteString("# Sessions\n\nCode actions on a line (in Helix: space a) go on with that session, ask in it, cancel its turn, or open what was said.\n\n")
		first := strings.Count(b.String(), "\n")
		for _, one := range list.Sessions {
			w.sessions[one.ID] = one
			mark := ""
			if one.State != sessions.SessionIdle {
				mark = " · " + string(one.State)
			}
			if one.ID == w.session {
				mark += " · goes on here"
			}
			title := cut(one.Title, 60)
			if title == "" {
				title = "(no title)"
			}
			fmt.Fprintf(&b, "- %s · %s · %s%s · %s\n", title, one.UpdatedAt.Local().Format("2006-01-02 15:04"), number(one.Turns, "turn"), mark, one.ID)
		}
		_ = s.write(w, sessionsFile, b.String(), &Range{Start: Position{Line: first}, End: Position{Line: first}}) // write says what failed
	})
	return nil, nil
}

// listedSession returns the session that a line of the list of sessions is about, "" for none.
func (d *document) listedSession(line int) string {
	text := d.text.line(line)
	if fields := strings.Fields(text); strings.HasPrefix(text, "- ") && len(fields) > 1 {
		return fields[len(fields)-1]
	}
	return ""
}

// sessionsListed returns the folder whose sessions a document lists; nil for other documents.
func (s *Server) sessionsListed(d *document) *workspace {
	if d == nil || !strings.HasSuffix(d.uri, "/"+sessionsFile) {
		return nil
	}
	return s.stateFolder(d.uri)
}

// sessionActions returns what can be done about a line in the list of sessions; false for other documents.
func (s *Server) sessionActions(d *document, r Range) ([]codeAction, bool) {
	w := s.sessionsListed(d)
	if w == nil {
		return nil, false
	}
	id := d.listedSession(d.text.lineAt(r.Start, s.client.encoding))
	if id == "" {
		return nil, true
	}
	t := target{Workspace: w.path, Session: id}
	actions := []codeAction{
		{Title: "Resume this session", Kind: kindQuickFix, IsPreferred: true, Command: commandOf("Resume this session", commandResume, t)},
		{Title: "Ask in this session…", Kind: kindQuickFix, Command: commandOf("Ask in this session…", commandCompose, t)},
		{Title: "Open its transcript", Kind: kindQuickFix, Command: commandOf("Open its transcript", commandTranscript, t)},
	}
	for _, p := range w.running {
		if p.session == id {
			t := target{Workspace: w.path, Turn: p.turn}
			actions = append(actions, codeAction{
				Title: "Cancel its turn", Kind: kindQuickFix, Command: commandOf("Cancel its turn", commandCancel, t),
			})
		}
	}
	return actions, true
}
