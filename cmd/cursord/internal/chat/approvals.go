package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cursord/agent/plaintext"
	"cursord/cmd/cursord/internal/approve"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// approval takes the newest form of what an agent asks. The first one that is pending is on the screen.
func (v *View) approval(now *sessions.Approval) {
	at := slices.IndexFunc(v.asked, func(a *sessions.Approval) bool { return a.ID == now.ID })
	switch {
	case now.Status == sessions.ApprovalPending && at < 0:
		if v.asked = append(v.asked, now); len(v.asked) == 1 {
			v.showAsked()
		}
	case now.Status != sessions.ApprovalPending && at >= 0:
		v.asked = slices.Delete(v.asked, at, at+1)
		if at == 0 {
			v.over = append(v.over[max(0, len(v.over)-7):], now)
			if v.lost = time.Now(); v.answered == now.ID {
				v.lost = v.lost.Add(againTime - overTime)
			}
			v.hush()
			v.show.Line(v.show.Palette.Dim(approve.Ended(now)))
			v.showAsked()
			v.ask()
		}
	}
}

func (v *View) showAsked() {
	if len(v.asked) == 0 {
		v.question("", nil)
		return
	}
	a := v.asked[0]
	v.hush()
	lines := approve.LinesBy(v.who(a), a, v.show.Shows(a), v.show.Palette)
	if v.piped { // the next line waits for the end of the turn
		lines = append(lines, approve.Elsewhere(a)...)
	} else {
		lines = append(lines, approve.Offers(a, v.ctrlC(a))...)
	}
	v.numbers = ""
	if v.onQuestion == nil && !v.piped {
		lines = append(lines, v.show.Palette.Dim("answer with: /approve, /deny, or cursord approve elsewhere"))
	}
	for _, line := range lines {
		v.show.Line(line)
	}
	v.question(a.ID, lines)
	v.ask()
}

// who names the agent that asks, by its prompt if that is not the one on the screen.
func (v *View) who(a *sessions.Approval) string {
	const most = 60 // characters
	switch t := v.turns[a.TurnID]; {
	case a.TurnID == v.shown():
		return "The agent"
	case t != nil && t.turn != nil:
		return fmt.Sprintf("Another turn's agent (%s)", term.Clean(plaintext.FirstLine(t.turn.Asked(), most)))
	}
	return "Another turn's agent"
}

// ctrlC says what Ctrl-C does to the turn of a question.
func (v *View) ctrlC(a *sessions.Approval) string {
	if a.TurnID == v.shown() {
		return approve.CancelsTurn
	}
	return ""
}

// question tells the prompt which question is on the screen, by its lines; "" is none.
func (v *View) question(id string, lines []string) {
	if v.onQuestion != nil {
		v.onQuestion(id, lines)
	}
}

// A question is what the prompt knows of one on the screen.
type question struct {
	id    string
	lines []string
	since time.Time // when it came
	below int       // how many rows had been printed then
	gone  bool      // the screen has been emptied since
}

func (q *question) isNew() bool { return q.id != "" && time.Since(q.since) < approve.ReadTime }

// hasLeft reports whether rows of the question that were on the screen are not there any more.
func (p *prompt) hasLeft() bool {
	q := &p.question
	if q.id == "" || q.gone || p.width == 0 {
		return q.id != "" && q.gone
	}
	rows := p.feed.printedRows() - q.below
	if rows == 0 {
		return false
	}
	return rows+min(p.rows(), p.room) > p.room
}

// rows returns how many rows the question takes.
func (p *prompt) rows() (all int) {
	for _, line := range p.question.lines {
		all += strings.Count(ansi.Wrap(line, p.width, ""), "\n") + 1
	}
	return all
}

// isTall reports whether the beginning of the question has never fitted on the screen.
func (p *prompt) isTall() bool { return p.width > 0 && p.rows() > p.room }

// waitsFor reports whether the agent of a turn asks something.
func (v *View) waitsFor(turn string) bool {
	return slices.ContainsFunc(v.asked, func(a *sessions.Approval) bool { return a.TurnID == turn })
}

// asksNow returns the question that is on the screen, or nil.
func (v *View) asksNow() *sessions.Approval {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.asked) == 0 {
		return nil
	}
	return v.asked[0]
}

// overAs returns the question with an ID, if it was on the screen and ended a short while ago. For "" it is the one that somebody else has just
// ended: a line that the person sends again is a prompt.
func (v *View) overAs(id string) *sessions.Approval {
	v.mu.Lock()
	defer v.mu.Unlock()
	if id == "" && time.Since(v.lost) < overTime {
		v.lost = time.Now().Add(againTime - overTime)
		return v.over[len(v.over)-1]
	}
	if i := slices.IndexFunc(v.over, func(a *sessions.Approval) bool { return a.ID == id }); i >= 0 {
		return v.over[i]
	}
	return nil
}

// answers notes that a question is answered here.
func (v *View) answers(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answered = id
}

const (
	overTime  = 10 * time.Second // how long a person may take to see that a question has ended
	againTime = time.Second      // after it was said, a key that repeats itself says nothing
)

