package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"cursord/cmd/cursord/internal/term"
)

// An answerer reads the person's answers: single keys, without Enter, from a terminal, and lines from anything else.
type answerer struct {
	in       io.Reader
	out      io.Writer
	tty      *os.File  // nil if answers are lines
	usual    term.Mode // the mode that tty had before
	cancel   context.CancelCauseFunc
	signals  chan os.Signal
	want     chan struct{}
	got      chan typed
	asked    bool          // a request was sent to want, and got has not answered yet
	typed    []byte        // read, but not used yet
	resumed  chan struct{} // the program was suspended and goes on
	mu       sync.Mutex    // guards the terminal's mode and the fields below
	lent     bool          // another program has the terminal
	finished bool
}

type typed struct {
	b   []byte
	err error
}

// openAnswers begins to read answers. A signal that ends the program restores the terminal's mode and calls cancel with a
// term.SignalError. The caller must close the answerer.
func openAnswers(in io.Reader, out io.Writer, cancel context.CancelCauseFunc) (*answerer, error) {
	a := &answerer{
		in: in, out: out, cancel: cancel, signals: make(chan os.Signal, 4),
		want: make(chan struct{}), got: make(chan typed), resumed: make(chan struct{}, 1),
	}
	if f, ok := in.(*os.File); ok && term.IsTerminal(in) && term.IsTerminal(out) {
		mode, err := term.ModeOf(f)
		if err != nil {
			return nil, fmt.Errorf("the terminal: %w", err)
		}
		a.tty, a.usual = f, mode
	}
	a.listen()
	go a.watch()
	a.mu.Lock()
	a.setMode(true)
	a.mu.Unlock()
	go a.read()
	return a, nil
}

func (a *answerer) listen() {
	signal.Notify(a.signals, append(term.EndingSignals(), os.Interrupt)...)
	if a.tty != nil && len(term.JobSignals()) > 0 {
		signal.Notify(a.signals, term.JobSignals()...)
	}
}

// close restores the terminal's mode.
func (a *answerer) close() {
	signal.Stop(a.signals)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.finished = true
	a.setMode(false)
	close(a.want)
}

// setMode makes the terminal report single keys, or restores its usual mode. Errors are ignored: nothing can be done about
// them.
func (a *answerer) setMode(keys bool) {
	switch {
	case a.tty == nil:
	case keys:
		_ = a.usual.Keys().Set(a.tty)
	default:
		_ = a.usual.Set(a.tty)
	}
}

// watch handles signals.
func (a *answerer) watch() {
	for sig := range a.signals {
		a.mu.Lock()
		switch {
		case a.finished, a.lent && sig == os.Interrupt: // the interrupt is for the other program
		case slices.Contains(term.JobSignals(), sig):
			if term.IsResume(sig) {
				a.setMode(true)
				select {
				case a.resumed <- struct{}{}:
				default:
				}
			} else {
				a.setMode(false)
				term.Suspend()
			}
		default:
			a.setMode(false)
			a.cancel(term.SignalError{Signal: sig})
		}
		a.mu.Unlock()
	}
}

// read reads only on request, so that another program with the terminal gets its own input.
func (a *answerer) read() {
	for range a.want {
		b := make([]byte, 4096)
		n, err := a.in.Read(b)
		a.got <- typed{b[:n], err}
	}
}

var errResumed = errors.New("the program was suspended and goes on")

// more waits for more input. It returns errResumed after a suspension, and io.EOF at the end of the input, which a terminal
// may have several times.
func (a *answerer) more(ctx context.Context) error {
	if !a.asked {
		a.asked = true
		a.want <- struct{}{}
	}
	select {
	case t := <-a.got:
		a.asked = false
		a.typed = append(a.typed, t.b...)
		if len(t.b) > 0 {
			return nil
		}
		return t.err
	case <-a.resumed:
		return errResumed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask asks a question and returns the answer: a key, or a trimmed line. It returns io.EOF if there are no more answers.
func (a *answerer) ask(ctx context.Context, question string) (string, error) {
	if a.tty == nil {
		return a.line(ctx, question)
	}
	for {
		io.WriteString(a.out, question)
		for {
			if key, n := NextKey(a.typed); n > 0 {
				a.typed = a.typed[n:]
				if key == "" {
					continue
				}
				io.WriteString(a.out, term.Clean(key)+"\n")
				return key, nil
			}
			err := a.more(ctx)
			if errors.Is(err, errResumed) {
				io.WriteString(a.out, "\n")
				break // print the question again
			}
			if err != nil {
				io.WriteString(a.out, "\n")
				return "", err
			}
		}
	}
}

// NextKey returns the first key in b and its length in bytes; 0 if the key is incomplete. Arrow keys are returned as j and
// k, and keys without a meaning as "".
func NextKey(b []byte) (key string, n int) {
	const endOfInput = 4 // Ctrl-D
	switch {
	case len(b) == 0:
		return "", 0
	case b[0] == '\x1b':
		n := 1
		if len(b) > 1 && (b[1] == '[' || b[1] == 'O') {
			for n = 2; n < len(b) && (b[n] < '@' || b[n] > '~'); n++ { // up to the final letter
			}
			if n++; n > len(b) {
				return "", 0
			}
		}
		switch string(b[:n]) {
		case "\x1b[A", "\x1b[D", "\x1bOA", "\x1bOD":
			return "k", n
		case "\x1b[B", "\x1b[C", "\x1bOB", "\x1bOC":
			return "j", n
		}
		return "", n
	case b[0] == endOfInput:
		return "q", 1
	case b[0] <= ' ':
		return "", 1
	case !utf8.FullRune(b):
		return "", 0
	}
	_, n = utf8.DecodeRune(b)
	return string(b[:n]), n
}

// line asks a question and returns a whole line as the answer, trimmed.
func (a *answerer) line(ctx context.Context, question string) (string, error) {
	a.mu.Lock()
	a.setMode(false)
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.setMode(ctx.Err() == nil)
	}()
	io.WriteString(a.out, question)
	for {
		if i := bytes.IndexByte(a.typed, '\n'); i >= 0 {
			line := string(a.typed[:i])
			a.typed = a.typed[i+1:]
			a.endLine()
			return strings.TrimSpace(line), nil
		}
		err := a.more(ctx)
		if errors.Is(err, errResumed) {
			a.mu.Lock()
			a.setMode(false)
			a.mu.Unlock()
			io.WriteString(a.out, "\n"+question)
			continue
		}
		if errors.Is(err, io.EOF) && len(a.typed) > 0 {
			line := string(a.typed)
			a.typed = nil
			a.endLine()
			return strings.TrimSpace(line), nil
		}
		if err != nil {
			io.WriteString(a.out, "\n")
			return "", err
		}
	}
}

// endLine ends the question's line if the input is no terminal, which would have echoed the answer's newline.
func (a *answerer) endLine() {
	if !term.IsTerminal(a.in) {
		io.WriteString(a.out, "\n")
	}
}

// lend gives the terminal to another program while run runs.
func (a *answerer) lend(run func() error) error {
	lend := func(is bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.lent = is
		a.setMode(!is)
	}
	if len(term.JobSignals()) > 0 {
		signal.Reset(term.JobSignals()...) // so a stop suspends both programs, and the shell gets its terminal back
	}
	lend(true)
	defer a.listen()
	defer lend(false)
	return run()
}
