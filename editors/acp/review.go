package acp

import (
	"encoding/json"

	"cursord/rpc"
)

// The methods _cursord/diff/… take the parameters of the daemon's diff/…, and answer as these. In place of workspace they take the
// sessionId of a session that is open here.

// A place is where such a request is about.
type place struct {
	SessionID string `json:"sessionId"`
	Workspace string `json:"workspace"`
}

// placeOf returns the session and the folder that a request names. If it names none, it answers the request.
func (s *Server) placeOf(r *request) (at *session, workspace string, ok bool) {
	var p place
	r.decode(&p)
	at = s.sessions[p.SessionID]
	switch {
	case p.SessionID != "" && at == nil:
		r.answer(nil, unknownSession(p.SessionID))
		return nil, "", false
	case at != nil:
		return at, at.folder.path, true
	case p.Workspace == "":
		r.answer(nil, invalid("sessionId", "must be the id of a session"))
		return nil, "", false
	}
	return nil, p.Workspace, true
}

func (s *Server) diffList(r *request) {
	_, workspace, ok := s.placeOf(r)
	if !ok {
		return
	}
	var p rpc.DiffParams
	r.decode(&p)
	p.Workspace = workspace
	call(s, "diff/list", p, func(list json.RawMessage, err error) { r.answer(list, err) })
}

func (s *Server) diffDecide(r *request, method string) {
	at, workspace, ok := s.placeOf(r)
	if !ok {
		return
	}
	var p rpc.DecideParams
	r.decode(&p)
	p.Workspace = workspace
	if at == nil {
		call(s, method, p, func(done json.RawMessage, err error) { r.answer(done, err) })
		return
	}
	s.decide(at, p, method, func(done accepted, err error) { r.answer(done.Decided, err) })
}

func (s *Server) diffUndo(r *request) {
	at, workspace, ok := s.placeOf(r)
	if !ok {
		return
	}
	var p rpc.UndoParams
	r.decode(&p)
	p.Workspace = workspace
	s.undo(at, p, func(undone rpc.UndoResult, err error) { r.answer(undone, err) })
}

// undo takes a decision back: by the editor, if that is to write files. at may be nil.
func (s *Server) undo(at *session, p rpc.UndoParams, then func(rpc.UndoResult, error)) {
	if at != nil && at.through && s.canWriteThrough(at) && !p.DryRun {
		s.undoThrough(at, p, then)
		return
	}
	call(s, "diff/undo", p, then)
}

// decide makes a decision: the editor writes the files, if it is to.
func (s *Server) decide(at *session, p rpc.DecideParams, method string, then func(accepted, error)) {
	if method == "diff/accept" && at.through && s.canWriteThrough(at) {
		s.acceptThrough(at, p, then)
		return
	}
	atOnce(s, method, p, then)
}

// canWriteThrough reports whether accepts of a session can be written by the editor: only those of a copy write files. The editor must also say
// what it holds unsaved.
func (s *Server) canWriteThrough(at *session) bool {
	return s.client.FS.ReadTextFile && s.client.FS.WriteTextFile && at.info.Isolation == "copy"
}
