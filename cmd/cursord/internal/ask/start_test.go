package ask

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

// TestFlagsOfFields names a field of turn/start as what was typed.
func TestFlagsOfFields(t *testing.T) {
	t.Parallel()
	image, dirs, box := "/a b.png", []string{"/x", "/y"}, "enabled"
	r := &Turn{Params: rpc.TurnStartParams{SessionID: "S", AddDirs: &dirs, Sandbox: &box, Context: []rpc.Context{{Kind: "image", Path: &image}}}}
	for field, want := range map[string]string{
		"addDirs[1]": "--add-dir /y", "addDirs[2]": "", "addDirs": "--add-dir", "context[0].path": "--image '/a b.png'", "context[7].path": "",
		"sandbox": "--sandbox enabled", "force": "--force", "model": "--model", "sessionId": "--session S", "prompt": "", "": "",
	} {
		require.Equal(t, want, r.flag(field), field)
	}
	e := &rpc.Error{Message: "addDirs[1]: /y cannot be opened", Data: rpc.ErrorData{Field: "addDirs[1]"}}
	require.EqualError(t, r.Explain(e), "--add-dir /y: /y cannot be opened")
}
