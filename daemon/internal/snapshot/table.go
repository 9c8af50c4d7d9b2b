package snapshot

import (
	"cmp"
	"encoding/hex"
	"io/fs"
	"iter"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
)

// A table has the states of files, sorted by path. Snapshots share it; it does not change once a second one may use it. It is
// compact, because it stays in memory between turns and has a row for each file of the workspace.
type table struct {
	text string   // all paths
	ends []uint32 // where each path ends in text
	rows []row
	devs []uint64 // the devices, to which rows refer

	width    int    // of an object id, in bytes
	oids     []byte // the object ids of rows that have one
	contents []place
	spool    *spool // where contents are; nil: nowhere
}

// A row is an entry of a table without its path.
type row struct {
	ino          uint64
	size         int64
	mtime, ctime int64
	mode         fs.FileMode
	oid, content int32 // counted from 1 in oids and contents; 0: none
	dev          uint16
	racy         bool
}

// A place is where a content lies in a table's spool.
type place struct {
	at int64
	n  int32
}

// newTable returns a table of n files that have no content yet: name and state tell of each. It keeps nothing of what it is given. Of
// several entries for a path, the last one counts.
func newTable(n int, name func(i int) string, state func(i int) entry) *table {
	length, ids, sorted := 0, 0, true
	for i := range n {
		length += len(name(i))
		if state(i).blob.OID != "" {
			ids++
		}
		sorted = sorted && (i == 0 || name(i-1) < name(i))
	}
	var order []int32 // nil: they are sorted
	if !sorted {
		order = make([]int32, n)
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortStableFunc(order, func(a, b int32) int { return strings.Compare(name(int(a)), name(int(b))) })
	}
	t := &table{ends: make([]uint32, 0, n), rows: make([]row, 0, n)}
	var text strings.Builder
	text.Grow(length)
	for i := range n {
		at := i
		if order != nil {
			if at = int(order[i]); i+1 < n && name(int(order[i+1])) == name(at) {
				continue
			}
		}
		text.WriteString(name(at))
		e := state(at)
		t.ends, t.rows = append(t.ends, uint32(text.Len())), append(t.rows, t.row(&e, ids))
	}
	t.text = text.String()
	return t
}

// row returns an entry as a row, without its content. most is how many of the entries have an object id.
func (t *table) row(e *entry, most int) row {
	dev := slices.Index(t.devs, e.Dev)
	if dev < 0 {
		dev = len(t.devs)
		if t.devs = append(t.devs, e.Dev); dev > math.MaxUint16 {
			dev = 0 // the file looks changed, and is read
		}
	}
	r := row{ino: e.Ino, size: e.Size, mtime: e.Mtime, ctime: e.Ctime, mode: e.Mode, dev: uint16(dev), racy: e.racy}
	id, err := hex.DecodeString(e.blob.OID)
	if err != nil || len(id) == 0 || t.width != 0 && t.width != len(id) {
		return r
	}
	if t.width == 0 {
		t.width, t.oids = len(id), make([]byte, 0, most*len(id))
	}
	t.oids = append(t.oids, id...)
	r.oid = int32(len(t.oids) / t.width)
	return r
}

func (t *table) len() int {
	if t == nil {
		return 0
	}
	return len(t.rows)
}

// name returns the i-th path, as a part of the table's text.
func (t *table) name(i int) string {
	from := uint32(0)
	if i > 0 {
		from = t.ends[i-1]
	}
	return t.text[from:t.ends[i]]
}

// names returns all paths, as parts of the table's text.
func (t *table) names() []string {
	names := make([]string, t.len())
	for i := range names {
		names[i] = t.name(i)
	}
	return names
}

// entry returns the i-th entry.
func (t *table) entry(i int) entry {
	r := &t.rows[i]
	e := entry{
		Stat: filestat.Stat{Dev: t.devs[r.dev], Ino: r.ino, Size: r.size, Mtime: r.mtime, Ctime: r.ctime, Mode: r.mode},
		racy: r.racy, content: nowhere,
	}
	if r.oid > 0 {
		e.blob = git.Blob{OID: hex.EncodeToString(t.oids[(int(r.oid)-1)*t.width : int(r.oid)*t.width]), Size: r.size}
	}
	if r.content > 0 {
		at := t.contents[r.content-1]
		e.content = spooled{t.spool, at.at, int(at.n)}
	}
	return e
}

// read sets what a file was when it was read: its state, whether it may have changed unseen, and its content in the table's spool.
func (t *table) read(i int, st filestat.Stat, racy bool, content spooled) {
	r := t.row(&entry{Stat: st, racy: racy}, 0)
	if r.oid = t.rows[i].oid; content.n >= 0 {
		t.spool = cmp.Or(t.spool, content.in)
		t.contents = append(t.contents, place{content.at, int32(content.n)})
		r.content = int32(len(t.contents))
	}
	t.rows[i] = r
}

func (t *table) find(name string) (i int, found bool) {
	if t == nil {
		return 0, false
	}
	return sort.Find(len(t.rows), func(i int) int { return strings.Compare(name, t.name(i)) })
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
		return e != nil && e.blob.OID == ""
	}
	i, found := f.base.find(name)
	return found && f.base.rows[i].oid == 0
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

// names returns the paths that there may be, those of the table first. They are parts of the table's text.
func (f *states) names() []string {
	names := f.base.names()
	for name, e := range f.own {
		if _, found := f.base.find(name); e != nil && !found {
			names = append(names, name)
		}
	}
	return names
}

// same reports whether the i-th of names is a file that stat shows unchanged.
func (f *states) same(i int, name string, stat filestat.Stat) bool {
	e, own := f.own[name]
	if own || i >= f.base.len() {
		return e != nil && !e.racy && e.Stat == stat
	}
	r := &f.base.rows[i]
	return !r.racy && stat == filestat.Stat{Dev: f.base.devs[r.dev], Ino: r.ino, Size: r.size, Mtime: r.mtime, Ctime: r.ctime, Mode: r.mode}
}

// at is get for the i-th of names.
func (f *states) at(i int, name string) *entry {
	if _, own := f.own[name]; own || i >= f.base.len() {
		return f.own[name]
	}
	e := f.base.entry(i)
	return &e
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
