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
	br     *bufio.Reader
	max    int
	pieces [][]byte // of a line that did not fit into br's buffer; the first one is kept for the next
	size   int      // of them all
	joined []byte   // a line of several pieces
}

// pieceSize is the size of the pieces in which a long line is collected. One growing buffer would be copied, zeroed and
// garbage-collected again and again, and a buffer of some MiB stops all goroutines for that long.
const pieceSize = 256 << 10

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{br: bufio.NewReaderSize(r, 64<<10), max: limit}
}

// next returns the next line, valid until the following call. For a line over the limit it returns nil and the line's
// length. A last line without a newline comes together with the error.
func (l *lineReader) next() (line []byte, skipped int64, err error) {
	l.shrink()
	for {
		part, err := l.br.ReadSlice('\n')
		switch {
		case skipped > 0:
			skipped += int64(len(part))
		case l.size+len(bytes.TrimRight(part, "\r\n")) > l.max:
			skipped = int64(l.size + len(part))
			l.shrink()
		case l.size == 0 && !errors.Is(err, bufio.ErrBufferFull):
			return part, 0, err
		default:
			l.collect(part)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.join(), skipped, err
		}
	}
}

// collect adds a part of a line that is not complete.
func (l *lineReader) collect(part []byte) {
	for l.size += len(part); len(part) > 0; {
		last := len(l.pieces) - 1
		if last < 0 || len(l.pieces[last]) == cap(l.pieces[last]) {
			l.pieces = append(l.pieces, make([]byte, 0, pieceSize))
			last++
		}
		p := l.pieces[last]
		n := min(len(part), cap(p)-len(p))
		l.pieces[last] = append(p, part[:n]...)
		part = part[n:]
	}
}

// join returns the line that was collected.
func (l *lineReader) join() []byte {
	if l.size == 0 {
		return nil
	}
	if len(l.pieces) == 1 {
		return l.pieces[0]
	}
	l.joined = make([]byte, 0, l.size)
	for i, p := range l.pieces {
		l.joined = append(l.joined, p...)
		if i > 0 {
			l.pieces[i] = nil
		}
	}
	return l.joined
}

// shrink frees the memory of a long line, which is no longer valid.
func (l *lineReader) shrink() {
	if len(l.pieces) > 0 {
		clear(l.pieces[1:])
		l.pieces = l.pieces[:1]
		l.pieces[0] = l.pieces[0][:0]
	}
	l.size, l.joined = 0, nil
}

// ready reports whether the next line is there without a read.
func (l *lineReader) ready() bool {
	buffered, _ := l.br.Peek(l.br.Buffered())
	return bytes.IndexByte(buffered, '\n') >= 0
}

// maxDrain bounds what is read after an agent's end, in bytes; it is more than a pipe holds.
const maxDrain = 1 << 20

// A pipeReader reads an agent's pipe. Once the agent has ended, the pipe gets a read deadline, because a process that has
// left the agent's group may keep the other end open for ever. What the agent wrote is read in any case, also if the
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
	n, err := p.heard.readFrom(p.file, b)
	for n == 0 && p.budget > 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		// What is there is read without a deadline: on a busy machine any would pass before the read begins.
		deadline, waits := time.Time{}, unread(p.file) == 0
		if waits {
			deadline = time.Now().Add(drainTime / 10)
		}
		p.file.SetReadDeadline(deadline)
		n, err = p.heard.readFrom(p.file, b)
		p.file.SetReadDeadline(time.Unix(1, 0))
		if waits || n > 0 {
			p.budget -= max(n, maxDrain/64)
			break
		}
	}
	p.heard.came()
	return n, err
}
