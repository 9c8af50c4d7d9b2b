package snapshot

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
)

// A table has the states of files, sorted by path. Snapshots share it; it does not change once a second one may use it. It is
// compact, because it stays in memory between turns and has a row for each file of the workspace. Each slice has an element for a file.
type table struct {
	text  string   // all paths
	ends  []uint32 // where each path ends in text
	stats []filestat.Stat
	racy  []bool  // as in entry
	oids  []int32 // numbers in ids
	ids   *git.IDs

	contents map[int32]place // of the few files whose contents git does not have
	places   []place         // in its place if there is no git; n is -1 where no content is kept
	spool    *spool          // where contents are
}

// A place is where a content lies in a table's spool.
type place struct {
	at int64
	n  int32
}

// newTable returns a table of the present files of some paths. It keeps stats, which have the paths' states, and reorders
// them, but no path. More tells what else is known of a path. Of several equal paths, the last one counts.
func newTable(stats []filestat.Stat, ids *git.IDs, name func(i int) string, more func(i int) (racy bool, oid int32, content spooled)) *table {
	order, rest, length, sorted := make([]int32, 0, len(stats)), []int32(nil), 0, true
	for i, st := range stats {
		if !st.Exists() || st.Mode.IsDir() {
			rest = append(rest, int32(i))
			continue
		}
		n := len(order)
		sorted = sorted && (n == 0 || name(int(order[n-1])) < name(i))
		order, length = append(order, int32(i)), length+len(name(i))
	}
	if !sorted {
		slices.SortStableFunc(order, func(a, b int32) int { return strings.Compare(name(int(a)), name(int(b))) })
		kept := order[:0]
		for i, at := range order {
			if i+1 < len(order) && name(int(order[i+1])) == name(int(at)) {
				rest, length = append(rest, at), length-len(name(int(at)))
				continue
			}
			kept = append(kept, at)
		}
		order = kept
	}
	t := &table{ends: make([]uint32, len(order)), racy: make([]bool, len(order)), oids: make([]int32, len(order)), ids: ids}
	if ids == nil {
		t.places = slices.Repeat([]place{{n: -1}}, len(order))
	}
	var text strings.Builder
	text.Grow(length)
	for i, at := range order {
		text.WriteString(name(int(at)))
		t.ends[i] = uint32(text.Len())
		var content spooled
		t.racy[i], t.oids[i], content = more(int(at))
		t.put(i, content)
	}
	t.text = text.String()
	permute(stats, append(order, rest...))
	t.stats = stats[:len(order):len(order)]
	return t
}

// permute puts into each place the element that was in the place that order names for it. It changes order.
func permute[T any](all []T, order []int32) {
	for i := range order {
		first, at := all[i], i
		for int(order[at]) != i {
			from := int(order[at])
			all[at], order[at] = all[from], int32(at)
			at = from
		}
		all[at], order[at] = first, int32(at)
	}
}

func (t *table) len() int {
	if t == nil {
		return 0
	}
	return len(t.stats)
}

// states returns the states of the files, by their numbers.
func (t *table) states() []filestat.Stat {
	if t == nil {
		return nil
	}
	return t.stats
}

// name returns the i-th path, as a part of the table's text.
func (t *table) name(i int) string {
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.text[from:t.ends[i]]
}

// entry returns the i-th entry.
func (t *table) entry(i int) entry {
	e := entry{Stat: t.stats[i], racy: t.racy[i], content: nowhere}
	if t.oids[i] != 0 {
		e.blob = git.Blob{OID: t.ids.Of(t.oids[i]), Size: e.Size}
	}
	at, known := t.contents[int32(i)]
	if t.places != nil {
		at = t.places[i]
		known = at.n >= 0
	}
	if known {
		e.content = spooled{t.spool, at.at, int(at.n)}
	}
	return e
}

