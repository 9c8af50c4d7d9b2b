package copytree

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// The journal holds what happened since the table was saved. It has a record for each path that was about to be written, so
// that after a crash the write is not taken for the agent's change, and for each path that the caller has noted.

type record struct {
	path  string
	state State
	noted bool // this was taken over, whatever the copy holds
}

// write appends a record.
func (c *Copy) write(rec record) error {
	if c.journal == nil {
		f, err := os.OpenFile(filepath.Join(c.meta(), journalName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		c.journal = f
	}
	var body, w writer
	body.text(rec.path)
	body.state(rec.state)
	body.flag(rec.noted)
	sum := sha256.Sum256(body.Bytes())
	w.text(body.String())
	w.Write(sum[:8])
	_, err := c.journal.Write(w.Bytes())
	return err
}

// replay brings the journal's records into the table, as far as the copy confirms them.
func (c *Copy) replay() error {
	data, err := os.ReadFile(filepath.Join(c.meta(), journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for r := (&reader{data: data}); len(r.data) > 0; {
		body := []byte(r.text())
		sum := sha256.Sum256(body)
		if !bytes.Equal(r.take(8), sum[:8]) {
			break // the crash cut the record off
		}
		one := &reader{data: body}
		rec := record{path: one.text(), state: one.state(), noted: one.flag()}
		if !rec.noted {
			if held, _, err := c.lookCopy(rec.path); err != nil || !held.same(rec.state) {
				continue
			}
		}
		if rec.state.Exists {
			c.t.entries[rec.path] = &entry{State: rec.state}
		} else {
			delete(c.t.entries, rec.path)
		}
	}
	return c.save()
}

// writeFile replaces a whole file, or leaves it as it is.
func writeFile(name string, data []byte) error {
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
