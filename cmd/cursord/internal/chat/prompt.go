package chat

import (
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/textarea"
)

// An event is what a person does at the prompt.
type event struct {
	kind eventKind
	text string // for sent
	// For sent: the question that was on the screen when the person began the line; "" if there was none.
	question string
	soon     bool // that question had just come
	left     bool // it was on the screen no more, or not all of it
	tall     bool // its beginning never was
}

type eventKind int

const (
	sent       eventKind = iota // one or more lines
	ctrlC                       // on an empty line
	ctrlCTyped                  // on a line with text
	empty                       // an empty line, from a terminal that edits lines itself, or while a question is open
	leaves
	suspends
	resumes
	returns // another program has given the terminal back
)

// A prompt is the lines at the bottom of the terminal in which a person writes. It is the model of the program that owns the
// terminal, and only that program touches it. It never blocks: the person's actions go to events.
type prompt struct {
	feed    *feed
	events  chan<- event
	palette term.Palette
	history *history
	// complete takes the text before the cursor. It returns where the word to be completed begins, and the possible words,
	// each perhaps followed by a tab and a description. It may be slow.
	complete func(before string) (from int, words []string)

	area          textarea.Area
	width, height int
	frame         frame
	live, notes   []string // above the prompt
	hidden        bool     // another program has the terminal
	loans         int      // how often the terminal came back from another program
	question      question // on the screen; its id is "" if there is none
	next          question // the question that was written to the screen last
	began         string   // the question when the line was begun
	room          int      // rows above the prompt
	gone          bool

	at      int    // index of the shown history entry; len(entries): none
	draft   string // the text typed before a history entry was shown
	drafted string // began of draft
	search  *search
	choices *choices
}

// A search looks for an earlier prompt by a part of its text.
type search struct {
	part  string
	fails bool
	from  int    // p.at when the search began
	draft string // the text when the search began
}

// choices are the possible completions of a word.
type choices struct {
	before string // the text before the word
	words  []string
	at     int // index of the word that is filled in; -1: none
}

// Messages of our own.
type (
	clearMsg    struct{} // empties the line
	questionMsg struct { // this question has been written to the screen
		id    string
		lines []string
	}
	soonMsg    struct{}              // an answer came too soon
	asksMsg    struct{ id string }   // what is typed from now on is about this question
	restoreMsg struct{ text string } // puts a refused prompt back, unless the person has typed another
	quitMsg    struct{}
	againMsg   struct{}           // sets the terminal's mode and draws everything anew
	shownMsg   struct{}           // the other program has given the terminal back
	checkMsg   struct{ loan int } // the prompt should be on the screen again after this loan
	wordsMsg   struct {           // the completions of a text
		value, before string
		from          int
		words         []string
	}
)

// nothing is a command that leaves the terminal alone for a moment, so that Bubble Tea draws the prompt anew. Bubble Tea stops its timer for drawing when
// a command begins and starts another when it ends. If a command ends at once, the stop may come last, and nothing is drawn any more (Bubble Tea's
// issue 1778). So Run sleeps.
type nothing struct{ feed *feed }

func (n nothing) Run() error {
	time.Sleep(10 * time.Millisecond)
	n.feed.draws(false) // the last drawing before this command has been wiped
	return nil
}
func (nothing) SetStdin(io.Reader)  {}
func (nothing) SetStdout(io.Writer) {}
func (nothing) SetStderr(io.Writer) {}

// drawTime is within what time after a loan of the terminal the prompt must be on the screen. Drawing takes 1/60 s.
const drawTime = 200 * time.Millisecond

// promptMark is before the first row of the text.
const promptMark = "> "

// pastedTab stands for a tab, which has no width of its own.
const pastedTab = "␉"

func newPrompt(f *feed, events chan<- event, palette term.Palette, history *history, complete func(string) (int, []string)) *prompt {
	return &prompt{feed: f, events: events, palette: palette, history: history, complete: complete, at: len(history.entries)}
}

func (p *prompt) Init() tea.Cmd { return nil }

// filter turns lines that go above the prompt into the message that prints them.
func (p *prompt) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, ok := msg.(tea.SuspendMsg); ok {
		p.feed.draws(false)
	}
	if q, ok := msg.(questionMsg); ok && p.feed.waits() { // another program has taken the terminal before its lines were written
		p.feed.postFirst(q)
		return nil
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
	return tea.Println(strings.Join(m.lines, "\n") + "\x1b[m")() // Println prints nothing for an empty text
}

