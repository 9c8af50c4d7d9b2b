package agent

import "strings"

// A Denial is a call that was not allowed: one of the agent's own, or one of a sub-agent, for which there is no event.
type Denial struct {
	By      DeniedBy
	Name    string // as Call.Name
	Subject string // the command, else the call's title
	Reason  string // the agent's words, as in Call.Error
}

// DeniedBy says which rule or person denied a call, as far as the call's result shows it.
type DeniedBy string

const (
	DeniedByPolicy      DeniedBy = "policy"      // the call needs a person's approval, and print mode can ask nobody
	DeniedByPermissions DeniedBy = "permissions" // permissions.deny of the agent's configuration
	DeniedByHook        DeniedBy = "hook"
	DeniedByMode        DeniedBy = "mode" // the mode ask or plan
)

// denialOf returns the denial of a call that was rejected.
func denialOf(call *Call, out outcome) Denial {
	d := Denial{By: DeniedByPolicy, Name: call.Name, Subject: call.Command, Reason: out.err}
	if d.Subject == "" && call.Name == "shell" {
		d.Subject = out.body.Text("command") // a result without a start, which has no arguments
	}
	if d.Subject == "" {
		d.Subject = call.Title
	}
	switch low := strings.ToLower(out.err); {
	case strings.Contains(low, "hook"):
		d.By = DeniedByHook
	case strings.Contains(low, " ask mode"), strings.Contains(low, " plan mode"):
		d.By = DeniedByMode
	case strings.HasSuffix(strings.ToLower(out.member), "permissiondenied"):
		d.By = DeniedByPermissions
	}
	return d
}
