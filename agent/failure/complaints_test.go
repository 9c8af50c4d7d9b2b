package failure

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent/process"
)

// failureTexts are the known texts of an agent that does not go on.
var failureTexts = []struct{ text, kind, message, hint string }{
	{"Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.", KindNotLoggedIn, "cursor-agent is not logged in", "cursor-agent login"},
	{"⚠ Warning: The provided API key is invalid.", KindNotLoggedIn, "cursor-agent refused the API key", "CURSOR_API_KEY"},
	{"Error: [unauthenticated] token expired", KindNotLoggedIn, "cursor-agent is not logged in", "cursor-agent login"},
	{"BAD_API_KEY", KindNotLoggedIn, "cursor-agent refused the API key (BAD_API_KEY)", "CURSOR_API_KEY"},
	{"Error: Your team administrator has disabled headless Cursor CLI usage", KindFailed, "Your team administrator has disabled headless Cursor CLI usage", "administrator"},
	{"Error: Your team administrator has disabled the 'Run Everything' option", KindFailed, "Your team administrator has disabled the 'Run Everything' option", "without force"},
	{"Your organization has disabled the “Run Everything” option.", KindFailed, "Your organization has disabled the “Run Everything” option.", "permissions.allow"},
	{"ConnectError: [failed_precondition] OUTDATED_CLIENT", KindFailed, "cursor-agent is too old for Cursor's servers (OUTDATED_CLIENT)", "cursor-agent update"},
	{"ERROR_OUTDATED_CLIENT", KindFailed, "cursor-agent is too old for Cursor's servers (OUTDATED_CLIENT)", "cursor-agent update"},
	{"Sandbox mode is enabled but not available on this system.", KindFailed, "Sandbox mode is enabled but not available on this system.", "without the sandbox"},
	{"Failed to run step, exceeded max retries", KindFailed, "Failed to run step, exceeded max retries", "network"},
	{"Cannot use this model: zeta-9. Available models: auto, zeta-8", KindModel, "Cannot use this model: zeta-9.", "cursor-agent models"},
	{"No models available for this account.", KindModel, "No models available for this account.", "plan"},
	{"ActionRequiredError: Named models unavailable Free plans can only use Auto. Switch to Auto or upgrade plans to continue.", KindModel,
		"ActionRequiredError: Named models unavailable Free plans can only use Auto. Switch to Auto or upgrade plans to continue.", `"auto"`},
	{"ActionRequiredError: You've hit your usage limit. Set a spend limit. It will reset tomorrow.", KindLimit,
		"ActionRequiredError: You've hit your usage limit. Set a spend limit. It will reset tomorrow.", "resets"},
	{"FREE_USER_USAGE_LIMIT", KindLimit, "the usage limit of your Cursor plan is reached (FREE_USER_USAGE_LIMIT)", "resets"},
	{`{"code":"resource_exhausted","error":"PRO_USER_USAGE_LIMIT"}`, KindLimit, "the usage limit of your Cursor plan is reached (PRO_USER_USAGE_LIMIT)", "resets"},
	{"Error: PRO_USER_USAGE_LIMIT: all requests of May are used", KindLimit, "PRO_USER_USAGE_LIMIT: all requests of May are used", "resets"},
	{"FREE_USER_RATE_LIMIT_EXCEEDED", KindLimit, "Cursor takes no more requests for the moment (FREE_USER_RATE_LIMIT_EXCEEDED)", "wait"},
	{"[resource_exhausted] ERROR_GENERIC_RATE_LIMIT_EXCEEDED", KindLimit, "Cursor takes no more requests for the moment (GENERIC_RATE_LIMIT_EXCEEDED)", "wait"},
	{"RATE_LIMITED", KindLimit, "Cursor takes no more requests for the moment (RATE_LIMITED)", "wait"},
	{"RATE_LIMITED_CHANGEABLE", KindLimit, "Cursor takes no more requests for the moment (RATE_LIMITED_CHANGEABLE)", "wait"},
	{"USAGE_PRICING_REQUIRED", KindLimit, "your Cursor plan includes no more of this (USAGE_PRICING_REQUIRED)", "usage-based pricing"},
	{"USAGE_PRICING_REQUIRED_CHANGEABLE", KindLimit, "your Cursor plan includes no more of this (USAGE_PRICING_REQUIRED_CHANGEABLE)", "usage-based pricing"},
	{"⚠ Workspace Trust Required", KindUntrusted, "cursor-agent does not trust this directory", "cursord trust"},
	{"Error: Workspace directory does not exist: /x", KindFailed, "Workspace directory does not exist: /x", "folder"},
	{"RetriableError: [invalid_argument] Error", KindFailed, "RetriableError: [invalid_argument] Error", "try again"},
	{"NonRetriableError: Agent Looping Detected", KindFailed, "the agent stopped because it was going round in circles", "differently"},
	{"NonRetriableError: no", KindFailed, "NonRetriableError: no", "new session"},
	{"ActionRequiredError: Accept the new terms", KindFailed, "ActionRequiredError: Accept the new terms", "settings"},
}