func (p *prompt) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		p.room += msg.Height - p.height
		p.width, p.height = msg.Width, msg.Height
		p.frame.resized(p.width)
		p.feed.fits(p.width, p.room)
		p.area.Resize(p.width-len(promptMark), p.height/3)
	case quitMsg:
		p.gone = true
		return p, tea.Quit
	case questionMsg: // keys that were read before it was on the screen come first
		p.question, p.next = question{}, question{id: msg.id, lines: msg.lines, since: time.Now(), below: p.feed.printedRows()}
		if msg.id != "" {
			return p, func() tea.Msg { return asksMsg{msg.id} }
		}
	case asksMsg:
		if msg.id == p.next.id {
			p.question = p.next
		}
	case soonMsg:
		p.question.since = time.Now()
	case clearMsg:
		p.set("")
	case restoreMsg:
		if p.value() == "" {
			p.set(msg.text)
			p.began = "" // whatever is asked now
		}
	case *execMsg: // its output begins where the prompt was
		p.hidden, p.question.gone = true, true
		p.feed.draws(false)
		return p, tea.ExecProcess(msg.command, func(error) tea.Msg { return shownMsg{} })
	case againMsg:
		return p, p.drawAgain()
	case shownMsg:
		p.hidden = false
		p.tell(event{kind: returns})
		return p, p.check()
	case tea.ResumeMsg:
		p.tell(event{kind: resumes})
		return p, p.check()
	case checkMsg:
		if msg.loan == p.loans && !p.hidden && !p.feed.isDrawn() {
			return p, p.drawAgain()
		}
	case wordsMsg:
		p.found(msg)
	case tea.PasteMsg:
		p.begin()
		p.search, p.choices = nil, nil
		p.insert(msg.Content)
	case tea.KeyPressMsg:
		p.begin()
		return p, p.key(msg)
	}
	return p, nil
}

// drawAgain sets the terminal's mode and draws everything anew.
func (p *prompt) drawAgain() tea.Cmd {
	p.feed.draws(false)
	return tea.Exec(nothing{p.feed}, func(error) tea.Msg { return shownMsg{} })
}

// check has the prompt drawn again if it is not on the screen a moment after a loan. The comment of nothing says why that can be.
func (p *prompt) check() tea.Cmd {
	p.loans++
	loan := p.loans
	return tea.Tick(drawTime, func(time.Time) tea.Msg { return checkMsg{loan} })
}

// begin notes which question the person sees when the line gets its first character.
func (p *prompt) begin() {
	if p.value() == "" {
		p.began = p.question.id
	}
}

// tell reports an event. It returns false if the queue of events is full.
func (p *prompt) tell(e event) bool {
	select {
	case p.events <- e:
		return true
	default:
		return false
	}
}

// key handles a key.
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
		p.area.Key(name, k.Text)
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
		row, by := p.area.Row(), -1
		if name == "down" {
			by = +1
		}
		p.area.Key(name, k.Text)
		if p.area.Row() == row {
			p.recall(by)
		}
	case "tab":
		return p.tab(+1)
	case "shift+tab":
		return p.tab(-1)
	default:
		p.area.Key(name, k.Text)
	}
	return nil
}

// value returns the text in the line.
func (p *prompt) value() string { return strings.ReplaceAll(p.area.Text(), pastedTab, "\t") }

// before returns the text before the cursor.
func (p *prompt) before() string { return strings.ReplaceAll(p.area.Before(), pastedTab, "\t") }

// set replaces the text and puts the cursor at its end.
func (p *prompt) set(text string) { p.area.Set(withTabs(text), "") }

// insert inserts a text at the cursor, as a paste does.
func (p *prompt) insert(text string) { p.area.Insert(withTabs(text)) }

func withTabs(text string) string { return strings.ReplaceAll(text, "\t", pastedTab) }

func (p *prompt) send() {
	text := p.value()
	if strings.TrimSpace(text) == "" {
		if p.set(""); p.question.id != "" {
			p.tell(event{kind: empty})
		}
		return
	}
	if p.tell(event{kind: sent, text: text, question: p.began, soon: p.began == p.question.id && p.question.isNew(), left: p.hasLeft(), tall: p.isTall()}) {
		p.history.add(text)
		p.at, p.draft = len(p.history.entries), ""
		p.set("")
	}
}

// View draws the live line, the notes, the prompt and the choices.
func (p *prompt) View() tea.View {
	if p.gone || p.hidden || p.width == 0 {
		p.frame.viewed(nil, 0)
		return tea.NewView("")
	}
	third := max(p.height/3, 1)
	lines := append([]string(nil), p.live[max(len(p.live)-third, 0):]...)
	for _, note := range p.notes {
		lines = append(lines, p.palette.Dim(term.Fit(note, p.width)))
	}
	notes := len(lines)
	lines = append(lines, "")
	if s := p.search; s != nil {
		what := "search: "
		if s.fails {
			what = "nothing found: "
		}
		lines[len(lines)-1] = p.palette.Dim(term.Fit(what+term.Clean(s.part), p.width))
	}
	x, y := p.area.Cursor()
	cursor := tea.NewCursor(min(len(promptMark)+x, p.width-1), len(lines)+y)
	cursor.Color, cursor.Shape, cursor.Blink = nil, -1, false // leave the cursor's looks as the terminal has them
	rows, above := p.area.Rows()
	for i, row := range rows {
		mark := promptMark
		if above+i > 0 {
			mark = strings.Repeat(" ", len(promptMark))
		}
		lines = append(lines, mark+row)
	}
	lines = append(lines, p.choiceLines(third)...)
	if p.room = p.height - len(lines) - 1; p.hasLeft() {
		lines = slices.Insert(lines, notes, p.palette.Yellow("The agent asks you something: Enter shows it."))
		cursor.Y++
		p.room--
	}
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, p.width, "")
	}
	p.feed.fits(p.width, p.room)
	p.frame.viewed(lines[:cursor.Y], cursor.X)
	v := tea.NewView(strings.Join(lines, "\n"))
	v.Cursor = cursor
	return v
}
