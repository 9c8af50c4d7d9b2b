package copytree

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cursord/daemon/internal/filestat"
)

// A table holds what was taken over, by path.
type table struct {
	root    string            // the workspace
	tree    string            // the top of the copy, as a name in the copy's folder
	prefix  string            // where in the repository the workspace lies, with /; "." is its top
	state   [sha256.Size]byte // hash of what was taken over of the repository besides files; zero: nothing
	repos   map[string]git    // the repositories that were listed with git, by folder
	heads   map[string]string // refs that were taken over, with their object names
	include []string
	entries map[string]*entry
}

// An entry is one path of the table.
type entry struct {
	State
	oid    string        // git's name of the content, if git may have it
	linked bool          // the copy links to the real folder
	real   filestat.Stat // the real tree's stat while it holds State; zero: unknown
	copied filestat.Stat // the copy's stat while it holds State; zero: unknown, or it holds something else
}

const tableMagic = "cursord copy 1\n"

// encode returns the table's stored form, which ends in a hash of everything before.
func (t *table) encode() []byte {
	w := &writer{}
	w.WriteString(tableMagic)
	w.text(t.root)
	w.text(t.tree)
	w.text(t.prefix)
	w.Write(t.state[:])
	w.number(int64(len(t.heads)))
	for ref, oid := range t.heads {
		w.text(ref)
		w.text(oid)
	}
	w.number(int64(len(t.repos)))
	for dir, g := range t.repos {
		w.text(dir)
		w.text(g.dir)
		w.text(g.tree)
		w.text(g.in)
	}
	w.number(int64(len(t.include)))
	for _, p := range t.include {
		w.text(p)
	}
	w.number(int64(len(t.entries)))
	for p, e := range t.entries {
		w.text(p)
		w.state(e.State)
		w.text(e.oid)
		w.flag(e.linked)
		w.stat(e.real)
		w.stat(e.copied)
	}
	sum := sha256.Sum256(w.Bytes())
	w.Write(sum[:])
	return w.Bytes()
}

// decodeTable reads a table; without whole, only its head.
func decodeTable(data []byte, whole bool) (*table, error) {
	body, sum := data[:max(0, len(data)-sha256.Size)], data[max(0, len(data)-sha256.Size):]
	body, ok := bytes.CutPrefix(body, []byte(tableMagic))
	if want := sha256.Sum256(data[:len(data)-len(sum)]); !ok || !bytes.Equal(want[:], sum) {
		return nil, ErrDamaged
	}
	r := &reader{data: body}
	t := &table{root: r.text(), tree: r.text(), prefix: r.text(), heads: map[string]string{}, repos: map[string]git{}, entries: map[string]*entry{}}
	copy(t.state[:], r.take(len(t.state)))
	for range r.number() {
		ref := r.text()
		t.heads[ref] = r.text()
	}
	for range r.number() {
		dir := r.text()
		t.repos[dir] = git{dir: r.text(), tree: r.text(), in: r.text()}
	}
	for range r.number() {
		t.include = append(t.include, r.text())
	}
	if !whole {
		return t, nil
	}
	n := r.number()
	for i := int64(0); i < n && !r.short; i++ {
		p, e := r.text(), &entry{}
		e.State, e.oid, e.linked, e.real, e.copied = r.state(), r.text(), r.flag(), r.stat(), r.stat()
		t.entries[p] = e
	}
	if r.short || len(r.data) > 0 {
		return nil, ErrDamaged
	}
	return t, nil
}

// A writer appends values.
type writer struct{ bytes.Buffer }

func (w *writer) number(n int64)     { w.Write(binary.AppendVarint(w.AvailableBuffer(), n)) }
func (w *writer) text(s string)      { w.number(int64(len(s))); w.WriteString(s) }
func (w *writer) mode(m fs.FileMode) { w.number(int64(m)) }

func (w *writer) flag(b bool) {
	if b {
		w.WriteByte(1)
	} else {
		w.WriteByte(0)
	}
}

func (w *writer) state(s State) {
	w.flag(s.Exists)
	w.mode(s.Mode)
	w.number(s.Size)
	w.Write(s.Hash[:])
	w.text(s.Target)
}

func (w *writer) stat(s filestat.Stat) {
	w.number(int64(s.Dev))
	w.number(int64(s.Ino))
	w.number(s.Size)
	w.number(s.Mtime)
	w.number(s.Ctime)
	w.mode(s.Mode)
}

// A reader takes values from the front. A missing value is zero, and sets short.
type reader struct {
	data  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.data) {
		r.short = true
		return nil
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) number() int64 {
	v, n := binary.Varint(r.data)
	if n <= 0 {
		r.short = true
		return 0
	}
	r.data = r.data[n:]
	return v
}

func (r *reader) text() string      { return string(r.take(int(r.number()))) }
func (r *reader) mode() fs.FileMode { return fs.FileMode(r.number()) }

func (r *reader) flag() bool {
	b := r.take(1)
	return len(b) == 1 && b[0] == 1
}

func (r *reader) state() State {
	s := State{Exists: r.flag(), Mode: r.mode(), Size: r.number()}
	copy(s.Hash[:], r.take(len(s.Hash)))
	s.Target = r.text()
	return s
}

func (r *reader) stat() filestat.Stat {
	return filestat.Stat{
		Dev: uint64(r.number()), Ino: uint64(r.number()), Size: r.number(), Mtime: r.number(), Ctime: r.number(), Mode: r.mode(),
	}
}

// readTable reads the table in a copy's folder. It returns ErrNotACopy if there is none.
func readTable(dir string, whole bool) (*table, error) {
	data, err := os.ReadFile(filepath.Join(dir, metaName, tableName))
	if errors.Is(err, fs.ErrNotExist) || inTheWay(err) {
		return nil, fmt.Errorf("%s: %w", dir, ErrNotACopy)
	}
	if err != nil {
		return nil, err
	}
	t, err := decodeTable(data, whole)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return t, nil
}

// save replaces the table on disk, and empties the journal.
func (c *Copy) save() error {
	name := filepath.Join(c.meta(), tableName)
	if err := writeFile(name, c.t.encode()); err != nil {
		return err
	}
	if c.journal != nil {
		c.journal.Close()
		c.journal = nil
	}
	c.changed = false
	err := os.Remove(filepath.Join(c.meta(), journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
