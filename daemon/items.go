package daemon

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"cursord/agent"
	"cursord/daemon/api"
	"cursord/daemon/internal/denied"
	"cursord/daemon/internal/review"
	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// A liveTurn is a turn that has not ended, or whose end is not stored. The loop owns it.
type liveTurn struct {
	session   *liveSession
	turn      *sessions.Turn // as it was last put
	context   []api.Context
	env       []string                // the environment of the client that started it; nil: none
	by        string                  // the session whose agent started it; "": a person, or unknown
	dirsNoted bool                    // a notice has said what its added folders mean
	alias     string                  // the client's name of the workspace
	recapOf   string                  // the session whose transcript goes before the prompt, to a fresh chat; "": none
	ctx       context.Context         // of a running turn
	cancel    context.CancelCauseFunc // of ctx
	control   *agent.Control          // reaches the agent of a running turn
	waiters   []*waiter
	queued    atomic.Int32 // batches that wait for the loop; later ones must wait too

	items         int                   // number of items so far
	open          *liveText             // the text item that is growing
	unflushed     []*liveText           // assistant items since the agent's last repeated message or tool call
	openCalls     map[string][]openCall // by call id, the latest last
	unread        int                   // number of lines that were no JSON
	unreadTop     string                // the first of them
	denied        denied.Calls
	deniedUnasked int    // requests of the agent that were denied without asking a person
	failure       string // the last error in the agent's stream
}

// An openCall is what memory keeps of a running tool call's item; the store has the rest. It is small because an agent may
// open very many.
type openCall struct {
	index   int
	started sessions.Time
	asked   bool // it has not begun: a permission is asked for it
}

func (t *liveTurn) status() sessions.TurnStatus { return t.turn.Status }

// A liveText is an assistant or thinking item that grows.
type liveText struct {
	item      *sessions.Item // as it was last put, without text
	text      []byte
	announced bool   // subscribers have its first item/changed
	ended     bool   // its last item/changed is under way
	last      uint64 // the seq of that one
	published int    // bytes of text that subscribers have
	stored    int    // bytes of text that the store has
}

// over reports whether no text follows the item's change with this seq.
func (t *liveText) over(seq uint64) bool { return t.ended && seq >= t.last }

// sent returns the item with the text that subscribers have got; nil if they have none of this form.
func (t *liveText) sent() *sessions.Item {
	if t == nil || !t.announced || t.published == 0 {
		return nil
	}
	item := *t.item
	item.Text = string(t.text[:t.published])
	return &item
}

// deltas yields bytes [from, to) of the text as deltas, in order.
func (t *liveText) deltas(root string, from, to int) iter.Seq[*Notification] {
	return func(yield func(*Notification) bool) {
		for offset, part := range api.DeltaParts(t.text[:to], from) {
			n := &Notification{Workspace: root, Kind: sessions.KindItem, ID: t.item.ID, Delta: &Delta{
				SessionID: t.item.SessionID, TurnID: t.item.TurnID, ItemID: t.item.ID,
				Kind: t.item.Kind, Offset: offset, Text: string(part),
			}}
			if !yield(n) {
				return
			}
		}
	}
}

// turnSaid takes in a batch of a turn's agent, and its end.
func (w *workspace) turnSaid(e turnEvents) {
	t := e.turn
	var c commit
	var items review.Items
	broken := w.guard(func() {
		w.ranBuild(t, e.build)
		for _, ev := range e.events {
			switch ev := ev.(type) {
			case agent.ToolStart:
				items.Started = append(items.Started, w.startCall(&c, t, &ev.Call, false, false))
			case agent.ToolEnd:
				t.denied.Add(ev.Call.Denials)
				items.Ended = append(items.Ended, w.endCall(&c, t, &ev.Call, sessions.ItemStatus(ev.State)))
			default:
				w.said(&c, t, ev)
			}
		}
		w.grow(t.open)
	})
	if broken {
		t.cancel(errBroken)
	}
	if e.items != nil {
		e.items <- items
	}
	if e.outcome != nil && w.guard(func() { w.endTurn(&c, t, e.outcome) }) {
		c = commit{}
		w.finish(&c, t, w.broken(t))
	}
	if len(c.ops) > 0 || len(c.after) > 0 {
		w.checkpoint(&c)
		w.submit(&c)
	}
	if e.outcome != nil {
		w.schedule()
	}
}

