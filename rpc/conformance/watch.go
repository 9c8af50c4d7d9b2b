package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// laterID begins the ids of what no daemon has, in the play "later".
const laterID = "later:"

// A watcher sees the messages of a client's connections, and keeps what the client did wrong.
type watcher struct {
	play          play
	front, behind []byte // the paths of the proxy's socket and of the daemon's

	mu              sync.Mutex
	faults, remarks []string
	losses          int  // how often the daemon was taken away
	replaced        bool // and its database
	started         bool // a turn
	turn            string
	prompt          string
	subscribed      bool
	middle          bool           // something of the turn's text has come
	end             *sessions.Turn // the turn, once it has ended
	learned         bool           // how the turn ended, after the daemon was taken away
	seq             uint64         // the highest that was sent to the client
	epoch           string
	documents       map[string]*document
	answeredEdits   bool
	sentLater       bool
}

// A document is an open document as the client has reported it.
type document struct {
	version   int
	text      string
	expected  *string // what the text must be next, after edits; nil: anything
	decidedBy string  // the request that was answered with them
}

func newWatcher(p play, front, behind string) *watcher {
	return &watcher{play: p, front: []byte(front), behind: []byte(behind), documents: map[string]*document{}}
}

// fault keeps a mistake, once. w.mu must be held.
func (w *watcher) fault(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(w.faults, text) && len(w.faults) < 20 {
		w.faults = append(w.faults, text)
	}
}

func (w *watcher) faultf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault(format, args...)
}

// remark keeps what is no mistake, once. w.mu must be held.
func (w *watcher) remark(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(w.remarks, text) && len(w.remarks) < 20 {
		w.remarks = append(w.remarks, text)
	}
}

// sawMiddle reports whether the client knows that the turn has begun, as far as it wants to.
func (w *watcher) sawMiddle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.started && (!w.subscribed || w.middle)
}

// lost says that the daemon goes away, perhaps with its database.
func (w *watcher) lost(replaced bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.losses++
	w.replaced = w.replaced || replaced
}

// A connection is one of the client's.
type connection struct {
	w      *watcher
	since  int // how often the daemon had been taken away at its begin
	opened map[string]rpc.Message
}

func (w *watcher) connected() *connection {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &connection{w: w, since: w.losses, opened: map[string]rpc.Message{}}
}

// fromClient looks at a message before the daemon gets it.
func (c *connection) fromClient(m rpc.Message) {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.IsResponse() {
		w.fault("it sent a response; the daemon sends no requests")
		return
	}
	if m.ID == nil {
		w.notified(m)
		return
	}
	if _, ok := c.opened[string(m.ID)]; ok {
		w.fault("it used the id %s again while the request with it was open", m.ID)
	}
	for _, other := range c.opened {
		if other.Method == m.Method && m.Method != "daemon/status" && bytes.Equal(other.Params, m.Params) {
			w.fault("it sent %s again while the answer was still to come", m.Method)
		}
	}
	c.opened[string(m.ID)] = m
	for _, name := range unknownMembers(m.Method, m.Params) {
		w.remark("it sent %s with the member %q, which this build does not know and ignores; names are case-sensitive", m.Method, name)
	}
	switch m.Method {
	case "workspace/subscribe":
		w.subscribes(m.Params, c.since > 0)
	case "turn/start":
		w.starts(m.Params)
	case "diff/accept", "diff/reject":
		var p rpc.DecideParams
		if json.Unmarshal(m.Params, &p) == nil && p.Rev == nil && (p.Path != "" || p.Hunks != nil) {
			w.fault("it sent %s without rev: the user may not have seen what is decided", m.Method)
		}
	}
}

// subscribes looks at a subscription, the first one or one after the daemon was away.
func (w *watcher) subscribes(raw json.RawMessage, again bool) {
	var p rpc.SubscribeParams
	_ = json.Unmarshal(raw, &p) // the daemon refuses what is wrong
	w.subscribed = true
	if !again || w.seq == 0 {
		return
	}
	switch {
	case p.After == nil:
		w.fault("it subscribed again without after: it may miss what changed meanwhile (it had seen seq %d)", w.seq)
	case *p.After > w.seq:
		w.fault("it subscribed again with after %d, and the highest seq that it had got was %d", *p.After, w.seq)
	}
	if p.After != nil && p.Epoch != w.epoch && w.epoch != "" {
		w.fault("it subscribed again with the epoch %q instead of %q: it would not notice another database", p.Epoch, w.epoch)
	}
}

func (w *watcher) starts(raw json.RawMessage) {
	var p rpc.TurnStartParams
	_ = json.Unmarshal(raw, &p)
	if w.started && w.losses > 0 && !w.replaced && p.Prompt == w.prompt && p.TurnID != w.turn {
		w.fault("it started its turn a second time after the daemon was gone: give turn/start a turnId, or ask with turn/list")
	}
	w.started, w.prompt = true, p.Prompt
	if p.TurnID != "" {
		w.turn = p.TurnID
	}
}

// notified looks at a notification of the client.
func (w *watcher) notified(m rpc.Message) {
	switch m.Method {
	case "document/didOpen":
		var p rpc.DidOpenParams
		if json.Unmarshal(m.Params, &p) == nil && p.Text != nil {
			w.documents[p.URI] = &document{version: p.Version, text: *p.Text}
		}
	case "document/didChange":
		var p rpc.DidChangeParams
		d := (*document)(nil)
		if json.Unmarshal(m.Params, &p) == nil {
			d = w.documents[p.URI]
		}
		if d == nil {
			return // the daemon reports it
		}
		if p.Version <= d.version {
			w.fault("document/didChange has version %d after %d: the daemon ignores a version that is not higher", p.Version, d.version)
		}
		if d.expected != nil && p.Text != *d.expected {
			w.fault("the text of version %d is not what the edits of %s make of version %d", p.Version, d.decidedBy, d.version)
		}
		d.version, d.text, d.expected = p.Version, p.Text, nil
	}
}

