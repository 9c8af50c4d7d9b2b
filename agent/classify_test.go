package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent/process"
)

func TestExplain(t *testing.T) {
	tests := []struct {
		name    string
		end     ending
		kind    string
		message string
	}{
		{"not logged in", ending{stderr: "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.\n", exit: process.Exit{Code: 1}},
			"agentNotLoggedIn", "cursor-agent is not logged in"},
		{"bad key", ending{stderr: "\x1b[33m⚠ Warning: The provided API key is invalid.\x1b[0m\n", exit: process.Exit{Code: 1}},
			"agentNotLoggedIn", "cursor-agent refused the API key"},
		{"unknown model", ending{stderr: "Cannot use this model: zeta-9. Available models: auto, zeta-8\n", exit: process.Exit{Code: 1}},
			"modelUnavailable", "Cannot use this model: zeta-9."},
		{"free plan", ending{stderr: "ActionRequiredError: Named models unavailable Free plans can only use Auto. Switch to Auto or upgrade plans to continue.", objects: true, exit: process.Exit{Code: 1}},
			"modelUnavailable", "ActionRequiredError: Named models unavailable Free plans can only use Auto. Switch to Auto or upgrade plans to continue."},
		{"usage", ending{stderr: "ActionRequiredError: You've hit your usage limit. Set a spend limit. It will reset tomorrow.", exit: process.Exit{Code: 1}},
			"usageLimit", "ActionRequiredError: You've hit your usage limit. Set a spend limit. It will reset tomorrow."},
		{"untrusted, on stdout", ending{bare: "⚠ Workspace Trust Required\n/repo\nPass --trust, --yolo or -f\n", exit: process.Exit{Code: 1}},
			"workspaceUntrusted", "cursor-agent does not trust this directory"},
		{"workspace missing", ending{stderr: "Error: Workspace directory does not exist: /nope", exit: process.Exit{Code: 1}},
			"agentFailed", "Workspace directory does not exist: /nope"},
		{"server", ending{stderr: "RetriableError: [invalid_argument] bad\n", objects: true, exit: process.Exit{Code: 1}},
			"agentFailed", "RetriableError: [invalid_argument] bad"},
		{"loop", ending{stderr: "NonRetriableError: Agent Looping Detected", objects: true, exit: process.Exit{Code: 1}},
			"agentFailed", "the agent stopped because it was going round in circles"},
		{"session id in use", ending{stderr: `Error: Session ID "x" is already in use.`, exit: process.Exit{Code: 1}},
			"agentFailed", `Session ID "x" is already in use.`},
		{"mode", ending{stderr: "error: option '--mode <mode>' argument 'x' is invalid. Allowed choices are plan, ask.", exit: process.Exit{Code: 1}},
			"agentFailed", "error: option '--mode <mode>' argument 'x' is invalid. Allowed choices are plan, ask."},
		{"another error", ending{stderr: "loading\nError: the moon is in the way\nbye\n", exit: process.Exit{Code: 1}},
			"agentFailed", "the moon is in the way"},
		{"an error in the stream", ending{failures: []string{"backend down"}, objects: true},
			"agentFailed", "backend down"},
		{"interrupted by somebody", ending{stderr: "Aborting operation...\n", objects: true, exit: process.Exit{Code: 130}},
			"agentCrashed", "the agent was ended from outside (exit code 130, SIGINT)"},
		{"killed", ending{objects: true, exit: process.Exit{Code: 137, Signal: "SIGKILL"}},
			"agentCrashed", "the agent was ended from outside (signal SIGKILL)"},
		{"nothing at all", ending{exit: process.Exit{Code: 1}},
			"agentCrashed", "the agent died without a word (exit code 1)"},
		{"no result", ending{objects: true}, "protocol", "the agent ended without saying how its work ended"},
		{"another program", ending{bare: "usage: agent [-t life]\n", exit: process.Exit{Code: 2}},
			"protocol", "the program did not speak cursor-agent's protocol: usage: agent [-t life]"},
		{"failed result, known", ending{result: &Result{Error: "You have hit your usage limit"}, objects: true},
			"usageLimit", "You have hit your usage limit"},
		{"failed result, known from stderr", ending{result: &Result{}, stderr: "Cannot use this model: x", objects: true},
			"modelUnavailable", "Cannot use this model: x"},
		{"failed result", ending{result: &Result{Error: "no luck"}, stderr: "noise", objects: true}, "agentFailed", "no luck"},
		{"failed result without a word", ending{result: &Result{}, objects: true},
			"agentFailed", "the agent reported a failure and did not say which"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := tt.end.explain()
			require.Equal(t, tt.kind, e.Kind)
			require.Equal(t, tt.message, e.Message)
			require.NotContains(t, e.Detail, "\x1b")
		})
	}
}
