package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"cursord/editors/lsp/approvals"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// reply answers a request of the editor.
func (s *Server) reply(id json.RawMessage, result any, err error) {
	if err != nil {
		failed := (*rpc.Error)(nil)
		if !errors.As(err, &failed) {
			failed = &rpc.Error{Code: codeRequestFailed, Message: err.Error()}
		}
		s.out.Send("", rpc.AppendResponse(nil, id, nil, failed))
		return
	}
	s.out.Send("", rpc.AppendResponse(nil, id, protocol.Encoded(result), nil))
}

// tell sends a notification. A later one with the same key replaces one that still waits.
func (s *Server) tell(key, method string, params any) {
	s.out.Send(key, rpc.AppendRequest(nil, nil, method, protocol.Params(params)))
}

// ask makes a request of the editor, and returns its id. The loop calls then with the answer, if the editor answers.
func (s *Server) ask(method string, params any, then func(rpc.Message)) (request string) {
	s.askedID++
	id := json.RawMessage(strconv.Quote(fmt.Sprintf("cursord-%d", s.askedID)))
	if then == nil {
		then = func(rpc.Message) {}
	}
	s.asked[string(id)] = then
	s.out.Send("", rpc.AppendRequest(nil, id, method, protocol.Params(params)))
	return string(id)
}

// question puts a question of the editor, and returns the request's id. The loop calls then with the title of the answer; "" if the user
// has closed the question, or the editor answers with an error.
func (s *Server) question(message string, answers []protocol.MessageAction, then func(title string, err error)) (request string) {
	takesKeys := s.client.PopupsTakeKeys()
	if takesKeys {
		s.typing.Open()
	}
	params := protocol.ShowMessageParams{Type: levelWarning, Message: s.client.InPopup(approvals.Fit(message, len(answers), s.client.Rows())), Actions: answers}
	return s.ask("window/showMessageRequest", params, func(m rpc.Message) {
		if takesKeys {
			s.typing.Close()
		} else {
			s.typing.Sign()
		}
		if e := protocol.Failed(m); e != nil {
			then("", e)
			return
		}
		chosen := &protocol.MessageAction{}
		if !decode(m.Result, &chosen) || chosen == nil {
			chosen = &protocol.MessageAction{}
		}
		then(chosen.Title, nil)
	})
}

// decode decodes raw into a T and reports whether it is one.
func decode[T any](raw json.RawMessage, to *T) bool { return json.Unmarshal(raw, to) == nil }

// Levels of messages.
const (
	levelError   = 1
	levelWarning = 2
	levelInfo    = 3
)

// show shows a message to the user.
func (s *Server) show(level int, format string, args ...any) {
	s.showedAt = time.Now()
	s.tell("", "window/showMessage", protocol.ShowMessageParams{Type: level, Message: fmt.Sprintf(format, args...)})
}

func (s *Server) log(level int, message string) {
	s.tell("", "window/logMessage", protocol.ShowMessageParams{Type: level, Message: message})
}
