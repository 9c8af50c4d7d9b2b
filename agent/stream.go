package agent

import (
	"os"
	"sync/atomic"
	"time"

	"cursord/agent/jsontext"
)

// A Stream reads the lines of an agent's output for a driver, and keeps Heards up to date. Without a word to the contrary its methods
// belong to the goroutine that reads, or to one that this goroutine waits for meanwhile.
type Stream struct {
	file  *os.File
	lines *lineReader
	heard Heard
	quiet atomic.Int64 // since which moment a read waits; 0 while none does
}

// NewStream reads file. It skips lines of more than maxLine bytes; 0 stands for 64 MiB.
func NewStream(file *os.File, maxLine int) *Stream {
	if maxLine <= 0 {
		maxLine = maxLineDefault
	}
	s := &Stream{file: file}
	s.lines = newLineReader(&pipeReader{file: file, quiet: &s.quiet, heard: &s.heard, budget: maxDrain}, maxLine)
	s.heard.begin(file)
	return s
}

// Next waits for the next line, which is valid until the following call. For a line that was skipped it returns nil and the line's
// length. A last line without a newline comes together with the error.
func (s *Stream) Next() (line []byte, skipped int64, err error) { return s.lines.next() }

// Ready reports whether the next line is there without a read.
func (s *Stream) Ready() bool { return s.lines.ready() }

// Quiet returns for how long a read has waited; 0 while none waits. Any goroutine may ask.
func (s *Stream) Quiet() time.Duration {
	if since := s.quiet.Load(); since != 0 {
		return time.Duration(moment() - since)
	}
	return 0
}

// Hear keeps h, which may be nil, up to date until stop is called.
func (s *Stream) Hear(h *Heard) (stop func()) {
	if h == nil {
		return func() {}
	}
	h.of.Store(&s.heard)
	return func() { h.of.Store(nil) }
}

// Emit emits what the lines since the last call have said; whole says that nothing else is read yet.
func (s *Stream) Emit(events []Event, whole bool, emit func([]Event)) {
	s.heard.decoded(len(events), whole)
	if len(events) > 0 {
		emit(events)
	}
	s.heard.emitted(s.file)
}

// EmitBeside emits what no line has said, while lines may be read.
func (s *Stream) EmitBeside(events []Event, emit func([]Event)) {
	s.heard.whole = false // until the next lines are emitted, nobody knows whether all was taken in
	emit(events)
}

// End ends the reading: nothing comes any more.
func (s *Stream) End() { s.heard.end() }

// Pieces joins text that comes in pieces: agents count in UTF-16 and may cut a character in two.
type Pieces struct{ half half }

// Join returns a piece, which must be a string, less what the next one completes.
func (p *Pieces) Join(v jsontext.Value) string { return p.half.join(v) }
