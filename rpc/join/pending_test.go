package join

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// sentOnce are the requests that another daemon does not get: a second time they would do something else, or more.
// turn/start with a turnId is the exception, and newRequest knows it.
var sentOnce = []string{
	"agent/environment", "approval/answer", "approval/removeRule", "daemon/backup", "daemon/forgetDamaged", "daemon/gc", "daemon/join", "daemon/reload", "daemon/stop",
	"diff/accept", "diff/comment", "diff/dismiss", "diff/merge", "diff/redo", "diff/reject", "diff/undo", "initialize",
	"session/create", "session/delete", "session/fork", "session/import", "session/rewind", "turn/start", "turn/steer", "attempt/check", "attempt/drop",
}

// TestEachMethodIsRepeatedOrNot: whoever adds a method decides whether the next daemon gets it too, and who removes one leaves
// nothing behind.
func TestEachMethodIsRepeatedOrNot(t *testing.T) {
	var schema struct {
		Defs struct {
			Methods struct{ Properties map[string]any }
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(rpc.Schema, &schema))
	methods := schema.Defs.Methods.Properties
	require.NotEmpty(t, methods)
	known := slices.Concat(readOnly, idempotent, sentOnce)
	for name := range methods {
		if !slices.Contains(known, name) {
			t.Errorf("%s: put it into readOnly or idempotent (pending.go) if it may be sent twice, else into sentOnce (pending_test.go)", name)
		}
	}
	for i, name := range known {
		require.Contains(t, methods, name, "no method of the protocol")
		require.NotContains(t, known[:i], name, "this method is in two lists")
	}
}
