package approve

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// An Asker puts what the agent of a turn asks to the person at a terminal, one after the other. Where nobody is at a terminal, it says
// how to answer elsewhere.
type Asker struct {
	Client *rpc.Client
	Streams
	Say   func(w io.Writer, lines ...string) // prints lines for the person on a stream
	CtrlC string                             // says what Ctrl-C does

	Shown func(*sessions.Approval) bool   // reports whether the person has the text of a plan before them already; or nil
	Who   func(*sessions.Approval) string // says who asks, such as "Attempt 1"; nil: the agent

	wake chan struct{} // holds a token when lines may have changed

	mu      sync.Mutex           // guards the fields below
	pending []*sessions.Approval // the first one is asked
	board   *term.Keyboard       // where the person types; nil before the first question
	lines   chan typedLine       // what the person types; nil before the first question
	asked   int                  // the number of the Drop after which the question was on the screen
	since   time.Time            // when it came there
	numbers bool                 // so did the numbers of its answers
	tall    bool                 // its beginning did not fit on the screen, and the person was not told
	gone    bool                 // nobody types any more
	there   bool                 // the first question was put to a person here
	sent    string               // the last question that was answered here
	over    bool                 // Run has ended
}

// A typedLine is a line, when it was entered, and the number of the Drop that came before it.
type typedLine struct {
	text  string
	at    time.Time
	drops int
}

// Streams are the standard streams of a command. A nil In is nobody's.
type Streams struct {
	In          io.Reader
	Out, ErrOut io.Writer

	keys, screen *os.File // where the person types, and where they read if ErrOut is no terminal; nil before the first question
}

// find finds the terminal of a person: In or, if only another stream is a terminal, the one at which the command was started. So "git log | cursord
// run" and "cursord run 2>file" can ask. It returns false if nobody is there, or if another command that runs beside this one may read what they
// type.
func (s *Streams) find() bool {
	if s.In == nil || !term.IsTerminal(s.In) && !term.IsTerminal(s.Out) && !term.IsTerminal(s.ErrOut) {
		return false
	}
	if s.keys == nil {
		own, alone := term.Own()
		if !alone {
			return false
		}
		s.keys, s.screen = own, own
		if term.IsTerminal(s.In) {
			s.keys = s.In.(*os.File)
		}
	}
	return s.keys != nil && term.InFront(s.keys)
}

// CancelsTurn says what Ctrl-C does in commands that run a turn.
const CancelsTurn = "Ctrl-C cancels the turn."

// NewAsker returns an Asker without anything to ask.
func NewAsker(client *rpc.Client, streams Streams, say func(w io.Writer, lines ...string)) *Asker {
	return &Asker{Client: client, Streams: streams, Say: say, CtrlC: CancelsTurn, wake: make(chan struct{}, 1)}
}

// out returns the stream on which the present question is said.
func (k *Asker) out() io.Writer {
	if k.there && k.screen != nil && !term.IsTerminal(k.ErrOut) {
		return k.screen
	}
	return k.ErrOut
}

func (k *Asker) say(lines ...string) { k.Say(k.out(), lines...) }

func (k *Asker) palette() term.Palette { return term.PaletteOf(k.out()) }

