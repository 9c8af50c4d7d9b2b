package chat

import (
	"io"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"cursord/cmd/cursord/internal/term"
)

// An event is what a person does at the prompt.
type event struct {
	kind eventKind
	text string // of sent
}

type eventKind int

const (
	sent       eventKind = iota // a line, or several
	ctrlC                       // where nothing was typed
	ctrlCTyped                  // where something was
	empty                       // a line with nothing in it, where the terminal shows what is typed
	leaves
	suspends
	resumes
)

// A prompt is the lines at the bottom of the terminal in which a person writes. It is the model of the program that owns the
// terminal, and is touched by that program alone. It waits for nobody: what the person does goes to events.
type prompt struct {
	feed    *feed
	events  chan<- event
	palette term.Palette
	history *history
	// complete returns where, in a text that ends at the cursor, the word begins that is to be completed, and what it may
	// become: words, each perhaps with a tab and what it is. It may take its time.
	complete func(before string) (from int, words []string)

	area          textarea.Model
	width, height int
	live, notes   []string // above the prompt
	hidden        bool     // another program has the terminal
	gone          bool

	at      int    // the entry of the history that is shown; len: none
	draft   string // what was typed before one was
	search  *search
	choices *choices
}

// A search is for what was typed before, by a part of it.
type search struct {
	part  string
	fails bool
	from  int    // where the history was when it began
	draft string // what stood there
}

// choices are the words that a word may become.
type choices struct {
	before string // the text before the word
	words  []string
	at     int // which stands there; -1: none of them
}

// Messages of our own.
type (
	clearMsg   struct{}              // empties the line
	restoreMsg struct{ text string } // puts a prompt back that was not taken, unless something is typed
	quitMsg    struct{}
	againMsg   struct{} // has the terminal's mode set, and all drawn, anew
	shownMsg   struct{} // the terminal is ours again
	wordsMsg   struct { // what was found for a text
		value, before string
		from          int
		words         []string
	}
)

// nothing is a program that does nothing with the terminal.
type nothing struct{}

func (nothing) Run() error          { return nil }
func (nothing) SetStdin(io.Reader)  {}
func (nothing) SetStdout(io.Writer) {}
func (nothing) SetStderr(io.Writer) {}

// pastedTab stands for a tab: the text area has none.
const pastedTab = "␉"

func newPrompt(f *feed, events chan<- event, palette term.Palette, history *history, complete func(string) (int, []string)) *prompt {
	p := &prompt{feed: f, events: events, palette: palette, history: history, complete: complete, at: len(history.entries)}
	a := textarea.New()
	a.ShowLineNumbers, a.MaxWidth, a.DynamicHeight, a.MaxContentHeight = false, 0, true, 9000
	a.SetPromptFunc(2, func(info textarea.PromptInfo) string {
		if info.LineNumber == 0 {
			return "> "
		}
		return "  "
	})
	a.SetVirtualCursor(false)
	a.SetStyles(textarea.Styles{})
	keys := &a.KeyMap
	keys.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "shift+enter"))
	keys.LineNext, keys.LinePrevious = key.NewBinding(key.WithKeys("down")), key.NewBinding(key.WithKeys("up"))
	keys.Paste.SetEnabled(false) // that of the terminal pastes
	a.Focus()
	p.area = a
	return p
}

func (p *prompt) Init() tea.Cmd { return nil }

// filter makes of lines that go above the prompt what the program understands.
func (p *prompt) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); ok {
		p.feed.draws(false)
	}
	m, ok := msg.(aboveMsg)
	if !ok {
		return msg
	}
	if !p.feed.takes(m) {
		return nil
	}
	p.live, p.notes = m.live, m.notes
	if len(m.lines) == 0 {
		return msg
	}
	return tea.Println(strings.Join(m.lines, "\n") + "\x1b[m")() // without a character it would print nothing
}

func (p *prompt) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.width, p.height = msg.Width, msg.Height
		p.area.MaxHeight = max(p.height/3, 1)
		p.area.SetWidth(p.width)
	case quitMsg:
		p.gone = true
		return p, tea.Quit
	case clearMsg:
		p.set("")
	case restoreMsg:
		if p.value() == "" {
			p.set(msg.text)
		}
	case *execMsg: // which begins where the prompt stood
		p.hidden = true
		p.feed.draws(false)
		return p, tea.ExecProcess(msg.command, func(error) tea.Msg { return shownMsg{} })
	case againMsg:
		p.feed.draws(false)
		return p, tea.Exec(nothing{}, func(error) tea.Msg { return shownMsg{} })
	case shownMsg:
		p.hidden = false
	case tea.ResumeMsg:
		p.tell(event{kind: resumes})
	case wordsMsg:
		p.found(msg)
	case tea.PasteMsg:
		p.search, p.choices = nil, nil
		p.insert(msg.Content)
	case tea.KeyPressMsg:
		return p, p.key(msg)
	}
	return p, nil
}

// tell reports an event, and whether there was room for it.
func (p *prompt) tell(e event) bool {
	select {
	case p.events <- e:
		return true
	default:
		return false
	}
}