// startTexts are texts that the agent writes only before it has begun.
var startTexts = []struct{ text, kind, message, hint string }{
	{"Not logged in", KindNotLoggedIn, "cursor-agent is not logged in", "cursor-agent login"},
	{"Error: Authentication required", KindNotLoggedIn, "cursor-agent is not logged in", "cursor-agent login"},
	{"error: unknown option '--x'", KindFailed, "error: unknown option '--x'", "cursor-agent update"},
	{"error: option '--mode <mode>' argument 'agent' is invalid. Allowed choices are plan, ask.", KindFailed,
		"error: option '--mode <mode>' argument 'agent' is invalid. Allowed choices are plan, ask.", "cursor-agent update"},
	{`Error: Invalid --new-session-id "x": expected a UUIDv4.`, KindFailed, `Invalid --new-session-id "x": expected a UUIDv4.`, "new session"},
	{`Error: Session ID "x" is already in use.`, KindFailed, `Session ID "x" is already in use.`, "new session"},
}

// TestFailureTexts plays each text alone, among others, in colour and wrapped by a terminal, on stdout and stderr.
func TestFailureTexts(t *testing.T) {
	const noise = "[mcp] server github started\n(node:71) Warning: something is deprecated\n\n%s\n    at run (index.js:1:2)\nerror: unknown option '--mine'\nport 3000 is already in use\n"
	colour := func(s string) string {
		return "\x1b[31m\x1b[1m" + strings.ReplaceAll(s, " ", "\x1b[22m \x1b[0m") + "\x1b[39m\r\n"
	}
	for _, tt := range append(failureTexts, startTexts...) {
		t.Run(tt.text, func(t *testing.T) {
			for name, end := range map[string]Ending{
				"alone":       {Stderr: tt.text},
				"line":        {Stderr: tt.text + "\n", Exit: process.Exit{Code: 1}},
				"stdout":      {Bare: tt.text + "\n"},
				"noise":       {Stderr: fmt.Sprintf(noise, tt.text), Exit: process.Exit{Code: 1}},
				"colour":      {Stderr: fmt.Sprintf(noise, colour(tt.text)), Exit: process.Exit{Code: 1}},
				"with signal": {Stderr: tt.text + "\n", Exit: process.Exit{Code: 143}},
			} {
				e := end.Explain()
				require.Equal(t, tt.kind, e.Kind, name)
				require.Equal(t, tt.message, e.Message, name)
				require.Contains(t, e.Hint, tt.hint, name)
			}
			words := strings.Fields(tt.text)
			half := len(words) / 2
			e := Ending{Stderr: "x\n" + strings.Join(words[:half], " ") + "\n  " + strings.Join(words[half:], " ") + "\ny\n", Exit: process.Exit{Code: 1}}.Explain()
			require.Equal(t, tt.kind, e.Kind, "wrapped")
			require.NotEmpty(t, e.Message)
			require.Contains(t, e.Hint, tt.hint, "wrapped")
			require.NotContains(t, e.Message, "\n")
		})
	}
}

