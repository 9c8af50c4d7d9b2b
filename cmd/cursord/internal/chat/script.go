package chat

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"cursord/rpc"
	"cursord/sessions"
)

// A StoppedError says that a line of the piped input failed, so that the lines after it were not sent. The screen has the
// reason.
type StoppedError struct {
	Status int // the exit status that "cursord run" has for such an end
}

const (
	statusFailed    = 1
	statusCancelled = 130
)

func (e *StoppedError) Error() string { return "a line of the input failed" }

// A script sends the lines of a pipe or a file as if a person typed them, each when nothing runs on the screen. The first
// line that fails ends the chat, and so does the end of the last line's turn. An input without lines ends nothing: the chat
// then only follows.
type script struct {
	lines chan string   // closed at the end of the input; nil if no line is to come
	wrong error         // why the input ended, set before lines is closed; nil at its end
	done  chan struct{} // receives when the latest line has been carried out
	sent  bool          // a line was sent
	busy  bool          // the latest line is being carried out
	turn  string        // the turn of the latest prompt
}

func newScript(in io.Reader) *script {
	s := &script{lines: make(chan string), done: make(chan struct{}, 1)}
	go s.read(in)
	return s
}

func (s *script) read(in io.Reader) {
	defer close(s.lines)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, rpc.MaxMessage)
	for n := 1; lines.Scan(); n++ {
		text := lines.Text()
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			s.wrong = fmt.Errorf("line %d of the standard input is not text in UTF-8", n)
			return
		}
		if strings.TrimSpace(text) != "" {
			s.lines <- text
		}
	}
	if err := lines.Err(); err != nil {
		s.wrong = fmt.Errorf("the standard input cannot be read: %w", err)
	}
}

// nextLine returns the channel of the next line; nil while an earlier line is at work, or if there is no script. It fails if
// the turn of the latest line has not completed.
func (c *Chat) nextLine() (<-chan string, error) {
	s := c.script
	if s == nil || s.lines == nil || s.busy || !c.View.idle() {
		return nil, nil
	}
	switch c.View.end(s.turn) {
	case "", sessions.TurnCompleted:
		return s.lines, nil
	case sessions.TurnCancelled:
		return nil, &StoppedError{statusCancelled}
	}
	return nil, &StoppedError{statusFailed}
}

// line carries out a line. ok is false at the end of the input.
func (c *Chat) line(ctx context.Context, text string, ok bool) error {
	s := c.script
	switch {
	case !ok && s.wrong != nil:
		s.sent = true // nothing is to come, and what came before may depend on it
		return s.wrong
	case !ok && s.sent:
		return errLeave
	case !ok:
		s.lines = nil // from now on the chat only follows
		return nil
	}
	s.sent, s.busy = true, true
	if err := c.typed(ctx, text); err != nil {
		return err
	}
	return c.enqueue(func() error {
		s.done <- struct{}{}
		return nil
	})
}

// idle reports whether no turn is on the screen, and none is to come there.
func (v *View) idle() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.sending == "" && len(v.unsent) == 0 && len(v.turns) == 0
}

// end returns the final status of a turn that was shown to its end; "" for any other.
func (v *View) end(turn string) sessions.TurnStatus {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ended[turn]
}
