package acp

import (
	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
)

// recapCommand is the way on where the agent has lost the chat of a session: the last prompt, with what went with it, in a fresh one.
func (s *Server) recapCommand(at *session, r *request, _ string) {
	call(s, "session/read", rpc.SessionReadParams{SessionID: at.info.ID, Limit: rpc.ChatLostItems}, func(page api.Transcript, err error) {
		switch {
		case r.answered: // cancelled
		case err != nil:
			s.saysError(at, r, err)
		case len(page.Turns) == 0:
			s.says(at, r, "The session has no prompt to ask again.")
		case !rpc.ChatLost(&page):
			s.says(at, r, "The agent has lost no chat in the last turn. To ask something again, send it again.")
		default:
			r.patient = true
			last := page.Turns[len(page.Turns)-1]
			context, lost := rpc.Again(last)
			if lost > 0 {
				text := "Without " + plaintext.Count(lost, "text") + ", too long to be kept.\n\n"
				s.update(at.info.ID, protocol.Chunk(protocol.AgentChunk, s.remarkID(), text))
			}
			s.asks(at, r, rpc.TurnStartParams{Prompt: last.Prompt, Context: context, Recap: true}, nil)
		}
	})
}
