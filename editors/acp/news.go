package acp

import (
	"cmp"
	"slices"

	"cursord/rpc"
	"cursord/sessions"
)

// A news is what changes in a session while it is opened. The editor gets it after the history and in the order of the
// transcript: what runs at the same time does not come in that order.
type news struct {
	turns   map[string]*sessions.Turn
	items   map[string]*sessions.Item
	of      map[string]bool               // turns of which something came that the editor has not seen begin
	pieces  map[string][]*rpc.DeltaParams // by item: what its text has got since the form in items
	said    map[string]bool               // items of which the editor is not told what was said before it resumed the session
	begins  map[string]int                // by item: the offset of the first piece that came
	asked   []*sessions.Approval          // what agents have asked
	session *sessions.Session             // nil: it has not changed
}

func newNews() *news {
	return &news{
		turns: map[string]*sessions.Turn{}, items: map[string]*sessions.Item{}, of: map[string]bool{}, pieces: map[string][]*rpc.DeltaParams{},
		said: map[string]bool{}, begins: map[string]int{},
	}
}

func (n *news) piece(d *rpc.DeltaParams) {
	n.pieces[d.ItemID] = append(n.pieces[d.ItemID], d)
	if _, begun := n.begins[d.ItemID]; !begun {
		n.begins[d.ItemID] = d.Offset
	}
}

// before returns an item that ran when its session was resumed, as it was then.
func (n *news) before(i *sessions.Item) *sessions.Item {
	out := *i
	out.Status = sessions.ItemRunning
	if begins, some := n.begins[i.ID]; some && begins < len(i.Text) {
		out.Text = i.Text[:begins]
	}
	return &out
}

func (n *news) turn(t *sessions.Turn) {
	if old := n.turns[t.ID]; old == nil || t.Seq > old.Seq {
		n.turns[t.ID] = t
	}
}

// item takes a form of an item. read says that it was read: it is then whole, and replaces the same form from a notification.
func (n *news) item(i *sessions.Item, read bool) {
	old := n.items[i.ID]
	if old != nil && (i.Seq < old.Seq || i.Seq == old.Seq && !read) {
		return
	}
	if !read || i.Status != sessions.ItemRunning || old != nil && i.Seq > old.Seq {
		delete(n.pieces, i.ID)
	}
	n.items[i.ID] = i
}

// follows takes in what came before; earlier may be nil.
func (n *news) follows(earlier *news) {
	if earlier == nil {
		return
	}
	for _, t := range earlier.turns {
		n.turn(t)
	}
	for id, pieces := range earlier.pieces {
		if n.items[id] == nil {
			n.pieces[id] = append(pieces, n.pieces[id]...)
		}
	}
	for id, i := range earlier.items {
		if n.items[id] == nil {
			n.items[id] = i
		}
	}
	for id := range earlier.of {
		n.of[id] = true
	}
	n.asked = append(earlier.asked, n.asked...)
	if n.session == nil {
		n.session = earlier.session
	}
}

// removed forgets a turn that a rewind has removed.
func (n *news) removed(turnID string) {
	delete(n.turns, turnID)
	delete(n.of, turnID)
	for id, i := range n.items {
		if i.TurnID == turnID {
			delete(n.items, id)
		}
	}
}

// incomplete returns the ids of the items of which more can be read.
func (n *news) incomplete() (ids []string) {
	for id, i := range n.items {
		if i.Tool == nil && i.Status == sessions.ItemRunning {
			ids = append(ids, id)
		}
	}
	return ids
}

// A story is the news of a turn.
type story struct {
	turn  *sessions.Turn // nil: the editor knows that it runs
	items []*sessions.Item
}

// began returns when the turn began, as far as its news show it.
func (t *story) began() sessions.Time {
	if t.turn != nil && t.turn.StartedAt != nil {
		return *t.turn.StartedAt
	}
	if len(t.items) > 0 {
		return t.items[0].StartedAt
	}
	return t.turn.CreatedAt
}

// stories returns the news in the order of the transcript.
func (n *news) stories() (all []*story) {
	of := map[string]*story{}
	at := func(turnID string) *story {
		if of[turnID] == nil {
			of[turnID] = &story{}
			all = append(all, of[turnID])
		}
		return of[turnID]
	}
	for id, t := range n.turns {
		at(id).turn = t
	}
	for _, i := range n.items {
		t := at(i.TurnID)
		t.items = append(t.items, i)
	}
	for _, t := range all {
		slices.SortFunc(t.items, func(a, b *sessions.Item) int { return cmp.Compare(a.Index, b.Index) })
	}
	slices.SortFunc(all, func(a, b *story) int { return a.began().Compare(b.began().Time) })
	return all
}

// complete reads what the news of a session lack, gives them to the editor, and ends the request that loads or resumes the session.
func (s *Server) complete(r *request, at *session, resumes bool) {
	missing := at.news.incomplete()
	left := len(missing) + 1
	var asked rpc.ApprovalList
	unknown := false // what is asked
	read := func() {
		if left--; left > 0 {
			return
		}
		s.withTurns(at, func() {
			if !s.opens(r, at) {
				return
			}
			pending := append(asked.Approvals, at.news.asked...)
			if resumes { // its editor gets no update before the answer
				s.opened(r, at, "")
			}
			s.tellNews(at)
			if !resumes {
				s.opened(r, at, "")
			}
			if !unknown {
				s.askPending(at, pending, true)
			}
			s.goOnOpening(at)
		})
	}
	call(s, "approval/list", rpc.ApprovalListParams{Workspace: at.folder.path}, func(list rpc.ApprovalList, err error) {
		asked, unknown = list, err != nil // a daemon of an older build asks nothing
		read()
	})
	for _, id := range missing {
		call(s, "item/read", rpc.ItemReadParams{ItemID: id}, func(got rpc.ItemResult, err error) {
			if err == nil && got.Item != nil && at.news != nil {
				at.news.item(got.Item, true)
			}
			read()
		})
	}
}

func (s *Server) tellNews(at *session) {
	n := at.news
	at.news, at.missed = nil, nil
	for id, pieces := range n.pieces {
		for _, piece := range pieces {
			if n.items[id] == nil { // it has begun before
				at.tell.Delta(piece)
			}
		}
	}
	for _, one := range n.stories() {
		if t := one.turn; t != nil && (t.StartedAt != nil || at.tell.Knows(t.ID)) {
			at.tell.Turn(begun(t))
			at.runs(t)
		}
		for _, i := range one.items {
			if n.said[i.ID] {
				at.tell.Pass(n.before(i))
			}
			at.tell.Item(i, false)
			for _, piece := range n.pieces[i.ID] {
				at.tell.Delta(piece)
			}
		}
		if one.turn != nil && one.turn.Status.Final() {
			s.turnEnded(at, one.turn)
		}
	}
	if n.session != nil {
		s.tellSession(at, n.session)
	}
}
