package api

import "cursord/sessions"

// An AgentStatus is what is known of the agent's program and its account. State is unknown, ready, notInstalled
// or notLoggedIn.
type AgentStatus struct {
	State   string `json:"state"`
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Account string `json:"account,omitempty"`
	Message string `json:"message,omitempty"`

	FoundBy     string                 `json:"foundBy,omitempty"`     // daemon, or client: only with the PATH or CURSORD_AGENT of one
	NotTaken    []AgentNotTaken        `json:"notTaken,omitempty"`    // other programs called agent
	Drivers     []string               `json:"drivers,omitempty"`     // the ways of driving the agent
	Options     []string               `json:"options,omitempty"`     // what of turn/start the build may know: not those that it is known to lack
	AgentEnv    string                 `json:"agentEnv,omitempty"`    // client where agents get the environment of who starts the turn
	Environment *EnvironmentDifference `json:"environment,omitempty"` // where it was to be compared
	Changed     *BuildChange           `json:"changed,omitempty"`     // the latest between two turns of a session

	Hooks []AgentHook `json:"hooks,omitempty"` // for the workspace that was named; never in initialize
}

// An AgentNotTaken is a program called agent that is not Cursor's, as far as its --version prints, or that does not answer.
type AgentNotTaken struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// A BuildChange says that a turn had another build of the agent than its session's turn before.
type BuildChange struct {
	From string        `json:"from"`
	To   string        `json:"to"`
	At   sessions.Time `json:"at"`
}

// An AgentHook is a program that the agent runs by itself around its tool calls.
type AgentHook struct {
	File      string `json:"file"`
	Event     string `json:"event,omitempty"`
	Command   string `json:"command,omitempty"` // cut to 200 bytes
	AfterEdit bool   `json:"afterEdit"`         // it may change what an edit wrote
	Problem   string `json:"problem,omitempty"` // why the hooks of File cannot be listed; it then counts as one without
}
