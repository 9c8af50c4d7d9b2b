package updates

import (
	"encoding/json"
	"fmt"

	"cursord/editors/acp/protocol"
	"cursord/sessions"
)

// A text is a message or a thought, as far as the client has it. The text itself is not kept.
type text struct {
	id     string
	kind   string // of update
	remark bool   // cursord's own, in one piece
	tries  int    // how often the agent has taken the text back
	sent   int    // bytes
	sum    uint64 // of these
}

func newText(i *sessions.Item) *text {
	t := &text{id: i.ID, kind: protocol.AgentChunk, sum: emptySum, remark: i.Kind == sessions.ItemNotice}
	if i.Kind == sessions.ItemThinking {
		t.kind = protocol.ThoughtChunk
	}
	return t
}

// messageID is another one after the agent has taken the text back, since a client cannot take anything back.
func (t *text) messageID() string {
	if t.tries == 0 {
		return t.id
	}
	return fmt.Sprintf("%s~%d", t.id, t.tries+1)
}

// take gives what is new in the whole text.
func (t *text) take(now string, ended bool, emit func(json.RawMessage)) {
	if t.remark {
		if t.sent == 0 && now != "" {
			t.sent = len(now)
			emit(protocol.Chunk(t.kind, t.id, remark(now)))
		}
		return
	}
	switch {
	case len(now) >= t.sent && sumOf(emptySum, now[:t.sent]) == t.sum:
	case len(now) < t.sent && ended:
		return // a crash has lost what the client has
	default:
		t.tries, t.sent, t.sum = t.tries+1, 0, emptySum
	}
	t.grow(t.sent, now[t.sent:], emit)
}

// grow gives a piece that belongs at an offset.
func (t *text) grow(offset int, piece string, emit func(json.RawMessage)) {
	switch {
	case offset > t.sent || offset+len(piece) <= t.sent:
		return
	case offset < t.sent:
		piece = piece[t.sent-offset:]
	}
	t.sent += len(piece)
	t.sum = sumOf(t.sum, piece)
	emit(protocol.Chunk(t.kind, t.messageID(), piece))
}

// The sum is FNV-1a, which can go on with the next piece.
const emptySum = 14695981039346656037

func sumOf(sum uint64, text string) uint64 {
	for i := range len(text) {
		sum = (sum ^ uint64(text[i])) * 1099511628211
	}
	return sum
}
