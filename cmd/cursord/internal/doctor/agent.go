package doctor

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/whichagent"
	"cursord/rpc"
)

// askAgent asks the daemon for its agent, and for the differences between its environment and ours.
func (d *Diagnosis) askAgent(ctx context.Context, client *rpc.Client, root string) {
	compare := api.DigestEnvironment(os.Environ(), rand.Text())
	a, err := client.AgentStatus(ctx, rpc.AgentStatusParams{Workspace: root, Compare: &compare})
	if err != nil {
		d.problem("agent", "", "cannot read the agent's state: %v", err)
		return
	}
	d.Agent = &a
	for _, h := range a.Hooks {
		if h.Problem != "" {
			d.problem("hooks", "", "the hooks in %s cannot be read: %s", h.File, h.Problem)
		}
	}
	switch a.State {
	case "ready":
	case "notInstalled":
		parts := strings.Split(a.Message, "; ")
		n := 1
		for n < len(parts) && strings.Contains(parts[n], " names ") { // a setting and a variable may both be wrong
			n++
		}
		fix := strings.Join(parts[n:], "; ")
		if !strings.Contains(parts[0], " names ") {
			fix = strings.TrimPrefix(fix+", or name it with the key agent in "+d.Config, ", or ")
		}
		d.problem("agent", term.Clean(fix), "%s", term.Clean(strings.Join(parts[:n], "; ")))
	case "notLoggedIn":
		why := ""
		if !strings.HasPrefix(a.Message, "not logged in") { // otherwise the message repeats the problem
			why = " (" + term.Clean(a.Message) + ")"
		}
		where := "for the daemon"
		if a.AgentEnv == config.EnvClient {
			where = "in your environment"
		}
		if key := keyOfOurs(&a); key != "" {
			d.problem("agent", key, "cursor-agent is not logged in%s", why)
			break
		}
		d.problem("agent", `run "cursor-agent login", or set CURSOR_API_KEY `+where, "cursor-agent is not logged in%s", why)
	default:
		d.problem("agent", "", "cursor-agent does not work: %s", term.Clean(a.Message))
	}
}

// keyOfOurs returns advice if our environment has an API key and the agents' environment has none; otherwise "".
func keyOfOurs(a *api.AgentStatus) string {
	if a.AgentEnv == config.EnvClient || a.Environment == nil || !slices.Contains(a.Environment.ClientOnly, "CURSOR_API_KEY") {
		return ""
	}
	return `your environment has CURSOR_API_KEY, and the daemon's, in which agents run, has not: "cursord stop" lets the next command ` +
		`start a daemon that has it, or set agent_env = "client" in the configuration`
}

// KeyHint returns advice if our environment has an API key that agents do not get; otherwise "". It is also "" if the daemon
// does not answer within 10 seconds.
func KeyHint(ctx context.Context, client *rpc.Client) string {
	if os.Getenv("CURSOR_API_KEY") == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	compare := api.DigestEnvironment(os.Environ(), rand.Text())
	var a api.AgentStatus
	if client.Call(ctx, "agent/status", rpc.AgentStatusParams{Compare: &compare}, &a) != nil {
		return ""
	}
	return keyOfOurs(&a)
}

// compareOptions reports options that the configuration sets for every turn and that the agent's build does not know. Each
// turn that does not override them fails.
func (d *Diagnosis) compareOptions(settings *config.Config) {
	if d.Agent == nil || d.Agent.Version == "" {
		return
	}
	for _, o := range []struct {
		key, member, option string
		asked               bool
	}{
		{"sandbox", "sandbox", "--sandbox", settings.Sandbox != ""},
		{"auto_review", "autoReview", "--auto-review", settings.AutoReview},
		{"add_dirs", "addDirs", "--add-dir", len(settings.AddDirs) > 0},
	} {
		if o.asked && !slices.Contains(d.Agent.Options, o.member) {
			d.problem("agent", fmt.Sprintf(`update the agent with "cursor-agent update", or take %s out of %s`, o.key, d.Config),
				"the configuration has %s, and cursor-agent %s does not know the option %s: turns that do not override it fail",
				o.key, term.Clean(d.Agent.Version), o.option)
		}
	}
}

// findOwn looks for an agent in our environment, and sets d.Own if it is not the daemon's.
func (d *Diagnosis) findOwn(ctx context.Context, settings *config.Config) {
	own := whichagent.FindOwn(ctx, settings)
	for _, n := range own.NotTaken {
		if !slices.ContainsFunc(d.Agent.NotTaken, func(known api.AgentNotTaken) bool { return known.Path == n.Path }) {
			d.Agent.NotTaken = append(d.Agent.NotTaken, n)
		}
	}
	switch {
	case own.Wrong != "":
		d.problem("agent", own.Hint, "%s", term.Clean(own.Wrong))
	case own.Path != "" && resolved(own.Path) != resolved(d.Agent.Path):
		d.Own = &own
	}
}

