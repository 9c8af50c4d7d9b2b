package failure

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent/process"
)

func TestExplain(t *testing.T) {
	tests := []struct {
		name    string
		end     Ending
		kind    string
		message string
	}{
		{"not logged in", Ending{Stderr: "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.\n", Exit: process.Exit{Code: 1}},
			"agentNotLoggedIn", "cursor-agent is not logged in"},
		{"bad key", Ending{Stderr: "\x1b[33m⚠ Warning: The provided API key is invalid.\x1b[0m\n", Exit: process.Exit{Code: 1}},
			"agentNotLoggedIn", "cursor-agent refused the API key"},
		{"unknown model", Ending{Stderr: "Cannot use this model: zeta-9. Available models: auto, zeta-8\n", Exit: process.Exit{Code: 1}},
			"modelUnavailable", "Cannot use this model: zeta-9."},
		{"free plan", Ending{Stderr: "ActionRequiredError: Named models unavailable Free plans can only use Auto. Switch to Auto or upgrade plans to continue.", Objects: true, Exit: process.Exit{Code: 1}},
			"modelUnavailable", "ActionRequiredError: Named models unavailable Free plans can only use Auto. Switch to Auto or upgrade plans to continue."},
		{"usage", Ending{Stderr: "ActionRequiredError: You've hit your usage limit. Set a spend limit. It will reset tomorrow.", Exit: process.Exit{Code: 1}},
			"usageLimit", "ActionRequiredError: You've hit your usage limit. Set a spend limit. It will reset tomorrow."},
		{"untrusted, on stdout", Ending{Bare: "⚠ Workspace Trust Required\n/repo\nPass --trust, --yolo or -f\n", Exit: process.Exit{Code: 1}},
			"workspaceUntrusted", "cursor-agent does not trust this directory"},
		{"workspace missing", Ending{Stderr: "Error: Workspace directory does not exist: /nope", Exit: process.Exit{Code: 1}},
			"agentFailed", "Workspace directory does not exist: /nope"},
		{"server", Ending{Stderr: "RetriableError: [invalid_argument] bad\n", Objects: true, Exit: process.Exit{Code: 1}},
			"agentFailed", "RetriableError: [invalid_argument] bad"},
		{"loop", Ending{Stderr: "NonRetriableError: Agent Looping Detected", Objects: true, Exit: process.Exit{Code: 1}},
			"agentFailed", "the agent stopped because it was going round in circles"},
		{"session id in use", Ending{Stderr: `Error: Session ID "x" is already in use.`, Exit: process.Exit{Code: 1}},
			"agentFailed", `Session ID "x" is already in use.`},
		{"mode", Ending{Stderr: "error: option '--mode <mode>' argument 'x' is invalid. Allowed choices are plan, ask.", Exit: process.Exit{Code: 1}},
			"agentFailed", "error: option '--mode <mode>' argument 'x' is invalid. Allowed choices are plan, ask."},
		{"another error", Ending{Stderr: "loading\nError: the moon is in the way\nbye\n", Exit: process.Exit{Code: 1}},
			"agentFailed", "the moon is in the way"},
		{"an error in the stream", Ending{Failures: []string{"backend down"}, Objects: true},
			"agentFailed", "backend down"},
		{"interrupted by somebody", Ending{Stderr: "Aborting operation...\n", Objects: true, Exit: process.Exit{Code: 130}},
			"agentCrashed", "another program ended the agent (exit code 130, SIGINT)"},
		{"killed", Ending{Objects: true, Exit: process.Exit{Code: 137, Signal: "SIGKILL"}},
			"agentCrashed", "another program ended the agent (signal SIGKILL)"},
		{"nothing at all", Ending{Exit: process.Exit{Code: 1}},
			"agentCrashed", "the agent crashed without output (exit code 1)"},
		{"no result", Ending{Objects: true}, "protocol", "the agent ended without a result"},
		{"another program", Ending{Bare: "usage: agent [-t life]\n", Exit: process.Exit{Code: 2}},
			"protocol", "the program did not speak cursor-agent's protocol: usage: agent [-t life]"},
		{"failed result, known", Ending{Result: text("You have hit your usage limit"), Objects: true},
			"usageLimit", "You have hit your usage limit"},
		{"failed result, known from stderr", Ending{Result: text(""), Stderr: "Cannot use this model: x", Objects: true},
			"modelUnavailable", "Cannot use this model: x"},
		{"failed result", Ending{Result: text("no luck"), Stderr: "noise", Objects: true}, "agentFailed", "no luck"},
		{"failed result without a word", Ending{Result: text(""), Objects: true},
			"agentFailed", "the agent reported a failure without a reason"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := tt.end.Explain()
			require.Equal(t, tt.kind, e.Kind)
			require.Equal(t, tt.message, e.Message)
			require.NotContains(t, e.Detail, "\x1b")
		})
	}
}

func text(s string) *string { return &s }

// TestKindsAreAll: Kinds, which clients and PROTOCOL.md show, lists every constant.
func TestKindsAreAll(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("classify.go")
	require.NoError(t, err)
	var named []string
	for _, m := range regexp.MustCompile(`(?m)^\tKind\w+ += "(\w+)"$`).FindAllStringSubmatch(string(source), -1) {
		named = append(named, m[1])
	}
	require.NotEmpty(t, named)
	require.ElementsMatch(t, named, Kinds())
}
