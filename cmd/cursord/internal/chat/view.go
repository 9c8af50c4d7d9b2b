package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/rpc"
	"cursord/sessions"
)

// A View shows the turns of a workspace one after the other. If several run, it shows the first until its end and then the
// next. Its Notify is the client's onNotify.
type View struct {
	only string // the session that is shown, or "": all

	mu        sync.Mutex // guards all below
	show      *view.Screen
	turns     map[string]*turnState          // turns not yet shown to their ends
	order     []string                       // of turns that have begun; the first is on the screen
	owned     map[string]bool                // turns whose prompts were typed here
	ended     map[string]sessions.TurnStatus // turns that are not shown any more
	session   string                         // the session of the turn shown last
	pending   map[string][]string            // the turns of each file under review
	review    string                         // how the person reviews
	sending   string                         // the turn of the last prompt shown, until that turn begins
	unsent    []unsent                       // typed prompts whose turns the daemon has not reported yet
	with      []string                       // notes about the files that go with the next prompt
	prompts   bool                           // the terminal echoes lines itself, so the view asks for prompts
	asking    bool                           // the "> " is on the screen
	piped     bool                           // prompts come from a script, and nobody types
	held      []func()                       // notifications that wait for release
	heldAsked []func()                       // of held, what agents ask: it is shown below the turn
	holding   bool
	since     uint64 // the seq at the beginning: later changes are new

	asked      []*sessions.Approval            // pending ones; the first is on the screen
	over       []*sessions.Approval            // the latest questions that have ended on the screen
	answered   string                          // the last question that was answered here
	numbers    string                          // the question whose numbers are on the screen
	told       string                          // the question of which the person was told that its beginning is above the window
	lost       time.Time                       // when the last of over ended without an answer from here
	onQuestion func(id string, lines []string) // tells the prompt which question is on the screen; nil without a drawn prompt
}

// A turnState is what the view knows of a turn.
type turnState struct {
	turn  *sessions.Turn
	quiet view.Quiet
	items map[string]*sessions.Item
}

// An unsent prompt waits behind the turn that is on the screen.
type unsent struct{ turn, text string }

// NewView returns a view of all turns of a workspace, or of one session if only is its id.
func NewView(show *view.Screen, only string) *View {
	return &View{
		only: only, show: show, turns: map[string]*turnState{}, ended: map[string]sessions.TurnStatus{}, owned: map[string]bool{}, session: only,
		pending: map[string][]string{}, review: "cursord review",
	}
}

const recapOffer = "To tell it, type /recap: that asks your prompt again, with the transcript as context."

// showOn makes the view write to a terminal at which a person types, from now on.
func (v *View) showOn(show *view.Screen) {
	v.mu.Lock()
	defer v.mu.Unlock()
	show.Recap = recapOffer
	v.show, v.review = show, "/review"
}

// Notify takes a notification of the daemon.
func (v *View) Notify(method string, params json.RawMessage) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.holding {
		handle := func() { v.handle(method, params) }
		if method == "approval/changed" {
			v.heldAsked = append(v.heldAsked, handle)
		} else {
			v.held = append(v.held, handle)
		}
		return
	}
	v.handle(method, params)
}

// hold keeps notifications back until release. release takes the seq at the beginning: changes after it are new.
func (v *View) hold() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.holding = true
}

func (v *View) release(since uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.since, v.holding = since, false
	for _, handle := range append(v.held, v.heldAsked...) {
		handle()
	}
	v.held, v.heldAsked = nil, nil
}

// handle shows a notification, if it concerns the view.
func (v *View) handle(method string, params json.RawMessage) {
	if method == "item/delta" {
		var d rpc.DeltaParams
		if json.Unmarshal(params, &d) == nil && v.concerns(d.SessionID, d.TurnID) {
			v.delta(&d)
		}
		return
	}
	var c view.Change
	if json.Unmarshal(params, &c) != nil {
		return // from a daemon of another version
	}
	switch {
	case c.Turn != nil && v.concerns(c.Turn.SessionID, c.Turn.ID):
		v.turn(c.Turn)
	case c.Item != nil && v.concerns(c.Item.SessionID, c.Item.TurnID):
		v.item(c.Item)
	case c.Approval != nil && v.concerns(c.Approval.SessionID, c.Approval.TurnID):
		v.approval(c.Approval)
	case c.Diff != nil && c.Diff.State == "pending":
		v.pending[c.Diff.Path] = c.Diff.Turns
	case c.Diff != nil:
		delete(v.pending, c.Diff.Path)
	}
}

// concerns reports whether the view shows a turn of a session, now or later.
func (v *View) concerns(session, turn string) bool {
	return (v.only == "" || v.only == session) && v.ended[turn] == ""
}

// stateOf returns the state of a turn, which it begins to keep if the turn is new.
func (v *View) stateOf(id string) *turnState {
	t := v.turns[id]
	if t == nil {
		t = &turnState{items: map[string]*sessions.Item{}}
		v.turns[id] = t
	}
	return t
}

// shown returns the turn that is on the screen, or "".
func (v *View) shown() string {
	if len(v.order) == 0 {
		return ""
	}
	return v.order[0]
}

