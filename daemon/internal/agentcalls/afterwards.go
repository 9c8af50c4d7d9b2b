package agentcalls

import (
	"fmt"

	"cursord/agent"
	"cursord/agent/plaintext"
)

// Afterwards are the files that have changed after the end of a refused command, as the agent reports it, and of which nobody has said who changed
// them. The agent may have run the command after all, and so may a person have saved the files. A refusal alone is no evidence that the agent writes
// without a call, so they count as a person's: else each save in the rest of the turn would be listed. People are told. The zero value has none.
type Afterwards struct {
	title string
	since int64 // the end of the first refused command; 0: there was none
	first string
	seen  map[string]bool // at most seenMost
	more  bool
}

const seenMost = 1000

// Ended notes the end of a command, at a moment of package clock.
func (a *Afterwards) Ended(ev *agent.ToolEnd, at int64) {
	if ev.State == agent.CallRejected && a.since == 0 {
		a.title, a.since = ev.Call.Title, at
	}
}

// Saw notes that a file has changed at a moment, and that no call explains that.
func (a *Afterwards) Saw(path string, at int64) {
	switch {
	case a.since == 0 || at <= a.since || a.seen[path]:
		return
	case a.seen == nil:
		a.first, a.seen = path, map[string]bool{}
	case len(a.seen) == seenMost:
		a.more = true
		return
	}
	a.seen[path] = true
}

// Text returns a text for people; "" if there is nothing to tell.
func (a *Afterwards) Text() string {
	if len(a.seen) == 0 {
		return ""
	}
	what, have := plaintext.OneLine("", a.first), "has"
	if n := len(a.seen) - 1; n > 0 {
		what, have = fmt.Sprintf("%s and %s", what, plaintext.Count(n, "other file")), "have"
		if a.more {
			what += " or more"
		}
	}
	return fmt.Sprintf("%s %s changed after the agent was refused this: %s. No call explains that, so it counts as yours and is not under review. "+
		"If it was not you, look at it with care.", what, have, a.title)
}
