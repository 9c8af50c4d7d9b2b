// Package view is what people read of turns, items and diffs: a turn as it goes (Screen, and Follower, which picks it out of what a
// workspace's subscribers are told), a session as Markdown, hunks with their changed words marked. What agents said comes out harmless
// for terminals. It asks the daemon nothing.
package view

import (
	"io"
	"os"
	"strings"

	"cursord/cmd/cursord/internal/markdown"
	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// A Screen shows a turn as it goes: what the agent says on out, all else on errOut. Where both are the same place,
// neither writes into the other's line.
type Screen struct {
	out, ErrOut      io.Writer
	OutTerm, errTerm bool
	together         bool             // out and errOut are the same place
	retracts         bool             // a line of errOut may be taken back
	Palette          term.Palette     // of errOut
	outOpen, errOpen bool             // the last line has no newline yet
	waiting          bool             // errOut ends in a line of await's, to be wiped
	call             string           // the tool call that it is of, if it is
	silence          string           // what quiet has added to it
	shown            map[string]int   // bytes shown of each item's text
	last             string           // the item whose text out ends in
	markdown         *markdown.Stream // of that text, where out is a terminal with colours; else nil
}

func NewScreen(out, errOut io.Writer) *Screen {
	palette := term.PaletteOf(errOut)
	s := &Screen{
		out: out, ErrOut: errOut, OutTerm: term.IsTerminal(out), errTerm: term.IsTerminal(errOut), Palette: palette, retracts: bool(palette),
		together: term.IsTerminal(out) && term.IsTerminal(errOut) || samePlace(out, errOut), shown: map[string]int{},
	}
	s.rendersIf(term.PaletteOf(out))
	return s
}

// rendersIf has the agent's Markdown rendered if out takes colours.
func (s *Screen) rendersIf(palette term.Palette) {
	if palette {
		s.markdown = &markdown.Stream{Columns: func() int { return columns(s.out) }}
	}
}

// columns returns the width of what w leads to, 0 if it is not known.
func columns(w io.Writer) int {
	if w, ok := w.(interface{ Columns() int }); ok {
		return w.Columns()
	}
	return term.Columns(w)
}

// samePlace reports whether two writers lead to one place, such as a pipe that has both outputs of the program.
func samePlace(a, b io.Writer) bool {
	if a == b {
		return true
	}
	f, ok := a.(*os.File)
	g, both := b.(*os.File)
	if !ok || !both {
		return false
	}
	fi, err := f.Stat()
	gi, otherErr := g.Stat()
	return err == nil && otherErr == nil && os.SameFile(fi, gi)
}

// NewTerminal returns a screen that takes w for a terminal. If w has a method Columns() int, that is its width.
func NewTerminal(w io.Writer, palette term.Palette) *Screen {
	s := &Screen{out: w, ErrOut: w, OutTerm: true, errTerm: true, together: true, retracts: true, Palette: palette, shown: map[string]int{}}
	s.rendersIf(palette)
	return s
}

// Item shows what is new about an item.
func (s *Screen) Item(item *sessions.Item) {
	switch item.Kind {
	case sessions.ItemAssistant, sessions.ItemThinking, sessions.ItemPlan:
		if item.Text == "" && s.shown[item.ID] > 0 {
			s.Line(s.Palette.Dim("(the agent starts that over)"))
			s.shown[item.ID] = 0
		}
		s.Delta(item.ID, item.Kind, 0, item.Text)
	case sessions.ItemNotice:
		s.Line(s.Palette.Yellow("note: " + term.Clean(item.Text)))
	case sessions.ItemTool:
		s.tool(item)
	}
}

// Delta shows text that was appended to an item, less what is shown already.
func (s *Screen) Delta(id string, kind sessions.ItemKind, offset int, text string) {
	known := s.shown[id]
	if offset+len(text) <= known {
		return
	}
	s.shown[id] = offset + len(text)
	text = text[max(known-offset, 0):]
	if kind == sessions.ItemThinking {
		s.think(text)
	} else {
		s.say(id, text)
	}
}

// say shows what the agent says; each item begins on a line of its own.
func (s *Screen) say(id, text string) {
	s.wipe()
	s.endLine(s.ErrOut, &s.errOpen)
	if s.last != id {
		s.endText(true)
		if !strings.HasPrefix(text, "\n") {
			s.endLine(s.out, &s.outOpen)
		}
	}
	s.last = id
	if s.markdown != nil {
		s.put(s.markdown.Add(text))
		return
	}
	s.put(term.CleanText(text))
}

// Said returns text of the agent as it is written to w: Markdown is rendered for a terminal with colours.
func Said(w io.Writer, text string) string {
	if term.PaletteOf(w) {
		return markdown.Text(text, columns(w))
	}
	return term.CleanText(text)
}

// put writes text of the agent to out.
func (s *Screen) put(text string) {
	if text != "" {
		io.WriteString(s.out, text)
		s.outOpen = !strings.HasSuffix(text, "\n")
	}
}

// endText writes the Markdown that waits for what follows it, because something else is shown next.
func (s *Screen) endText(whole bool) {
	switch {
	case s.markdown == nil:
	case whole:
		s.put(s.markdown.End())
	default:
		s.put(s.markdown.Break())
	}
}

// think shows what the agent thinks, to those who watch.
func (s *Screen) think(text string) {
	if !s.errTerm {
		return
	}
	s.beginLine()
	text = term.CleanText(text)
	io.WriteString(s.ErrOut, s.Palette.Dim(text))
	s.errOpen = !strings.HasSuffix(text, "\n")
}

// tool shows a call when it has ended; a terminal shows it while it runs, too.
func (s *Screen) tool(item *sessions.Item) {
	if item.Status != sessions.ItemRunning {
		s.Line(ToolLine(s.Palette, item))
		return
	}
	s.await("… " + toolTitle(item.Tool))
	s.call = toolTitle(item.Tool)
}

// Quiet shows on a terminal what is waited for, beside the call that runs, until something else is shown; "" for nothing.
func (s *Screen) Quiet(what string) {
	if what == s.silence {
		return
	}
	call := s.call
	switch {
	case what == "" && call == "":
		s.wipe()
	case what == "":
		s.await("… " + call)
	case call == "":
		s.await("… " + what)
	default:
		s.await("… " + what + ": " + call)
	}
	s.call, s.silence = call, what
}

// await shows on a terminal what happens at present, until something else is shown.
func (s *Screen) await(what string) {
	if s.errTerm && s.retracts {
		s.beginLine()
		s.endLine(s.ErrOut, &s.errOpen)
		s.waiting = true
		io.WriteString(s.ErrOut, s.Palette.Dim(term.Fit(what, s.room())))
	}
}

// room is how many cells a line of errOut has, less the last, and less what the terminal puts behind it for a Ctrl-C: a line
// that wraps cannot be wiped.
func (s *Screen) room() int {
	const most = 72 // of terminals that do not say
	if n := columns(s.ErrOut); n > 0 {
		return max(n-1-len("^C"), 1)
	}
	return most
}

// Behind says what a turn waits for that has not begun: on a terminal until something else is shown, elsewhere as a line.
func (s *Screen) Behind(what string) {
	if s.errTerm && s.retracts {
		s.await("… (Ctrl-C gives up) " + what)
		return
	}
	s.Line(what)
}

// Open reports whether the agent's text stops in the middle of a line, or of a table, that a line about a silence would break.
func (s *Screen) Open() bool {
	return s.together && (s.outOpen || s.markdown != nil && s.markdown.Held())
}

// Line shows a line on errOut.
func (s *Screen) Line(text string) {
	s.beginLine()
	s.endLine(s.ErrOut, &s.errOpen)
	io.WriteString(s.ErrOut, text+"\n")
}

// beginLine makes sure that what is written to errOut next does not stand behind what the agent said.
func (s *Screen) beginLine() {
	s.wipe()
	if s.together {
		s.endText(false)
		s.endLine(s.out, &s.outOpen)
	}
}

// wipe takes away the line of the tool that runs.
func (s *Screen) wipe() {
	s.call, s.silence = "", ""
	if s.waiting {
		io.WriteString(s.ErrOut, "\r\x1b[K")
		s.waiting = false
	}
}

func (s *Screen) endLine(w io.Writer, open *bool) {
	if *open {
		io.WriteString(w, "\n")
		*open = false
	}
}

// End ends the last lines.
func (s *Screen) End() {
	s.wipe()
	s.endLine(s.ErrOut, &s.errOpen)
	s.endText(true)
	s.endLine(s.out, &s.outOpen)
}
