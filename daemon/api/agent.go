package api

import "cursord/sessions"

// An AgentStatus is the daemon's knowledge of the agent's program and its account. State is unknown, ready, notInstalled or
// notLoggedIn.
type AgentStatus struct {
	State   string `json:"state"`
	Path    string `json:"path,omitempty"`
	Version string `json:"version,omitempty"`
	Account string `json:"account,omitempty"`
	Message string `json:"message,omitempty"`

	FoundBy     string                 `json:"foundBy,omitempty"`     // daemon, or client: the program is found only with the PATH or CURSORD_AGENT of a client
	NotTaken    []AgentNotTaken        `json:"notTaken,omitempty"`    // other programs called agent, which the daemon does not use
	Drivers     []string               `json:"drivers,omitempty"`     // the drivers of the agent that the daemon has
	Options     []string               `json:"options,omitempty"`     // options of turn/start, except for those that the build is known to lack
	AgentEnv    string                 `json:"agentEnv,omitempty"`    // client: an agent gets the environment of the client that starts the turn
	Environment *EnvironmentDifference `json:"environment,omitempty"` // only if the request asked for a comparison
	Changed     *BuildChange           `json:"changed,omitempty"`     // the latest change of build between two turns of a session

	Hooks     []AgentHook     `json:"hooks,omitempty"`     // hooks in the workspace that the request names; never in initialize
	Isolation *IsolationTrees `json:"isolation,omitempty"` // only in the answer to agent/status
}

// IsolationTrees say in which kind of tree agents of new isolated sessions work.
type IsolationTrees struct {
	Kind   string `json:"kind"`             // overlay: wherever the workspace allows it; copy
	Reason string `json:"reason,omitempty"` // why not on overlays; for people
}

// An AgentNotTaken is a program called agent that does not answer --version, or does not answer as Cursor's does.
type AgentNotTaken struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// A BuildChange says that a turn used another build of the agent than the turn before it in the session.
type BuildChange struct {
	From string        `json:"from"`
	To   string        `json:"to"`
	At   sessions.Time `json:"at"`
}

// An AgentHook is a program that the agent itself runs around its tool calls.
type AgentHook struct {
	File      string `json:"file"`
	Event     string `json:"event,omitempty"`
	Command   string `json:"command,omitempty"` // cut to 200 bytes
	AfterEdit bool   `json:"afterEdit"`         // it runs after edits, and may change the edited files
	Problem   string `json:"problem,omitempty"` // why the hooks of File cannot be listed; the daemon then assumes that File has no hooks
}
