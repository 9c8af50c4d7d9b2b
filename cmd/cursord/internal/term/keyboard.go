package term

import (
	"bytes"
	"os"
	"sync"
)

// A Keyboard has the lines that a person types at a terminal, and knows which were typed before a moment. Only one goroutine may call Line.
type Keyboard struct {
	f     *os.File
	begun []byte // a line without its end, which Ctrl-D gives; only Line uses it

	mu    sync.Mutex
	drops int // guarded by mu
}

// NewKeyboard returns the keyboard of a terminal that edits lines itself.
func NewKeyboard(f *os.File) *Keyboard { return &Keyboard{f: f} }

// Drop drops what was typed and not read yet. Lines that Line returns with the same number, or a greater one, were typed after that.
func (k *Keyboard) Drop() (number int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	DropTyped(k.f)
	k.drops++
	return k.drops
}

// Line returns the next line, and how many Drops there were before it was typed. A line without its end is none.
func (k *Keyboard) Line() (line string, drops int, err error) {
	buf := make([]byte, 4096)
	for from := -1; ; {
		n, drops, err := k.read(buf)
		if from != drops {
			k.begun, from = nil, drops
		}
		k.begun = append(k.begun, buf[:n]...)
		if i := bytes.IndexByte(k.begun, '\n'); i >= 0 {
			line, k.begun = string(k.begun[:i+1]), bytes.Clone(k.begun[i+1:])
			return line, drops, nil
		}
		if err != nil {
			return "", drops, err
		}
	}
}
