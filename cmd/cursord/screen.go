package main

import (
	"io"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// A screen shows a turn as it goes: what the agent says on out, all else on errOut. Where both are the same place,
// neither writes into the other's line.
type screen struct {
	out, errOut      io.Writer
	outTerm, errTerm bool
	together         bool           // out and errOut are the same place
	palette          term.Palette   // of errOut
	outOpen, errOpen bool           // the last line has no newline yet
	waiting          bool           // errOut ends in a line of await's, to be wiped
	call             string         // the tool call that it is of, if it is
	silence          string         // what quiet has added to it
	shown            map[string]int // bytes shown of each item's text
	last             string         // the item whose text out ends in
}

func newScreen(out, errOut io.Writer) *screen {
	return &screen{
		out: out, errOut: errOut, outTerm: term.IsTerminal(out), errTerm: term.IsTerminal(errOut), palette: term.PaletteOf(errOut),
		together: term.IsTerminal(out) && term.IsTerminal(errOut) || out == errOut, shown: map[string]int{},
	}
}

// item shows what is new about an item.
func (s *screen) item(item *sessions.Item) {
	switch item.Kind {
	case sessions.ItemAssistant, sessions.ItemThinking, sessions.ItemPlan:
		if item.Text == "" && s.shown[item.ID] > 0 {
			s.line(s.palette.Dim("(the agent starts that over)"))
			s.shown[item.ID] = 0
		}
		s.delta(item.ID, item.Kind, 0, item.Text)
	case sessions.ItemNotice:
		s.line(s.palette.Yellow("note: " + term.Clean(item.Text)))
	case sessions.ItemTool:
		s.tool(item)
	}
}

// delta shows text that was appended to an item, less what is shown already.
func (s *screen) delta(id string, kind sessions.ItemKind, offset int, text string) {
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
func (s *screen) say(id, text string) {
	s.wipe()
	s.endLine(s.errOut, &s.errOpen)
	if s.last != id && !strings.HasPrefix(text, "\n") {
		s.endLine(s.out, &s.outOpen)
	}
	s.last = id
	if s.outTerm {
		text = term.CleanText(text)
	}
	io.WriteString(s.out, text)
	s.outOpen = !strings.HasSuffix(text, "\n")
}

// think shows what the agent thinks, to those who watch.
func (s *screen) think(text string) {
	if !s.errTerm {
		return
	}
	s.beginLine()
	text = term.CleanText(text)
	io.WriteString(s.errOut, s.palette.Dim(text))
	s.errOpen = !strings.HasSuffix(text, "\n")
}

// tool shows a call when it has ended; a terminal shows it while it runs, too.
func (s *screen) tool(item *sessions.Item) {
	if item.Status != sessions.ItemRunning {
		s.line(toolLine(s.palette, item))
		return
	}
	s.await("… " + toolTitle(item.Tool))
	s.call = toolTitle(item.Tool)
}

// quiet shows on a terminal what is waited for, beside the call that runs, until something else is shown; "" for nothing.
func (s *screen) quiet(what string) {
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
func (s *screen) await(what string) {
	const width = 72 // of nearly all terminals; a line that wraps cannot be wiped
	if s.errTerm && bool(s.palette) {
		s.beginLine()
		s.endLine(s.errOut, &s.errOpen)
		s.waiting = true
		title := []rune(what)
		io.WriteString(s.errOut, s.palette.Dim(string(title[:min(len(title), width)])))
	}
}

// line shows a line on errOut.
func (s *screen) line(text string) {
	s.beginLine()
	s.endLine(s.errOut, &s.errOpen)
	io.WriteString(s.errOut, text+"\n")
}

// beginLine makes sure that what is written to errOut next does not stand behind what the agent said.
func (s *screen) beginLine() {
	s.wipe()
	if s.together {
		s.endLine(s.out, &s.outOpen)
	}
}

// wipe takes away the line of the tool that runs.
func (s *screen) wipe() {
	s.call, s.silence = "", ""
	if s.waiting {
		io.WriteString(s.errOut, "\r\x1b[K")
		s.waiting = false
	}
}

func (s *screen) endLine(w io.Writer, open *bool) {
	if *open {
		io.WriteString(w, "\n")
		*open = false
	}
}

// end ends the last lines.
func (s *screen) end() {
	s.wipe()
	s.endLine(s.errOut, &s.errOpen)
	s.endLine(s.out, &s.outOpen)
}
