package lsp

import (
	"crypto/rand"
	"errors"
	"sort"

	"cursord/editors/lsp/protocol"
	"cursord/editors/lsp/turns"
	"cursord/rpc"
	"cursord/sessions"
)

// maxFiles bounds the open files that go with a prompt.
const maxFiles = 10

// A prompt is a turn that is being started.
type prompt struct {
	workspace *workspace
	params    rpc.TurnStartParams
	isolation string    // of a new session
	made      bool      // its session was created for this prompt
	after     []*prompt // prompts that go to its session once it exists
}

func (s *Server) askCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	if isBlank(t.Prompt) {
		return nil, s.shown(protocol.Invalid("prompt", `is missing: cursord.ask "what to do"`))
	}
	return s.start(s.newPrompt(w, t, s.mentioned(w, t.Prompt, s.contextOf(w, t))))
}

// steerCommand adds a text to the turn that runs in the folder's session, or to the one that t names.
func (s *Server) steerCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	if isBlank(t.Prompt) {
		return nil, s.shown(protocol.Invalid("prompt", `is missing: cursord.steer "what to add"`))
	}
	turn := t.Turn
	for id, p := range w.running {
		if turn == "" && p.session == s.nextSession(w) && !p.queued {
			turn = id
		}
	}
	if turn == "" {
		return nil, s.shown(protocol.Invalid("prompt", "no turn of the session runs: send it by cursord.ask"))
	}
	call(s, "turn/steer", rpc.TurnSteerParams{TurnID: turn, Text: t.Prompt}, func(done rpc.TurnSteerResult, err error) {
		switch {
		case err != nil:
			w.unsent = t.Prompt
			s.complain(err)
		case done.QueuedTurnID != "":
			s.show(levelInfo, "cursord: the agent takes nothing while it works: this is the next prompt")
		default:
			s.show(levelInfo, "cursord: the agent has this with its running turn")
		}
	})
	return nil, nil
}

// newPrompt returns a prompt for the folder's session, or the one that t names.
func (s *Server) newPrompt(w *workspace, t *target, context []rpc.Context) *prompt {
	p := &prompt{workspace: w, isolation: s.client.Settings.Isolation}
	p.params = rpc.TurnStartParams{
		Workspace: w.path, SessionID: s.nextSession(w), Prompt: t.Prompt, Context: context, TurnID: "lsp-" + rand.Text(),
		Mode: turns.ModeOf(t.Mode),
	}
	settings := &s.client.Settings
	if settings.Sandbox != "" {
		p.params.Sandbox = &settings.Sandbox
	}
	p.params.AutoReview = settings.AutoReview
	if settings.AddDirs != nil {
		p.params.AddDirs = &settings.AddDirs
	}
	if t.New {
		p.params.SessionID, w.opening, w.fresh = "", nil, true
	}
	if t.Session != "" {
		p.params.SessionID = t.Session
	}
	if p.params.SessionID != "" {
		w.session, w.fresh = p.params.SessionID, false
	}
	if t.Model != "" {
		p.params.Model = &t.Model
	}
	if p.params.SessionID == "" {
		if p.params.Model == nil && settings.Model != "" {
			p.params.Model = &settings.Model
		}
		if p.params.Mode == nil {
			p.params.Mode = turns.ModeOf(settings.Mode)
		}
	}
	return p
}

type started struct {
	TurnID string `json:"turnId"`
}

// start starts a turn. It returns the turn's id at once; a notification says later whether the turn began.
func (s *Server) start(p *prompt) (any, error) {
	s.flushAll()
	w := p.workspace
	switch {
	case p.params.SessionID != "":
		s.startTurn(p)
	case w.opening != nil:
		w.opening.after = append(w.opening.after, p)
	default:
		w.opening = p
		s.openSession(p)
	}
	return started{p.params.TurnID}, nil
}

// openSession starts a turn in a new session.
func (s *Server) openSession(p *prompt) {
	if p.isolation == "" {
		s.startTurn(p)
		return
	}
	params := rpc.SessionCreateParams{Workspace: p.workspace.path, Isolation: &p.isolation, Model: p.params.Model, Mode: p.params.Mode}
	call(s, "session/create", params, func(made rpc.SessionResult, err error) {
		if err != nil {
			s.refused(p, err)
			return
		}
		p.params.SessionID, p.made = made.Session.ID, true
		s.startTurn(p)
	})
}

func (s *Server) startTurn(p *prompt) {
	w := p.workspace
	w.own[p.params.TurnID], w.unsent = true, "" // after a daemon was lost, what is heard of the turn comes before the answer
	call(s, "turn/start", p.params, func(begun rpc.TurnStartResult, err error) {
		if err != nil {
			delete(w.own, p.params.TurnID)
			s.refused(p, err)
			return
		}
		w.began(begun.Turn)
		s.sent(p)
		for _, next := range p.after {
			next.params.SessionID = begun.Session.ID
			s.startTurn(next)
		}
	})
}

