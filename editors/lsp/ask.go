package lsp

import (
	"crypto/rand"
	"fmt"
	"sort"

	"cursord/rpc"
)

// maxFiles bounds the open files that go with a prompt.
const maxFiles = 10

// A prompt is what goes to the agent.
type prompt struct {
	workspace *workspace
	params    rpc.TurnStartParams
	isolation string // of a new session
}

func (s *Server) askCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	if isBlank(t.Prompt) {
		return nil, s.shown(invalidParams("prompt", `is missing: cursord.ask "what to do"`))
	}
	return s.start(s.newPrompt(w, t, s.contextOf(w, t)))
}

// newPrompt returns a prompt for the folder's session, or the one that t names.
func (s *Server) newPrompt(w *workspace, t *target, context []rpc.Context) *prompt {
	p := &prompt{workspace: w, isolation: s.client.settings.Isolation}
	p.params = rpc.TurnStartParams{
		Workspace: w.path, SessionID: w.session, Prompt: t.Prompt, Context: context, TurnID: "lsp-" + rand.Text(),
		Mode: modeOf(t.Mode),
	}
	if t.New {
		p.params.SessionID = ""
	}
	if t.Session != "" {
		p.params.SessionID = t.Session
	}
	if t.Model != "" {
		p.params.Model = &t.Model
	}
	if p.params.SessionID == "" {
		if settings := s.client.settings; p.params.Model == nil && settings.Model != "" {
			p.params.Model = &settings.Model
		}
		if p.params.Mode == nil {
			p.params.Mode = modeOf(s.client.settings.Mode)
		}
	}
	return p
}

type started struct {
	TurnID string `json:"turnId"`
}

// start has a turn begin. Its name is known at once; whether it begins is told.
func (s *Server) start(p *prompt) (any, error) {
	s.flushAll()
	if p.params.SessionID != "" || p.isolation == "" {
		s.startTurn(p)
		return started{p.params.TurnID}, nil
	}
	params := rpc.SessionCreateParams{Workspace: p.workspace.path, Isolation: p.isolation, Model: p.params.Model, Mode: p.params.Mode}
	call(s, "session/create", params, func(made rpc.SessionResult, err error) {
		if err != nil {
			s.refused(p, err)
			return
		}
		p.params.SessionID = made.Session.ID
		s.startTurn(p)
	})
	return started{p.params.TurnID}, nil
}

func (s *Server) startTurn(p *prompt) {
	p.workspace.own[p.params.TurnID] = true
	call(s, "turn/start", p.params, func(begun rpc.TurnStartResult, err error) {
		if err != nil {
			delete(p.workspace.own, p.params.TurnID)
			s.refused(p, err)
			return
		}
		p.workspace.session, p.workspace.unsent = begun.Session.ID, ""
		s.sent(p)
	})
}

// refused takes why a turn does not begin.
func (s *Server) refused(p *prompt, err error) {
	if kindOf(err) != "workspaceUntrusted" {
		s.keep(p)
		s.complain(err)
		return
	}
	s.pending = p
	name := p.workspace.named
	if !s.client.questions {
		s.show(levelWarning, "cursord: may the agent run commands and change files in %s? cursord.allow or cursord.deny", name)
		return
	}
	params := showMessageParams{
		Type:    levelWarning,
		Message: fmt.Sprintf("May the agent run commands and change files in %s?", name),
		Actions: []messageAction{{titleDeny}, {titleAllow}},
	}
	s.ask("window/showMessageRequest", params, func(m rpc.Message) {
		var chosen *messageAction
		switch e := failedAnswer(m); {
		case e != nil:
			s.show(levelWarning, "cursord: %s is not trusted: cursord.allow or cursord.deny", name)
		case s.pending != p:
		case decode(m.Result, &chosen) && chosen != nil && chosen.Title == titleAllow:
			s.allow()
		default:
			s.deny()
		}
	})
}

