package main

import (
	"encoding/json"
	"errors"
	"io"

	"cursord/daemon"
	"cursord/rpc"
)

// A sender sends one message to a client.
type sender interface{ send(body []byte) }

// refuse answers a message in place of a daemon that there is not, because of cause.
func refuse(to sender, body []byte, cause error) {
	m, bad := rpc.ParseMessage(body)
	switch {
	case bad != nil:
		to.send(response(m.ID, nil, bad))
	case m.ID == nil, m.IsResponse(), string(m.ID) == initializeID:
	case m.Method == "shutdown":
		to.send(response(m.ID, nil, nil))
	default:
		to.send(response(m.ID, nil, &rpc.Error{
			Code: rpc.CodeInternal, Message: cause.Error(),
			Data: rpc.ErrorData{Kind: daemon.KindInternal, Hint: `run "cursord doctor" to see what is wrong`},
		}))
	}
}

// refuseAll tells cause and answers every message with it, until "exit" or the end.
func refuseAll(in *rpc.FrameReader, out io.Writer, cause error) {
	to := frameWriter{in, out}
	for told := false; ; told = true {
		body, err := in.Read()
		var broken *rpc.FrameError
		switch {
		case err == nil:
		case errors.Is(err, rpc.ErrTooLong):
			continue
		case errors.As(err, &broken):
			to.send(response(nil, nil, &rpc.Error{Code: rpc.CodeParse, Message: broken.Message}))
			return
		default:
			return
		}
		refuse(to, body, cause)
		if !told {
			to.send(logMessage("error", cause.Error()))
		}
		if lastMethod(body) == "exit" {
			return
		}
	}
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
