package daemon

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cursord/agent"
	"cursord/daemon/config"
	"cursord/sessions"
)

// A deniedCalls is what an agent was not allowed in a turn. The turn's loop owns it.
type deniedCalls struct {
	count    int              // of calls
	held     int              // of them, those that the agent's auto-review held back
	commands int              // of them, shell commands
	subjects []deniedSubject  // the first few
	more     int              // calls of other subjects
	by       []agent.DeniedBy // each once, in order
}

type deniedSubject struct {
	text  string
	times int
}

const (
	deniedSubjects = 5  // that are named
	deniedRunes    = 60 // of each
)

func (d *deniedCalls) add(denials []agent.Denial) {
	for _, one := range denials {
		d.addCall(one.Subject, one.Name)
		if !slices.Contains(d.by, one.By) {
			d.by = append(d.by, one.By)
		}
	}
}

// hold notes a call that has not ended when the agent said that all is done: auto-review has held it back.
func (d *deniedCalls) hold(tool *sessions.Tool) {
	subject := tool.Command
	if subject == "" {
		subject = tool.Title
	}
	d.addCall(subject, tool.Name)
	d.held++
}

func (d *deniedCalls) addCall(subject, name string) {
	d.count++
	if name == "shell" {
		d.commands++
	}
	line, _, more := strings.Cut(strings.TrimSpace(subject), "\n")
	text := strings.Join(strings.Fields(line), " ")
	if runes := []rune(text); more || len(runes) > deniedRunes {
		text = string(runes[:min(len(runes), deniedRunes)]) + "…"
	}
	if text == "" {
		text = name
	}
	i := slices.IndexFunc(d.subjects, func(s deniedSubject) bool { return s.text == text })
	switch {
	case i >= 0:
		d.subjects[i].times++
	case len(d.subjects) < deniedSubjects:
		d.subjects = append(d.subjects, deniedSubject{strings.Clone(text), 1})
	default:
		d.more++
	}
}

// text sums up for people what was denied in t, and names what would have allowed it; "" if nothing was. offers reports
// whether the agent's build has an option.
func (d *deniedCalls) text(t *sessions.Turn, offers func(option string) bool) string {
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
		return text + fmt.Sprintf("; in mode %q the agent only reads, and mode \"agent\" (cursord run --mode agent) lets it do more", t.Mode)
	}
	var hints []string
	if d.held > 0 || slices.Contains(d.by, agent.DeniedByPolicy) {
		hints = append(hints, "allow "+them+" with "+d.ways(t, offers))
	}
	if slices.Contains(d.by, agent.DeniedByPermissions) {
		where := permissionFiles
		if len(hints) > 0 {
			where = "the same files"
		}
		hints = append(hints, "what permissions.deny in "+where+" names is denied whatever else is allowed: take it out there")
	}
	if slices.Contains(d.by, agent.DeniedByHook) {
		hints = append(hints, `a hook of the agent's refuses calls: "cursord doctor" lists the hooks`)
	}
	if slices.Contains(d.by, agent.DeniedByMode) {
		hints = append(hints, "the agent says that its mode does not allow "+them)
	}
	return text + "; " + strings.Join(hints, "; ")
}

const permissionFiles = "~/.cursor/cli-config.json or the workspace's .cursor/cli.json"

// ways names what lets an agent do more than t did, as members of turn/start and as flags of cursord run.
func (d *deniedCalls) ways(t *sessions.Turn, offers func(option string) bool) string {
	var ways []string
	if t.Sandbox != config.SandboxOn && !t.Force && offers("--sandbox") {
		ways = append(ways, "sandbox enabled (--sandbox enabled: what the agent's sandbox can hold runs)")
	}
	if !t.AutoReview && !t.Force && offers("--auto-review") {
		ways = append(ways, "auto-review (--auto-review: a classifier of the agent's decides)")
	}
	switch {
	case t.Force:
	case t.Sandbox == config.SandboxOn:
		ways = append(ways, "force and sandbox disabled (--force --sandbox disabled: everything runs)")
	case offers("--sandbox"):
		ways = append(ways, "force (--force: everything runs, without a sandbox)")
	default:
		ways = append(ways, "force (--force: everything runs)")
	}
	if len(ways) > 0 {
		ways[0] = strings.Replace(ways[0], "(--", "(cursord run --", 1)
	}
	entry := "permissions.allow in " + permissionFiles
	if token := d.token(); token != "" {
		entry += ", such as " + token
	}
	ways = append(ways, entry)
	if n := len(ways); n > 1 {
		return strings.Join(ways[:n-1], ", ") + ", or " + ways[n-1]
	}
	return ways[0]
}

var plainProgram = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,40}$`)

// token is what the agent's permissions would have to allow of the first command; "" where that is not plain to see.
func (d *deniedCalls) token() string {
	if d.commands != d.count {
		return ""
	}
	program, _, _ := strings.Cut(d.subjects[0].text, " ")
	if !plainProgram.MatchString(program) {
		return ""
	}
	return "Shell(" + program + ")"
}
