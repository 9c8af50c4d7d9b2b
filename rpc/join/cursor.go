package join

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/daemon/paths"
	"cursord/rpc"
	"cursord/sessions"
)

// A cursor knows which changes the editor has got of the workspaces to which it is subscribed, so that another daemon can continue from there.
// It does not decode messages that look as our daemon writes them, because decoding costs more than passing them on.
type cursor struct {
	workspaces map[string]*subscription // by the daemon's names
	texts      map[string]*growingText  // items whose text grows, by id
	missing    map[string]int           // of items whose text was growing when the daemon was lost: how many bytes of it the editor has
}

// A subscription is the editor's, to a workspace.
type subscription struct {
	workspace string                     // the daemon's name for it
	names     []string                   // the editor's names for it
	params    map[string]json.RawMessage // of the editor's workspace/subscribe
	epoch     string
	after     *uint64 // the last seq that the editor got; nil: none yet
}

// A growingText is the last message about an item whose text grows.
type growingText struct {
	delta bool // it is an item/delta, else an item/changed
	body  []byte
}

func newCursor() *cursor {
	return &cursor{workspaces: map[string]*subscription{}, texts: map[string]*growingText{}, missing: map[string]int{}}
}

var (
	deltaHead    = []byte(`{"jsonrpc":"2.0","method":"item/delta","params":{"workspace":`)
	noteHead     = []byte(`{"jsonrpc":"2.0","method":"`)
	changedInner = []byte(`/changed","params":{"workspace":"`)
	answerHead   = []byte(`{"jsonrpc":"2.0","id":`)
)

// observe looks at a notification on its way to the editor. It returns what the editor must get before it: the text of an item that
// the editor missed while there was no daemon, else nil.
func (c *cursor) observe(body []byte) (before [][]byte) {
	if bytes.HasPrefix(body, deltaHead) {
		if id, ok := textAfter(body, `"itemId":"`); ok {
			c.sawDelta(id, body)
			return nil
		}
	} else if kind, workspace, seq, rest, ok := changedParts(body); ok {
		c.advance(workspace, seq)
		if string(kind) != "item" {
			return nil
		}
		if id, ok := bytes.CutPrefix(rest, []byte(`,"item":{"id":"`)); ok {
			if id, ok := plainText(id); ok {
				return c.itemChanged(id, body)
			}
		}
	}
	return c.observeOther(body)
}

// observeOther is observe for a message that is not as our daemon writes it.
func (c *cursor) observeOther(body []byte) [][]byte {
	m, bad := rpc.ParseMessage(body)
	if bad != nil {
		return nil
	}
	var n struct {
		Workspace string         `json:"workspace"`
		Seq       uint64         `json:"seq"`
		ItemID    string         `json:"itemId"`
		Item      *sessions.Item `json:"item"`
	}
	if json.Unmarshal(m.Params, &n) != nil {
		return nil
	}
	if m.Method == "item/delta" {
		c.sawDelta([]byte(n.ItemID), body)
	}
	if n.Seq > 0 {
		c.advance([]byte(n.Workspace), n.Seq)
	}
	if n.Item != nil {
		return c.itemChanged([]byte(n.Item.ID), body)
	}
	return nil
}

// advance notes that the editor has got all changes of a workspace up to seq.
func (c *cursor) advance(workspace []byte, seq uint64) {
	if s := c.workspaces[string(workspace)]; s != nil {
		if s.after == nil {
			s.after = new(uint64)
		}
		*s.after = seq
	}
}

// sawDelta notes the latest delta of an item.
func (c *cursor) sawDelta(id, body []byte) {
	if len(c.missing) > 0 {
		delete(c.missing, string(id))
	}
	t := c.texts[string(id)]
	if t == nil {
		t = &growingText{}
		c.texts[string(id)] = t
	}
	t.delta, t.body = true, append(t.body[:0], body...)
}

// itemChanged looks at a message with the state of an item.
func (c *cursor) itemChanged(id, body []byte) (before [][]byte) {
	if len(c.missing) > 0 {
		if had, ok := c.missing[string(id)]; ok {
			delete(c.missing, string(id))
			before = missedDeltas(body, had)
		}
	}
	kind, _ := textAfter(body, `"kind":"`)
	status, _ := textAfter(body, `"status":"`)
	growing := string(status) == string(sessions.ItemRunning) &&
		(string(kind) == string(sessions.ItemAssistant) || string(kind) == string(sessions.ItemThinking))
	if !growing {
		if len(c.texts) > 0 {
			delete(c.texts, string(id))
		}
		return before
	}
	c.texts[string(id)] = &growingText{body: bytes.Clone(body)}
	return before
}

