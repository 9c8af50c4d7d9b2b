package acp

import (
	"encoding/json"
	"errors"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// maxWaiting bounds what waits for an editor that does not read, in bytes, before the daemon is not read either. The daemon joins
// what then waits there.
const maxWaiting = 1 << 20

// A link is a connection that outlives daemons. It only ends when a daemon with another database comes.
type link struct {
	s      *Server
	client *rpc.Client
}

// need returns the link to the daemon, and makes one if there is none.
func (s *Server) need() *link {
	if s.link != nil {
		return s.link
	}
	l := &link{s: s}
	s.link = l
	l.client = s.opts.Dial(l.heard)
	go func() {
		<-l.client.Done()
		s.post(func() {
			if s.link == l {
				l.client.Close()
				s.forget()
			}
		})
	}()
	call(s, "initialize", rpc.InitializeParams{ClientInfo: &rpc.Info{Name: s.name + " (acp)"}}, func(none, error) {})
	return l
}

// forget drops everything that came from a daemon with another database.
func (s *Server) forget() {
	s.link, s.folders, s.trusting, s.models = nil, map[string]*folder{}, map[string]*trusting{}, models{}
	for id, at := range s.sessions {
		delete(s.sessions, id)
		for _, p := range at.prompts {
			p.r.answer(nil, unreachable())
		}
	}
}

// unreachable is the error for a request that no daemon answers.
func unreachable() *rpc.Error {
	return &rpc.Error{Code: rpc.CodeInternal, Message: "the cursord daemon cannot be reached", Data: rpc.ErrorData{
		Kind: api.KindUnavailable, Hint: `run "cursord doctor" to see what is wrong`,
	}}
}

// call makes a request of the daemon; requests arrive in the order of the calls. then gets the answer, by post, in its order among all that
// comes from the daemon.
func call[R any](s *Server, method string, params any, then func(R, error)) {
	answered := func(result R, err error) {
		if s.ctx.Err() != nil {
			return // Serve answers what is open
		}
		if errors.Is(err, rpc.ErrClosed) {
			err = unreachable()
		}
		s.post(func() { then(result, err) })
	}
	if err := rpc.Send(s.need().client, method, params, answered); err != nil {
		var none R
		go answered(none, err) // the loop must not wait for itself
	}
}

// kindOf returns the kind of the daemon's error.
func kindOf(err error) api.ErrorKind {
	if e := (*rpc.Error)(nil); errors.As(err, &e) {
		return e.Data.Kind
	}
	return ""
}

// heard takes a notification of the daemon. It holds up the goroutine that reads from the daemon while an editor
// does not read.
func (l *link) heard(method string, params json.RawMessage) {
	if !l.s.out.Wait(maxWaiting) {
		return
	}
	switch method {
	case "item/delta":
		if d, err := rpc.DecodeDelta(params); err == nil {
			l.post(func() { l.s.delta(&d) })
		}
	case "item/changed":
		hearing(l, params, (*Server).itemChanged)
	case "turn/changed":
		hearing(l, params, (*Server).turnChanged)
	case "session/changed":
		hearing(l, params, (*Server).sessionChanged)
	case "approval/changed":
		hearing(l, params, (*Server).approvalChanged)
	case "log/message":
		hearing(l, params, (*Server).logMessage)
	}
}

func hearing[N any](l *link, params json.RawMessage, take func(*Server, *N)) {
	n := new(N)
	if json.Unmarshal(params, n) != nil {
		return
	}
	l.post(func() { take(l.s, n) })
}

// post runs f, unless the link has been replaced.
func (l *link) post(f func()) {
	l.s.post(func() {
		if l.s.link == l {
			f()
		}
	})
}

// A folder is a workspace with a subscription, which the joiner keeps alive.
type folder struct {
	path string // as the daemon spells it
	seq  uint64 // the highest that came
}

// subscribeTo calls then with the folder at a path, once it is subscribed.
func (s *Server) subscribeTo(path string, then func(*folder, error)) {
	if at := s.folders[path]; at != nil {
		then(at, nil)
		return
	}
	call(s, "workspace/subscribe", rpc.SubscribeParams{Workspace: path, Diffs: "summary"}, func(said api.Subscribed, err error) {
		if err != nil {
			then(nil, err)
			return
		}
		at := s.folders[said.Workspace]
		if at == nil {
			at = &folder{path: said.Workspace}
			s.folders[said.Workspace] = at
		}
		at.seq = max(at.seq, said.Seq)
		s.folders[path] = at // and by the editor's spelling
		then(at, nil)
	})
}

// came notes the seq of a notification.
func (s *Server) came(workspace string, seq uint64) {
	if at := s.folders[workspace]; at != nil {
		at.seq = max(at.seq, seq)
	}
}

func (s *Server) delta(d *rpc.DeltaParams) {
	switch at := s.sessions[d.SessionID]; {
	case at == nil:
	case at.news != nil:
		at.news.piece(d)
	default:
		at.tell.Delta(d)
	}
}

func (s *Server) itemChanged(n *rpc.ItemChanged) {
	s.came(n.Workspace, n.Seq)
	at := s.sessions[n.Item.SessionID]
	if at == nil || !at.tell.Knows(n.Item.TurnID) && n.Seq <= max(at.since, at.tell.End(n.Item.TurnID)) {
		return
	}
	if at.misses(n.Item.TurnID) {
		s.catchUp(at, n.Item.TurnID)
	}
	if at.news != nil {
		at.news.item(n.Item, false)
	} else {
		at.tell.Item(n.Item, false)
	}
}

func (s *Server) turnChanged(n *rpc.TurnChanged) {
	s.came(n.Workspace, n.Seq)
	if n.Turn == nil { // a rewind has removed it
		for _, at := range s.sessions {
			if at.news != nil {
				at.news.removed(n.TurnID)
			}
			at.removed(n.TurnID)
		}
		return
	}
	if n.Turn.Status == sessions.TurnRunning {
		s.askTrustAgain(n.Workspace)
	}
	at, t := s.sessions[n.Turn.SessionID], n.Turn
	if at == nil || !at.tell.Knows(t.ID) && (n.Seq <= at.since || !at.misses(t.ID) || t.Status == sessions.TurnQueued) {
		return
	}
	if at.news != nil {
		at.news.turn(t)
		return
	}
	if t.Status.Final() {
		s.turnEnded(at, t)
		return
	}
	at.tell.Turn(t)
	switch {
	case t.Status != sessions.TurnQueued:
		at.turn = t.ID
	case at.turn == t.ID:
		at.turn = ""
	}
}

// turnEnded tells the editor the end of a turn, and answers its prompt after that.
func (s *Server) turnEnded(at *session, t *sessions.Turn) {
	p := at.promptOf(t.ID)
	if p != nil && t.StopReason != sessions.StopRefusal { // which is no error of the prompt
		at.tell.Told(t.ID)
	}
	if at.turn == t.ID {
		at.turn = ""
	}
	switch {
	case at.tell.Knows(t.ID), at.turn == "" && at.misses(t.ID):
		at.tell.Turn(t)
	case at.misses(t.ID): // it never began
		at.later = append(at.later, t)
	}
	if p != nil {
		s.endPrompt(p, t)
	}
	if at.turn == "" {
		for _, t := range at.later {
			at.tell.Turn(t)
		}
		at.later = nil
	}
}

func (s *Server) sessionChanged(n *rpc.SessionChanged) {
	s.came(n.Workspace, n.Seq)
	if n.Removed {
		if at := s.sessions[n.SessionID]; at != nil {
			s.endCalls(at)
			s.drop(at, &rpc.Error{Code: rpc.CodeInternal, Message: "the session was deleted", Data: rpc.ErrorData{Kind: api.KindNotFound}})
		}
		return
	}
	switch at := s.sessions[n.Session.ID]; {
	case at == nil || n.Seq <= at.info.Seq:
	case at.news != nil:
		at.news.session = n.Session
	default:
		s.tellSession(at, n.Session)
	}
}

// logMessage passes on what the daemon has to say to people, where a prompt is open.
func (s *Server) logMessage(n *rpc.LogMessage) {
	if n.Level != "error" {
		return
	}
	for _, at := range s.sessions {
		if len(at.prompts) > 0 {
			at.tell.Remark(s.remarkID(), n.Message)
		}
	}
}
