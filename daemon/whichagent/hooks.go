package whichagent

import (
	"cursord/agent/hooks"
	"cursord/daemon/api"
)

// Hooks returns hooks in the form of agent/status.
func Hooks(set hooks.Set) (list []api.AgentHook) {
	for _, h := range set.Hooks {
		list = append(list, api.AgentHook{File: h.File, Event: h.Event, Command: h.Command, AfterEdit: h.AfterEdit})
	}
	for _, u := range set.Unreadable {
		list = append(list, api.AgentHook{File: u.File, Problem: u.Err.Error()})
	}
	return list
}
