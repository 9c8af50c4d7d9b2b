package updates

import (
	"encoding/json"
	"strings"

	"cursord/agent/plaintext"
	"cursord/daemon/paths"
	"cursord/daemon/pictures"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// Window is the size of the agent's context in tokens. The agent does not report it; this is the size that Cursor gives its models
// outside of its "max mode".
const Window = 200_000

// A Session has what a client knows of a session's turns that have not ended.
type Session struct {
	root  string // the workspace
	emit  func(update json.RawMessage)
	turns map[string]*turn
	shown map[string]shown // what the client has been told of turns, by turn

	images int // bytes of images that the client has got
}

type shown struct {
	prompt string // its first line
	end    uint64 // the seq with which the turn has ended; 0: it has not
}

type turn struct {
	asked bool // the client has the prompt
	told  bool // the client learns in another way how the turn has ended
	items map[string]*item
	order []string         // ids, in the order in which they came
	shown map[string]*tool // by the agent's id of the call: those that the client knows from a question, and that are no items yet
}

type item struct {
	text *text
	tool *tool
	seq  uint64
}

// NewSession returns a session in the workspace root, which calls emit with each update.
func NewSession(root string, emit func(update json.RawMessage)) *Session {
	return &Session{root: root, emit: emit, turns: map[string]*turn{}, shown: map[string]shown{}}
}

// Moves has paths be of the root, as the client spells it now.
func (s *Session) Moves(root string) { s.root = root }

// Knows reports whether the turn has begun here and not ended.
func (s *Session) Knows(turnID string) bool { return s.turns[turnID] != nil }

// Waits notes that the client is asked about the call of an item. The question itself says that the call is pending. Waits returns the id by
// which the client knows the call; "" if it does not know it.
func (s *Session) Waits(itemID string) string {
	known := s.toolOf(itemID)
	if known == nil || known.status == "" || known.unseen {
		return ""
	}
	if !known.ended() {
		known.status = protocol.Pending
	}
	return known.id
}

// Settled takes the end of the question about the call of an item: the call begins, or has failed before the agent says so. words say why.
func (s *Session) Settled(itemID string, allowed bool, words string) {
	known := s.toolOf(itemID)
	if known == nil || known.status == "" || known.unseen || known.ended() || allowed && known.status == protocol.InProgress {
		return
	}
	now := protocol.ToolCall{Update: "tool_call_update", ToolCallID: known.id, Status: protocol.InProgress}
	if !allowed {
		now.Status, known.refused = protocol.Failed, true
		now.Content = []protocol.Content{protocol.TextContent(words)}
		known.isNews(now.Content)
	}
	known.status = now.Status
	s.emit(protocol.Encode(&now))
}

// Shown notes that the client was asked about a call before the call began, under the id question. The call keeps this id for the client, and
// ends with the turn at the latest. If the turn does not run, or the call has such an id already, Shown does nothing and returns false.
func (s *Session) Shown(turnID, callID, question string) bool {
	t := s.turns[turnID]
	if t == nil || callID == "" || t.shown[callID] != nil {
		return false
	}
	t.shown[callID] = &tool{id: question, status: protocol.Pending, asked: true}
	return true
}

// Asked notes that the client has the prompt of a turn, because it sent it.
func (s *Session) Asked(turnID string) { s.turn(turnID).asked = true }

// Told notes that the client learns in another way how a turn has ended: by the answer to its prompt.
func (s *Session) Told(turnID string) {
	if t := s.turns[turnID]; t != nil {
		t.told = true
	}
}

func (s *Session) turn(id string) *turn {
	t := s.turns[id]
	if t == nil {
		t = &turn{items: map[string]*item{}, shown: map[string]*tool{}}
		s.turns[id] = t
	}
	return t
}

// Turn takes a turn that runs or has ended. The client gets the prompt, unless it has it; of a turn that has ended, also the end of
// calls that are open, what the turn has used, and why it has failed. Then the turn is forgotten.
func (s *Session) Turn(t *sessions.Turn) {
	if t.Status == sessions.TurnQueued {
		return
	}
	s.Shows(t)
	known := s.turn(t.ID)
	if !known.asked {
		known.asked = true
		s.prompt(t)
	}
	if !t.Status.Final() {
		return
	}
	known.close(s)
	if u := t.Usage; u != nil {
		used := u.InputTokens + u.OutputTokens + u.CacheReadTokens + u.CacheWriteTokens
		s.emit(protocol.Encode(protocol.UsageUpdate{Update: "usage_update", Used: min(used, Window), Size: Window}))
	}
	if why := Failure(t); why != nil && !known.told {
		s.Remark(t.ID+":end", strings.TrimSuffix(why.Message+" – "+why.Hint, " – "))
	}
	delete(s.turns, t.ID)
}

// NoWords is the prompt of a person who has sent no words, but something to go with them.
const NoWords = "See the context."

// Limits of the images that the client gets. What is beyond them, or cannot be read any more, is named.
const (
	maxImage  = 4 << 20  // bytes of each
	maxImages = 16 << 20 // of all in a session
)

// prompt tells what a person has asked, without words that are not theirs.
func (s *Session) prompt(t *sessions.Turn) {
	own := *t
	own.Images = nil
	var images []json.RawMessage
	for _, path := range t.Images {
		data, mimeType, err := pictures.Read(path, min(maxImage, int64(maxImages-s.images)))
		if err != nil {
			own.Images = append(own.Images, path)
			continue
		}
		s.images += len(data)
		images = append(images, protocol.UserImage(t.ID, paths.URI(path), mimeType, data))
	}
	words := own.Asked()
	if own.Prompt == NoWords {
		own.Prompt = ""
		words = strings.TrimSpace(own.Asked())
	}
	if words != "" {
		s.emit(protocol.Chunk(protocol.UserChunk, t.ID, words))
	}
	for _, image := range images {
		s.emit(image)
	}
}

// Shows notes that the client shows a turn, because it has been told of it before.
func (s *Session) Shows(t *sessions.Turn) {
	one := shown{prompt: plaintext.Visible(plaintext.FirstLine(t.Prompt, 80), "")}
	if t.Status.Final() {
		one.end = t.Seq
	}
	s.shown[t.ID] = one
}

// End returns the seq with which a turn has ended that the client has been told of; 0 if there is none.
func (s *Session) End(turnID string) uint64 { return s.shown[turnID].end }

// Removed takes the removal of a turn. It returns the first line of the turn's prompt, and whether the client shows it.
func (s *Session) Removed(turnID string) (prompt string, shows bool) {
	one, shows := s.shown[turnID]
	delete(s.shown, turnID)
	return one.prompt, shows
}

// Failure returns why a turn has failed or was interrupted; nil if it was not.
func Failure(t *sessions.Turn) *sessions.TurnError {
	switch {
	case t.Status != sessions.TurnFailed && t.Status != sessions.TurnInterrupted:
		return nil
	case t.Error != nil:
		return t.Error
	}
	return &sessions.TurnError{Kind: "interrupted", Message: "the turn was interrupted, because the daemon ended", Hint: "send the prompt again"}
}

// close ends a call that is open.
func (s *Session) close(t *tool) {
	if t != nil && !t.ended() {
		s.emit(protocol.Encode(&protocol.ToolCall{Update: "tool_call_update", ToolCallID: t.id, Status: protocol.Failed}))
	}
}

// Close ends the calls that are open: the client is told no more of them.
func (s *Session) Close() {
	for _, t := range s.turns {
		t.close(s)
	}
}

// CloseBeside ends the calls that are open and of which now, a session that has told the client more since, knows nothing.
func (s *Session) CloseBeside(now *Session) {
	for id, t := range s.turns {
		if now.End(id) != 0 {
			continue
		}
		for _, item := range t.order {
			if now.toolOf(item) == nil {
				s.close(t.items[item].tool)
			}
		}
		for _, call := range t.shown {
			s.close(call)
		}
	}
}

// close ends the calls of a turn that are open.
func (t *turn) close(s *Session) {
	for _, id := range t.order {
		s.close(t.items[id].tool)
	}
	for _, call := range t.shown {
		s.close(call)
	}
}

// Pass takes an item that has ended and that a client which joins now is not told.
func (s *Session) Pass(i *sessions.Item) {
	emit := s.emit
	s.emit = func(json.RawMessage) {}
	s.Item(i, true)
	s.emit = emit
	if known := s.toolOf(i.ID); known != nil {
		known.unseen = true
	}
}

// Item takes an item in its newest form; past says that its turn has ended.
func (s *Session) Item(i *sessions.Item, past bool) {
	t := s.turn(i.TurnID)
	known := t.items[i.ID]
	if known == nil {
		known = &item{}
	}
	switch {
	case i.Seq < known.seq:
		return // a notification that comes after what was read
	case i.Tool == nil:
		if known.text == nil {
			known.text = newText(i)
		}
		if i.Seq == known.seq && len(i.Text) < known.text.sent {
			return // so does this: it was sent when the text was shorter
		}
		known.text.take(i.NoticeText(recapOffer), i.Status != sessions.ItemRunning, s.emit)
	case i.Tool.Name == "todo":
		if known.tool == nil {
			known.tool = &tool{status: protocol.Completed}
		}
		s.plan(known.tool, i.Tool.Todos)
	default:
		switch has := known.tool; {
		case has == nil || !has.ended():
		case has.refused && i.Status == sessions.ItemRunning:
			return
		case !has.refused && (has.unseen || len(i.Changes) == 0 && !has.changes):
			return // it comes again
		}
		if known.tool == nil {
			known.tool = t.shown[i.Tool.CallID]
			delete(t.shown, i.Tool.CallID)
		}
		if known.tool == nil {
			known.tool = &tool{id: i.ID}
		}
		s.call(i, known.tool, past)
	}
	known.seq = i.Seq
	if t.items[i.ID] == nil {
		t.items[i.ID] = known
		t.order = append(t.order, i.ID)
	}
}

// Delta takes a piece of an item's text. A piece that does not follow what the client has is left to the item's next form.
func (s *Session) Delta(d *rpc.DeltaParams) {
	t := s.turns[d.TurnID]
	if t == nil {
		return
	}
	if known := t.items[d.ItemID]; known != nil && known.text != nil {
		known.text.grow(d.Offset, d.Text, s.emit)
	}
}

// Remark tells the client something in cursord's own name.
func (s *Session) Remark(id, words string) {
	s.emit(protocol.Chunk(protocol.AgentChunk, id, remark(words)))
}

const recapOffer = "To tell it, send `/recap`: that asks your prompt again, with the transcript as context."

func remark(words string) string {
	return "\n\n> **cursord:** " + strings.ReplaceAll(strings.TrimSpace(Worded(words)), "\n", "\n> ") + "\n\n"
}
