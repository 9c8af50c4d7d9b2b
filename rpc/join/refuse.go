package join

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"cursord/daemon"
	"cursord/rpc"
)

const doctorHint = `run "cursord doctor" to see what is wrong`

// refusal answers a request in place of a daemon that there is not, because of cause.
func refusal(m *rpc.Message, cause error, hint string) []byte {
	if m.Method == "shutdown" {
		return response(m.ID, nil, nil)
	}
	return response(m.ID, nil, &rpc.Error{
		Code: rpc.CodeUnavailable, Message: cause.Error(),
		Data: rpc.ErrorData{
			Kind: daemon.KindUnavailable, Hint: hint, MayHaveHappened: new(bool),
		},
	})
}

// RefuseAll is for what takes the place of a daemon that cannot be had: it tells a client cause and answers every message
// with it, until "exit" or the end of in.
func RefuseAll(in *rpc.FrameReader, out io.Writer, cause error) {
	to := frameWriter{in, out}
	for told := false; ; told = true {
		body, err := in.Read()
		var broken *rpc.FrameError
		switch {
		case err == nil:
		case errors.Is(err, rpc.ErrTooLong):
			to.send(response(nil, nil, tooLong()))
			continue
		case errors.As(err, &broken):
			to.send(response(nil, nil, &rpc.Error{Code: rpc.CodeParse, Message: broken.Message}))
			return
		default:
			return
		}
		m, bad := rpc.ParseMessage(body)
		if bad != nil {
			to.send(response(m.ID, nil, bad))
		} else if m.ID != nil && !m.IsResponse() {
			to.send(refusal(&m, cause, doctorHint))
		}
		if !told {
			to.send(logMessage("error", cause.Error()))
		}
		if isExit(&m) {
			return
		}
	}
}

func tooLong() *rpc.Error {
	return &rpc.Error{Code: rpc.CodeInvalidRequest, Message: fmt.Sprintf("a message over the limit of %d bytes", rpc.MaxMessage)}
}

// A frameWriter writes in the framing that its client chose.
type frameWriter struct {
	in  *rpc.FrameReader
	out io.Writer
}

func (w frameWriter) send(body []byte) {
	// A client that does not read any more ends what it writes, too.
	_, _ = w.out.Write(rpc.AppendFrame(nil, w.in.Framing(), body))
}

// response encodes an answer: the error if there is one, else the result.
func response(id json.RawMessage, result any, e *rpc.Error) []byte {
	raw, err := json.Marshal(result)
	if err != nil {
		panic(err) // what is answered here are plain structs
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
