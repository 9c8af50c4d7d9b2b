package agent

import (
	"fmt"
	"io"
	"os"
	"strings"

	"cursord/agent/failure"
	"cursord/agent/plaintext"
)

// maxBatch bounds the events that are emitted together.
const maxBatch = 256

// read decodes stdout up to the result and discards the rest.
func (r *run) read(stdout *os.File) {
	pipe := &pipeReader{file: stdout, quiet: &r.quiet, heard: r.req.Heard, budget: maxDrain}
	r.req.Heard.begin(stdout)
	defer r.req.Heard.end()
	lines := newLineReader(pipe, r.req.MaxLine)
	var batch []Event
	for r.result == nil {
		line, skipped, err := lines.next()
		if skipped > 0 {
			from := len(batch)
			batch = r.note(r.dec.Rest(batch), from)
			batch = append(batch, Notice{fmt.Sprintf("a line of %s from the agent was skipped: the limit is %s",
				size(skipped), size(int64(r.req.MaxLine)))})
		}
		if len(line) > 0 {
			from := len(batch)
			batch = r.dec.AppendLine(batch, line)
			batch = r.note(batch, from)
			lines.shrink()
		}
		if err != nil {
			from := len(batch)
			batch = r.note(r.dec.Rest(batch), from)
		}
		if err != nil || r.result != nil || len(batch) >= maxBatch || !lines.ready() {
			r.req.Heard.decoded(len(batch), !lines.ready())
			r.send(batch)
			r.req.Heard.emitted(stdout)
			batch = nil
		}
		if err != nil {
			return
		}
	}
	io.Copy(io.Discard, pipe)
}

// note keeps what the run itself needs of the events from an index on, and cuts them off after the result.
func (r *run) note(batch []Event, from int) []Event {
	r.stage.Store(r.dec.stage())
	r.aborted.Store(r.dec.timedOut)
	if shells := r.dec.shells(); len(shells) > 0 || r.shells.Load() != nil {
		r.shells.Store(&shells)
	}
	for i := from; i < len(batch); i++ {
		switch ev := batch[i].(type) {
		case Init:
			if ev.SessionID != "" {
				r.session = ev.SessionID
			}
			r.release()
		case Result:
			r.result = &ev
			r.decided.CompareAndSwap(undecided, gaveResult)
			close(r.resulted)
			return batch[:i+1]
		case ToolEnd:
			if ev.Call.Background {
				r.family.Look()
			}
		case Failure:
			if len(r.failures) < 100 {
				r.failures = append(r.failures, ev.Message)
			}
		case Unknown:
			r.unknown[ev.Type]++
		case Unreadable:
			r.bare.add(ev.Line)
		}
	}
	return batch
}

// send emits events, unless they have to wait.
func (r *run) send(batch []Event) {
	if r.holding && !r.dec.heard {
		r.held = append(r.held, batch...)
		return
	}
	if r.held != nil {
		batch = append(r.held, batch...)
		r.held = nil
	}
	if len(batch) > 0 {
		r.emit(batch)
	}
}

// readErrors keeps the end of stderr.
func (r *run) readErrors(stderr *os.File) {
	lines := newLineReader(&pipeReader{file: stderr, budget: maxDrain}, maxTail)
	for {
		line, _, err := lines.next()
		if len(line) > 0 {
			r.heardErr.Store(moment())
			r.stderr.add(string(line))
		}
		if err != nil {
			return
		}
	}
}

// maxTail is what is kept of stderr, in bytes.
const maxTail = 64 << 10

// A tail keeps the last lines of a text, and the known complaints among the lines before them.
type tail struct {
	known []string
	lines []byte
}

func (t *tail) add(line string) {
	line = strings.ToValidUTF8(strings.TrimRight(line, "\r\n"), "\uFFFD")
	t.lines = append(append(t.lines, line...), '\n')
	if over := len(t.lines) - maxTail; over > maxTail {
		t.lines = append(t.lines[:0], t.lines[over:]...)
	}
	if len(t.known) < 10 {
		if _, ok := failure.Classify(line, false); ok {
			t.known = append(t.known, plaintext.Cut(line, maxUnreadable))
		}
	}
}

// String returns the tail, with a known complaint in front if the tail itself does not have it.
func (t *tail) String() string {
	s := string(t.lines)
	if over := len(s) - maxTail; over > 0 {
		s = strings.ToValidUTF8(s[over:], "")
	}
	for _, line := range t.known {
		if !strings.Contains(s, line) {
			s = line + "\n" + s
		}
	}
	return s
}

func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
