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

// refusing returns m, but refuses the parameters in lists. As everywhere, null counts as absent.
func refusing(m method, lists ...map[string]refusal) method {
	serve := m.serve
	m.serve = func(ctx context.Context, params json.RawMessage, reply func(any, error)) {
		if err := refused(params, lists); err != nil {
			reply(nil, err)
			return
		}
		serve(ctx, params, reply)
	}
	return m
}

func refused(params json.RawMessage, lists []map[string]refusal) error {
	if len(params) == 0 || params[0] != '{' {
		return nil // the method reports the error
	}
	var bad *Error
	for name, value := range jsontext.Value(params).Members() {
		for _, list := range lists {
			r, ok := list[string(name)]
			if !ok || bad != nil || value[0] == 'n' || r.except != "" && string(value) == r.except {
				continue
			}
			bad = invalid(string(name), r.message)
			bad.Data.Hint = r.hint
		}
	}
	if bad == nil {
		return nil
	}
	return bad
}
