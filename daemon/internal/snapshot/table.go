package snapshot

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// A table has the states of files, sorted by path. Snapshots share it; it does not change once a second one may use it.
type table struct {
	names   []string
	entries []entry
}

// newTable sorts files by path. Of several entries for a path, the last one counts.
func newTable(names []string, entries []entry) *table {
	t := &table{names, entries}
	if slices.IsSortedFunc(names, func(a, b string) int {
		if a < b {
			return -1
		}
		return 1 // also for equal ones
	}) {
		return t
	}
	order := make([]int32, len(names))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return strings.Compare(names[a], names[b]) })
	t = &table{make([]string, 0, len(names)), make([]entry, 0, len(names))}
	for i, at := range order {
		if i+1 < len(order) && names[order[i+1]] == names[at] {
			continue
		}
		t.names, t.entries = append(t.names, names[at]), append(t.entries, entries[at])
	}
	return t
}

func (t *table) find(name string) *entry {
	if t == nil {
		return nil
	}
	i, found := slices.BinarySearch(t.names, name)
	if !found {
		return nil
	}
	return &t.entries[i]
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
	return f.base.find(name)
}

// change returns the state of a path for a change, or nil.
func (f *states) change(name string) *entry {
	e, own := f.own[name]
	if own {
		return e
	}
	if e = f.base.find(name); e != nil {
		mine := *e
		e = &mine
		f.set(name, e)
	}
	return e
}

// complete is change while the snapshot is being taken: what it changes is kept for the next one.
func (f *states) complete(name string) *entry {
	if _, own := f.own[name]; own || f.shared {
		return f.change(name)
	}
	return f.base.find(name)
}

func (f *states) set(name string, e *entry) {
	if f.own == nil {
		f.own = map[string]*entry{}
	}
	f.own[name] = e
}

func (f *states) delete(name string) {
	if f.base.find(name) == nil {
		delete(f.own, name)
	} else {
		f.set(name, nil)
	}
}

// names returns the paths that there may be, those of the table first.
func (f *states) names() []string {
	var names []string
	if f.base != nil {
		names = slices.Clip(f.base.names)
	}
	for name, e := range f.own {
		if e != nil && f.base.find(name) == nil {
			names = append(names, name)
		}
	}
	return names
}

// at is get for the i-th of names.
func (f *states) at(i int, name string) *entry {
	if _, own := f.own[name]; !own && f.base != nil && i < len(f.base.names) {
		return &f.base.entries[i]
	}
	return f.own[name]
}

// all yields the present files.
func (f *states) all() iter.Seq2[string, *entry] {
	return func(yield func(string, *entry) bool) {
		for name, e := range f.own {
			if e != nil && !yield(name, e) {
				return
			}
		}
		if f.base == nil {
			return
		}
		for i, name := range f.base.names {
			if _, own := f.own[name]; !own && !yield(name, &f.base.entries[i]) {
				return
			}
		}
	}
}

// clone returns states that change apart from these, and share the table.
func (f *states) clone() states { return states{base: f.base, shared: true, own: maps.Clone(f.own)} }
