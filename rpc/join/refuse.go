package join

import (
	"encoding/json"
	"io"
	"sync"

	"cursord/daemon/api"
	"cursord/rpc"
)

const doctorHint = `run "cursord doctor" to see what is wrong`

// refusal returns the answer to a request for which there is no daemon; cause says why. A shutdown succeeds all the same.
func refusal(m *rpc.Message, cause error, hint string) []byte {
	if m.Method == "shutdown" {
		return response(m.ID, nil, nil)
	}
	return response(m.ID, nil, &rpc.Error{
		Code: rpc.CodeUnavailable, Message: cause.Error(),
		Data: rpc.ErrorData{
			Kind: api.KindUnavailable, Hint: hint, MayHaveHappened: new(bool),
		},
	})
}

// RefuseAll stands in for a daemon that cannot be reached: it answers every message of a client with cause, until "exit" or
// the end of in.
func RefuseAll(in *rpc.FrameReader, out io.Writer, cause error) {
	to := &editorEnd{w: out}
	tell := sync.OnceFunc(func() { to.send(logMessage("error", cause.Error())) })
	refuse := to.refuseFrom(in)
	for {
		m, _, err := in.Next(func(id json.RawMessage, bad *rpc.Error) {
			refuse(id, bad)
			tell()
		})
		if err != nil {
			return
		}
		to.setFraming(in.Framing())
		if m.ID != nil && !m.IsResponse() {
			to.send(refusal(&m, cause, doctorHint))
		}
		tell()
		if isExit(&m) {
			return
		}
	}
}

// response encodes an answer, with the error if there is one, else with the result.
func response(id json.RawMessage, result any, e *rpc.Error) []byte {
	raw, err := json.Marshal(result)
	if err != nil {
		panic(err) // these are plain structs
	}
	return rpc.AppendResponse(nil, id, raw, e)
}

func logMessage(level, message string) []byte {
	params, err := json.Marshal(rpc.LogMessage{Level: level, Message: message})
	if err != nil {
		panic(err) // strings
	}
	return rpc.AppendRequest(nil, nil, "log/message", params)
}