// key takes a key.
func (p *prompt) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if p.search != nil && p.searches(name, k.Text) {
		return nil
	}
	if name != "tab" && name != "shift+tab" {
		p.choices = nil
	}
	switch name {
	case "enter", "ctrl+j":
		p.send()
	case "ctrl+c":
		kind := ctrlC
		if p.value() != "" {
			kind = ctrlCTyped
		}
		p.tell(event{kind: kind})
	case "ctrl+d":
		if p.value() == "" {
			p.tell(event{kind: leaves})
			return nil
		}
		return p.edit(k)
	case "ctrl+z":
		p.tell(event{kind: suspends})
	case "ctrl+l":
		return tea.ClearScreen
	case "ctrl+r":
		p.search = &search{from: p.at, draft: p.value()}
		p.at = len(p.history.entries)
	case "ctrl+p":
		p.recall(-1)
	case "ctrl+n":
		p.recall(+1)
	case "up", "down":
		row, by := p.row(), -1
		if name == "down" {
			by = +1
		}
		cmd := p.edit(k)
		if p.row() == row {
			p.recall(by)
		}
		return cmd
	case "tab":
		return p.tab(+1)
	case "shift+tab":
		return p.tab(-1)
	default:
		return p.edit(k)
	}
	return nil
}

// edit has the text area take a key.
func (p *prompt) edit(k tea.KeyPressMsg) (cmd tea.Cmd) {
	p.area, cmd = p.area.Update(k)
	return cmd
}

// row is where the cursor is, in rows of the text as it is shown.
func (p *prompt) row() [2]int { return [2]int{p.area.Line(), p.area.LineInfo().RowOffset} }

// value is what was typed.
func (p *prompt) value() string { return strings.ReplaceAll(p.area.Value(), pastedTab, "\t") }

// before is what was typed up to the cursor.
func (p *prompt) before() string {
	lines := strings.Split(p.area.Value(), "\n")
	row := min(p.area.Line(), len(lines)-1)
	last := []rune(lines[row])
	lines = append(lines[:row:row], string(last[:min(p.area.Column(), len(last))]))
	return strings.ReplaceAll(strings.Join(lines, "\n"), pastedTab, "\t")
}

// set makes a text what was typed, with the cursor at its end.
func (p *prompt) set(text string) {
	p.area.Reset()
	p.insert(text)
}

// insert puts a text where the cursor is, as it was pasted.
func (p *prompt) insert(text string) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", pastedTab).Replace(text)
	p.area, _ = p.area.Update(tea.PasteMsg{Content: text})
}

func (p *prompt) send() {
	text := p.value()
	if strings.TrimSpace(text) == "" {
		p.set("")
		return
	}
	if p.tell(event{kind: sent, text: text}) {
		p.history.add(text)
		p.at, p.draft = len(p.history.entries), ""
		p.set("")
	}
}

// recall shows the next entry of the history, or of those behind it what was typed.
func (p *prompt) recall(by int) {
	to := p.at + by
	if to < 0 || to > len(p.history.entries) {
		return
	}
	if p.at >= len(p.history.entries) {
		p.draft = p.value()
	}
	if p.at = to; to == len(p.history.entries) {
		p.set(p.draft)
		return
	}
	p.set(p.history.entries[to])
}

// searches takes a key of a search; false where that has ended it and is to be taken as usual.
func (p *prompt) searches(name, text string) bool {
	s := p.search
	switch {
	case name == "ctrl+g" || name == "esc" || name == "ctrl+c":
		p.at, p.search = s.from, nil
		p.set(s.draft)
		return true
	case name == "ctrl+r":
		p.find(p.at)
		return true
	case name == "backspace":
		if r := []rune(s.part); len(r) > 0 {
			s.part = string(r[:len(r)-1])
			p.find(len(p.history.entries))
		}
		return true
	case text != "":
		s.part += text
		p.find(p.at + 1)
		return true
	}
	if p.draft = s.draft; s.part == "" {
		p.at = s.from
	}
	p.search = nil
	return false
}

// find shows the latest entry before a place that holds what is searched for.
func (p *prompt) find(before int) {
	s := p.search
	if s.part == "" {
		return
	}
	at := p.history.older(min(before, len(p.history.entries)), s.part)
	if s.fails = at < 0; !s.fails {
		p.at = at
		p.set(p.history.entries[at])
	}
}

// View draws what is above the prompt, the prompt, and what a word may become.
func (p *prompt) View() tea.View {
	if p.gone || p.hidden || p.width == 0 {
		return tea.NewView("")
	}
	third := max(p.height/3, 1)
	lines := append([]string(nil), p.live[max(len(p.live)-third, 0):]...)
	for _, note := range p.notes {
		lines = append(lines, p.palette.Dim(term.Fit(note, p.width)))
	}
	lines = append(lines, "")
	if s := p.search; s != nil {
		what := "search: "
		if s.fails {
			what = "nothing found: "
		}
		lines[len(lines)-1] = p.palette.Dim(term.Fit(what+term.Clean(s.part), p.width))
	}
	cursor := p.area.Cursor()
	cursor.Y += len(lines)
	cursor.X = min(cursor.X, p.width-1)
	cursor.Shape, cursor.Blink = -1, false // as the terminal has it: nothing is sent
	lines = append(lines, strings.Split(p.area.View(), "\n")...)
	lines = append(lines, p.choiceLines(third)...)
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, p.width, "")
	}
	p.feed.fits(p.width, p.height-len(lines)-1)
	v := tea.NewView(strings.Join(lines, "\n"))
	v.Cursor = cursor
	return v
}
