package chat

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// running returns the turn that is on the screen, or else the one whose prompt was just sent; "" if there is neither.
func (v *View) running() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return cmp.Or(v.shown(), v.sending)
}

// prompted takes a prompt that the person has typed. The screen shows it at once if nothing runs; otherwise it waits.
func (v *View) prompted(turn, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shown() != "" || v.sending != "" {
		v.unsent = append(v.unsent, unsent{turn, text})
		if v.prompts {
			v.show.Line(v.show.Palette.Dim("waits: " + term.Clean(text)))
		}
		return
	}
	if !v.prompts { // otherwise the terminal has echoed it already
		v.prompt(text)
	}
	v.asking, v.sending, v.owned[turn] = false, turn, true
}

// echo shows a command that the person has typed.
func (v *View) echo(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.prompts {
		v.prompt(text)
	}
	v.asking = false
}

// done asks for the next prompt after a command has written to the terminal by itself.
func (v *View) done() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ask()
}

// refused forgets a prompt whose turn was refused.
func (v *View) refused(turn string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.heard(turn)
	if v.sending == turn {
		v.sending = ""
	}
}

// heard removes a prompt from unsent, because the daemon has reported its turn.
func (v *View) heard(turn string) {
	v.unsent = slices.DeleteFunc(v.unsent, func(u unsent) bool { return u.turn == turn })
}

// typed returns the session for which the person's next prompt is.
func (v *View) typed() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.session
}

// goOn sets the session for the next prompts. A view of a single session then shows this one instead.
func (v *View) goOn(session string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.session = session; v.only != "" {
		v.only = session
	}
}

// attach sets the notes about the files that go with the next prompt.
func (v *View) attach(with []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.with = with
}

// waits returns the notes for the person: the queued prompts, at most five, and the files that go with the next prompt.
func (v *View) waits() (notes []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var ids []string
	for id, t := range v.turns {
		if t.turn != nil && t.turn.Status == sessions.TurnQueued {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids) // by the time at which the turns were made
	for _, id := range ids {
		if id == v.sending {
			notes = append(notes, "… waiting for another turn of this folder")
			continue
		}
		notes = append(notes, "queued: "+term.Clean(v.turns[id].turn.Asked()))
	}
	for _, u := range v.unsent {
		notes = append(notes, "queued: "+term.Clean(u.text))
	}
	const most = 5
	if more := len(notes) - most; more > 0 {
		notes = append(notes[:most], fmt.Sprintf("and %d more", more))
	}
	return append(notes, v.with...)
}

// line shows the answer to a command.
func (v *View) line(lines ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hush()
	for _, line := range lines {
		v.show.Line(line)
	}
	v.ask()
}

// asks makes the view ask with "> " whenever nothing runs. It is for a terminal that echoes and edits the line itself.
func (v *View) asks() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.prompts, v.asking, v.review, v.show.Recap = true, false, "/review", recapOffer
	v.ask()
}

func (v *View) ask() {
	if v.prompts && !v.asking && len(v.order) == 0 && v.sending == "" {
		v.asking = true
		io.WriteString(v.show.ErrOut, "\n> ")
	}
}

// again shows the question again after the person has entered an empty line, or the "> ".
func (v *View) again(drawn bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if drawn {
		v.showAsked()
	}
	if v.asking {
		io.WriteString(v.show.ErrOut, "> ")
	}
}

// hush ends the line that the "> " has begun, so that other text can follow.
func (v *View) hush() {
	if v.asking {
		v.asking = false
		io.WriteString(v.show.ErrOut, "\n")
	}
}

// leave ends the last line on the screen.
func (v *View) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.show.End()
	v.hush()
}
