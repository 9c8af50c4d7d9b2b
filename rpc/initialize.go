package rpc

import (
	"context"
	"encoding/json"
	"fmt"

	"cursord/daemon/api"
)

// Initialize answers initialize for a program of the given version. It needs no daemon, so the answer can come while the daemon starts. agent is what
// the caller knows of the agent.
func Initialize(params json.RawMessage, version string, agent api.AgentStatus) (InitializeResult, *Error) {
	var p InitializeParams
	if err := DecodeParams(params, &p); err != nil {
		return InitializeResult{}, wireError(err)
	}
	return p.answer(version, agent)
}

// features returns names for what clients cannot tell from the list of methods: members, kinds and words that this daemon knows.
func features() []string {
	return []string{"acp", "addDirs", "approvals", "autoReview", "conflictHunks", "diffSummary", "images", "isolation", "maybeYours", "recap", "sandbox"}
}

func (p *InitializeParams) answer(version string, agent api.AgentStatus) (InitializeResult, *Error) {
	if p.ProtocolVersion != nil && *p.ProtocolVersion != ProtocolVersion {
		e := invalid("protocolVersion", fmt.Sprintf("%d is not supported; this build supports %d", *p.ProtocolVersion, ProtocolVersion))
		e.Data.Supported = []int{ProtocolVersion}
		return InitializeResult{}, e
	}
	if agent.State == "" {
		agent.State = "unknown"
	}
	return InitializeResult{
		ProtocolVersion: ProtocolVersion,
		ServerInfo:      Info{Name: "cursord", Version: version},
		Capabilities: Capabilities{
			Methods: methodNames(), Notifications: notificationNames(), Features: features(),
			MaxMessageBytes: MaxMessage, MaxPromptBytes: MaxPrompt,
		},
		Agent: AgentInfo{State: agent.State, Version: agent.Version},
	}, nil
}

func (f *face) initialize(_ context.Context, p *InitializeParams, reply func(InitializeResult, error)) {
	if f.initialized {
		reply(InitializeResult{}, notRequest("initialize came before"))
		return
	}
	result, err := p.answer(f.d.Version(), f.d.AgentState())
	if err != nil {
		reply(InitializeResult{}, err)
		return
	}
	f.initialized = true
	f.findAgent(p.Environment)
	result.AgentEnv = f.wantsEnvironment()
	if p.ClientInfo != nil {
		f.mu.Lock()
		f.name = p.ClientInfo.Name
		f.mu.Unlock()
	}
	reply(result, nil)
	f.listen()
}
