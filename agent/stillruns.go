package agent

import (
	"slices"
	"strings"

	"cursord/agent/process"
)

// stillRuns returns the background commands that may still run, as far as the system shows their processes. Builds before
// 2026.09.02 do not report the end of a background command.
func stillRuns(commands []behind, running func() []process.Member) []behind {
	if len(commands) == 0 {
		return nil
	}
	return stillAmong(commands, running())
}

// stillAmong returns the commands that may be among the running processes. A command's process is known by the process id
// that the agent reported, or by its command line: it contains the command, or is the end of it (a shell replaced itself by
// its last command). Once one command is found, a command that is not found has ended, if the agent's shells show their
// commands in their command lines or if every running process is accounted for. If none is found, the system shows too
// little to tell.
func stillAmong(commands []behind, running []process.Member) (still []behind) {
	known := make([]bool, len(running))
	shown := false
	runs := func(c behind) (is bool) {
		what := strings.Join(strings.Fields(c.what), " ")
		for i, p := range running {
			whole := what != "" && strings.Contains(p.Line, what)
			part := p.Line != "" && (strings.HasPrefix(what, p.Line) || strings.Contains(p.Line, " ") && strings.Contains(what, p.Line))
			if c.pid != 0 && c.pid == p.Inner || c.pid == 0 && (whole || part) {
				is, known[i], shown = true, true, shown || whole
			}
		}
		return is
	}
	var unseen []behind
	for _, c := range commands {
		if runs(c) {
			still = append(still, c)
		} else if c.pid == 0 {
			unseen = append(unseen, c)
		}
	}
	if still == nil {
		return commands
	}
	for grown := true; grown; {
		grown = false
		for i, p := range running {
			for j, q := range running {
				if !known[i] && known[j] && related(p, q) {
					known[i], grown = true, true
				}
			}
		}
	}
	if !shown && slices.Contains(known, false) {
		still = append(still, unseen...)
	}
	return still
}

// related reports whether one of two processes has started the other, or both belong to one job.
func related(p, q process.Member) bool {
	return p.Parent == q.ID || q.Parent == p.ID || p.Group != 0 && p.Group == q.Group && (p.Group == p.ID || p.Group == q.ID)
}