// answers takes a line as the answer to the question that was on the screen when the person began it, and refuses one that was meant as an
// answer but is none. If that question has ended meanwhile, its answer is neither one to the next question nor a prompt.
func (c *Chat) answers(ctx context.Context, e event) bool {
	a := c.View.asksNow()
	if a != nil && c.terminal == nil && approve.Meant(e.text) { // here nobody knows when the line was begun
		c.View.line(fmt.Sprintf("The agent asks you: answer with /approve or /deny. %s was not sent.", term.Clean(e.text)))
		return true
	}
	command := c.terminal != nil && a != nil && isAnswer(e.text)
	switch answer := command || a != nil && c.View.reads(a, e.text); {
	case a == nil && e.question == "" && !approve.Meant(e.text):
		return false
	case answer && e.question == a.ID && e.left:
		c.View.line("The question had left the screen. Here it is again:")
		c.View.again(true)
		return true
	case command && e.question == "", answer && e.question == a.ID && e.soon:
		c.terminal.feed.post(soonMsg{}) // a key that repeats itself is no answer
		c.View.line(approve.TooSoon)
		return true
	case answer && e.question == a.ID && e.tall && c.View.tooTall(a, e.text):
		c.View.line(approve.TooTall)
		return true
	case a == nil || e.question != a.ID:
		over := c.View.overAs(e.question)
		if over == nil || !command && !approve.Meant(e.text) && !readsAs(over, e.text) {
			return false
		}
		words := "that question has ended: " + term.Clean(e.text) + " was not sent"
		if e.question == "" {
			words += "; as a prompt, send it again"
		}
		c.View.line(c.View.show.Palette.Dim(words))
		return true
	case command:
		return false
	}
	if strings.EqualFold(strings.TrimSpace(e.text), "e") {
		c.View.list(a)
		return true
	}
	answer, is := approve.Read(a, e.text)
	if is && c.View.reads(a, e.text) {
		c.View.line(c.View.show.Palette.Dim("> " + term.Clean(e.text)))
		c.answer(ctx, a, answer)
		return true
	}
	if !approve.Meant(e.text) {
		return false
	}
	c.View.line(append([]string{"That is none of the answers."}, c.View.offers(a)...)...)
	return true
}

// isAnswer reports whether a line is a command that answers the question on the screen, whichever that is.
func isAnswer(line string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	return word == "/approve" || word == "/deny"
}

func readsAs(a *sessions.Approval, line string) bool {
	_, is := approve.Read(a, line)
	return is
}

// reads reports whether a line is one of the answers that are on the screen.
func (v *View) reads(a *sessions.Approval, line string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return readsAs(a, line) && approve.Shown(a, line, v.numbers == a.ID)
}

// offers returns the answers as they are on the screen.
func (v *View) offers(a *sessions.Approval) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.numbers == a.ID {
		return approve.Numbers(a, v.ctrlC(a))
	}
	return approve.Offers(a, v.ctrlC(a))
}

// list shows all answers, by numbers.
func (v *View) list(a *sessions.Approval) {
	v.mu.Lock()
	v.numbers = a.ID
	end := v.ctrlC(a)
	v.mu.Unlock()
	v.line(approve.Numbers(a, end)...)
}

// tooTall reports whether the person is to be told that the beginning of a question is above the window: once, and not for a no.
func (v *View) tooTall(a *sessions.Approval, line string) bool {
	if answer, is := approve.Read(a, line); is && approve.Refuses(a, answer) || strings.HasPrefix(strings.TrimSpace(line), "/deny") {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	first := v.told != a.ID
	v.told = a.ID
	return first
}

// answer answers a question. Its change says how it ended, also if somebody else was first.
func (c *Chat) answer(ctx context.Context, a *sessions.Approval, answer approve.Answer) {
	c.View.answers(a.ID)
	go func() {
		_, err := c.Client.ApprovalAnswer(ctx, rpc.ApprovalAnswerParams{ApprovalID: a.ID, OptionID: answer.Option, Text: answer.Text})
		if e := (*rpc.Error)(nil); errors.As(err, &e) && e.Data.Kind == api.KindConflict {
			return
		}
		c.showError(ctx, err)
	}()
}

var errNoQuestion = errors.New("no agent asks anything here")

// approve answers yes, or what is named.
func (c *Chat) approve(ctx context.Context, args []string) error {
	a := c.View.asksNow()
	if a == nil {
		return errNoQuestion
	}
	if len(args) == 0 {
		if yes := a.Chosen(sessions.AllowOnce); yes != nil {
			c.answer(ctx, a, approve.Answer{Option: yes.ID})
			return nil
		}
		return errors.New("say which answer: " + strings.Join(approve.All(a), "; "))
	}
	answer, is := approve.Read(a, strings.Join(args, " "))
	if is && c.terminal != nil && !c.View.reads(a, strings.Join(args, " ")) { // nobody has seen its number
		c.View.list(a)
		return nil
	}
	if !is && a.Text && a.Kind != sessions.ApprovalPlan { // the quotes are gone
		answer, is = approve.Answer{Text: strings.Join(args, " ")}, true
	}
	if !is {
		return errors.New("that is none of the answers: " + strings.Join(approve.All(a), "; "))
	}
	c.answer(ctx, a, answer)
	return nil
}

// deny answers no.
func (c *Chat) deny(ctx context.Context, _ []string) error {
	a := c.View.asksNow()
	if a == nil {
		return errNoQuestion
	}
	no := approve.No(a)
	if no == "" {
		return errors.New("say which answer, with /approve: " + strings.Join(approve.All(a), "; "))
	}
	c.answer(ctx, a, approve.Answer{Option: no})
	return nil
}
