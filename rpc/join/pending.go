package join

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"

	"cursord/daemon/api"
	"cursord/rpc"
)

// A request is one of the editor's that was sent to a daemon and has no answer yet.
type request struct {
	id        json.RawMessage
	method    string
	body      []byte
	workspace string // for subscribing and unsubscribing
	order     uint64 // grows with each request
	repeats   bool   // it may be sent again: it then has no further effect
	reads     bool   // it has no effect at all
	sent      int    // to how many daemons it was sent
	cancelled bool   // the editor no longer wants an answer
	declined  bool   // the last daemon was about to end, and has answered that it did not do it
	mayBeDone bool   // a daemon that has ended may have done it
}

// readOnly requests have no effect.
var readOnly = []string{
	"workspace/list", "search", "session/list", "session/read", "session/export", "session/commits", "item/read", "turn/list", "turn/wait", "attempt/list", "diff/list",
	"diff/unified", "diff/place", "file/why", "commit/why", "agent/status", "agent/models", "agent/chats", "approval/list", "approval/rules", "daemon/status", "shutdown",
}

// idempotent requests have the same effect however often they are made.
var idempotent = []string{
	"workspace/subscribe", "workspace/unsubscribe", "workspace/trust", "session/update", "turn/cancel",
}

func newRequest(m *rpc.Message, body []byte) *request {
	r := &request{id: m.ID, method: m.Method, body: body}
	r.reads = slices.Contains(readOnly, m.Method)
	r.repeats = r.reads || slices.Contains(idempotent, m.Method)
	var p struct {
		Workspace string `json:"workspace"`
		TurnID    string `json:"turnId"`
	}
	switch m.Method {
	case "workspace/subscribe", "workspace/unsubscribe", "turn/start":
		if json.Unmarshal(m.Params, &p) == nil {
			r.workspace = p.Workspace
			r.repeats = r.repeats || p.TurnID != "" // a turn/start: the daemon recognises the turn
		}
	}
	return r
}

// maxSent is to how many daemons a request goes at most: the request may be what ends them.
const maxSent = 3

// mayRepeat reports whether r may go to another daemon.
func (r *request) mayRepeat() bool { return (r.repeats || r.declined) && r.sent < maxSent }

// unanswered returns the error with which the joiner answers r when no daemon will; cause says why none will.
func (r *request) unanswered(cause string) []byte {
	happened := !r.reads && r.mayBeDone
	hint := "it has not taken effect: try again"
	if happened {
		hint = "look whether it has taken effect before you try again"
	}
	return response(r.id, nil, &rpc.Error{
		Code: rpc.CodeUnavailable, Message: cause,
		Data: rpc.ErrorData{Kind: api.KindUnavailable, Hint: hint, MayHaveHappened: &happened},
	})
}

// pendingRequests are the unanswered requests. The goroutines of both directions change them.
type pendingRequests struct {
	mu       sync.Mutex
	last     uint64                // guarded by mu
	byID     map[string][]*request // guarded by mu; of two with the same id, the older is answered first
	nonEmpty chan struct{}         // holds a token once a request has come after there were none
	count    int                   // of the requests in byID; guarded by mu
}

func newPendingRequests() *pendingRequests {
	return &pendingRequests{byID: map[string][]*request{}, nonEmpty: make(chan struct{}, 1)}
}

func (p *pendingRequests) add(r *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	r.order = p.last
	r.sent = 1
	p.byID[string(r.id)] = append(p.byID[string(r.id)], r)
	if p.count++; p.count == 1 {
		select {
		case p.nonEmpty <- struct{}{}:
		default:
		}
	}
}

// get returns the request for an answer with this id; nil if there is none.
func (p *pendingRequests) get(id []byte) *request {
	p.mu.Lock()
	defer p.mu.Unlock()
	if list := p.byID[string(id)]; len(list) > 0 {
		return list[0]
	}
	return nil
}

func (p *pendingRequests) remove(r *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := string(r.id)
	list := p.byID[id]
	i := slices.Index(list, r)
	if i < 0 {
		return
	}
	p.count--
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(p.byID, id)
	} else {
		p.byID[id] = list
	}
}

// cancel notes that the editor no longer wants an answer to the request with this id.
func (p *pendingRequests) cancel(id []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.byID[string(id)] {
		r.cancelled = true
	}
}

func (p *pendingRequests) isCancelled(r *request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return r.cancelled
}

func (p *pendingRequests) any() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count > 0
}

// all returns the requests in the order in which they were made.
func (p *pendingRequests) all() (list []*request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, same := range p.byID {
		list = append(list, same...)
	}
	slices.SortFunc(list, func(x, y *request) int { return cmp.Compare(x.order, y.order) })
	return list
}
