package acp

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"cursord/daemon/api"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// A prompt is a request session/prompt until it is answered.
type prompt struct {
	r         *request
	at        *session
	params    rpc.TurnStartParams // the turn's id is ours, so that it is known before the turn is
	begun     bool                // the daemon was asked for the turn
	cancelled bool                // the editor wants no more of it
	number    int                 // in the order in which they came
	queued    bool                // the daemon has the turn
	timed     bool                // timeFirst has seen it
	members   []string            // what the editor calls the members of params.Context
}

// prompt takes a prompt: a command of cursord's, or a turn, which waits behind the turns of its session.
func (s *Server) prompt(r *request) {
	r.patient = true
	at := s.sessionOf(r)
	if at == nil {
		return
	}
	var p protocol.PromptParams
	r.decode(&p)
	if command, rest := commandOf(p.Prompt); command != nil {
		r.patient = false
		s.runCommand(command, at, r, rest)
		return
	}
	text, context, members, err := contentOf(at.cwd, at.folder.path, p.Prompt)
	if err != nil {
		r.answer(nil, err)
		return
	}
	s.asks(at, r, rpc.TurnStartParams{Prompt: text, Context: context}, members)
}

// asks answers a request by a turn of its session.
func (s *Server) asks(at *session, r *request, params rpc.TurnStartParams, members []string) {
	params.Workspace, params.SessionID, params.TurnID = at.folder.path, at.info.ID, "acp-"+rand.Text()
	if at.info.Turns == 0 && strings.HasPrefix(at.info.Title, "/") {
		s.title(at, "")
	}
	s.prompted++
	one := &prompt{r: r, at: at, number: s.prompted, params: params, members: members}
	if len(at.dirs) > 0 {
		one.params.AddDirs = &at.dirs
	}
	at.prompts = append(at.prompts, one)
	r.onCancel = func() { s.cancelPrompt(one) }
	at.tell.Asked(one.params.TurnID)
	s.start(one)
}

// start asks the daemon for the turn of a prompt. Its notifications say the rest.
func (s *Server) start(p *prompt) {
	if q := s.trusting[p.at.folder.path]; q != nil {
		q.add(p)
		s.askTrustAgain(p.at.folder.path)
		return
	}
	p.begun = true
	call(s, "turn/start", p.params, func(_ rpc.TurnStartResult, err error) {
		switch {
		case p.r.answered:
		case err == nil:
			p.queued = true
			s.timeFirst(p.at)
			s.follow(p)
		case p.cancelled:
			s.settle(p, protocol.PromptResult{StopReason: "cancelled"}, nil)
		case kindOf(err) == api.KindWorkspaceUntrusted:
			p.begun = false
			s.askTrust(p, err)
		default:
			s.settle(p, nil, p.inBlocks(err))
		}
	})
}

// inBlocks names the block of the prompt, as the editor has sent it, in an error about what goes with the prompt.
func (p *prompt) inBlocks(err error) error {
	e, ok := err.(*rpc.Error)
	if !ok {
		return err
	}
	for i, member := range p.members {
		if rest, of := strings.CutPrefix(e.Data.Field, fmt.Sprintf("context[%d]", i)); of && (rest == "" || rest[0] == '.') {
			ours := *e
			ours.Message, ours.Data.Field = strings.Replace(e.Message, e.Data.Field, member, 1), member
			return &ours
		}
	}
	return err
}

// longQueue is how long the first prompt of a session waits without a word.
const longQueue = 2 * time.Second

// timeFirst measures how long the first prompt of a session waits. The time that it waited for prompts of its own session does not count:
// their turns showed why.
func (s *Server) timeFirst(at *session) {
	if len(at.prompts) == 0 || !at.prompts[0].queued || at.prompts[0].timed {
		return
	}
	p := at.prompts[0]
	p.timed = true
	time.AfterFunc(longQueue, func() { s.post(func() { s.sayThatItWaits(p) }) })
}

