package acp

import (
	"cursord/agent/plaintext"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
)

// recapCommand is the way on where the agent has lost the chat of a session: the last prompt, with what went with it, in a fresh one.
func (s *Server) recapCommand(at *session, r *request, _ string) {
	call(s, "turn/list", rpc.TurnListParams{SessionID: at.info.ID, Limit: 1}, func(list rpc.TurnList, err error) {
		switch {
		case r.answered: // cancelled
		case err != nil:
			s.saysError(at, r, err)
		case len(list.Turns) == 0:
			s.says(at, r, "The session has no prompt to ask again.")
		default:
			r.patient = true
			context, lost := rpc.Again(list.Turns[0])
			if lost > 0 {
				text := "Without " + plaintext.Count(lost, "text") + ", too long to be kept.\n\n"
				s.update(at.info.ID, protocol.Chunk(protocol.AgentChunk, s.remarkID(), text))
			}
			s.asks(at, r, rpc.TurnStartParams{Prompt: list.Turns[0].Prompt, Context: context, Recap: true}, nil)
		}
	})
}