// said takes in one event that does not belong to a tool call.
func (w *workspace) said(c *commit, t *liveTurn, ev agent.Event) {
	switch ev := ev.(type) {
	case agent.Init:
		w.sessionStarted(c, t, ev)
	case agent.Text:
		w.appendText(c, t, sessions.ItemAssistant, ev.Text)
	case agent.TextEnd:
		if t.open != nil && t.open.item.Kind == sessions.ItemAssistant {
			w.endText(c, t, sessions.ItemCompleted)
		}
		t.unflushed = nil
	case agent.Withdraw:
		w.withdraw(c, t)
	case agent.Thinking:
		w.appendText(c, t, sessions.ItemThinking, ev.Text)
	case agent.ThinkingEnd:
		if t.open != nil && t.open.item.Kind == sessions.ItemThinking {
			w.endText(c, t, sessions.ItemCompleted)
		}
	case agent.Waiting:
		turn := *t.turn
		turn.Background = ev.Commands
		t.turn = &turn
		w.put(c, &turn, nil)
		w.count()
	case agent.ApprovalRequested:
		w.ask(c, t, &ev)
	case agent.ApprovalWithdrawn:
		w.withdrawAsked(c, t, ev.ID)
	case agent.Failure:
		t.failure = ev.Message
	case agent.Notice:
		w.notice(c, t, ev.Text)
	case agent.Unreadable:
		if t.unread++; t.unread == 1 {
			t.unreadTop = ev.Line
		}
	case agent.Result, agent.BackgroundEnded, agent.Unknown:
		// The outcome, or the review of the turn, uses these.
	}
}

// newItem numbers an item of t; the caller puts it.
func (w *workspace) newItem(t *liveTurn, kind sessions.ItemKind) *sessions.Item {
	t.items++
	return w.itemAt(t, t.items-1, kind, sessions.Now())
}

func (w *workspace) itemAt(t *liveTurn, index int, kind sessions.ItemKind, started sessions.Time) *sessions.Item {
	return &sessions.Item{
		ID: sessions.ItemID(t.turn.ID, index), TurnID: t.turn.ID, SessionID: t.turn.SessionID, Workspace: w.root,
		Index: index, Kind: kind, Status: sessions.ItemRunning, StartedAt: started,
	}
}

// maxText bounds the text of an item that an agent writes in pieces, in bytes. More text goes into another item, so that
// neither memory nor a message, in which a byte may take six, has to hold everything that an agent may say.
const maxText = 32 << 20

// appendText adds text to the open item of this kind, or to a new one; grow publishes it.
func (w *workspace) appendText(c *commit, t *liveTurn, kind sessions.ItemKind, text string) {
	if text == "" {
		return
	}
	if t.open == nil || t.open.item.Kind != kind || len(t.open.text) > 0 && len(t.open.text)+len(text) > maxText {
		w.endText(c, t, sessions.ItemCompleted)
		lt := &liveText{item: w.newItem(t, kind)}
		w.texts[lt.item.ID] = lt
		w.announce(c, lt, lt.item)
		t.open = lt
		if kind == sessions.ItemAssistant {
			t.unflushed = append(t.unflushed, lt)
		}
	}
	t.open.text = append(t.open.text, text...)
}

// announce puts a text item without its text; the text that it has by the time subscribers know it follows.
func (w *workspace) announce(c *commit, lt *liveText, item *sessions.Item) {
	lt.item = item
	lt.announced = false
	w.put(c, item, nil)
	c.notes[len(c.notes)-1].published = func() {
		w.resetText(item.ID)
		if lt.item == item {
			lt.announced = true
			w.grow(lt)
		}
	}
}

// grow sends subscribers the text that they do not have.
func (w *workspace) grow(lt *liveText) {
	if lt == nil || !lt.announced || lt.published == len(lt.text) {
		return
	}
	for n := range lt.deltas(w.root, lt.published, len(lt.text)) {
		lt.published += len(n.Delta.Text)
		w.publish(n)
	}
	w.wake()
}

// endText closes the open text item of t, if there is one.
func (w *workspace) endText(c *commit, t *liveTurn, status sessions.ItemStatus) {
	lt := t.open
	if lt == nil {
		return
	}
	t.open = nil
	w.grow(lt)
	lt.ended = true
	item := *lt.item
	item.Status, item.EndedAt, item.Text = status, now(), string(lt.text)
	w.put(c, &item, nil)
	lt.last = item.Seq
	c.after = append(c.after, func() {
		if lt.ended {
			lt.text = nil // unless the text can still be withdrawn
			delete(w.texts, item.ID)
		}
	})
}