// sayThatItWaits says that a prompt waits for a turn of another session, if it does. It may also wait for a busy machine.
func (s *Server) sayThatItWaits(p *prompt) {
	at := p.at
	call(s, "turn/list", rpc.TurnListParams{Workspace: at.info.Workspace, Active: true}, func(list rpc.TurnList, err error) {
		runs := func(t *sessions.Turn) bool { return t.Status == sessions.TurnRunning && t.SessionID != at.info.ID }
		if err == nil && !p.r.answered && at.turn == "" && at.news == nil && len(at.prompts) > 0 && at.prompts[0] == p && slices.ContainsFunc(list.Turns, runs) {
			at.tell.Remark(s.remarkID(), "Another turn runs in this folder. This prompt begins when that has ended.")
		}
	})
}

// follow answers a prompt in the cases in which no notification does: no daemon can be reached any more.
func (s *Server) follow(p *prompt) {
	call(s, "turn/wait", rpc.TurnParams{TurnID: p.params.TurnID}, func(last rpc.TurnResult, err error) {
		switch {
		case p.r.answered:
		case err != nil && p.cancelled:
			s.settle(p, protocol.PromptResult{StopReason: "cancelled"}, nil)
		case err != nil:
			s.settle(p, nil, err)
		default:
			s.followed(p, last.Turn)
		}
	})
}

// followed answers a prompt whose turn has ended, once the editor has been told what was said.
func (s *Server) followed(p *prompt, t *sessions.Turn) {
	switch {
	case p.r.answered:
	case p.at.news != nil:
		p.at.then = append(p.at.then, func() { s.followed(p, t) })
	default:
		s.turnEnded(p.at, t)
	}
}

// promptOf returns the open prompt of a turn; nil if there is none.
func (at *session) promptOf(turnID string) *prompt {
	for _, p := range at.prompts {
		if p.params.TurnID == turnID {
			return p
		}
	}
	return nil
}

// endPrompt answers a prompt whose turn has ended.
func (s *Server) endPrompt(p *prompt, t *sessions.Turn) {
	switch {
	case p.cancelled || t.Status == sessions.TurnCancelled:
		s.settle(p, protocol.PromptResult{StopReason: "cancelled"}, nil)
	case t.Status == sessions.TurnCompleted, t.StopReason == sessions.StopRefusal:
		s.settle(p, protocol.PromptResult{StopReason: cmp.Or(stopReasons[t.StopReason], "end_turn")}, nil)
	default:
		s.settle(p, nil, turnFailure(t))
	}
}

// stopReasons are ACP's names.
var stopReasons = map[sessions.StopReason]string{
	sessions.StopMaxTokens: "max_tokens", sessions.StopMaxRequests: "max_turn_requests", sessions.StopRefusal: "refusal",
}

// settle answers a prompt and forgets it.
func (s *Server) settle(p *prompt, result any, err error) {
	p.at.tell.Told(p.params.TurnID)
	p.at.prompts = slices.DeleteFunc(p.at.prompts, func(other *prompt) bool { return other == p })
	s.timeFirst(p.at)
	s.leaves(p)
	p.r.answer(result, err)
}

// cancelAll ends the turn that runs in a session, whoever started it, this editor's prompts, and its commands. The latest end first: else the end of
// one would start the next.
func (s *Server) cancelAll(at *session) {
	running := at.turn
	at.cancelCommands()
	for _, p := range slices.Backward(slices.Clone(at.prompts)) {
		s.cancelPrompt(p)
		if p.params.TurnID == running {
			running = ""
		}
	}
	if running != "" {
		call(s, "turn/cancel", rpc.TurnParams{TurnID: running}, func(none, error) {})
	}
}

func (at *session) cancelCommands() {
	for _, r := range slices.Clone(at.commands) {
		if !r.answered {
			r.onCancel()
		}
	}
}

// cancelPrompt ends a prompt. It is answered when its turn has ended.
func (s *Server) cancelPrompt(p *prompt) {
	p.cancelled = true
	if !p.begun {
		s.settle(p, protocol.PromptResult{StopReason: "cancelled"}, nil)
		return
	}
	call(s, "turn/cancel", rpc.TurnParams{TurnID: p.params.TurnID}, func(_ none, err error) {
		if err != nil && kindOf(err) == api.KindUnavailable && !p.r.answered { // the turn ended with the daemon
			s.settle(p, protocol.PromptResult{StopReason: "cancelled"}, nil)
		}
	})
}
