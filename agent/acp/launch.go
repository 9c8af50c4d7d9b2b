package acp

import (
	"os/exec"
	"slices"

	"cursord/agent"
	"cursord/agent/failure"
	"cursord/agent/program"
)

// A launch is how a process is started. A process serves only turns that would start the same.
type launch struct {
	bin, version string
	dir          string
	args         []argument
	env          []string
	mark         string
	enter        func(*exec.Cmd) error // as Request.Enter
}

// An argument is an option of the agent's command line, in front of the word acp.
type argument struct {
	words []string
	spare bool // a build that does not know it gets none, because the turn works as well without it
}

// launchOf returns how a request's process is started. lacks are the options that the build is known to lack.
func launchOf(req *agent.Request, lacks []string) launch {
	model := req.Model
	if model == "" {
		model = "auto"
	}
	args := []argument{
		{words: []string{"--model", model}},
		{words: []string{"--disable-auto-update"}, spare: true}, // else another build may serve the next turn
	}
	if req.Force {
		args = append(args, argument{words: []string{"--force"}})
	}
	if req.Sandbox != "" {
		args = append(args, argument{words: []string{"--sandbox", req.Sandbox}})
	}
	if req.AutoReview {
		args = append(args, argument{words: []string{"--auto-review"}})
	}
	for _, dir := range req.AddDirs {
		args = append(args, argument{words: []string{"--add-dir", dir}})
	}
	args = slices.DeleteFunc(args, func(a argument) bool { return a.spare && slices.Contains(lacks, a.words[0]) })
	env := append(append(program.Environment(req.Base), "PWD="+req.Dir), req.Env...)
	return launch{bin: req.Bin, version: req.Version, dir: req.Dir, args: args, env: env, mark: req.Mark, enter: req.Enter}
}

func (l *launch) command() (*exec.Cmd, error) {
	var words []string
	for _, a := range l.args {
		words = append(words, a.words...)
	}
	cmd := exec.Command(l.bin, append(words, "acp")...)
	cmd.Dir, cmd.Env = l.dir, l.env
	if l.enter != nil {
		return cmd, l.enter(cmd)
	}
	return cmd, nil
}

// equal reports whether a process of l can serve a turn that would start other. A newer build does not end a running process.
func (l *launch) equal(other *launch) bool {
	return l.bin == other.bin && l.dir == other.dir && l.mark == other.mark && slices.Equal(l.env, other.env) &&
		slices.EqualFunc(l.args, other.args, func(a, b argument) bool { return slices.Equal(a.words, b.words) })
}

// find returns the argument with this name.
func (l *launch) find(name string) (argument, bool) {
	i := slices.IndexFunc(l.args, func(a argument) bool { return a.words[0] == name })
	if i < 0 {
		return argument{}, false
	}
	return l.args[i], true
}

// The first builds of which something is known.
const (
	firstBuild = "2026.02"    // with ACP
	firstSteer = "2026.08.25" // in which a second prompt adds to a running turn
)

// Serves reports whether a build of the agent may have this mode. A build without a version may have all.
func Serves(version string) bool { return !program.IsBuild(version) || version >= firstBuild }

// steers reports whether a build takes a prompt during a turn as an addition to it. Earlier ones cancel the turn.
func steers(version string) bool { return program.IsBuild(version) && version >= firstSteer }

// noMode is the failure of a turn whose build has no ACP mode.
func noMode(version, detail string) *failure.Error {
	if version == "" {
		version = "of this build"
	}
	return &failure.Error{
		Kind: failure.KindFailed, Message: "cursor-agent " + version + " has no ACP mode",
		Hint: `update it with "cursor-agent update", or start a session with driver "print"`, Detail: failure.Detail(detail),
	}
}