// withdraw takes back the assistant text since the last boundary, which the agent will repeat.
func (w *workspace) withdraw(c *commit, t *liveTurn) {
	for _, lt := range t.unflushed {
		item := *lt.item
		if lt.ended { // what is held of it goes ahead of its end, which may be on its way
			item.Status, item.EndedAt = sessions.ItemCompleted, now()
			w.put(c, &item, nil)
			lt.last = item.Seq
			continue
		}
		w.dropHeld(item.ID)
		lt.text, lt.published, lt.stored = nil, 0, 0
		w.announce(c, lt, &item)
		c.ops = append(c.ops, sessions.AppendText{ItemID: item.ID})
	}
	t.unflushed = nil
	if t.open != nil && t.open.item.Kind == sessions.ItemAssistant {
		t.unflushed = append(t.unflushed, t.open)
	}
}

// checkpoint adds to c the text that is only in memory.
func (w *workspace) checkpoint(c *commit) {
	for id, lt := range w.texts {
		if lt.ended || lt.stored == len(lt.text) {
			continue
		}
		c.ops = append(c.ops, sessions.AppendText{ItemID: id, Offset: lt.stored, Text: string(lt.text[lt.stored:])})
		lt.stored = len(lt.text)
	}
}

// notice adds an item with a notice for people. Later text is behind it, so the text before it ends.
func (w *workspace) notice(c *commit, t *liveTurn, text string) {
	w.endText(c, t, sessions.ItemCompleted)
	item := w.newItem(t, sessions.ItemNotice)
	item.Status, item.Text, item.EndedAt = sessions.ItemCompleted, text, &item.StartedAt
	if text == chatGone {
		item.Reason, item.Text = sessions.ReasonChatLost, fmt.Sprintf(chatGone, t.turn.SessionID)
	}
	w.put(c, item, nil)
}

// startCall opens the item of a tool call that begins, or for which the agent asks a permission, and returns its id. A call that begins
// keeps the item that its question has opened. waits says that the question has no answer yet.
func (w *workspace) startCall(c *commit, t *liveTurn, call *agent.Call, asked, waits bool) string {
	w.endText(c, t, sessions.ItemCompleted)
	t.unflushed = nil
	open := t.openCalls[call.ID]
	var item *sessions.Item
	if last := len(open) - 1; last >= 0 && open[last].asked {
		item = w.itemAt(t, open[last].index, sessions.ItemTool, sessions.Now())
		open = open[:last]
	} else {
		item = w.newItem(t, sessions.ItemTool)
	}
	t.openCalls[call.ID] = append(open, openCall{item.Index, item.StartedAt, asked})
	item.Waits = waits
	return w.putCall(c, item, call)
}

// endCall closes the call's item, or adds a closed one if the agent never announced the start. It returns the id.
func (w *workspace) endCall(c *commit, t *liveTurn, call *agent.Call, status sessions.ItemStatus) string {
	var item *sessions.Item
	if open := t.openCalls[call.ID]; len(open) > 0 {
		last := open[len(open)-1]
		item = w.itemAt(t, last.index, sessions.ItemTool, last.started)
		if t.openCalls[call.ID] = open[:len(open)-1]; len(open) == 1 {
			delete(t.openCalls, call.ID)
		}
	} else {
		w.endText(c, t, sessions.ItemCompleted)
		t.unflushed = nil
		item = w.newItem(t, sessions.ItemTool)
	}
	item.Status, item.EndedAt = status, now()
	return w.putCall(c, item, call)
}

// putCall puts an item with the call as clients see it, and returns its id. A plan is an item of its own kind, with its text.
func (w *workspace) putCall(c *commit, item *sessions.Item, call *agent.Call) string {
	all := &sessions.Tool{
		CallID: call.ID, Name: call.Name, RawName: call.RawName, Title: call.Title, Command: call.Command,
		Paths: w.relativePaths(call.Paths), ExitCode: call.ExitCode, Output: call.Output, Error: call.Error,
		Args: call.Args, Result: call.Result,
	}
	if call.Todos != nil && item.Status != sessions.ItemRunning || len(call.Todos) > 0 { // a call that begins may not have its list yet
		all.Todos = make([]sessions.Todo, len(call.Todos))
	}
	for i, todo := range call.Todos {
		all.Todos[i] = sessions.Todo(todo)
	}
	if call.Plan != "" {
		item.Kind, item.Text = sessions.ItemPlan, call.Plan
	}
	tool, detail := wire.CutTool(all)
	item.Tool = tool
	w.put(c, item, detail)
	return item.ID
}

func now() *sessions.Time {
	t := sessions.Now()
	return &t
}
