// Package denied keeps the calls that a turn's agent was not allowed to make, and names the permissions that this turn
// lacked for them. It keeps only the first few calls, shortened.
package denied

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cursord/agent"
	"cursord/daemon/config"
	"cursord/sessions"
)

// Calls are the denied calls of a turn; the zero value has none. Only one goroutine at a time may use it.
type Calls struct {
	count    int              // number of calls
	held     int              // number of calls that the agent's auto-review held back
	commands int              // number of calls that were shell commands
	subjects []denial         // the first few
	more     int              // number of calls with other subjects
	by       []agent.DeniedBy // who denied calls; each once, in order
}

// A denial is a call, and the number of its denials.
type denial struct {
	text  string
	times int
}

const (
	maxSubjects = 5  // subjects that are named
	maxRunes    = 40 // of one subject
)

// Add adds the denials in the end of a call.
func (d *Calls) Add(denials []agent.Denial) {
	for _, one := range denials {
		d.addCall(one.Subject, one.Name)
		if !slices.Contains(d.by, one.By) {
			d.by = append(d.by, one.By)
		}
	}
}

// Hold adds a call that had not ended when the agent finished, because the agent's auto-review held it back.
func (d *Calls) Hold(tool *sessions.Tool) {
	subject := tool.Command
	if subject == "" {
		subject = tool.Title
	}
	d.addCall(subject, tool.Name)
	d.held++
}

func (d *Calls) addCall(subject, name string) {
	d.count++
	if name == "shell" {
		d.commands++
	}
	line, _, more := strings.Cut(strings.TrimSpace(subject), "\n")
	text := strings.Join(strings.Fields(line), " ")
	if runes := []rune(text); more || len(runes) > maxRunes {
		text = string(runes[:min(len(runes), maxRunes)]) + "…"
	}
	if text == "" {
		text = name
	}
	i := slices.IndexFunc(d.subjects, func(have denial) bool { return have.text == text })
	switch {
	case i >= 0:
		d.subjects[i].times++
	case len(d.subjects) < maxSubjects:
		d.subjects = append(d.subjects, denial{strings.Clone(text), 1})
	default:
		d.more++
	}
}

// Text returns a text for people about the denied calls of t and the permissions that they lacked; "" if nothing was denied.
// offers reports whether the agent's build has an option.
func (d *Calls) Text(t *sessions.Turn, offers func(option string) bool) string {
	if d.count == 0 {
		return ""
	}
	what := "calls"
	if d.commands == d.count {
		what = "commands"
	}
	verb, them := "were", "them"
	if d.count == 1 {
		what, verb, them = strings.TrimSuffix(what, "s"), "was", "it"
	}
	names := make([]string, 0, len(d.subjects)+1)
	for _, s := range d.subjects {
		if s.times > 1 {
			s.text += fmt.Sprintf(" (%d times)", s.times)
		}
		names = append(names, s.text)
	}
	if d.more > 0 {
		names = append(names, fmt.Sprintf("and %d more", d.more))
	}
	fate := "denied"
	if d.held == d.count {
		fate = "held back by the agent's auto-review"
	}
	text := fmt.Sprintf("%d %s %s %s: %s", d.count, what, verb, fate, strings.Join(names, ", "))
	if t.Mode != sessions.ModeAgent {
		return text + fmt.Sprintf("; in mode %q the agent only reads, and mode \"agent\" lets it do more (cursord run --mode agent; in cursord chat: /mode agent)", t.Mode)
	}
	var hints []string
	if d.held > 0 || slices.Contains(d.by, agent.DeniedByPolicy) {
		hints = append(hints, "allow "+them+" with "+d.ways(t, offers))
		if t.Driver == config.DriverPrint {
			hints = append(hints, "a new session can ask you instead (cursord run --driver acp)")
		}
	}
	if slices.Contains(d.by, agent.DeniedByPermissions) {
		hints = append(hints, "what permissions.deny in "+permissionFiles+" names is denied whatever else is allowed: take it out there")
	}
	if slices.Contains(d.by, agent.DeniedByHook) {
		hints = append(hints, `a hook of the agent's refuses calls: "cursord doctor" lists the hooks`)
	}
	if slices.Contains(d.by, agent.DeniedByMode) {
		hints = append(hints, "the agent says that its mode does not allow "+them)
	}
	return text + "; " + strings.Join(hints, "; ")
}

const (
	ownPermissions  = "~/.cursor/cli-config.json"
	permissionFiles = ownPermissions + " or the workspace's .cursor/cli.json"
)

// ways returns the permissions that t lacked, as members of turn/start and as flags of cursord run.
func (d *Calls) ways(t *sessions.Turn, offers func(option string) bool) string {
	var ways []string
	if t.Sandbox != config.SandboxOn && !t.Force && offers("--sandbox") {
		ways = append(ways, "sandbox enabled (--sandbox enabled)")
	}
	if !t.AutoReview && !t.Force && offers("--auto-review") {
		ways = append(ways, "auto-review (--auto-review)")
	}
	switch {
	case t.Force:
	case t.Sandbox == config.SandboxOn:
		ways = append(ways, "force and sandbox disabled (--force --sandbox disabled)")
	default:
		ways = append(ways, "force (--force)")
	}
	if len(ways) > 0 {
		ways[0] = strings.Replace(ways[0], "(--", "(cursord run --", 1)
	}
	entry := "permissions.allow in " + ownPermissions
	if token := d.token(); token != "" {
		entry += ", such as " + token
	}
	ways = append(ways, entry)
	if n := len(ways); n > 1 {
		return strings.Join(ways[:n-1], ", ") + ", or " + ways[n-1]
	}
	return ways[0]
}

var plainProgram = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9._/-]{1,40}$`)
})

// token returns the entry that would allow the first command in the agent's permissions; "" if it is not obvious.
func (d *Calls) token() string {
	if d.commands != d.count {
		return ""
	}
	program, _, _ := strings.Cut(d.subjects[0].text, " ")
	if !plainProgram().MatchString(program) {
		return ""
	}
	return "Shell(" + program + ")"
}
