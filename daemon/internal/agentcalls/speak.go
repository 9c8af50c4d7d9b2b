package agentcalls

import (
	"slices"

	"cursord/agent"
)

// Speak reports whether one of the events is one that only cursor-agent would send.
func Speak(events []agent.Event) bool {
	return slices.ContainsFunc(events, func(ev agent.Event) bool {
		switch ev.(type) {
		case agent.Init, agent.Text, agent.Thinking, agent.ToolStart, agent.ToolEnd, agent.Result:
			return true
		}
		return false
	})
}

// Answer reports whether one of the events can come only after an answer of Cursor's server.
func Answer(events []agent.Event) bool {
	return slices.ContainsFunc(events, func(ev agent.Event) bool {
		switch ev := ev.(type) {
		case agent.Text, agent.Thinking, agent.ToolStart, agent.ToolEnd:
			return true
		case agent.Result:
			return ev.OK
		}
		return false
	})
}
