package whichagent

import (
	"errors"

	"cursord/agent"
	"cursord/agent/failure"
	"cursord/agent/program"
	"cursord/daemon/api"
)

// missing returns the error of a request when no agent was found.
func missing(err error) *api.Error {
	e := &api.Error{Kind: api.KindAgentNotInstalled, Message: err.Error(), Hint: program.InstallHint}
	if n := (*program.NotFound)(nil); errors.As(err, &n) {
		if e.Hint = n.Hint(); n.Silent != "" {
			e.Kind = api.KindAgentFailed
		}
	}
	return e
}

// missingState returns the state in an AgentStatus when no agent was found.
func missingState(err error) string {
	if missing(err).Kind == api.KindAgentNotInstalled {
		return "notInstalled"
	}
	return "unknown"
}

// NoRun returns the end of a turn for which Find returned err.
func NoRun(err error) agent.Outcome {
	e := missing(err)
	failed := &failure.Error{Kind: string(e.Kind), Message: e.Message, Hint: e.Hint}
	if e.Kind != api.KindAgentNotInstalled {
		failed.Kind = failure.KindHung
	}
	return agent.Outcome{Status: agent.Failed, Failure: failed}
}
