package history

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The first byte of what is stored.
const (
	plain      = 'j'
	compressed = 'z'
)

// small is the size up to which compressing does not pay.
const small = 1 << 10

// Marshal returns the history as it is stored; nil for one without edits.
func (f *File) Marshal() []byte {
	if f.Empty() {
		return nil
	}
	data, err := json.Marshal(f)
	if err != nil {
		panic(err) // impossible: the history has only numbers and strings
	}
	return Pack(data)
}

// Pack returns data in a form that is compressed if that pays.
func Pack(data []byte) []byte {
	b := bytes.NewBuffer(make([]byte, 0, min(len(data), small)+1))
	if len(data) <= small {
		b.WriteByte(plain)
		b.Write(data)
		return b.Bytes()
	}
	b.WriteByte(compressed)
	z, err := flate.NewWriter(b, flate.BestSpeed)
	if err == nil {
		if _, err = z.Write(data); err == nil {
			err = z.Close()
		}
	}
	if err != nil {
		panic(err) // impossible: the level is valid, and a buffer takes all
	}
	return b.Bytes()
}

// Unpack returns what was given to Pack.
func Unpack(packed []byte) ([]byte, error) {
	switch {
	case len(packed) > 0 && packed[0] == plain:
		return packed[1:], nil
	case len(packed) > 0 && packed[0] == compressed:
		return io.ReadAll(flate.NewReader(bytes.NewReader(packed[1:])))
	}
	return nil, errors.New("history: not in a known form")
}

// Unmarshal returns the history that Marshal stored, of a file with so many lines.
func Unmarshal(data []byte, lines int) (*File, error) {
	if len(data) == 0 {
		return nil, nil
	}
	text, err := Unpack(data)
	if err != nil {
		return nil, err
	}
	f := &File{}
	if err := json.Unmarshal(text, f); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	line := 0
	for _, r := range f.Runs {
		if r.From < line || r.To <= r.From || r.To > lines {
			return nil, fmt.Errorf("history: lines %d to %d of %d", r.From, r.To, lines)
		}
		line = r.To
	}
	line = -1
	for _, g := range f.Dead {
		if g.At <= line || g.At > lines {
			return nil, fmt.Errorf("history: lost lines at %d of %d", g.At, lines)
		}
		line = g.At
	}
	return f, nil
}
