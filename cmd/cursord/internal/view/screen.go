// Package view formats turns, items and diffs for people: Screen shows a turn as it runs, Follower picks that turn out of a
// workspace's notifications, Markdown writes a session, and hunks get their changed words marked. Text of agents cannot
// control a terminal. The package sends nothing to the daemon.
package view

import (
	"io"
	"os"
	"strings"

	"cursord/cmd/cursord/internal/markdown"
	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// A Screen shows a turn as it runs: the agent's text on out, everything else on errOut. If both are the same terminal or
// pipe, each begins on a line of its own.
type Screen struct {
	out, ErrOut      io.Writer
	OutTerm, errTerm bool
	together         bool             // out and errOut lead to the same place
	retracts         bool             // errOut can take back its last line
	Palette          term.Palette     // of errOut
	Asks             bool             // the agent waits for an answer: no line that looks like a question is written below the question
	Recap            string           // how people here ask again with the transcript, after a chat is lost; "": as the notice says it
	outOpen, errOpen bool             // the last line has no newline yet
	waiting          int              // errOut ends in so many lines of await, which wipe removes
	spot             term.Spot        // where these lines begin
	call             string           // the tool call in that line, or ""
	silence          string           // the words of Quiet in that line, or ""
	shown            map[string]int   // bytes of each item's text that are shown
	last             string           // the item whose text was written to out last
	plan             string           // the text of the plan that was shown last
	markdown         *markdown.Stream // renders the agent's text; nil if out takes no colours
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

// rendersIf renders the agent's Markdown if out takes colours.
func (s *Screen) rendersIf(palette term.Palette) {
	if palette {
		s.markdown = &markdown.Stream{Columns: func() int { return columns(s.out) }}
	}
}

// columns returns the width of the terminal behind w; 0 if it is unknown.
func columns(w io.Writer) int {
	if w, ok := w.(interface{ Columns() int }); ok {
		return w.Columns()
	}
	return term.Columns(w)
}

// samePlace reports whether two writers lead to the same place, such as one pipe for stdout and stderr.
func samePlace(a, b io.Writer) bool {
	if a == b {
		return true
	}
	type file interface{ Stat() (os.FileInfo, error) }
	f, ok := a.(file)
	g, both := b.(file)
	if !ok || !both {
		return false
	}
	fi, err := f.Stat()
	gi, otherErr := g.Stat()
	return err == nil && otherErr == nil && os.SameFile(fi, gi)
}

// NewTerminal returns a screen for a terminal at w. If w has a method Columns() int, that is its width.
func NewTerminal(w io.Writer, palette term.Palette) *Screen {
	s := &Screen{out: w, ErrOut: w, OutTerm: true, errTerm: true, together: true, retracts: true, Palette: palette, shown: map[string]int{}}
	s.rendersIf(palette)
	return s
}

// Item shows the new part of an item.
func (s *Screen) Item(item *sessions.Item) {
	switch item.Kind {
	case sessions.ItemAssistant, sessions.ItemThinking, sessions.ItemPlan:
		if item.Text == "" && s.shown[item.ID] > 0 {
			s.Line(s.Palette.Dim("(the agent starts that over)"))
			s.shown[item.ID] = 0
		}
		if item.Kind == sessions.ItemPlan && s.shown[item.ID] == 0 {
			s.plan = item.Text
		}
		s.Delta(item.ID, item.Kind, 0, item.Text)
		s.reply(item)
	case sessions.ItemNotice:
		s.Line(s.Palette.Yellow("note: " + term.Clean(item.NoticeText(s.Recap))))
	case sessions.ItemTool:
		s.tool(item)
	}
}

// Delta shows text that was appended to an item, without the part that is shown already.
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

// Shows reports whether what is asked is about a plan whose text is the agent's last one on the terminal of both outputs.
func (s *Screen) Shows(a *sessions.Approval) bool {
	return s.OutTerm && s.errTerm && s.last != "" && s.last == a.ItemID && s.plan == a.Detail
}

// say shows text of the agent. Each item begins on a line of its own.
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

// Said formats text of the agent for w: Markdown is rendered on a terminal with colours.
func Said(w io.Writer, text string) string {
	if term.PaletteOf(w) {
		return markdown.Text(text, columns(w))
	}
	return term.CleanText(text)
}

// put writes text to out.
func (s *Screen) put(text string) {
	if text != "" {
		io.WriteString(s.out, text)
		s.outOpen = !strings.HasSuffix(text, "\n")
	}
}

// endText writes the held Markdown before something else is shown. whole: the item has ended.
func (s *Screen) endText(whole bool) {
	switch {
	case s.markdown == nil:
	case whole:
		s.put(s.markdown.End())
	default:
		s.put(s.markdown.Break())
	}
}

// think shows the agent's thoughts on a terminal.
func (s *Screen) think(text string) {
	if !s.errTerm {
		return
	}
	s.beginLine()
	text = term.CleanText(text)
	io.WriteString(s.ErrOut, s.Palette.Dim(text))
	s.errOpen = !strings.HasSuffix(text, "\n")
}

// tool shows a tool call: on a terminal while it runs, and everywhere when it has ended.
func (s *Screen) tool(item *sessions.Item) {
	if item.Status != sessions.ItemRunning {
		if s.shown[item.ID] > 0 { // it comes again, with what it has changed
			return
		}
		s.shown[item.ID] = 1
		s.Line(ToolLine(s.Palette, item))
		s.reply(item)
		return
	}
	if s.Asks {
		return
	}
	s.await("… " + toolTitle(item.Tool))
	s.call = toolTitle(item.Tool)
}

func (s *Screen) reply(item *sessions.Item) {
	for _, line := range Reply(s.Palette, item) {
		s.Line(line)
	}
}

// Quiet shows on a terminal the reason of a silence beside the running call, until something else is shown; "" shows none.
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

// await shows a line on a terminal until something else is shown.
func (s *Screen) await(what string) {
	if s.errTerm && s.retracts {
		s.beginLine()
		s.endLine(s.ErrOut, &s.errOpen)
		s.awaitLines(what)
	}
}

// awaitLines shows lines that wipe removes. It removes what a person has typed ahead, which the terminal has shown there.
func (s *Screen) awaitLines(lines ...string) {
	s.waiting = len(lines)
	for i, line := range lines {
		lines[i] = s.Palette.Dim(term.Fit(line, s.room()))
	}
	var begin string
	s.spot, begin = term.SpotOf(s.ErrOut, len(lines))
	io.WriteString(s.ErrOut, clearLine+begin+strings.Join(lines, "\n"))
}

// clearLine removes what stands on the line of the cursor.
const clearLine = "\r\x1b[K"

// room returns the cells of a line that wipe can remove: one less than the width, so that it does not wrap, and without the
// "^C" that the terminal may add.
func (s *Screen) room() int {
	const most = 72 // if the width is unknown
	if n := columns(s.ErrOut); n > 0 {
		return max(n-1-len("^C"), 1)
	}
	return most
}

// Behind shows why a turn is queued: on a terminal until something else is shown, elsewhere as a line.
func (s *Screen) Behind(what string) {
	if s.errTerm && s.retracts {
		s.beginLine()
		s.endLine(s.ErrOut, &s.errOpen)
		s.awaitLines(strings.Split(term.Fold("… (Ctrl-C cancels this turn) "+what, s.room()), "\n")...)
		return
	}
	s.Line(what)
}

// Open reports whether the agent's text stops within a line or a table, which another line would break.
func (s *Screen) Open() bool {
	return s.together && (s.outOpen || s.markdown != nil && s.markdown.Held())
}

// Line shows a line on errOut, folded if the terminal is narrower.
func (s *Screen) Line(text string) {
	s.beginLine()
	s.endLine(s.ErrOut, &s.errOpen)
	io.WriteString(s.ErrOut, term.Fold(text+"\n", columns(s.ErrOut)))
}

// beginLine ends the agent's line if the next line of errOut would continue it.
func (s *Screen) beginLine() {
	s.wipe()
	if s.together {
		s.endText(false)
		s.endLine(s.out, &s.outOpen)
	}
}

// apart ends the agent's line if other text on w would continue it.
func (s *Screen) apart(w io.Writer) {
	if s.OutTerm && term.IsTerminal(w) || samePlace(s.out, w) {
		s.endText(false)
		s.endLine(s.out, &s.outOpen)
	}
}

// wipe removes the line of await.
func (s *Screen) wipe() {
	s.call, s.silence = "", ""
	if s.waiting > 0 {
		back := s.spot.Back()
		if back == "" || !s.together { // in a pipeline, another command may write the agent's text there
			back = clearLine + strings.Repeat("\x1b[A\x1b[K", s.waiting-1)
		}
		io.WriteString(s.ErrOut, back)
		s.waiting = 0
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