// Changed takes the newest form of an approval, and prints what is to be said of it before it returns. So the caller's next output does not
// land behind what the person has begun to type.
func (k *Asker) Changed(a *sessions.Approval) {
	k.mu.Lock()
	if !k.over {
		k.updatePending(a)
	}
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Run takes what the person types until ctx ends.
func (k *Asker) Run(ctx context.Context) {
	resumed := make(chan os.Signal, 1)
	if signals := term.ResumeSignals(); len(signals) > 0 {
		signal.Notify(resumed, signals...)
		defer signal.Stop(resumed)
	}
	for {
		k.mu.Lock()
		lines := k.lines
		k.mu.Unlock()
		select {
		case <-ctx.Done():
			k.mu.Lock()
			k.over = true
			k.mu.Unlock()
			return
		case <-k.wake:
		case <-resumed: // whatever stood on the screen meanwhile
			k.mu.Lock()
			if k.there {
				k.ask()
			}
			k.mu.Unlock()
		case line, ok := <-lines:
			k.typed(ctx, line, ok)
		}
	}
}

// updatePending adds a pending approval to those that are asked, and removes one that has ended. mu must be held.
func (k *Asker) updatePending(a *sessions.Approval) {
	at := -1
	for i, p := range k.pending {
		if p.ID == a.ID {
			at = i
		}
	}
	switch {
	case a.Status == sessions.ApprovalPending && at < 0:
		k.pending = append(k.pending, a)
		if len(k.pending) == 1 {
			k.ask()
		}
	case a.Status != sessions.ApprovalPending && at >= 0:
		k.pending = append(k.pending[:at:at], k.pending[at+1:]...)
		if at == 0 {
			end := k.palette().Dim(Ended(a))
			if k.there && k.sent != a.ID { // what they have begun to type is no answer any more
				k.board.Drop()
				if k.palette() {
					end = clearLine + end
				} else {
					end = "\n" + end
				}
			}
			k.say(end)
			k.ask()
		}
	}
}

// longAgo is when a question is so old that a person is to know.
const longAgo = 10 * time.Second

// clearLine removes what stands on the line of the cursor.
const clearLine = "\r\x1b[K"

// escape is the character that begins what Escape and arrow keys write into a line.
const escape = "\x1b"

// ask shows the first question. What was typed before it does not answer it.
func (k *Asker) ask() {
	if len(k.pending) == 0 {
		return
	}
	a := k.pending[0]
	k.there = k.present()
	if !k.there {
		k.say(append(k.question(a), commands(a, tagOf(a))...)...)
		return
	}
	lines := k.question(a)
	k.say(lines...)
	k.asked = k.board.Drop()
	k.say(Offers(a, k.CtrlC)...)
	k.since, k.numbers, k.tall = time.Now(), false, k.overflows(append(lines, Offers(a, k.CtrlC)...))
}

// overflows reports whether lines take more rows than the screen has.
func (k *Asker) overflows(lines []string) bool {
	f, is := k.out().(*os.File)
	if !is {
		return false
	}
	columns, rows, known := term.ScreenSize(f)
	return known && strings.Count(term.Fold(strings.Join(lines, "\n"), columns), "\n")+2 > rows
}

// question returns the lines that say what is asked.
func (k *Asker) question(a *sessions.Approval) []string {
	who := theAgent
	if k.Who != nil {
		who = k.Who(a)
	}
	lines := LinesBy(who, a, k.Shown != nil && k.Shown(a), k.palette())
	if now := time.Now(); now.Sub(a.CreatedAt.Time) > longAgo {
		lines = append(lines, k.palette().Dim("  asked "+term.Ago(a.CreatedAt.Time, now)))
	}
	return lines
}

func tagOf(a *sessions.Approval) string {
	tag, _, _ := strings.Cut(a.ID, "-")
	return term.Clean(tag)
}

// present reports whether a person can answer here. The first time it begins to read what they type.
func (k *Asker) present() bool {
	if k.gone || !k.find() {
		return false
	}
	if k.lines == nil {
		k.board, k.lines = term.NewKeyboard(k.keys), make(chan typedLine)
		go readLines(k.board, k.lines)
	}
	return true
}

func readLines(board *term.Keyboard, to chan<- typedLine) {
	defer close(to)
	for {
		line, drops, err := board.Line()
		if err != nil {
			return // a line without its end is no answer
		}
		to <- typedLine{line, time.Now(), drops}
	}
}

// typed handles a line of the person: if it is an answer, typed sends it.
func (k *Asker) typed(ctx context.Context, line typedLine, ok bool) {
	a, answer := k.read(line, ok)
	if a == nil {
		return
	}
	_, err := k.Client.ApprovalAnswer(ctx, rpc.ApprovalAnswerParams{ApprovalID: a.ID, OptionID: answer.Option, Text: answer.Text})
	e := (*rpc.Error)(nil)
	if err != nil && !(errors.As(err, &e) && e.Data.Kind == api.KindConflict) { // otherwise its change says how it ended
		k.mu.Lock()
		defer k.mu.Unlock()
		k.say(k.palette().Red("cursord: " + term.CleanText(err.Error())))
	}
}

// read returns the question that a line answers, and the answer; nil if it answers none.
func (k *Asker) read(typed typedLine, ok bool) (*sessions.Approval, Answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !ok {
		k.lines, k.gone = nil, true
		k.ask()
		return nil, Answer{}
	}
	if len(k.pending) == 0 || typed.drops < k.asked {
		return nil, Answer{}
	}
	a := k.pending[0]
	line := strings.TrimSpace(typed.text)
	answer, is := Read(a, line)
	is = is && Shown(a, line, k.numbers)
	switch {
	case line == "": // it may have left the screen, for instance one of few rows
		k.numbers = false
		k.say(append(k.question(a), Offers(a, k.CtrlC)...)...)
	case !is && strings.EqualFold(line, "e"):
		k.numbers = true
		k.say(Numbers(a, k.CtrlC)...)
	case !is && strings.Contains(line, escape):
		k.say(append([]string{"Escape and arrow keys answer nothing."}, Offers(a, k.CtrlC)...)...)
	case !is:
		k.say(append([]string{"That is none of the answers."}, Offers(a, k.CtrlC)...)...)
	case typed.at.Sub(k.since) < ReadTime:
		k.since = typed.at // a key that repeats itself is no answer
		k.say(TooSoon)
	case k.tall && !Refuses(a, answer):
		k.tall = false
		k.say(TooTall)
	default:
		k.sent = a.ID
		return a, answer
	}
	return nil, Answer{}
}