// Answers to the question of trust; the safe one comes first, because editors choose that one beforehand.
const (
	titleDeny  = "Deny"
	titleAllow = "Trust this folder"
)

// trustCommand trusts the folder, and sends what waits for that.
func (s *Server) trustCommand(t *target) (any, error) {
	if s.pending != nil {
		s.allow()
		return nil, nil
	}
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	s.trust(w, func() { s.show(levelInfo, "cursord: %s is trusted", w.named) })
	return nil, nil
}

func (s *Server) trust(w *workspace, then func()) {
	call(s, "workspace/trust", rpc.TrustParams{Workspace: w.path, Trusted: true}, func(_ rpc.TrustResult, err error) {
		if err != nil {
			s.complain(err)
			return
		}
		then()
	})
}

func (s *Server) allow() {
	p := s.pending
	s.pending = nil
	s.trust(p.workspace, func() { s.startTurn(p) })
}

func (s *Server) deny() {
	p := s.pending
	s.pending = nil
	s.keep(p)
	s.show(levelInfo, "cursord: denied; the prompt was not sent, cursord.compose has it")
}

func (s *Server) denyCommand(*target) (any, error) {
	if s.pending == nil {
		s.show(levelInfo, "cursord: nothing waits for an answer")
		return nil, nil
	}
	s.deny()
	return nil, nil
}

// contextOf returns what goes with a prompt that was typed on one line: the place where the person was last, with the
// text of a selection, and the other files of the folder that are open.
func (s *Server) contextOf(w *workspace, t *target) (list []rpc.Context) {
	uri, at := s.touched.uri, s.touched.at
	if t.URI != "" {
		uri, at = t.URI, t.Range
	} else if t.Path != "" {
		if in, file := s.fileOf(t.Path); in != nil {
			uri, at = s.uriOf(in, file), t.Range
			if t.Line > 0 {
				at = &Range{Start: Position{Line: t.Line - 1}, End: Position{Line: t.Line - 1}}
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
		if d.workspace == w && d.path != first {
			others = append(others, d.path)
		}
	}
	sort.Strings(others)
	for _, file := range others[:min(len(others), maxFiles)] {
		list = append(list, rpc.Context{Kind: "file", Path: &file})
	}
	return list
}

// placeContext returns a place as context: with its text if it is a selection.
func (s *Server) placeContext(uri, file string, at *Range) rpc.Context {
	c := rpc.Context{Kind: "file", Path: &file}
	d := s.docs[uri]
	if at == nil || d == nil {
		c.Range = at
		return c
	}
	from, to := d.text.offset(at.Start, s.client.encoding), d.text.offset(at.End, s.client.encoding)
	span := d.text.span(from, max(from, to), utf16Encoding)
	c.Range = &span
	if !s.isPoint(uri, *at) {
		part := d.text.s[from:max(from, to)]
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

// askAbout has the agent look at a diagnostic of another server's.
func (s *Server) askAbout(t *target, text, mode string) (any, error) {
	if t.Diagnostic == nil || t.URI == "" {
		return nil, invalidParams("diagnostic", "is missing: choose this command from the code actions of a diagnostic")
	}
	w, file := s.locate(t.URI)
	if w == nil {
		return nil, invalidParams("uri", t.URI+" is in no folder that is open")
	}
	if t.Prompt = text; t.Mode == "" {
		t.Mode = mode
	}
	at := t.Diagnostic.Range
	if d := s.docs[t.URI]; d != nil {
		at = d.text.span(d.text.offset(at.Start, s.client.encoding), d.text.offset(at.End, s.client.encoding), utf16Encoding)
	}
	items := []rpc.Diagnostic{{
		Range: at, Severity: t.Diagnostic.Severity, Message: t.Diagnostic.Message, Source: t.Diagnostic.Source,
	}}
	return s.start(s.newPrompt(w, t, []rpc.Context{{Kind: "diagnostics", Path: &file, Items: &items}}))
}
