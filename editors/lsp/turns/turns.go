// Package turns says how a turn has ended, pure.
package turns

import (
	"strings"

	"cursord/agent/plaintext"
	"cursord/sessions"
)

// MaxSaid bounds the characters of the agent's words in the message about a turn's end.
const MaxSaid = 100

// Ended returns how a turn has ended, and what the agent said last, as the end of a message: said, if it was heard, else the turn's result.
func Ended(t *sessions.Turn, said string) (how, words string) {
	switch t.Status {
	case sessions.TurnFailed:
		if how = "failed"; t.Error != nil {
			how += ": " + strings.TrimSpace(t.Error.Message)
			if t.Error.Hint != "" {
				how += " – " + t.Error.Hint
			}
		}
		return how, ""
	case sessions.TurnCancelled:
		return "cancelled", ""
	case sessions.TurnInterrupted:
		return "interrupted: the daemon ended", ""
	case sessions.TurnCompleted:
		if said == "" && t.Result != nil {
			said = plaintext.FirstLine(*t.Result, MaxSaid)
		}
		if said != "" {
			words = " · " + said
		}
	}
	return "done", words
}

// ModeOf returns a mode as turn/start has it; nil for none.
func ModeOf(name string) *sessions.Mode {
	if name == "" {
		return nil
	}
	mode := sessions.Mode(name)
	return &mode
}
