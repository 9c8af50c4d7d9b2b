package callchanges

import (
	"bytes"
	"hash/maphash"
	"maps"
	"slices"

	"cursord/daemon/internal/attribution"
	"cursord/diffs"
	"cursord/sessions"
)

// How much of a call's changes is kept with its item.
const (
	MaxPatch = 64 << 10 // bytes of all its patches
	MaxFiles = 200
)

const (
	maxHeld = 16 << 20 // bytes of contents, for changes that go on
	maxKept = 1 << 20  // bytes of calls that were given out, in case they change once more
	perCall = 100      // bytes that a change takes beside its patch
)

// A Log has the changes of the calls of running turns. It belongs to one goroutine.
type Log struct {
	Limits diffs.Limits
	Stored func(item string) *sessions.Item // returns an item that is stored; nil if there is none
	Opened func(path string) bool           // reports whether a client has a file open; nil: none has

	turns  map[string]*turn
	calls  map[string]*call  // by item
	latest map[Place]*latest // of the changes that may go on
	news   []string          // items of calls that have changed since they were given out; some may not have ended
	over   bool              // some of the turns are over
	held   int               // bytes in latest
	kept   int               // bytes in calls
}

// A turn has the items of its calls that have ended, and whether they were given out.
type turn struct {
	ended   map[string]bool
	over    bool
	resumed bool
	refused map[string]string // titles of calls that were refused, by item; of those of which people do not know that they were made
	untold  map[string]string // what people are told of some of these once the turn is over, by item
	say     func(text string) // tells people; nil unless there were refused ones
}

type call struct {
	turn    string
	changes []sessions.Change
	more    int
	news    bool
	fresh   bool // something of it was not given out by Open
	certain bool // one of the changes is certainly the call's
}

// A Place is where a file is: in a session's copy, or, for "", in the work tree.
type Place struct{ Session, Path string }

// A latest is the latest change of a file.
type latest struct {
	item, turn string
	oldPath    string
	before     diffs.Content
	after      sum
}

// A Call is a call with what it has changed so far.
type Call struct {
	ItemID  string
	Changes []sessions.Change
	More    int
	Open    bool // it has not ended
}

// Begin begins a turn: changes of others are left out.
func (l *Log) Begin(id string) {
	if l.turns == nil {
		l.turns, l.calls, l.latest = map[string]*turn{}, map[string]*call{}, map[Place]*latest{}
	}
	l.turns[id] = &turn{ended: map[string]bool{}}
}

// Resume is Begin for a turn that has ended and whose calls may have stored changes.
func (l *Log) Resume(id string) {
	l.Begin(id)
	l.turns[id].resumed = true
}

// Ended notes that calls have ended, by their items, and that their items are on the way to the store.
func (l *Log) Ended(turn string, items ...string) {
	if t := l.turns[turn]; t != nil {
		for _, id := range items {
			if _, known := t.ended[id]; !known {
				t.ended[id] = false
			}
		}
	}
}

// EndTurn notes that a turn has ended, with all of its calls. Once Take has given their changes out, the log forgets the turn.
func (l *Log) EndTurn(id string) {
	if t := l.turns[id]; t != nil {
		t.over, l.over = true, true
	}
}

// Take returns the ended calls that have changed since they were given out.
func (l *Log) Take() (all []Call) {
	left := l.news[:0]
	for _, item := range l.news {
		c := l.calls[item]
		t := l.turns[c.turn]
		if _, ended := t.ended[item]; !ended && !t.over {
			left = append(left, item)
			continue
		}
		c.news, t.ended[item] = false, true
		t.tell(item, c, l.Opened)
		all = append(all, Call{item, slices.Clone(c.changes), c.more, false})
	}
	for _, t := range l.turns {
		if t.over {
			t.tellRest()
		}
	}
	if l.news = left; l.over || l.kept > maxKept {
		l.clear()
	}
	return all
}

// Open returns the open calls that have changed something since it was called last. That is to be stored beside what the review knows, for
// the case that the daemon is killed: then nothing else says which call made a change that was taken in before.
func (l *Log) Open() (all []Call) {
	for _, item := range l.news {
		c := l.calls[item]
		t := l.turns[c.turn]
		if _, ended := t.ended[item]; c.fresh && !ended && !t.over {
			c.fresh = false
			all = append(all, Call{item, slices.Clone(c.changes), c.more, true})
		}
	}
	return all
}

// clear forgets turns that are over, and calls of the others that were given out.
func (l *Log) clear() {
	over := func(turn string) bool { return l.turns[turn].over }
	maps.DeleteFunc(l.calls, func(_ string, c *call) bool { return over(c.turn) || !c.news })
	maps.DeleteFunc(l.latest, func(_ Place, c *latest) bool { return over(c.turn) })
	maps.DeleteFunc(l.turns, func(_ string, t *turn) bool { return t.over })
	l.kept, l.held, l.over = 0, 0, false
	for _, c := range l.calls {
		for i := range c.changes {
			l.kept += perCall + len(c.changes[i].Patch)
		}
	}
	for _, c := range l.latest {
		l.held += len(c.before.Data)
	}
}