// resolved returns a path without symlinks, or the path itself if that fails.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// AgentState returns the state of an agent in words.
func AgentState(a *api.AgentStatus) string {
	switch a.State {
	case "notInstalled":
		if strings.Contains(a.Message, " names ") {
			return "not found" // a setting is wrong: the agent may be installed
		}
		return "not installed"
	case "notLoggedIn":
		return "not logged in"
	}
	return a.State
}

// agentRows prints the facts about the agent. Print adds its problems.
func agentRows(a *api.AgentStatus, own *whichagent.Own, row func(name, value string)) {
	known := []string{AgentState(a)}
	for _, s := range []string{a.Version, a.Account, a.Path} {
		if s != "" {
			known = append(known, term.Clean(s))
		}
	}
	row("agent", strings.Join(known, ", "))
	if a.FoundBy == "client" {
		row("", "found by the PATH or CURSORD_AGENT of a client: the daemon's own environment has none that works")
	}
	if own != nil {
		by := "the first on your PATH"
		if own.NamedBy != "" {
			by = "named by " + own.NamedBy
		}
		row("", fmt.Sprintf("you would take %s (%s), and the daemon does not: name it with the key agent in the configuration, "+
			`or have a daemon start in your environment, after "cursord stop"`, term.Clean(own.Path), term.Clean(by)))
	}
	for _, other := range a.NotTaken {
		row("", fmt.Sprintf("%s was not taken for cursor-agent: %s", term.Clean(other.Path), term.Clean(other.Reason)))
	}
	if c := a.Changed; c != nil {
		row("", fmt.Sprintf("changed from %s to %s between two turns, at %s", term.Clean(c.From), term.Clean(c.To), c.At.Local().Format("2006-01-02 15:04")))
	}
	if t := a.Isolation; t != nil {
		row("isolation", isolationLine(t))
	}
	for i, line := range driverLines(a.Drivers) {
		row([]string{"driver", ""}[min(i, 1)], line)
	}
	for i, line := range hookLines(a.Hooks) {
		row([]string{"hooks", ""}[min(i, 1)], line)
	}
	for i, line := range environmentLines(a.Environment, a.AgentEnv) {
		row([]string{"environ", ""}[min(i, 1)], line)
	}
}

// isolationLine says what isolated sessions get.
func isolationLine(t *api.IsolationTrees) string {
	if t.Kind == "overlay" {
		return "sessions with isolation \"copy\" work on overlays, which cost next to nothing; they are new, and isolate neither the network nor files elsewhere, nor programs that do there what an agent asks"
	}
	return "sessions with isolation \"copy\" get copies: " + term.Clean(t.Reason)
}

// driverLines say what the choice of a driver means.
func driverLines(drivers []string) []string {
	const print, acp = config.DriverPrint, config.DriverACP
	switch {
	case slices.Contains(drivers, acp):
		return []string{
			print + ": one process a turn; reports what edits wrote, and the use of tokens; denies what would need your permission",
			acp + ": one process for the turns of a session; asks you for permission, and its questions; can take more during a turn",
			`a session keeps its driver; choose that of new ones by "cursord run --driver", or by the key driver in the configuration`,
		}
	case len(drivers) > 0:
		return []string{print + ": the only driver that this build of the agent has"}
	}
	return nil
}

// environmentLines lists the variables in which the daemon's environment differs from ours, without their values.
func environmentLines(e *api.EnvironmentDifference, agentEnv string) (lines []string) {
	if e == nil {
		return nil
	}
	for _, part := range []struct {
		names []string
		say   string
	}{
		{e.Differ, "the daemon has other values than you: "},
		{e.DaemonOnly, "only the daemon has: "},
		{e.ClientOnly, "only you have, not the daemon: "},
	} {
		if len(part.names) > 0 {
			lines = append(lines, part.say+term.Clean(strings.Join(part.names, ", ")))
		}
	}
	switch {
	case lines == nil:
	case agentEnv == config.EnvClient:
		lines = append(lines, `agents run in that of who starts the turn: the configuration says agent_env = "client"`)
	default:
		lines = append(lines, `agents run in the daemon's, unless the configuration says agent_env = "client"`)
	}
	return lines
}

// IgnoredAgent returns a warning if our CURSORD_AGENT is not the agent that the daemon uses. It is "" if they are the same,
// if we set none, and if taken, the daemon's agent, is unknown.
func IgnoredAgent(taken string) string {
	named := os.Getenv(config.EnvAgent)
	if named == "" || taken == "" {
		return ""
	}
	program, err := config.Executable(named)
	if err == nil {
		program, err = exec.LookPath(program)
	}
	if err == nil && resolved(program) == resolved(taken) {
		return ""
	}
	return fmt.Sprintf("%s (%s) is not used: the daemon that runs takes %s for cursor-agent. \"cursord stop\" lets the next command "+
		"start one that uses it", config.EnvAgent, term.Clean(named), term.Clean(taken))
}
