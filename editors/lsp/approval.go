package lsp

import (
	"encoding/json"
	"fmt"
	"time"

	"cursord/editors/lsp/approvals"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// typingPause is how long the user does nothing until a question may come up: its popup takes the keys of somebody who types.
const typingPause = 2 * time.Second

// approvalChanged takes the newest form of what an agent asks, and asks the user while it is pending.
func (s *Server) approvalChanged(w *workspace, a *sessions.Approval) {
	if a == nil {
		return
	}
	if a.Status == sessions.ApprovalPending {
		if one := w.asks.Add(a); one != nil && !s.typing.Busy() {
			s.askApproval(w, one)
		}
	} else if one := w.asks.Remove(a); one != nil && one.Request != "" { // the editor may leave its popup open, and answers in any case
		s.out.Send("", rpc.AppendRequest(nil, nil, "$/cancelRequest", protocol.Params(map[string]json.RawMessage{"id": json.RawMessage(one.Request)})))
	}
	s.remind(w)
}

// askApproval puts a question, or says how it is answered where the editor cannot show it.
func (s *Server) askApproval(w *workspace, one *approvals.Asked) {
	popup := approvals.PopupOf(one.Approval, s.client.Rows())
	w.asks.Put(one)
	if !s.client.Questions || len(popup.Actions) == 0 {
		one.Stays = true
		s.show(levelWarning, "%s\nAnswer with: %s", approvals.Message(one.Approval), approvals.Elsewhere(one.Approval))
		return
	}
	request := ""
	request = s.question(popup.Message, popup.Actions, func(title string, _ error) { s.chosen(w, one, request, title) })
	one.Request = request
}

// chosen takes the title of the answer to a question; "" if the user has closed it.
func (s *Server) chosen(w *workspace, one *approvals.Asked, request, title string) {
	option := approvals.Chosen(one.Approval, title)
	switch {
	case w.asks.Get(one.ID) != one:
		if option != "" || title == approvals.Show {
			s.show(levelWarning, "cursord: too late for %q: %s", title, approvals.Ended(one.Ended))
		}
	case option != "":
		one.Close(true)
		s.answer(one.ID, option)
	case title == approvals.Show:
		one.Close(true)
		s.showWhole(w, one)
	case one.Request == request:
		one.Close(title == approvals.Remind)
		s.remind(w)
		s.show(levelInfo, "cursord: %s asks again – the agent waits for the answer", s.client.Key("approvals"))
	}
}

// showWhole opens a document with the whole of what is asked. Its code actions have all answers.
func (s *Server) showWhole(w *workspace, one *approvals.Asked) {
	_ = s.write(w, questionFile, s.wholeOf(one), &protocol.Range{}) // write shows errors
	s.remind(w)
}

func (s *Server) wholeOf(one *approvals.Asked) string {
	return approvals.Document(one.Approval, s.client.Menu())
}

func (s *Server) answer(approval, option string) {
	call(s, "approval/answer", rpc.ApprovalAnswerParams{ApprovalID: approval, OptionID: option}, func(_ rpc.ApprovalResult, err error) {
		if err != nil {
			s.complain(err)
		}
	})
}

// typingPaused puts a question that waited for a pause, and tells again of those that wait for their answers. An editor may make a request
// for each diagnostic, and so begin another pause: without a change of a text none is sent again.
func (s *Server) typingPaused(typed bool) {
	for _, w := range s.folders {
		if typed {
			w.asks.Typed()
		}
		moved := typed
		for _, one := range w.asks.All() {
			if one.Due && !s.typing.Busy() {
				s.askApproval(w, one)
				moved = true
			}
		}
		if moved {
			s.remind(w)
		}
		for _, p := range w.running {
			if p.waiting && p.begun { // keys have erased it from the line of messages
				s.progress(p, protocol.ProgressValue{Kind: "report", Message: p.words()})
			}
		}
	}
}

// remind shows a question that has been closed as a diagnostic where the user is, until it is answered.
func (s *Server) remind(w *workspace) {
	now := ""
	if d := s.docs[s.touched.uri]; d != nil && d.workspace == w && w.asks.Staying() != nil {
		now = d.uri
	}
	was := w.reminds
	w.reminds = now
	for _, uri := range []string{was, now} {
		if _, path := s.locate(uri); path != "" {
			s.publish(w, uri, path)
			s.refresh()
		}
	}
}

// reminder returns the diagnostic of the closed question that is shown at a URI.
func (s *Server) reminder(w *workspace, uri string) (list []protocol.Diagnostic) {
	d, one := s.docs[uri], w.asks.Staying()
	if d == nil || one == nil || uri != w.reminds {
		return nil
	}
	line, _ := approvals.About(one.Approval)
	at := protocol.Position{Line: min(d.at, d.text.CountLines()-1)}
	return []protocol.Diagnostic{{
		Range: protocol.Range{Start: at, End: at}, Severity: protocol.SeverityWarning, Source: protocol.Source,
		Message: fmt.Sprintf("the agent waits for your answer (%s): %s", s.client.Key("approvals"), line),
	}}
}

// approvalsCommand puts again what is pending and not on the screen: one question, where the next one would take its keys.
func (s *Server) approvalsCommand(*target) (any, error) {
	n := 0
	for _, w := range s.folders {
		n += len(w.asks.All())
	}
	if n == 0 {
		s.show(levelInfo, "cursord: no agent asks anything")
	}
	for _, w := range s.folders {
		for _, one := range w.asks.Next() {
			if s.askApproval(w, one); one.Request != "" && s.client.PopupsTakeKeys() {
				s.remind(w)
				return map[string]int{"pending": n}, nil
			}
		}
		s.remind(w)
	}
	return map[string]int{"pending": n}, nil
}

// answerCommand answers what an agent asks, or puts the question if the command names no answer.
func (s *Server) answerCommand(t *target) (any, error) {
	for _, w := range s.folders {
		one := w.asks.Get(t.Approval)
		switch {
		case one == nil:
		case t.Option != "":
			s.answer(t.Approval, t.Option)
			return nil, nil
		case !approvals.PopupOf(one.Approval, s.client.Rows()).Whole:
			s.showWhole(w, one)
			return nil, nil
		default:
			s.askApproval(w, one)
			s.remind(w)
			return nil, nil
		}
	}
	return nil, s.shown(protocol.Invalid("approval", "the agent does not wait for this answer any more"))
}

// orAnswer is a command that answers the question of trust. While none is open but an agent asks something, the key may be meant for
// that, so the agent's question is put again.
func orAnswer(do commander) commander {
	return func(s *Server, t *target) (any, error) {
		pending := false
		for _, w := range s.folders {
			if len(w.untrusted) > 0 {
				return do(s, t)
			}
			pending = pending || len(w.asks.All()) > 0
		}
		if pending {
			return s.approvalsCommand(t)
		}
		return do(s, t)
	}
}

// approvalActions are at every place, so that there is always a key for an answer. A document that has the whole of what is asked gets all
// answers.
func (s *Server) approvalActions(d *document) (actions []protocol.CodeAction) {
	for _, w := range s.folders {
		for _, one := range w.asks.Choices(func(one *approvals.Asked) bool { return d != nil && d.text.Content == s.wholeOf(one) }) {
			actions = append(actions, protocol.CodeAction{
				Title: one.Title, Kind: protocol.KindQuickFix, Command: commandOf(one.Title, commandAnswer, target{Approval: one.Approval, Option: one.Option}),
			})
		}
	}
	return actions
}
