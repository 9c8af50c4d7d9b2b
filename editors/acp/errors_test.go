package acp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/rpc"
)

// TestTooLarge: a prompt over the limit is an error of the client, which is told what to do; a folder over the limit for copies is none.
func TestTooLarge(t *testing.T) {
	e := &rpc.Error{Code: -32021, Message: "the prompt has 9 bytes; the limit is 8", Data: rpc.ErrorData{Kind: api.KindTooLarge, Field: "prompt", Hint: "name files by path"}}
	got := failure(e)
	require.Equal(t, rpc.CodeInvalidParams, got.Code)
	require.Equal(t, "the prompt has 9 bytes; the limit is 8 – name files by path", got.Message)
	e.Data.Field = ""
	require.Equal(t, rpc.CodeInternal, failure(e).Code)
}