// read sets what a file was when it was read: its state, whether it may have changed unseen, and its content in the table's spool.
func (t *table) read(i int, st filestat.Stat, racy bool, content spooled) {
	t.stats[i], t.racy[i] = st, racy
	t.put(i, content)
}

func (t *table) put(i int, content spooled) {
	if content.n < 0 {
		return
	}
	t.spool = cmp.Or(t.spool, content.in)
	at := place{content.at, int32(content.n)}
	if t.places != nil {
		t.places[i] = at
		return
	}
	if t.contents == nil {
		t.contents = map[int32]place{}
	}
	t.contents[int32(i)] = at
}

func (t *table) find(name string) (i int, found bool) {
	if t == nil {
		return 0, false
	}
	return sort.Find(t.len(), func(i int) int { return strings.Compare(name, t.name(i)) })
}

// states are the states of files: those of a table, and those that differ from it.
type states struct {
	base   *table
	shared bool              // the table may be another snapshot's, too
	own    map[string]*entry // nil: there is no such file
}

// get returns the state of a path, or nil. The caller must not change it.
func (f *states) get(name string) *entry {
	if e, own := f.own[name]; own {
		return e
	}
	i, found := f.base.find(name)
	if !found {
		return nil
	}
	e := f.base.entry(i)
	return &e
}

// has reports whether there is such a file.
func (f *states) has(name string) bool {
	if e, own := f.own[name]; own {
		return e != nil
	}
	_, found := f.base.find(name)
	return found
}

// unread reports whether there is such a file and git does not have its content.
func (f *states) unread(name string) bool {
	if e, own := f.own[name]; own {
		return e != nil && e.blob.OID == "" && !e.doubtful
	}
	i, found := f.base.find(name)
	return found && f.base.oids[i] == 0
}

// change returns the state of a path for a change, or nil.
func (f *states) change(name string) *entry {
	e, own := f.own[name]
	if !own {
		if e = f.get(name); e != nil {
			f.set(name, e)
		}
	}
	return e
}

// read sets what a file was when it was read while the snapshot is being taken: that is kept for the next one.
func (f *states) read(name string, st filestat.Stat, racy bool, content spooled) {
	if _, own := f.own[name]; !own && !f.shared {
		if i, found := f.base.find(name); found {
			f.base.read(i, st, racy, content)
		}
		return
	}
	if e := f.change(name); e != nil {
		e.Stat, e.racy = st, racy
		if content.n >= 0 {
			e.content = content
		}
	}
}

func (f *states) set(name string, e *entry) {
	if f.own == nil {
		f.own = map[string]*entry{}
	}
	f.own[strings.Clone(name)] = e
}

func (f *states) delete(name string) {
	if _, found := f.base.find(name); found {
		f.set(name, nil)
	} else {
		delete(f.own, name)
	}
}

// added returns the paths of the present files that the table does not have.
func (f *states) added() (names []string) {
	for name, e := range f.own {
		if _, found := f.base.find(name); e != nil && !found {
			names = append(names, name)
		}
	}
	return names
}

// same reports whether the i-th file of the table is one that stat shows unchanged.
func (f *states) same(i int, name string, stat filestat.Stat) bool {
	if e, own := f.own[name]; own {
		return e != nil && !e.racy && e.Stat == stat
	}
	return !f.base.racy[i] && stat == f.base.stats[i]
}

// all yields the paths of the present files. Those of the table are parts of its text.
func (f *states) all() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name, e := range f.own {
			if e != nil && !yield(name) {
				return
			}
		}
		for i := range f.base.len() {
			if name := f.base.name(i); !f.hides(name) && !yield(name) {
				return
			}
		}
	}
}

// hides reports whether the table's state of a path no longer counts.
func (f *states) hides(name string) bool {
	_, own := f.own[name]
	return own
}

// clone returns states that change apart from these, and share the table.
func (f *states) clone() states { return states{base: f.base, shared: true, own: maps.Clone(f.own)} }
