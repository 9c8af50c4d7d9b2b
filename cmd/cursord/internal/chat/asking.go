package chat

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// running returns the turn that is shown, or is about to be; "" if there is none.
func (v *View) running() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return cmp.Or(v.shown(), v.sending)
}

// prompted takes a prompt that was typed. It stands there at once if nothing runs, else it waits.
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
	if !v.prompts { // or the terminal shows it already
		v.prompt(text)
	}
	v.asking, v.sending, v.owned[turn] = false, turn, true
}

// echo shows a command that was typed.
func (v *View) echo(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.prompts {
		v.prompt(text)
	}
	v.asking = false
}

// answered has the person asked again, behind what a command has written to the terminal.
func (v *View) answered() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ask()
}

// refused forgets a prompt of which nothing comes.
func (v *View) refused(turn string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.heard(turn)
	if v.sending == turn {
		v.sending = ""
	}
}

// heard takes a prompt from those of which nothing was heard.
func (v *View) heard(turn string) {
	v.unsent = slices.DeleteFunc(v.unsent, func(u unsent) bool { return u.turn == turn })
}

// typed returns the session that a line which was typed is for.
func (v *View) typed() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.session
}

// goOn makes a session the one that prompts are for. If one alone is shown, it is now that one.
func (v *View) goOn(session string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.session = session; v.only != "" {
		v.only = session
	}
}

// attach sets what goes with the next prompt.
func (v *View) attach(with []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.with = with
}

// waits says for people what waits: prompts behind the turn that is shown, and what goes with the next one.
func (v *View) waits() (notes []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var ids []string
	for id, t := range v.turns {
		if t.turn != nil && t.turn.Status == sessions.TurnQueued {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids) // by when they were made
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

// line shows an answer to a command.
func (v *View) line(lines ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hush()
	for _, line := range lines {
		v.show.Line(line)
	}
	v.ask()
}

// asks has the terminal ask for a prompt whenever nothing runs, where it shows itself what is typed.
func (v *View) asks() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.prompts, v.asking = true, false
	v.ask()
}

func (v *View) ask() {
	if v.prompts && !v.asking && len(v.order) == 0 && v.sending == "" {
		v.asking = true
		io.WriteString(v.show.ErrOut, "\n> ")
	}
}

// again asks once more, below an empty line.
func (v *View) again() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.asking {
		io.WriteString(v.show.ErrOut, "> ")
	}
}

// hush ends the line in which a prompt is asked for.
func (v *View) hush() {
	if v.asking {
		v.asking = false
		io.WriteString(v.show.ErrOut, "\n")
	}
}

// leave ends the last line.
func (v *View) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.show.End()
	v.hush()
}
