package lsp

import (
	"cmp"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
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
	s.typing.Later(func() { // its answer starts a turn
		s.question(what, []protocol.MessageAction{{Title: "Ask again with the transcript"}}, func(title string, _ error) {
			if title != "" {
				s.askAgain(w, it.SessionID)
			}
		})
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
		return nil, s.shown(protocol.InvalidRequest("there is no session with a prompt to ask again"))
	}
	s.askAgain(w, session)
	return nil, nil
}

// askAgain asks the last prompt of a session once more, with what went with it, in a fresh chat that gets the transcript.
func (s *Server) askAgain(w *workspace, session string) {
	call(s, "session/read", rpc.SessionReadParams{SessionID: session, Limit: rpc.ChatLostItems}, func(page api.Transcript, err error) {
		switch turns := page.Turns; {
		case err != nil:
			s.complain(err)
		case len(turns) == 0:
			s.show(levelInfo, "cursord: the session has no prompt to ask again")
		case !rpc.ChatLost(&page):
			s.show(levelInfo, "cursord: the agent has lost no chat in the last turn; to ask something again, ask it again")
		default:
			context, lost := rpc.Again(turns[len(turns)-1])
			if lost > 0 {
				s.show(levelWarning, "cursord: without %s, too long to be kept", plaintext.Count(lost, "text"))
			}
			p := s.newPrompt(w, &target{Prompt: turns[len(turns)-1].Prompt, Session: session}, context)
			p.params.Recap = true
			s.startTurn(p)
		}
	})
}