// of returns the call of a source; nil if its turn does not run, or if it is no call's.
func (l *Log) of(by *diffs.Source) *call {
	if by == nil || by.ItemID == "" || l.turns[by.TurnID] == nil {
		return nil
	}
	c := l.calls[by.ItemID]
	if c == nil {
		c = &call{turn: by.TurnID}
		if t := l.turns[by.TurnID]; t.resumed || t.ended[by.ItemID] { // it was given out, and dropped
			if it := l.Stored(by.ItemID); it != nil {
				c.changes, c.more = it.Changes, it.MoreChanges
			}
		}
		l.calls[by.ItemID] = c
	}
	c.certain = c.certain || by.Via != "" && by.Via != diffs.ViaUnknown
	if c.fresh = true; !c.news {
		c.news = true
		l.news = append(l.news, by.ItemID)
	}
	return c
}

// Note notes that a call has changed a file. oldPath is where the file was, if the call has moved it, or "".
func (l *Log) Note(at Place, oldPath string, before, after diffs.Content, by *diffs.Source) {
	if same(before, after) && oldPath == "" {
		return
	}
	c := l.of(by)
	if c == nil {
		return
	}
	if last := l.latest[at]; last != nil && last.item == by.ItemID && last.after == sumOf(before) && oldPath == "" {
		c.drop(at.Path)
		before, oldPath = last.before, last.oldPath
	}
	l.forget(at)
	if same(before, after) && oldPath == "" {
		return // it has taken back what it did
	}
	l.add(c, change(l.Limits, at.Path, oldPath, before, after, c.room()))
	if l.held += len(before.Data); l.held > maxHeld {
		l.held = 0
		clear(l.latest)
		return
	}
	l.latest[at] = &latest{item: by.ItemID, turn: by.TurnID, oldPath: oldPath, before: before, after: sumOf(after)}
}

// Found notes that a call has changed a file that a review had; nil if nobody knows what the file held before.
func (l *Log) Found(at Place, was *diffs.Review, after diffs.Content, by *diffs.Source) {
	if was != nil {
		l.Note(at, "", was.Current(), after, by)
	} else if c := l.of(by); c != nil {
		kind := sessions.DiffKind(l.Limits.Classify(after.Data))
		if after.Target != "" {
			kind = sessions.DiffSymlink
		}
		l.forget(at)
		l.add(c, sessions.Change{Path: at.Path, Kind: kind})
	}
}

// Chain notes what calls have made of a file in the steps of a chain; was is the file's review before, or nil. known is as attribution.Chain
// returns it.
func (l *Log) Chain(at Place, was *diffs.Review, steps []attribution.Step, known bool) {
	if !known {
		l.Found(at, was, steps[0].Content, steps[0].By)
	}
	for i, step := range steps[1:] {
		l.Note(at, "", steps[i].Content, step.Content, step.By)
	}
}

// TakeBack takes back that the latest change of a file, from before to after, is that of the call to which it was noted.
func (l *Log) TakeBack(at Place, before, after diffs.Content) {
	last := l.latest[at]
	if last == nil || last.after != sumOf(after) {
		return
	}
	by := &diffs.Source{TurnID: last.turn, ItemID: last.item}
	c := l.of(by)
	l.forget(at)
	if c == nil {
		return
	}
	c.drop(at.Path)
	if !same(last.before, before) { // its first part is the call's
		l.Note(at, last.oldPath, last.before, before, by)
	}
}

func (l *Log) forget(at Place) {
	if last := l.latest[at]; last != nil {
		l.held -= len(last.before.Data)
		delete(l.latest, at)
	}
}

func (l *Log) add(c *call, one sessions.Change) {
	if len(c.changes) >= MaxFiles {
		c.more++
		return
	}
	l.kept += perCall + len(one.Patch)
	c.changes = append(slices.Clip(c.changes), one)
}

// drop drops the latest change of a path.
func (c *call) drop(path string) {
	for i, one := range slices.Backward(c.changes) {
		if one.Path == path {
			c.changes = slices.Delete(slices.Clone(c.changes), i, i+1)
			return
		}
	}
	c.more = max(0, c.more-1)
}

// room returns how many bytes the next patch of a call may take.
func (c *call) room() int {
	left := MaxPatch
	for i := range c.changes {
		left -= len(c.changes[i].Patch)
	}
	return left
}

func change(limits diffs.Limits, path, oldPath string, before, after diffs.Content, room int) sessions.Change {
	made := limits.Change(before, after, room)
	c := sessions.Change{
		Path: path, OldPath: oldPath, Kind: sessions.DiffKind(made.Kind), Added: made.Added, Removed: made.Removed, Patch: made.Hunks, Cut: made.Cut,
	}
	if oldPath != "" && (made.Kind == diffs.Modified || made.Kind == diffs.Mode) {
		c.Kind = sessions.DiffRenamed
	}
	return c
}

// same reports whether two contents are equal. An unknown mode equals each.
func same(a, b diffs.Content) bool {
	return a.Exists == b.Exists && a.Target == b.Target && (a.Mode == b.Mode || a.Mode == 0 || b.Mode == 0) && bytes.Equal(a.Data, b.Data)
}

// A sum stands for a content, without its mode.
type sum struct {
	exists bool
	target string
	size   int
	hash   uint64
}

var seed = maphash.MakeSeed()

func sumOf(c diffs.Content) sum {
	return sum{c.Exists, c.Target, len(c.Data), maphash.Bytes(seed, c.Data)}
}
