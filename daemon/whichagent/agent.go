// Package whichagent knows which program turns start as cursor-agent, and what is known about it: its build, the options
// that it lacks, its login, its models. It looks where the daemon would find the program and, while no agent there works,
// where a client would. Only Find, Build, Status and Models start processes, and wait for them or for Cursor's server. Any
// goroutine may use an Agent.
//
// program.Finder finds the program and its build: by the installer's folder, or by --version, asked with a time limit and never
// in a loop. A program called agent counts only if it answers as Cursor's does. program.Builds remembers which options each
// build refused (builds.json beside the database). An option that is spare is then left out, and a start that was refused is
// repeated at once. An option that decides what may be written, read or run is needed: without it the turn fails.
//
// A daemon without a working agent uses every client as a chance (places.go): it reads its configuration again and
// looks on the client's PATH. Whether the login works is a question to Cursor's server (login.go): one goroutine
// asks, the answer is kept for minutes, and no turn waits for it. With agent_env = "client" a client's environment comes by
// agent/environment. It lives with the connection and the turns that it starts, and every record of messages hides it
// (rpc/environment.go).
package whichagent

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"cursord/agent/acp"
	"cursord/agent/failure"
	"cursord/agent/program"
	"cursord/daemon/api"
	"cursord/daemon/config"
)

// Setup says what an Agent works with.
type Setup struct {
	StateDir string // folder for what is learned about builds
	Log      *slog.Logger
	Settings func() *config.Config // the present configuration
	Reload   func()                // reads the configuration again, one call at a time; nil: there is none to read
}

// An Agent is the agent that turns start, or the lack of one.
type Agent struct {
	Setup
	builds *builds
	logins *logins
	finder *program.Finder
	asker  atomic.Pointer[api.Asker] // the latest client that came while there was no agent

	looking sync.Mutex // held by Asked

	mu    sync.Mutex
	state api.AgentStatus // guarded by mu; as last known
}

// New returns an Agent about which nothing is known before Refresh. Close ends it.
func New(s Setup) *Agent {
	return &Agent{Setup: s, builds: openBuilds(s.StateDir, s.Log), logins: newLogins(), finder: program.NewFinder()}
}

// Close ends the questions under way.
func (a *Agent) Close() { a.finder.Close() }

// Refresh finds out whether there is an agent, without running it. Then it asks for its build in the background, so that the
// first turn need not wait for that. Call it at the start, and whenever there may be another program.
func (a *Agent) Refresh() {
	state := api.AgentStatus{State: "unknown"}
	found, _, err := a.look()
	if err != nil {
		state = api.AgentStatus{State: missingState(err), Message: err.Error()}
	}
	state.Version = found.Version
	a.mu.Lock()
	a.state = state
	a.mu.Unlock()
	if err == nil && found.Version == "" {
		a.finder.Begin(found.Path, a.looked)
	}
}

// looked notes what is known by now about the agent that was found.
func (a *Agent) looked() {
	found, _, err := a.look()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.state.State != "unknown" || a.state.Path != "": // somebody has asked since
	case err != nil:
		a.state.State, a.state.Message = missingState(err), err.Error()
	default:
		a.state.Version = found.Version
	}
}

// Find returns the agent's program. It may ask programs called agent what they are.
func (a *Agent) Find(ctx context.Context) (program.Found, error) {
	found, _, err := a.find(ctx)
	return found, err
}

func (a *Agent) find(ctx context.Context) (program.Found, string, error) {
	return a.lookBy(func(at program.Place) (program.Found, error) { return a.finder.Find(ctx, at) })
}

// Path returns the program that turns would start now, or "". It runs nothing.
func (a *Agent) Path() string {
	found, _, err := a.look()
	if err != nil {
		return ""
	}
	return found.Path
}

// Missing returns why no turn can start, or nil. It runs nothing.
func (a *Agent) Missing() error {
	if _, _, err := a.look(); err != nil {
		return missing(err)
	}
	return nil
}

// State returns the last known state. It runs nothing.
func (a *Agent) State() api.AgentStatus {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state
}

// Status asks the agent for its version and account, in the environment env (nil: the daemon's own).
func (a *Agent) Status(ctx context.Context, env []string) (api.AgentStatus, error) {
	s := a.ask(ctx, env)
	if ctx.Err() != nil {
		return s, &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state = s
	return s, nil
}

func (a *Agent) ask(ctx context.Context, env []string) api.AgentStatus {
	s := api.AgentStatus{State: "unknown", Drivers: []string{config.DriverPrint, config.DriverACP}, Changed: a.builds.changed()}
	found, by, err := a.find(ctx)
	s.NotTaken = notTaken(found.NotTaken)
	if err != nil {
		s.State, s.Message = missingState(err), err.Error()+"; "+missing(err).Hint
		return s
	}
	s.Path, s.FoundBy = found.Path, by
	if s.Version, err = a.finder.Version(ctx, found.Path); err != nil {
		s.Message = err.Error()
		return s
	}
	s.Options = a.options(s.Version)
	if !acp.Serves(s.Version) {
		s.Drivers = s.Drivers[:1]
	}
	l := a.logins.ask(ctx, program.Program{Path: found.Path, Env: env}, s.Version)
	s.State, s.Account, s.Message = l.state, l.account, l.message
	if why := found.Foreign(s.Version); why != "" && l.state != "ready" {
		s.State, s.Message = "unknown", why+"; "+program.HintNamed // what another program says about a login means nothing
	}
	return s
}

// options returns the members of turn/start that need an option of the agent, without those that a build is known to lack.
func (a *Agent) options(version string) []string {
	lacks := a.builds.remembered.Lacks(version)
	var list []string
	for _, o := range []struct{ member, option string }{
		{"sandbox", "--sandbox"}, {"autoReview", "--auto-review"}, {"addDirs", "--add-dir"},
	} {
		if !slices.Contains(lacks, o.option) {
			list = append(list, o.member)
		}
	}
	return list
}

// Models asks the agent which models it offers, in the environment env (nil: the daemon's own).
func (a *Agent) Models(ctx context.Context, env []string) ([]api.Model, error) {
	found, _, err := a.find(ctx)
	if err != nil {
		return nil, missing(err)
	}
	version, _ := a.finder.Known(found.Path)
	list, err := a.logins.models(ctx, program.Program{Path: found.Path, Env: env}, version)
	if ctx.Err() != nil {
		return nil, &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
	}
	if failed := (*failure.Error)(nil); errors.As(err, &failed) {
		kind := api.KindAgentFailed
		if failed.Kind == string(api.KindAgentNotLoggedIn) {
			kind = api.KindAgentNotLoggedIn
		}
		return nil, &api.Error{Kind: kind, Message: "the agent could not list its models: " + failed.Message, Hint: failed.Hint}
	}
	if err != nil {
		return nil, api.Errorf(api.KindAgentFailed, "the agent could not list its models: %v", err)
	}
	models := make([]api.Model, 0, len(list))
	for _, m := range list {
		models = append(models, api.Model{ID: m.ID, Name: m.Name, Current: m.Current})
	}
	return models, nil
}

// Answered notes that the server has answered a program in a turn: its login works.
func (a *Agent) Answered(bin, version string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.state.Path != bin { // what was known is about another program
		a.state = api.AgentStatus{Path: bin}
	}
	a.state.State, a.state.Version, a.state.Message = "ready", version, ""
}

// NotLoggedIn notes that the login has failed in a turn; message is the agent's.
func (a *Agent) NotLoggedIn(message string) {
	a.logins.expire()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.State, a.state.Message = "notLoggedIn", message
}