// fromDaemon looks at a message before the client gets it, and returns what the client is to get.
func (c *connection) fromDaemon(body []byte) [][]byte {
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	m, bad := rpc.ParseMessage(body)
	switch {
	case bad != nil:
	case m.IsResponse():
		if c.opened[string(m.ID)].Method == "daemon/status" {
			body = bytes.ReplaceAll(body, w.behind, w.front) // where clients connect
		}
		c.answered(m)
	default:
		c.notified(m)
	}
	if !w.play.later || bad != nil {
		return [][]byte{body}
	}
	return w.fromLater(m, body)
}

// answered looks at the answer to a request.
func (c *connection) answered(m rpc.Message) {
	w := c.w
	asked := c.opened[string(m.ID)]
	delete(c.opened, string(m.ID))
	if m.Error != nil {
		var e rpc.Error
		_ = json.Unmarshal(m.Error, &e)
		switch e.Code {
		case rpc.CodeParse, rpc.CodeInvalidRequest, rpc.CodeMethodNotFound, rpc.CodeInvalidParams:
			if strings.HasPrefix(asked.Method, "$/") {
				return // as in LSP, anybody may try these
			}
			w.fault("%s was refused: %s", named(asked.Method), e.Message)
		}
		w.learned = w.learned || w.losses > 0 && c.since > 0 && w.replaced && e.Data.Kind == api.KindNotFound
		return
	}
	var result struct {
		Epoch string
		Reset bool
		Turn  *sessions.Turn
		Turns []*sessions.Turn
		Edits []api.DocumentEdits
	}
	_ = json.Unmarshal(m.Result, &result)
	switch asked.Method {
	case "workspace/subscribe":
		w.epoch = result.Epoch
		if result.Reset {
			w.seq = 0
			w.learned = w.learned || w.replaced
		}
	case "turn/start":
		if result.Turn != nil {
			w.turn = result.Turn.ID
		}
	}
	for _, t := range append(result.Turns, result.Turn) {
		c.ended(t)
	}
	for _, one := range result.Edits {
		for uri, d := range w.documents {
			if strings.HasSuffix(uri, "/"+one.Path) && d.version == one.Version {
				text := apply(d.text, one.Edits)
				d.expected, d.decidedBy = &text, asked.Method
				w.answeredEdits = true
			}
		}
	}
}

func named(method string) string {
	if method == "" {
		return "a message"
	}
	return method
}

// ended notes that the client learns of the end of its turn, if t is that turn.
func (c *connection) ended(t *sessions.Turn) {
	if t != nil && t.ID == c.w.turn && t.Status.Final() {
		c.w.end = t
		c.w.learned = c.w.learned || c.since > 0
	}
}

// notified looks at a notification of the daemon.
func (c *connection) notified(m rpc.Message) {
	w := c.w
	var p struct {
		Seq            uint64
		Turn           *sessions.Turn
		Message, Level string
	}
	_ = json.Unmarshal(m.Params, &p)
	w.seq = max(w.seq, p.Seq)
	w.middle = w.middle || m.Method == "item/delta" || m.Method == "item/changed"
	c.ended(p.Turn)
	if m.Method == "log/message" && (strings.Contains(p.Message, " did nothing: ") || strings.Contains(p.Message, "is not known and was ignored")) {
		w.fault("%s", p.Message)
	}
}

// fromLater returns a message as a later build may send it.
func (w *watcher) fromLater(m rpc.Message, body []byte) [][]byte {
	var message, object map[string]json.RawMessage
	if json.Unmarshal(body, &message) != nil {
		return [][]byte{body}
	}
	member := "params"
	if m.IsResponse() {
		member = "result"
	}
	if json.Unmarshal(message[member], &object) == nil && object != nil {
		object["laterMember"] = json.RawMessage(`{"of":["a","later","build"]}`)
		message[member], _ = json.Marshal(object)
	}
	changed, err := json.Marshal(message)
	if err != nil {
		changed = body
	}
	list := [][]byte{changed}
	if m.Method != "item/changed" || w.sentLater {
		return list
	}
	w.sentLater = true
	var item map[string]json.RawMessage
	if json.Unmarshal(object["item"], &item) == nil {
		item["id"], item["kind"] = json.RawMessage(`"`+laterID+`0"`), json.RawMessage(`"song"`)
		object["item"], _ = json.Marshal(item)
		params, _ := json.Marshal(object)
		list = append(list, []byte(`{"jsonrpc":"2.0","method":"item/changed","params":`+string(params)+`}`))
	}
	return append(list, []byte(`{"jsonrpc":"2.0","method":"later/sung","params":{"workspace":"`+laterID+`"}}`))
}

// apply makes edits in a text, the last one first.
func apply(text string, edits []api.TextEdit) string {
	for _, e := range slices.Backward(edits) {
		text = text[:offset(text, e.Range.Start)] + e.NewText + text[offset(text, e.Range.End):]
	}
	return text
}

// offset returns where a position is in a text, in bytes.
func offset(text string, at api.Position) int {
	start := 0
	for range at.Line {
		end := strings.IndexByte(text[start:], '\n')
		if end < 0 {
			return len(text)
		}
		start += end + 1
	}
	units := 0
	for i, r := range text[start:] {
		if units >= at.Character || r == '\n' {
			return start + i
		}
		units += max(utf16.RuneLen(r), 1)
	}
	return len(text)
}