// TestFailureTextsOfARunThatHasBegun: after the beginning, texts about the start count in the stream, and no longer on
// stderr.
func TestFailureTextsOfARunThatHasBegun(t *testing.T) {
	for _, tt := range failureTexts {
		e := Ending{Objects: true, Stderr: "noise\n" + tt.text + "\n", Exit: process.Exit{Code: 1}}.Explain()
		require.Equal(t, tt.kind, e.Kind, tt.text)
		require.Equal(t, tt.message, e.Message, tt.text)
	}
	for _, tt := range startTexts {
		e := Ending{Objects: true, Stderr: tt.text + "\nRetriableError: [unavailable] gone\n", Exit: process.Exit{Code: 1}}.Explain()
		require.Equal(t, "RetriableError: [unavailable] gone", e.Message, tt.text)
		e = Ending{Objects: true, Result: text(tt.text)}.Explain()
		require.Equal(t, tt.kind, e.Kind, "in the stream's own words: %s", tt.text)
		require.Contains(t, e.Hint, tt.hint)
	}
}

// TestWordsThatAreNoFailure: texts that look like codes.
func TestWordsThatAreNoFailure(t *testing.T) {
	for _, text := range []string{
		"export CURSOR_API_KEY=x", "MY_OUTDATED_CLIENTS", "outdated_client", "NOT_RATE_LIMITED", "the OUTDATED CLIENT", "MAX_RETRIES_EXCEEDED",
		"server on port 3000: address is already in use", "",
	} {
		_, known := Classify(text, false)
		require.False(t, known, text)
	}
}

// TestEndsBySignals: a signal ended the agent, as the system reports it and as the agent's exit code does.
func TestEndsBySignals(t *testing.T) {
	for _, tt := range []struct {
		exit                process.Exit
		kind, message, hint string
	}{
		{process.Exit{Code: 143}, KindCrashed, "another program ended the agent (exit code 143, SIGTERM)", "other than cursord"},
		{process.Exit{Code: 130}, KindCrashed, "another program ended the agent (exit code 130, SIGINT)", "other than cursord"},
		{process.Exit{Code: 137, Signal: "SIGKILL"}, KindCrashed, "another program ended the agent (signal SIGKILL)", "memory"},
		{process.Exit{Code: 137}, KindCrashed, "another program ended the agent (exit code 137, SIGKILL)", "memory"},
		{process.Exit{Code: 129}, KindCrashed, "another program ended the agent (exit code 129, SIGHUP)", "other than cursord"},
		{process.Exit{Code: 139, Signal: "SIGSEGV"}, KindCrashed, "the agent crashed (signal SIGSEGV)", "cursor-agent update"},
		{process.Exit{Code: 134}, KindCrashed, "the agent crashed (exit code 134, SIGABRT)", "cursor-agent update"},
		{process.Exit{Code: 255}, KindCrashed, "the agent crashed without output (exit code 255)", "try again"},
		{process.Exit{Code: 128}, KindCrashed, "the agent crashed without output (exit code 128)", "try again"},
	} {
		e := Ending{Objects: true, Exit: tt.exit}.Explain()
		require.Equal(t, tt.kind, e.Kind)
		require.Equal(t, tt.message, e.Message)
		require.Contains(t, e.Hint, tt.hint)
	}
}

// TestEveryComplaintHasAHint: every failure has a hint.
func TestEveryComplaintHasAHint(t *testing.T) {
	for _, c := range complaints {
		require.NotEmpty(t, c.hint, "%v %v", c.codes, c.words)
	}
	for _, e := range []Ending{{Result: new(string)}, {}, {Exit: process.Exit{Code: 1}}, {Exit: process.Exit{Code: 143}}} {
		require.NotEmpty(t, e.Explain().Hint, "%+v", e)
	}
}
