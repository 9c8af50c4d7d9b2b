package chat

import (
	"fmt"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// feedLimit bounds the bytes of lines that wait while another program, such as a pager, has the terminal.
const feedLimit = 1 << 20

// A feed takes the text to be shown above the prompt, and hands it to the program that owns the terminal. Writers never wait
// for the terminal. It understands only what view.Screen writes: lines, colours, and "\r\x1b[K", which takes the unfinished
// line back.
type feed struct {
	wake chan struct{}

	mu      sync.Mutex
	rows    []string // the rows to print next, wrapped to the terminal's width
	lines   []string // complete lines to print after rows
	size    int      // bytes in lines
	lost    int      // lines that were dropped because lines was full
	live    []byte   // the unfinished line
	colour  string   // the escape sequence of the colour in which live ends; "" is none
	notes   []string // the notes below live
	msgs    []tea.Msg
	fresh   bool // something has changed since the last message
	width   int  // of the terminal; 0: unknown
	room    int  // rows that can be printed at once
	drawn   bool // the prompt is on the screen, so lines can go above it
	printed int  // how many rows have been printed above the prompt so far
}

func newFeed() *feed { return &feed{wake: make(chan struct{}, 1)} }

// An aboveMsg has lines to print above the prompt, and the unfinished line and notes to draw right above it.
type aboveMsg struct{ lines, live, notes []string }

const wipe = "\r\x1b[K"

// Write never fails.
func (f *feed) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for text := string(b); text != ""; {
		switch {
		case strings.HasPrefix(text, wipe):
			f.live, f.colour, text = f.live[:0], "", text[len(wipe):]
		case text[0] == '\n':
			f.endLine()
			text = text[1:]
		case text[0] == '\x1b' && strings.IndexByte(text, 'm') > 0:
			code := text[:strings.IndexByte(text, 'm')+1]
			if f.colour = code; code == "\x1b[0m" {
				f.colour = ""
			}
			f.live = append(f.live, code...)
			text = text[len(code):]
		default:
			n := strings.IndexAny(text[1:], "\r\n\x1b") + 1
			if n == 0 {
				n = len(text)
			}
			f.live = append(f.live, text[:n]...)
			text = text[n:]
		}
	}
	f.changed()
	return len(b), nil
}

// endLine completes the live line. Its colour is reset at the end, so that the prompt does not take it on.
func (f *feed) endLine() {
	line := string(f.live)
	if f.colour != "" {
		line += "\x1b[0m"
	}
	f.live = append(f.live[:0], f.colour...)
	if f.size > feedLimit {
		f.lost++
		return
	}
	f.lines, f.size = append(f.lines, line), f.size+len(line)
}

func (f *feed) changed() {
	f.fresh = true
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// note sets the notes below the live line.
func (f *feed) note(notes []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if strings.Join(notes, "\n") != strings.Join(f.notes, "\n") {
		f.notes = notes
		f.changed()
	}
}

// post sends a message after all that has been written so far.
func (f *feed) post(msg tea.Msg) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.msgs = append(f.msgs, msg)
	f.changed()
}

// postFirst sends a message again, before all others.
func (f *feed) postFirst(msg tea.Msg) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.msgs = append([]tea.Msg{msg}, f.msgs...)
	f.changed()
}

// fits sets the terminal's width and the number of rows that can be printed at once: more would push the prompt off the
// screen.
func (f *feed) fits(width, room int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.width == 0 {
		f.changed()
	}
	f.width, f.room = width, max(room, 1)
}

// Columns returns the terminal's width; 0 if it is not known yet.
func (f *feed) Columns() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.width
}

// draws sets whether the prompt is on the screen.
func (f *feed) draws(now bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.drawn = now; now {
		f.changed()
	}
}

// isDrawn reports whether the prompt is on the screen.
func (f *feed) isDrawn() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.drawn
}

// takes reports whether the lines of m can go above the prompt now. If not, it puts them back as the next rows.
func (f *feed) takes(m aboveMsg) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.drawn {
		f.rows = append(m.lines, f.rows...)
		f.fresh = true
		return false
	}
	f.printed += len(m.lines)
	return true
}

// printedRows returns how many rows have been printed above the prompt.
func (f *feed) printedRows() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.printed
}

// waits reports whether lines were put back and wait for the prompt to be drawn again.
func (f *feed) waits() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.drawn && len(f.rows) > 0
}

// pump sends all messages, in order, until done is closed.
func (f *feed) pump(send func(tea.Msg), done <-chan struct{}) {
	for {
		select {
		case <-f.wake:
		case <-done:
			return
		}
		for {
			msg := f.next()
			if msg == nil {
				break
			}
			send(msg)
		}
	}
}

// next returns the next message to send; nil if there is none.
func (f *feed) next() tea.Msg {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.width == 0 || !f.drawn:
		return nil
	case len(f.rows) > 0 || len(f.lines) > 0 || f.lost > 0:
		for len(f.lines) > 0 && len(f.rows) < f.room {
			f.rows = append(f.rows, strings.Split(ansi.Wrap(f.lines[0], f.width, ""), "\n")...)
			f.size -= len(f.lines[0])
			f.lines = f.lines[1:]
		}
		if len(f.lines) == 0 && f.lost > 0 {
			f.rows = append(f.rows, fmt.Sprintf("(%d lines left out; cursord show has them)", f.lost))
			f.lost = 0
		}
		n := min(f.room, len(f.rows))
		rows := f.rows[:n:n]
		f.rows = f.rows[n:]
		return f.above(rows)
	case f.fresh && len(f.msgs) == 0:
		f.fresh = false
		return f.above(nil)
	case len(f.msgs) > 0:
		msg := f.msgs[0]
		f.msgs = f.msgs[1:]
		return msg
	}
	return nil
}

// above returns the message that prints rows. It shows the unfinished line only when no complete lines wait before it.
func (f *feed) above(rows []string) tea.Msg {
	msg := aboveMsg{lines: rows, notes: f.notes}
	if len(f.rows) == 0 && len(f.lines) == 0 && len(f.live) > len(f.colour) {
		const most = 16 << 10 // bytes, more than fit on a screen
		live := f.live[max(len(f.live)-most, 0):]
		msg.live = strings.Split(ansi.Wrap(strings.ToValidUTF8(string(live), ""), f.width, ""), "\n")
	}
	return msg
}