// began takes in that a turn has begun: if it opens a session, the next prompt goes there. When a daemon was lost, notifications of a turn come
// before the answer that has it.
func (w *workspace) began(t *sessions.Turn) {
	if w.opening != nil && w.opening.params.TurnID == t.ID {
		w.session, w.opening, w.fresh = t.SessionID, nil, false
	}
}

// refused handles the error of a turn that does not begin.
func (s *Server) refused(p *prompt, err error) {
	// If the error names a field, another folder is not trusted; that folder must be trusted by itself, and the error says
	// so.
	if e := (*rpc.Error)(nil); errors.As(err, &e) && e.Data.Kind == "workspaceUntrusted" && e.Data.Field == "" {
		s.askTrust(p)
		return
	}
	s.drop(p)
	s.complain(err)
}

// drop gives up a prompt and those that follow it. Their texts are kept for another try.
func (s *Server) drop(p *prompt) {
	if p.workspace.opening == p {
		p.workspace.opening = nil
	}
	if p.made {
		call(s, "session/delete", rpc.SessionParams{SessionID: p.params.SessionID}, func(struct{}, error) {})
	}
	s.keep(p)
	for _, next := range p.after {
		s.drop(next)
	}
}

// contextOf returns the context of a prompt that was typed on one line: the user's latest place, with the text if it is a
// selection, and the other open files of the folder.
func (s *Server) contextOf(w *workspace, t *target) (list []rpc.Context) {
	uri, at := s.touched.uri, s.touched.at
	if t.URI != "" {
		uri, at = t.URI, t.Range
	} else if t.Path != "" {
		if in, file := s.fileOf(t.Path); in != nil {
			uri, at = s.uriOf(in, file), t.Range
			if t.Line > 0 {
				at = &protocol.Range{Start: protocol.Position{Line: t.Line - 1}, End: protocol.Position{Line: t.Line - 1}}
			}
		}
	}
	first := ""
	if in, file := s.locate(uri); in == w && file != "" {
		first = file
		list = append(list, s.placeContext(uri, file, at))
	}
	var others []string
	for _, d := range s.docs {
		if d.workspace == w && d.path != first && (d.unsavedText() || w.hasFile(d.path)) {
			others = append(others, d.path)
		}
	}
	sort.Strings(others)
	for _, file := range others[:min(len(others), maxFiles)] {
		list = append(list, rpc.Context{Kind: "file", Path: &file})
	}
	return list
}

// placeContext returns the context for a place; a selection comes with its text.
func (s *Server) placeContext(uri, file string, at *protocol.Range) rpc.Context {
	c := rpc.Context{Kind: "file", Path: &file}
	d := s.docs[uri]
	if at == nil || d == nil {
		c.Range = at
		return c
	}
	from, to := d.text.Offset(at.Start, s.client.Encoding), d.text.Offset(at.End, s.client.Encoding)
	span := d.text.Span(from, max(from, to), protocol.UTF16)
	c.Range = &span
	if !s.isPoint(uri, *at) {
		part := d.text.Content[from:max(from, to)]
		c.Kind, c.Text = "selection", &part
	}
	return c
}

func (s *Server) fixCommand(t *target) (any, error) {
	return s.askAbout(t, "Fix this diagnostic.", "")
}

func (s *Server) explainCommand(t *target) (any, error) {
	return s.askAbout(t, "Explain this diagnostic, and how it can be fixed. Change nothing.", "ask")
}

// askAbout asks the agent about a diagnostic of another server.
func (s *Server) askAbout(t *target, text, mode string) (any, error) {
	if t.Diagnostic == nil || t.URI == "" {
		return nil, protocol.Invalid("diagnostic", "is missing: choose this command from the code actions of a diagnostic")
	}
	w, file := s.locate(t.URI)
	if w == nil {
		return nil, protocol.Invalid("uri", t.URI+" is in no folder that is open")
	}
	if t.Prompt = text; t.Mode == "" {
		t.Mode = mode
	}
	at := t.Diagnostic.Range
	if d := s.docs[t.URI]; d != nil {
		at = d.text.Span(d.text.Offset(at.Start, s.client.Encoding), d.text.Offset(at.End, s.client.Encoding), protocol.UTF16)
	}
	items := []rpc.Diagnostic{{
		Range: at, Severity: t.Diagnostic.Severity, Message: t.Diagnostic.Message, Source: t.Diagnostic.Source,
	}}
	return s.start(s.newPrompt(w, t, []rpc.Context{{Kind: "diagnostics", Path: &file, Items: &items}}))
}
