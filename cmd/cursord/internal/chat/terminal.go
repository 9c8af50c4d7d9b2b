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

// A terminal is one that a program owns which draws the prompt below all else. What others write goes to its feed.
type terminal struct {
	feed    *feed
	program *tea.Program
	ended   chan struct{}   // closed when the program has ended
	err     error           // why, set before; nil for an end that was asked for
	ctx     context.Context // of it, and of who has the terminal in between
	stop    func()          // ends both
}

// ownsTerminal reports whether a prompt can be drawn on what a person types at and reads: both are terminals that can do more than
// print line by line.
func ownsTerminal(in io.Reader, show *view.Screen) bool {
	if name, set := os.LookupEnv("TERM"); name == "dumb" || set && name == "" {
		return false
	}
	return term.IsTerminal(in) && show.OutTerm && term.IsTerminal(show.ErrOut)
}

// openTerminal draws the prompt; close has to follow.
func openTerminal(ctx context.Context, in io.Reader, out *os.File, f *feed, p *prompt) *terminal {
	ctx, stop := context.WithCancel(ctx)
	t := &terminal{feed: f, ended: make(chan struct{}), ctx: ctx, stop: stop}
	screen := &watched{out, f}
	options := []tea.ProgramOption{
		tea.WithContext(ctx), tea.WithInput(in), tea.WithoutSignalHandler(), tea.WithFilter(p.filter), tea.WithOutput(screen),
	}
	if _, _, known := term.ScreenSize(out); !known { // as of terminals that nobody looks at
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

// close takes the prompt away, once all that was written is shown, and gives the terminal back as it was.
func (t *terminal) close() {
	defer t.stop()
	const patience = 2 * time.Second // with a terminal that takes nothing any more, or is another program's
	t.feed.post(quitMsg{})
	select {
	case <-t.ended:
	case <-time.After(patience):
		t.stop()
		<-t.ended
	}
}

// watched is the terminal as the program has it. Lines may go above the prompt once that is drawn, at the beginning and after each
// time that another program had the terminal; what goes there before would be written over.
type watched struct {
	*os.File
	feed *feed
}

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.File.Write(b)
	if bytes.Contains(b, []byte(ansi.SetModeBracketedPaste)) { // as the first drawing has
		w.feed.draws(true)
	}
	return n, err
}
