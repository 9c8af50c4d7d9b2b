package rpc

import (
	"context"
	"encoding/json"
	"strings"

	"cursord/daemon"
)

// environmentMethod carries secrets: no record of messages has its values.
const environmentMethod = "agent/environment"

// asks takes where the client would find the agent; who tells nothing has told nothing new.
func (f *face) asks(e *ClientEnvironment) {
	f.mu.Lock()
	if e != nil {
		f.asker = daemon.Asker{Path: e.Path, Agent: e.Agent}
	}
	asker := f.asker
	f.mu.Unlock()
	f.d.Asked(asker)
}

// environment returns what the client has told of its environment.
func (f *face) environment() (daemon.Asker, []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asker, f.env
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

// hideEnvironment returns the parameters of agent/environment with the variables' names alone.
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

// hideSecrets returns a message as it may be recorded.
func hideSecrets(body []byte) []byte {
	m, bad := ParseMessage(body)
	if bad != nil || m.Method != environmentMethod {
		return body
	}
	return AppendRequest(nil, m.ID, m.Method, hideEnvironment(m.Params))
}
