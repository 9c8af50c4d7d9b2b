package rpc

import (
	"context"
	"encoding/json"

	"cursord/agent/jsontext"
)

// A refusal says why a method refuses a parameter, and what to do instead.
type refusal struct {
	message, hint string
	except        string // a value, as JSON, that is not refused, because it asks for what is done anyway
}

// ofTurns are parameters of turn/start that a client might wrongly expect the session to keep.
var ofTurns = map[string]refusal{
	"force":     {message: "a session does not keep it", hint: "send it with each turn/start", except: "false"},
	"approvals": {message: "a session does not keep it", hint: "send it with each turn/start", except: `"ask"`},
}

// refusing returns m, but refuses the parameters in list. As everywhere, null counts as absent.
func refusing(m method, list map[string]refusal) method {
	serve := m.serve
	m.serve = func(ctx context.Context, params json.RawMessage, reply func(any, error)) {
		if err := refused(params, list); err != nil {
			reply(nil, err)
			return
		}
		serve(ctx, params, reply)
	}
	return m
}

// refused returns the error for the first of params that list refuses, or nil.
func refused(params json.RawMessage, list map[string]refusal) error {
	if len(params) == 0 || params[0] != '{' {
		return nil // the method reports the error
	}
	for name, value := range jsontext.Value(params).Members() {
		r, ok := list[string(name)]
		if !ok || value[0] == 'n' || r.except != "" && string(value) == r.except {
			continue
		}
		bad := invalid(string(name), r.message)
		bad.Data.Hint = r.hint
		return bad
	}
	return nil
}
