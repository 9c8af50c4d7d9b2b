package acp

import (
	"cmp"
	"encoding/json"
	"strings"

	"cursord/editors/acp/protocol"
	"cursord/rpc"
)

// A request is one of the editor's until it is answered, once.
type request struct {
	s        *Server
	id       json.RawMessage
	method   string
	command  string // "/review", if the request is a prompt that is a command
	params   json.RawMessage
	answered bool
	begun    bool   // a handler has it
	patient  bool   // it waits for a turn or a person
	onCancel func() // what $/cancel_request does, instead of answering; may be nil
}

// answer answers the request, with an *rpc.Error or an error of the daemon if there is one. Only the first answer counts.
func (r *request) answer(result any, err error) {
	if r.answered {
		return
	}
	r.answered = true
	if r.s.open[string(r.id)] == r {
		delete(r.s.open, string(r.id))
	}
	var e *rpc.Error
	if err != nil {
		e = failure(err, cmp.Or(r.command, r.method))
	}
	r.s.reply(r.id, result, e)
}

// endsAsPrompt has a cancel of the request, a command, end it as that of a prompt.
func (r *request) endsAsPrompt(at *session) {
	r.onCancel = func() {
		r.answer(protocol.PromptResult{StopReason: "cancelled"}, nil)
		if at.writing != nil {
			at.writing.stop()
		}
	}
}

// decode reads the request's parameters.
func (r *request) decode(v any) {
	_ = protocol.Decode(r.params, v) // they are valid JSON
}

type none struct{}

// A handler answers the requests of one method, now or later.
type handler func(s *Server, r *request)

var handlers map[string]handler

// The table refers to functions that refer to it.
func init() {
	handlers = map[string]handler{
		"authenticate":              (*Server).authenticate,
		"session/new":               (*Server).newSession,
		"session/load":              func(s *Server, r *request) { s.openSession(r, true) },
		"session/resume":            func(s *Server, r *request) { s.openSession(r, false) },
		"session/list":              (*Server).listSessions,
		"session/close":             (*Server).closeSession,
		"session/delete":            (*Server).deleteSession,
		"session/prompt":            (*Server).prompt,
		"session/set_mode":          (*Server).setMode,
		"session/set_config_option": (*Server).setOption,
		"_cursord/session/fork":     (*Server).forkSession,
		"_cursord/diff/list":        (*Server).diffList,
		"_cursord/diff/accept":      func(s *Server, r *request) { s.diffDecide(r, "diff/accept") },
		"_cursord/diff/reject":      func(s *Server, r *request) { s.diffDecide(r, "diff/reject") },
		"_cursord/diff/undo":        (*Server).diffUndo,
	}
}

// ownMethods are those that ACP does not have, as they are announced.
var ownMethods = []string{
	"_cursord/session/fork", "_cursord/diff/list", "_cursord/diff/accept", "_cursord/diff/reject", "_cursord/diff/undo",
}

var notifications = map[string]func(*Server, json.RawMessage){
	"session/cancel": func(s *Server, params json.RawMessage) {
		var p protocol.SessionParams
		_ = protocol.Decode(params, &p)
		s.cancelWaiting(p.SessionID)
		if at := s.sessions[p.SessionID]; at != nil {
			s.cancelAll(at)
		}
	},
	"$/cancel_request": func(s *Server, params json.RawMessage) {
		var p protocol.CancelParams
		_ = protocol.Decode(params, &p)
		s.cancelRequest(p.RequestID)
	},
}

func (s *Server) serve(r *request) {
	f := handlers[r.method]
	switch {
	case r.method == "initialize":
		s.initialize(r)
		return
	case !s.greeted:
		r.answer(nil, &rpc.Error{Code: rpc.CodeInvalidRequest, Message: r.method + " came before initialize"})
		return
	case f == nil:
		r.answer(nil, &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "no such method: " + r.method})
		return
	case s.open[string(r.id)] != nil:
		r.answer(nil, &rpc.Error{Code: rpc.CodeInvalidRequest, Message: "the id " + string(r.id) + " is that of a request without an answer; give each one of its own"})
		return
	}
	s.open[string(r.id)] = r
	s.inOrder(r)
}

// cancelRequest ends a request early. It is answered in any case: a prompt as cancelled, others with that error.
func (s *Server) cancelRequest(id json.RawMessage) {
	r := s.open[string(id)]
	switch {
	case r == nil:
	case r.onCancel != nil:
		r.onCancel()
	default:
		r.answer(nil, &rpc.Error{Code: rpc.CodeCancelled, Message: "cancelled"})
	}
}

func (s *Server) initialize(r *request) {
	if s.greeted {
		r.answer(nil, &rpc.Error{Code: rpc.CodeInvalidRequest, Message: "initialize came before"})
		return
	}
	var p protocol.InitializeParams
	r.decode(&p)
	s.greeted, s.client, s.name = true, p.ClientCapabilities, p.ClientInfo.Name
	if s.name = strings.TrimSpace(s.name); s.name == "" {
		s.name = "an editor"
	}
	result := protocol.InitializeResult{
		ProtocolVersion: protocol.Version,
		AgentInfo:       protocol.Implementation{Name: "cursord", Title: "cursord", Version: s.opts.Version},
		AuthMethods:     []struct{}{},
		AgentCapabilities: protocol.AgentCapabilities{
			LoadSession:        true,
			PromptCapabilities: protocol.PromptCapabilities{Image: true, EmbeddedContext: true},
		},
	}
	result.AgentCapabilities.Meta.Cursord.Methods = ownMethods
	r.answer(result, nil)
}

// authenticate answers clients that log in on their own. cursord has no login of its own: that of cursor-agent counts.
func (s *Server) authenticate(r *request) {
	var p protocol.AuthenticateParams
	r.decode(&p)
	call(s, "agent/status", none{}, func(status agentState, err error) {
		switch {
		case err != nil:
			r.answer(nil, err)
		case status.State == "notLoggedIn":
			r.answer(nil, &rpc.Error{Code: protocol.CodeAuthRequired, Message: "not logged in: run \"cursor-agent login\" in a terminal"})
		default:
			r.answer(none{}, nil)
		}
	})
}

// agentState is what the answer to agent/status has of use here.
type agentState struct {
	State string `json:"state"`
}
