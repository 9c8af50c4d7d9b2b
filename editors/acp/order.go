package acp

import (
	"cursord/editors/acp/protocol"
	"cursord/rpc"
)

// This file carries requests about one session out in the order in which they came. Most are done, or with the daemon, which keeps the order, when
// their handler returns. The methods of manySteps are not: what comes behind such a request waits for its answer.

var manySteps = map[string]bool{"session/load": true, "session/resume": true, "session/delete": true, "_cursord/session/fork": true}

// inOrder begins a request, or has it wait.
func (s *Server) inOrder(r *request) {
	if len(s.lines) == 0 && !manySteps[r.method] {
		s.begin(r)
		return
	}
	var p protocol.SessionParams
	r.decode(&p)
	id := p.SessionID
	if id == "" || len(s.lines[id]) == 0 && !manySteps[r.method] {
		s.begin(r)
		return
	}
	if s.lines[id] = append(s.lines[id], r); r.method == "session/prompt" {
		r.onCancel = func() { r.answer(protocol.PromptResult{StopReason: "cancelled"}, nil) }
	}
	s.advance(id)
}

// advance begins the requests about a session that need not wait any more.
func (s *Server) advance(id string) {
	for len(s.lines[id]) > 0 {
		first := s.lines[id][0]
		if !first.begun && !first.answered {
			first.onCancel = nil
			s.begin(first)
		}
		if !first.answered && manySteps[first.method] {
			return
		}
		s.lines[id] = s.lines[id][1:]
	}
	delete(s.lines, id)
}

// cancelWaiting ends the prompts of a session that wait for another request.
func (s *Server) cancelWaiting(id string) {
	for _, r := range s.lines[id] {
		if !r.begun && r.method == "session/prompt" {
			s.cancelRequest(r.id)
		}
	}
}

func (s *Server) begin(r *request) {
	r.begun = true
	if s.guard(r.method, func() { handlers[r.method](s, r) }) {
		r.answer(nil, &rpc.Error{Code: rpc.CodeInternal, Message: r.method + " failed: an internal error"})
	}
}
