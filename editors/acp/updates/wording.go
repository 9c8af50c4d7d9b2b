package updates

import (
	"strings"
	"sync"
)

// own has what the daemon says of other clients, and what is the same in an editor with ACP.
var own = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(
		"(cursord run --mode agent; in cursord chat: /mode agent)", "(choose it in the editor)",
		"cancel it first: cursord cancel", "stop it in the editor first",
		`start one in mode "agent" to have the plan carried out`, `choose the mode Agent, and send a prompt such as "Carry out the plan"`,
	)
})

// Worded returns words of the daemon for people who use an editor with ACP.
func Worded(text string) string { return own().Replace(text) }
