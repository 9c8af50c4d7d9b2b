package chat

import (
	"bytes"
	"context"
	"io"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
)

// A terminal is one whose last lines the prompt's program draws. All other output goes through feed.
type terminal struct {
	feed    *feed
	program *tea.Program
	ended   chan struct{}   // closed when the program has ended
	err     error           // why it ended, set before ended is closed; nil if close ended it
	ctx     context.Context // of the program, and of commands that borrow the terminal
	stop    func()          // ends ctx
}

// ownsTerminal reports whether a prompt can be drawn: in, the output and the errors are all terminals, and TERM is not
// "dumb".
func ownsTerminal(in io.Reader, show *view.Screen) bool {
	if name, set := os.LookupEnv("TERM"); name == "dumb" || set && name == "" {
		return false
	}
	return term.IsTerminal(in) && show.OutTerm && term.IsTerminal(show.ErrOut)
}

// openTerminal draws the prompt. The caller must call close.
func openTerminal(ctx context.Context, in io.Reader, out *os.File, f *feed, p *prompt) *terminal {
	ctx, stop := context.WithCancel(ctx)
	t := &terminal{feed: f, ended: make(chan struct{}), ctx: ctx, stop: stop}
	screen := &watched{out, f, &p.frame}
	p.frame.breaks = breaksLines()
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(in), tea.WithoutSignalHandler(), tea.WithFilter(p.filter), tea.WithOutput(screen),
	}
	if _, _, known := term.ScreenSize(out); !known { // such as a terminal that no window shows
		const columns, rows = 80, 24
		options = append(options, tea.WithOutput(struct{ io.Writer }{screen}), tea.WithWindowSize(columns, rows))
	}
	if !p.palette {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	t.program = tea.NewProgram(p, options...)
	go func() {
		defer close(t.ended)
		_, t.err = t.program.Run()
	}()
	go f.pump(t.program.Send, t.ended)
	return t
}

// close removes the prompt after everything written has been shown, and restores the terminal.
func (t *terminal) close() {
	defer t.stop()
	const patience = 2 * time.Second // for a terminal that accepts no output, or that a command has borrowed
	t.feed.post(quitMsg{})
	select {
	case <-t.ended:
	case <-time.After(patience):
		t.stop()
		<-t.ended
	}
}

// watched is the terminal as the program writes to it. Lines may go above the prompt only after the program has drawn it, at
// the beginning and after each command that borrowed the terminal. Earlier lines would be overwritten.
type watched struct {
	*os.File
	feed  *feed
	frame *frame
}

func (w *watched) Write(b []byte) (int, error) {
	if first := w.frame.draws(); first != "" {
		if _, err := w.File.WriteString(first); err != nil {
			return 0, err
		}
	}
	n, err := w.File.Write(b)
	if bytes.Contains(b, []byte(ansi.SetModeBracketedPaste)) { // which only a first drawing has
		w.feed.draws(true)
	}
	return n, err
}
