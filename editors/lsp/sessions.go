package lsp

import (
	"fmt"
	"strings"

	"cursord/rpc"
)

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
		b.WriteString("# Sessions\n\nA code action on a line (in Helix: space a) goes on with that session, or opens what was said.\n\n")
		first := strings.Count(b.String(), "\n")
		for _, one := range list.Sessions {
			w.sessions[one.ID] = one
			mark := ""
			if one.ID == w.session {
				mark = " · goes on here"
			}
			title := cut(one.Title, 60)
			if title == "" {
				title = "(no title)"
			}
			fmt.Fprintf(&b, "- %s · %s · %s%s · %s\n", title, one.UpdatedAt.Local().Format("2006-01-02 15:04"), number(one.Turns, "turn"), mark, one.ID)
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