func (v *View) turn(now *sessions.Turn) {
	t := v.stateOf(now.ID)
	begun := t.turn != nil || len(t.items) > 0 || v.owned[now.ID] || now.Seq > v.since
	t.turn = now
	t.quiet.Heard(now)
	v.heard(now.ID)
	switch {
	case now.Status == sessions.TurnQueued:
		return
	case v.sending == now.ID:
		v.sending = ""
	}
	switch {
	case now.Status.Final() && !begun:
		// The turn ended before this view began.
		v.ended[now.ID] = now.Status
		delete(v.turns, now.ID)
		return
	case !slices.Contains(v.order, now.ID):
		if v.order = append(v.order, now.ID); v.shown() == now.ID {
			v.open(t)
		}
	}
	for t := v.turns[v.shown()]; t != nil && t.turn.Status.Final(); t = v.turns[v.shown()] {
		v.close(t.turn)
		delete(v.turns, t.turn.ID)
		v.ended[t.turn.ID] = t.turn.Status
		if v.order = v.order[1:]; len(v.order) > 0 {
			v.open(v.turns[v.order[0]])
			v.showAsked() // it would stand in the turn that has ended, and may have left the screen
		}
	}
	if len(v.order) == 0 {
		v.ask()
	}
}

func (v *View) item(now *sessions.Item) {
	t := v.stateOf(now.TurnID)
	t.items[now.ID] = now
	t.quiet.Heard(nil)
	if v.shown() == now.TurnID {
		v.show.Asks = v.waitsFor(now.TurnID)
		v.show.Item(now)
	}
}

func (v *View) delta(d *rpc.DeltaParams) {
	t := v.stateOf(d.TurnID)
	t.quiet.Heard(nil)
	if item := t.items[d.ItemID]; item != nil && d.Offset <= len(item.Text) {
		item.Text = item.Text[:d.Offset] + d.Text
	}
	if v.shown() == d.TurnID {
		v.show.Delta(d.ItemID, d.Kind, d.Offset, d.Text)
	}
}

// open shows a turn from its beginning to its present state.
func (v *View) open(t *turnState) {
	v.hush()
	if !v.owned[t.turn.ID] {
		v.head(t.turn)
	}
	v.session = t.turn.SessionID
	items := make([]*sessions.Item, 0, len(t.items))
	for _, item := range t.items {
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b *sessions.Item) int { return a.Index - b.Index })
	v.show.Asks = v.waitsFor(t.turn.ID)
	for _, item := range items {
		v.show.Item(item)
	}
}

// Tick shows for how long the turn on the screen has been silent, if that is worth saying.
func (v *View) Tick(now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if t := v.turns[v.shown()]; t != nil {
		v.show.Quiet(t.quiet.Text(now, v.show.Open()))
	}
}

// cancel notes that the person has cancelled a turn.
func (v *View) cancel(turn string) {
	v.mu.Lock()
	if t := v.turns[turn]; t != nil {
		t.quiet.Cancel()
	}
	v.mu.Unlock()
	v.Tick(time.Now())
}

func (v *View) head(t *sessions.Turn) { v.prompt(t.Asked()) }

func (v *View) prompt(text string) {
	v.show.Line("")
	for line := range strings.Lines(term.CleanText(strings.TrimRight(text, "\n"))) {
		v.show.Line(v.show.Palette.Cyan("> " + strings.TrimSuffix(line, "\n")))
	}
}

func (v *View) close(t *sessions.Turn) {
	v.show.End()
	v.show.Line(v.show.Palette.Dim("— " + view.TurnEnd(t)))
	files := 0
	for _, turns := range v.pending {
		if slices.Contains(turns, t.ID) {
			files++
		}
	}
	if files > 0 {
		of := ""
		if all := len(v.pending); all != files {
			of = fmt.Sprintf(" from this turn, %d in all,", all)
		}
		v.show.Line(fmt.Sprintf("%s%s to review: %s", term.Count(files, "file"), of, v.review))
	}
	if t.Status == sessions.TurnInterrupted {
		message, hint := view.Interruption(t)
		v.show.Line(v.show.Palette.Red("  " + message))
		v.show.Line("  " + hint)
	}
	if e := t.Error; e != nil {
		v.show.Line(v.show.Palette.Red("  " + term.Clean(e.Message)))
		if e.Hint != "" {
			v.show.Line("  " + term.Clean(e.Hint))
		}
	}
}

// reviews notes the files that were under review before the view began.
func (v *View) reviews(diffs []*sessions.Diff) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, d := range diffs {
		v.pending[d.Path] = d.Turns
	}
}

// past shows a turn that ended before the view began.
func (v *View) past(t *sessions.Turn, items []*sessions.Item) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.head(t)
	for _, item := range items {
		v.show.Item(item)
	}
	v.close(t)
	v.ended[t.ID], v.session = t.Status, t.SessionID
}

// say shows a line that belongs to no turn.
func (v *View) say(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.show.Line(v.show.Palette.Bold(line))
}

// complain shows the error of a request, such as a refused prompt.
func (v *View) complain(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hush()
	v.show.Line(v.show.Palette.Red(term.Clean(err.Error())))
	if e := (*rpc.Error)(nil); errors.As(err, &e) && e.Data.Hint != "" {
		v.show.Line("  " + term.Clean(e.Data.Hint))
	}
	v.ask()
}
