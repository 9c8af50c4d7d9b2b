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
	order     uint64
	repeat    bool // sending it again has no further effect
	reads     bool // it has no effect at all
	sent      int  // to how many daemons it was sent
	cancelled bool // the editor no longer wants an answer
	declined  bool // a daemon was about to end and has not done it
	mayBeDone bool // a daemon has ended that may have done it
}

// reading requests have no effect.
var reading = []string{
	"workspace/list", "search", "session/list", "session/read", "session/export", "session/commits", "item/read", "turn/list", "turn/wait", "attempt/list", "diff/list",
	"diff/unified", "diff/place", "file/why", "commit/why", "agent/status", "agent/models", "agent/chats", "approval/list", "approval/rules", "daemon/status", "shutdown",
}

// settling requests have the same effect however often they are made.
var settling = []string{
	"workspace/subscribe", "workspace/unsubscribe", "workspace/trust", "session/update", "turn/cancel",
}

func newRequest(m *rpc.Message, body []byte) *request {
	r := &request{id: m.ID, method: m.Method, body: body}
	r.reads = slices.Contains(reading, m.Method)
	r.repeat = r.reads || slices.Contains(settling, m.Method)
	var p struct {
		Workspace string `json:"workspace"`
		TurnID    string `json:"turnId"`
	}
	switch m.Method {
	case "workspace/subscribe", "workspace/unsubscribe", "turn/start":
		if json.Unmarshal(m.Params, &p) == nil {
			r.workspace = p.Workspace
			r.repeat = r.repeat || p.TurnID != "" // the daemon recognises the turn
		}
	}
	return r
}

// maxSent bounds to how many daemons a request goes, because the request may be what ends them.
const maxSent = 3

// mayRepeat reports whether r may go to another daemon.
func (r *request) mayRepeat() bool { return (r.repeat || r.declined) && r.sent < maxSent }

// unanswered returns the answer to r when no daemon will answer it, because of cause.
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
	byID     map[string][]*request // guarded by mu; if two have one id, the older is answered first
	nonEmpty chan struct{}         // holds a token when requests may have come after there were none
	count    int                   // guarded by mu
}

func newPendingRequests() *pendingRequests {
	return &pendingRequests{byID: map[string][]*request{}, nonEmpty: make(chan struct{}, 1)}
}

func (a *pendingRequests) add(r *request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	r.order = a.last
	r.sent = 1
	a.byID[string(r.id)] = append(a.byID[string(r.id)], r)
	if a.count++; a.count == 1 {
		select {
		case a.nonEmpty <- struct{}{}:
		default:
		}
	}
}

// get returns the request for an answer with this id; nil if there is none.
func (a *pendingRequests) get(id []byte) *request {
	a.mu.Lock()
	defer a.mu.Unlock()
	if list := a.byID[string(id)]; len(list) > 0 {
		return list[0]
	}
	return nil
}

func (a *pendingRequests) remove(r *request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := string(r.id)
	list := a.byID[id]
	i := slices.Index(list, r)
	if i < 0 {
		return
	}
	a.count--
	if list = slices.Delete(list, i, i+1); len(list) == 0 {
		delete(a.byID, id)
	} else {
		a.byID[id] = list
	}
}

// cancel notes that the editor no longer wants an answer to the request with this id.
func (a *pendingRequests) cancel(id []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.byID[string(id)] {
		r.cancelled = true
	}
}

func (a *pendingRequests) isCancelled(r *request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return r.cancelled
}

func (a *pendingRequests) any() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count > 0
}

// all returns the requests in the order in which they were made.
func (a *pendingRequests) all() (list []*request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, same := range a.byID {
		list = append(list, same...)
	}
	slices.SortFunc(list, func(x, y *request) int { return cmp.Compare(x.order, y.order) })
	return list
}
