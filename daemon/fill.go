package daemon

import (
	"cursord/daemon/api"
	"cursord/sessions"
)

const (
	fillBatch = 200     // objects stored together; more would hold up others
	fillBytes = 1 << 20 // of their encodings, about
)

// A filling makes a session from the turns and items of another or of a file, in bounded steps. Until it has ended, nobody
// else can change the session; a crash removes it. It is not for concurrent use.
type filling struct {
	w     *workspace
	id    string       // of the session
	ls    *liveSession // the loop's
	batch []filled
	size  int
}

type filled struct {
	object sessions.Object
	detail []byte // of an item, see sessions.Put
}

// fill begins a session with its first form. before are operations that come before it.
func (w *workspace) fill(s sessions.Session, before ...sessions.Op) (*filling, error) {
	f := &filling{w: w, id: s.ID, ls: &liveSession{session: &s, filling: true}}
	_, err := stored(w, func(c *commit) (struct{}, error) {
		if w.stopping || w.d.stops() {
			return struct{}{}, api.ErrStopped
		}
		w.sessions[s.ID] = f.ls
		c.ops = append(append(c.ops, before...), sessions.Fill{ID: s.ID})
		w.put(c, &s, nil)
		return struct{}{}, nil
	})
	if err != nil {
		f.drop()
		return nil, err
	}
	return f, nil
}

// add stores a turn or an item of the session, at the latest with end. size is about that of its encoding.
func (f *filling) add(o sessions.Object, detail []byte, size int) error {
	f.batch = append(f.batch, filled{o, detail})
	if f.size += size; f.size > fillBytes || len(f.batch) == fillBatch {
		return f.flush(func(*commit) {})
	}
	return nil
}

func (f *filling) flush(last func(*commit)) error {
	batch := f.batch
	f.batch, f.size = nil, 0
	_, err := stored(f.w, func(c *commit) (struct{}, error) {
		for _, o := range batch {
			f.w.put(c, o.object, o.detail)
		}
		last(c)
		return struct{}{}, nil
	})
	return err
}

// end stores the rest, and the session's final form, which change makes of the present one.
func (f *filling) end(change func(*sessions.Session)) (*sessions.Session, error) {
	var s sessions.Session
	err := f.flush(func(c *commit) {
		s = *f.ls.session
		change(&s)
		f.w.put(c, &s, nil)
		f.ls.session = &s
		c.ops = append(c.ops, sessions.Fill{ID: s.ID, Done: true})
	})
	if err != nil {
		return nil, err
	}
	f.drop()
	return &s, nil
}

// drop lets others change the session.
func (f *filling) drop() {
	_ = f.w.call(func() { // a loop that has ended has no sessions
		f.ls.filling = false
		if f.ls.unstored == 0 && f.ls.turns == 0 {
			delete(f.w.sessions, f.id)
		}
	})
}

// undo deletes what there is of the session.
func (f *filling) undo() {
	f.drop()
	if err := f.w.d.DeleteSession(f.id); err != nil {
		f.w.log.Warn("a session that could not be made whole was left; the next start removes it", "session", f.id, "err", err)
	}
}

// errFilling is the answer to who would change a session that is being made.
var errFilling = &api.Error{Kind: api.KindBusy, Message: "this session is still being made", Hint: "try again when it is complete"}