// missedDeltas returns the deltas that complete the text of the item in body, an item/changed, for an editor that has its first had bytes.
func missedDeltas(body []byte, had int) (deltas [][]byte) {
	var m struct{ Params rpc.ItemChanged }
	if json.Unmarshal(body, &m) != nil || m.Params.Item == nil {
		return nil
	}
	it := m.Params.Item
	if len(it.Text) <= had || !utf8.RuneStart(it.Text[had]) {
		return nil
	}
	for offset, part := range api.DeltaParts(it.Text, had) {
		params, err := json.Marshal(rpc.DeltaParams{
			Workspace: m.Params.Workspace, SessionID: it.SessionID, TurnID: it.TurnID, ItemID: it.ID, Kind: it.Kind,
			Offset: offset, Text: part,
		})
		if err != nil {
			panic(err) // strings and numbers
		}
		deltas = append(deltas, rpc.AppendRequest(nil, nil, "item/delta", params))
	}
	return deltas
}

// length returns how many bytes of the item's text the editor has.
func (t *growingText) length() int {
	var m struct {
		Params struct {
			Offset int
			Text   string
			Item   struct{ Text string }
		}
	}
	if json.Unmarshal(t.body, &m) != nil {
		return 0
	}
	if t.delta {
		return m.Params.Offset + len(m.Params.Text)
	}
	return len(m.Params.Item.Text)
}

// daemonLost notes how much of each growing item the editor has, now that the daemon is gone.
func (c *cursor) daemonLost() {
	for id, t := range c.texts {
		c.missing[id] = t.length()
	}
	clear(c.texts)
}

// subscribed looks at the answer to a workspace/subscribe.
func (c *cursor) subscribed(r *request, body []byte) {
	m, bad := rpc.ParseMessage(r.body)
	if bad != nil {
		return
	}
	var answer struct {
		Result *struct {
			Workspace string
			Epoch     string
			Reset     bool
		}
	}
	s := &subscription{names: []string{r.workspace}}
	if json.Unmarshal(body, &answer) != nil || answer.Result == nil || json.Unmarshal(m.Params, &s.params) != nil {
		return
	}
	s.workspace, s.epoch = answer.Result.Workspace, answer.Result.Epoch
	if after := s.params["after"]; after != nil && !answer.Result.Reset {
		if n, err := strconv.ParseUint(string(after), 10, 64); err == nil {
			s.after = &n
		}
	}
	if old := c.workspaces[s.workspace]; old != nil {
		s.names = append(s.names, old.names...)
	}
	c.workspaces[s.workspace] = s
}

// unsubscribed looks at the answer to a workspace/unsubscribe.
func (c *cursor) unsubscribed(r *request, body []byte) {
	var answer struct{ Error json.RawMessage }
	if json.Unmarshal(body, &answer) != nil || answer.Error != nil {
		return
	}
	dir, err := paths.Local(r.workspace)
	if real, linkErr := filepath.EvalSymlinks(dir); err == nil && linkErr == nil {
		dir = real
	}
	for name, s := range c.workspaces {
		if name == r.workspace || slices.Contains(s.names, r.workspace) || err == nil && name == dir {
			delete(c.workspaces, name)
		}
	}
}

// resumeParams returns the parameters of a workspace/subscribe that continues where the editor is.
func (s *subscription) resumeParams() json.RawMessage {
	params := map[string]any{}
	for name, value := range s.params {
		params[name] = value
	}
	params["workspace"] = s.workspace
	delete(params, "after")
	delete(params, "epoch")
	if s.after != nil {
		params["after"], params["epoch"] = *s.after, s.epoch
	}
	raw, err := json.Marshal(params)
	if err != nil {
		panic(err) // it was JSON before
	}
	return raw
}

// textAfter returns the string that follows mark in body, if it has no escapes. mark ends in the string's opening quote, so body cannot have it
// inside another string, where quotes are escaped.
func textAfter(body []byte, mark string) ([]byte, bool) {
	i := bytes.Index(body, []byte(mark))
	if i < 0 {
		return nil, false
	}
	return plainText(body[i+len(mark):])
}

// plainText returns the part of b before its first quote, if it has no escapes.
func plainText(b []byte) ([]byte, bool) {
	end := bytes.IndexByte(b, '"')
	if end < 0 || bytes.IndexByte(b[:end], '\\') >= 0 {
		return nil, false
	}
	return b[:end], true
}

// changedParts splits the notification of a change into the kind of object that has changed, its workspace, its seq, and the rest. ok is false if
// the message is not as our daemon writes it.
func changedParts(body []byte) (kind, workspace []byte, seq uint64, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(body, noteHead)
	if !ok {
		return
	}
	end := bytes.IndexByte(rest, '/')
	if ok = end >= 0; !ok {
		return
	}
	kind = rest[:end]
	if rest, ok = bytes.CutPrefix(rest[end:], changedInner); !ok {
		return
	}
	if workspace, ok = plainText(rest); !ok {
		return
	}
	if rest, ok = bytes.CutPrefix(rest[len(workspace):], []byte(`","seq":`)); !ok {
		return
	}
	for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
		seq, rest = 10*seq+uint64(rest[0]-'0'), rest[1:]
	}
	return
}
