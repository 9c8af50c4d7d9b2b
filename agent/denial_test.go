package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDenials(t *testing.T) {
	const rejected = `{"shellToolCall":{"args":{"command":"npm test"},"result":{"rejected":{"command":"npm test","reason":%q}}}}`
	for name, test := range map[string]struct {
		call string
		want []Denial
	}{
		"allowed": {`{"shellToolCall":{"args":{"command":"ls"},"result":{"success":{"exitCode":0}}}}`, nil},
		"failed":  {`{"shellToolCall":{"args":{"command":"ls"},"result":{"failure":{"exitCode":2}}}}`, nil},
		"by nobody's word": {fmt.Sprintf(rejected, ""),
			[]Denial{{DeniedByPolicy, "shell", "npm test", "refused by policy"}}},
		"by a hook":   {fmt.Sprintf(rejected, "Hook blocked with message: no"), []Denial{{DeniedByHook, "shell", "npm test", "Hook blocked with message: no"}}},
		"in mode ask": {fmt.Sprintf(rejected, "tool not available in ask mode"), []Denial{{DeniedByMode, "shell", "npm test", "tool not available in ask mode"}}},
		"by the deny list": {`{"shellToolCall":{"args":{"command":"rm"},"result":{"permissionDenied":{"error":"Command blocked by permissions configuration"}}}}`,
			[]Denial{{DeniedByPermissions, "shell", "rm", "Command blocked by permissions configuration"}}},
		"an edit": {`{"editToolCall":{"args":{"path":"a"},"result":{"writePermissionDenied":{"path":"","error":"Write permission denied: /r/a: Blocked by permissions configuration"}}}}`,
			[]Denial{{DeniedByPermissions, "edit", "Edit a", "Write permission denied: /r/a: Blocked by permissions configuration"}}},
		"without a start": {`{"shellToolCall":{"result":{"rejected":{"command":"make","reason":""}}}}`,
			[]Denial{{DeniedByPolicy, "shell", "make", "refused by policy"}}},
		"of a sub-agent": {`{"taskToolCall":{"args":{"description":"d"},"result":{"success":{"conversationSteps":[` +
			`{"toolCall":` + fmt.Sprintf(rejected, "") + `},{"toolCall":{"taskToolCall":{"result":{"error":{"error":"x"},"conversationSteps":[]}}}},` +
			`{"toolCall":{"shellToolCall":{"args":{"command":"ls"},"result":{"success":{"exitCode":0}}}}}]}}}}`,
			[]Denial{{DeniedByPolicy, "shell", "npm test", "refused by policy"}}},
	} {
		t.Run(name, func(t *testing.T) {
			events := NewDecoder().Line([]byte(`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":` + test.call + `}`))
			require.Len(t, events, 1)
			require.Equal(t, test.want, events[0].(ToolEnd).Call.Denials)
		})
	}

	// Nested sub-agents are looked at once each, down to the limit of depth.
	call := fmt.Sprintf(rejected, "")
	for range maxNesting + 4 {
		call = strings.Replace(`{"taskToolCall":{"result":{"success":{"conversationSteps":[{"toolCall":X},{"toolCall":X}]}}}}`, "X", call, 1)
		call = strings.Replace(call, "X", `{"lsToolCall":{"result":{"success":{}}}}`, 1)
	}
	events := NewDecoder().Line([]byte(`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":` + call + `}`))
	require.Empty(t, events[0].(ToolEnd).Call.Denials)
}
