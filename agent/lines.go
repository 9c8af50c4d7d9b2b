package agent

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// A lineReader reads lines of any length; those over a limit are skipped.
type lineReader struct {
	br   *bufio.Reader
	max  int
	long []byte // a line that did not fit into br's buffer
}

// keepLong is the buffer that is kept for the next long line, in bytes.
const keepLong = 1 << 20

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{br: bufio.NewReaderSize(r, 64<<10), max: limit}
}

// next returns the next line, valid until the call after. For a line over the limit it returns none, and the
// line's length. A last line without a newline comes together with the error.
func (l *lineReader) next() (line []byte, skipped int64, err error) {
	l.shrink()
	l.long = l.long[:0]
	for {
		part, err := l.br.ReadSlice('\n')
		switch {
		case skipped > 0:
			skipped += int64(len(part))
		case len(l.long)+len(bytes.TrimRight(part, "\r\n")) > l.max:
			skipped = int64(len(l.long) + len(part))
			l.long = nil
		case len(l.long) == 0 && !errors.Is(err, bufio.ErrBufferFull):
			return part, 0, err
		default:
			l.long = append(l.long, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.long, skipped, err
		}
	}
}

// shrink gives back the memory of a long line, which is not valid any more.
func (l *lineReader) shrink() {
	if cap(l.long) > keepLong {
		l.long = nil
	}
}

// ready reports whether the next line can be had without reading.
func (l *lineReader) ready() bool {
	buffered, _ := l.br.Peek(l.br.Buffered())
	return bytes.IndexByte(buffered, '\n') >= 0
}

// maxDrain bounds what is read after an agent's end, in bytes: more than a pipe holds.
const maxDrain = 1 << 20

// A pipeReader reads an agent's pipe. A read deadline is set on the pipe once the agent has ended, because a process
// that has left its group may hold the other end for ever. What the agent wrote is read all the same, also when the
// consumer was slower than the deadline.
type pipeReader struct {
	file   *os.File
	quiet  *atomic.Int64 // while a read waits, since when (moment); may be nil
	heard  *Heard        // may be nil
	budget int           // bytes that may be read after the deadline
}

// Read is io.Reader.
func (p *pipeReader) Read(b []byte) (int, error) {
	if p.quiet != nil {
		p.quiet.Store(moment())
		defer p.quiet.Store(0)
	}
	defer p.heard.read()
	n, err := p.file.Read(b)
	if n == 0 && p.budget > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		p.file.SetReadDeadline(time.Now().Add(drainTime / 10))
		n, err = p.file.Read(b)
		p.budget -= max(n, maxDrain/64)
	}
	return n, err
}
