package approve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
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
	Client  *rpc.Client
	In      io.Reader             // the person, if it is a terminal in front of which this program is
	Say     func(lines ...string) // prints lines for the person
	Palette term.Palette
	CtrlC   string // says what Ctrl-C does

	Shown func(*sessions.Approval) bool // reports whether the person has the text of a plan before them already; or nil

	mu      sync.Mutex
	changed []*sessions.Approval // guarded by mu; not taken yet
	wake    chan struct{}

	// Of Run's goroutine.
	pending []*sessions.Approval // the first one is asked
	lines   chan string          // what the person types; nil before the first question
	gone    bool                 // nobody types any more
}

// CancelsTurn says what Ctrl-C does in commands that run a turn.
const CancelsTurn = "Ctrl-C cancels the turn."

// NewAsker returns an Asker without anything to ask.
func NewAsker(client *rpc.Client, in io.Reader, p term.Palette, say func(lines ...string)) *Asker {
	return &Asker{Client: client, In: in, Palette: p, Say: say, CtrlC: CancelsTurn, wake: make(chan struct{}, 1)}
}

// Changed takes the newest form of an approval. It does not block.
func (k *Asker) Changed(a *sessions.Approval) {
	k.mu.Lock()
	k.changed = append(k.changed, a)
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Run asks until ctx ends.
func (k *Asker) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
			k.mu.Lock()
			changed := k.changed
			k.changed = nil
			k.mu.Unlock()
			for _, a := range changed {
				k.take(a)
			}
		case line, ok := <-k.lines:
			k.typed(ctx, line, ok)
		}
	}
}

// take adds an approval to those that are asked, or takes it off.
func (k *Asker) take(a *sessions.Approval) {
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
			k.Say(k.Palette.Dim(Ended(a)))
			k.ask()
		}
	}
}

// longAgo is when a question is so old that a person is to know.
const longAgo = 10 * time.Second

// escape is the character that begins what Escape and arrow keys write into a line.
const escape = "\x1b"

// ask shows the first question. What was typed before it does not answer it.
func (k *Asker) ask() {
	if len(k.pending) == 0 {
		return
	}
	a := k.pending[0]
	lines := Lines(a, k.Shown != nil && k.Shown(a), k.Palette)
	if now := time.Now(); now.Sub(a.CreatedAt.Time) > longAgo {
		lines = append(lines, k.Palette.Dim("  asked "+term.Ago(a.CreatedAt.Time, now)))
	}
	if !k.present() {
		k.Say(append(lines, commands(a, tagOf(a))...)...)
		return
	}
	for more := true; more; {
		select {
		case _, more = <-k.lines:
			k.gone = !more
		default:
			more = false
		}
	}
	k.Say(append(lines, Offers(a, k.CtrlC)...)...)
}

func tagOf(a *sessions.Approval) string {
	tag, _, _ := strings.Cut(a.ID, "-")
	return term.Clean(tag)
}

// present reports whether a person can answer here. The first time it begins to read what they type.
func (k *Asker) present() bool {
	f, is := k.In.(*os.File)
	if !is || k.gone || !term.InFront(f) {
		return false
	}
	term.DropTyped(f)
	if k.lines == nil {
		k.lines = make(chan string)
		go readLines(f, k.lines)
	}
	return true
}

func readLines(in io.Reader, to chan<- string) {
	defer close(to)
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return // a line without its end is no answer
		}
		to <- line
	}
}

// typed takes a line of the person.
func (k *Asker) typed(ctx context.Context, line string, ok bool) {
	if !ok {
		k.lines, k.gone = nil, true
		k.ask()
		return
	}
	if len(k.pending) == 0 {
		return
	}
	a := k.pending[0]
	line = strings.TrimSpace(line)
	answer, is := Read(a, line)
	switch {
	case line == "":
		k.Say(Offers(a, k.CtrlC)...)
		return
	case !is && strings.EqualFold(line, "e"):
		k.Say(Numbers(a, k.CtrlC)...)
		return
	case !is && strings.Contains(line, escape):
		k.Say(append([]string{"Escape and arrow keys answer nothing."}, Offers(a, k.CtrlC)...)...)
		return
	case !is:
		k.Say(append([]string{"That is none of the answers."}, Offers(a, k.CtrlC)...)...)
		return
	}
	_, err := k.Client.ApprovalAnswer(ctx, rpc.ApprovalAnswerParams{ApprovalID: a.ID, OptionID: answer.Option, Text: answer.Text})
	e := (*rpc.Error)(nil)
	if err != nil && !(errors.As(err, &e) && e.Data.Kind == api.KindConflict) { // otherwise its change says how it ended
		k.Say(k.Palette.Red("cursord: " + term.CleanText(err.Error())))
	}
}
