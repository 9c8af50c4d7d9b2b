package rpc

import (
	"context"
	"encoding/json"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/config"
)

// environmentMethod carries secrets: records of messages leave its values out.
const environmentMethod = "agent/environment"

// A ClientEnvironment says where a client would find the agent. A daemon that has no working agent looks there. It ignores
// folders that are not absolute, a program that is neither an absolute path nor a name, and texts that are too long.
type ClientEnvironment struct {
	Path  string `json:"path,omitempty"`  // its PATH
	Agent string `json:"agent,omitempty"` // its CURSORD_AGENT
}

// EnvironmentParams are the parameters of agent/environment: the client's environment, each variable as NAME=VALUE, for the
// turns that it starts.
type EnvironmentParams struct {
	Variables []string `json:"variables"`
}

// findAgent has a daemon without a working agent look for one, where the client would find it. A nil e stands for what the client has said before.
// An agent's process is not heard: it would choose the program that later turns start.
func (f *face) findAgent(e *ClientEnvironment) {
	if f.agent() != nil {
		return
	}
	f.mu.Lock()
	if e != nil {
		f.asker = api.Asker{Path: e.Path, Agent: e.Agent}
	}
	asker := f.asker
	f.mu.Unlock()
	f.d.Asked(asker)
}

// environment returns the client's whole environment for the agents of its turns; nil if the client has not sent it. It calls findAgent first.
func (f *face) environment() []string {
	f.findAgent(nil)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.env
}

// wantsEnvironment returns the member agentEnv of answers: config.EnvClient if the client is to send its environment, else "".
func (f *face) wantsEnvironment() string {
	if f.d.WantsEnvironment() && f.agent() == nil {
		return config.EnvClient
	}
	return ""
}

func (f *face) agentEnvironment(_ context.Context, p *EnvironmentParams) (Done, error) {
	env, err := f.d.TakeEnvironment(p.Variables)
	if err != nil {
		return Done{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.env = env
	return Done{}, nil
}

// hideEnvironment returns the parameters of agent/environment with only the variables' names.
func hideEnvironment(params json.RawMessage) json.RawMessage {
	var p EnvironmentParams
	if json.Unmarshal(params, &p) != nil {
		p.Variables = []string{}
	}
	for i, variable := range p.Variables {
		name, _, _ := strings.Cut(variable, "=")
		p.Variables[i] = name + "=…"
	}
	hidden, err := encode(p)
	if err != nil { // strings can always be encoded
		panic(err)
	}
	return hidden
}

// hideSecrets returns a message in the form in which it may be recorded.
func hideSecrets(body []byte) []byte {
	m, bad := ParseMessage(body)
	if bad != nil || m.Method != environmentMethod {
		return body
	}
	return AppendRequest(nil, m.ID, m.Method, hideEnvironment(m.Params))
}
