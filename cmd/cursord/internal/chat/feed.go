package chat

import (
	"fmt"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// feedLimit bounds what waits for a terminal that is somebody else's, such as a pager's.
const feedLimit = 1 << 20

// A feed takes what is to be shown above the prompt, and hands it to the program that owns the terminal. Nobody waits for the
// terminal in it. It understands the little that view.Screen writes: lines, colours, and "\r\x1b[K" for a line that is taken back.
type feed struct {
	wake chan struct{}

	mu     sync.Mutex
	rows   []string // what is to be printed next, as wide as the terminal
	lines  []string // complete ones behind them
	size   int      // bytes in lines
	lost   int      // lines that had no room
	live   []byte   // the line that is not complete
	colour string   // in which live ends; "" is none
	notes  []string // what waits, below live
	msgs   []tea.Msg
	fresh  bool // something is new
	width  int  // of the terminal; 0: not known yet
	room   int  // rows that may be printed at once
	drawn  bool // the prompt stands on the screen: lines can go above it
}

func newFeed() *feed { return &feed{wake: make(chan struct{}, 1)} }

// An aboveMsg has lines that go above the prompt, and what then stands right above it.
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

// endLine completes the live line. A colour does not reach into the prompt.
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

// note sets what stands below the live line.
func (f *feed) note(notes []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if strings.Join(notes, "\n") != strings.Join(f.notes, "\n") {
		f.notes = notes
		f.changed()
	}
}

// post sends a message behind all that was written before.
func (f *feed) post(msg tea.Msg) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.msgs = append(f.msgs, msg)
	f.changed()
}

// fits sets the terminal's width, and how many rows can be printed at once: more would push the prompt off the screen.
func (f *feed) fits(width, room int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.width == 0 {
		f.changed()
	}
	f.width, f.room = width, max(room, 1)
}

// Columns returns the terminal's width, 0 if it is not known yet.
func (f *feed) Columns() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.width
}

// draws sets whether the prompt stands on the screen.
func (f *feed) draws(now bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.drawn = now; now {
		f.changed()
	}
}

// takes reports whether lines can go above the prompt; if not, they are the next again.
func (f *feed) takes(m aboveMsg) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.drawn {
		f.rows = append(m.lines, f.rows...)
		f.fresh = true
	}
	return f.drawn
}

// pump hands everything on, in order, until done.
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

// next takes what is to be sent next; nil is nothing.
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

// above is the message with some rows; what comes right behind them is not shown before they are.
func (f *feed) above(rows []string) tea.Msg {
	msg := aboveMsg{lines: rows, notes: f.notes}
	if len(f.rows) == 0 && len(f.lines) == 0 && len(f.live) > len(f.colour) {
		const most = 16 << 10 // bytes, more than a screen has room for
		live := f.live[max(len(f.live)-most, 0):]
		msg.live = strings.Split(ansi.Wrap(strings.ToValidUTF8(string(live), ""), f.width, ""), "\n")
	}
	return msg
}
