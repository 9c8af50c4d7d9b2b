package lsp

import (
	"cmp"

	"cursord/agent/plaintext"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// noticed offers the way on if an item says that the agent of a turn, which this editor has started, has lost the chat.
func (s *Server) noticed(w *workspace, it *sessions.Item) {
	if it.Reason != sessions.ReasonChatLost || !w.own[it.TurnID] || w.lost == it.TurnID {
		return
	}
	w.lost = it.TurnID
	if !s.client.Questions {
		s.show(levelWarning, "cursord: the agent has lost the chat – %s asks again with the transcript", s.client.Key("recap"))
		return
	}
	const what = "The agent has lost the chat, and does not know what was said before."
	params := protocol.ShowMessageParams{Type: levelWarning, Message: what, Actions: []protocol.MessageAction{{Title: "Ask again with the transcript"}}}
	s.ask("window/showMessageRequest", params, func(m rpc.Message) {
		var chosen *protocol.MessageAction
		if failedAnswer(m) == nil && decode(m.Result, &chosen) && chosen != nil {
			s.askAgain(w, it.SessionID)
		}
	})
}

// recapCommand is the way on without a question.
func (s *Server) recapCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	session := cmp.Or(t.Session, s.nextSession(w))
	if session == "" {
		return nil, s.shown(invalidRequest("there is no session with a prompt to ask again"))
	}
	s.askAgain(w, session)
	return nil, nil
}

// askAgain asks the last prompt of a session once more, with what went with it, in a fresh chat that gets the transcript.
func (s *Server) askAgain(w *workspace, session string) {
	call(s, "turn/list", rpc.TurnListParams{SessionID: session, Limit: 1}, func(list rpc.TurnList, err error) {
		switch {
		case err != nil:
			s.complain(err)
		case len(list.Turns) == 0:
			s.show(levelInfo, "cursord: the session has no prompt to ask again")
		default:
			context, lost := rpc.Again(list.Turns[0])
			if lost > 0 {
				s.show(levelWarning, "cursord: without %s, too long to be kept", plaintext.Count(lost, "text"))
			}
			p := s.newPrompt(w, &target{Prompt: list.Turns[0].Prompt, Session: session}, context)
			p.params.Recap = true
			s.startTurn(p)
		}
	})
}
