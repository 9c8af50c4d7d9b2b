package lsp

import (
	"fmt"
	"slices"
	"strings"

	"cursord/agent/plaintext"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// The commands of workspace/executeCommand.
const (
	commandAsk        = "cursord.ask"
	commandCompose    = "cursord.compose"
	commandFix        = "cursord.fix"
	commandExplain    = "cursord.explain"
	commandAccept     = "cursord.accept"
	commandAcceptBoth = "cursord.acceptBoth"
	commandAcceptFile = "cursord.acceptFile"
	commandAcceptAll  = "cursord.acceptAll"
	commandReject     = "cursord.reject"
	commandRejectFile = "cursord.rejectFile"
	commandRejectAll  = "cursord.rejectAll"
	commandRejectWith = "cursord.rejectComment"
	commandUndo       = "cursord.undo"
	commandRedo       = "cursord.redo"
	commandNext       = "cursord.next"
	commandPrev       = "cursord.prev"
	commandGoTo       = "cursord.goTo"
	commandDiff       = "cursord.diff"
	commandCancel     = "cursord.cancel"
	commandNew        = "cursord.new"
	commandResume     = "cursord.resume"
	commandDelete     = "cursord.delete"
	commandTranscript = "cursord.transcript"
	commandRecap      = "cursord.recap"
	commandTrust      = "cursord.trust"
	commandAllow      = "cursord.allow"
	commandDeny       = "cursord.deny"
	commandStatus     = "cursord.status"
	commandApprovals  = "cursord.approvals"
	commandAnswer     = "cursord.answer"
	commandSteer      = "cursord.steer"
)

// A target is what a command is about.
type target = protocol.Target

// A commander runs a command, or begins it, and returns its result.
type commander func(s *Server, t *target) (any, error)

var commands map[string]commander

// The table refers to functions that refer to it.
func init() {
	commands = map[string]commander{
		commandAsk:        (*Server).askCommand,
		commandCompose:    (*Server).composeCommand,
		commandFix:        (*Server).fixCommand,
		commandExplain:    (*Server).explainCommand,
		commandAccept:     deciding(true, atTarget, false),
		commandAcceptBoth: (*Server).acceptBothCommand,
		commandAcceptFile: deciding(true, inFile, true),
		commandAcceptAll:  deciding(true, everywhere, true),
		commandReject:     (*Server).rejectCommand,
		commandRejectFile: rejectingSeveral(inFile),
		commandRejectAll:  rejectingSeveral(everywhere),
		commandRejectWith: (*Server).rejectCommentCommand,
		commandUndo:       (*Server).undoCommand,
		commandRedo:       (*Server).redoCommand,
		commandNext:       func(s *Server, t *target) (any, error) { return s.goTo(t, 1) },
		commandPrev:       func(s *Server, t *target) (any, error) { return s.goTo(t, -1) },
		commandGoTo:       (*Server).goToCommand,
		commandDiff:       (*Server).diffCommand,
		commandCancel:     (*Server).cancelCommand,
		commandNew:        (*Server).newCommand,
		commandResume:     (*Server).resumeCommand,
		commandDelete:     (*Server).deleteCommand,
		commandTranscript: (*Server).transcriptCommand,
		commandRecap:      (*Server).recapCommand,
		commandTrust:      (*Server).trustCommand,
		commandAllow:      orAnswer((*Server).trustCommand),
		commandDeny:       orAnswer((*Server).denyCommand),
		commandStatus:     (*Server).statusCommand,
		commandApprovals:  (*Server).approvalsCommand,
		commandAnswer:     (*Server).answerCommand,
		commandSteer:      (*Server).steerCommand,
	}
}

// commandNames returns the commands that initialize names, sorted.
func commandNames() (names []string) {
	for name := range commands {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *Server) executeCommand(p *protocol.ExecuteParams) (any, error) {
	do := commands[p.Command]
	if do == nil {
		return nil, protocol.Invalid("command", fmt.Sprintf("there is no %q; there are %s", p.Command, strings.Join(commandNames(), ", ")))
	}
	t, err := targetOf(p)
	if err != nil {
		return nil, err
	}
	s.flushAll()
	s.need()
	if answersAtOnce[p.Command] {
		return do(s, t)
	}
	w, err := s.folderOf(t)
	if err != nil {
		return do(s, t) // do answers with the error
	}
	return s.later(w, true, func(err error) (any, error) {
		if err != nil && !sends[p.Command] { // a prompt that is not sent is kept, and reports the error itself
			s.complain(err)
			return nil, err
		}
		return do(s, t)
	})
}

// answersAtOnce has the commands that do not need the folder's hunks and sessions. sends has those that send a prompt.
var (
	answersAtOnce = map[string]bool{commandAllow: true, commandTrust: true, commandDeny: true, commandNew: true, commandAnswer: true}
	sends         = map[string]bool{commandAsk: true, commandFix: true, commandExplain: true, commandCompose: true}
)

// targetOf reads a command's arguments. Words are the prompt of a command that asks, the id of a session or turn, else the ids of hunks.
func targetOf(p *protocol.ExecuteParams) (*target, error) {
	t, words, err := protocol.ReadArguments(p.Arguments)
	if err != nil || len(words) == 0 {
		return t, err
	}
	switch p.Command {
	case commandAsk, commandCompose, commandSteer:
		t.Prompt = strings.Join(words, " ")
	case commandResume, commandTranscript, commandDelete:
		t.Session = words[0]
	case commandCancel:
		t.Turn = words[0]
	default:
		t.Hunks = append(t.Hunks, words...)
	}
	return t, nil
}

func deciding(accept bool, choose chooser, several bool) commander {
	return func(s *Server, t *target) (any, error) {
		w, chosen, err := s.choose(t, choose)
		if err != nil {
			return nil, err
		}
		s.decide(w, accept, several, chosen)
		return nil, nil
	}
}

// rejectCommand rejects a hunk. The agent gets its comment.
func (s *Server) rejectCommand(t *target) (any, error) {
	if !isBlank(t.Comment) {
		return s.rejectCommentCommand(t)
	}
	return deciding(false, atTarget, false)(s, t)
}

// rejectingSeveral is deciding for a command that names no hunk. It leaves the hunks that may be the user's, and says so.
func rejectingSeveral(choose chooser) commander {
	return func(s *Server, t *target) (any, error) {
		w, chosen, err := s.choose(t, choose)
		if err != nil {
			return nil, err
		}
		rest, left := hunks.WithoutYours(w.diffs, chosen)
		if len(rest) == 0 {
			s.show(levelWarning, "cursord: rejected nothing; %s", left)
			return nil, nil
		}
		s.decideThere(w, false, rest, left)
		return nil, nil
	}
}

// shown also shows the error with which a command is answered, since some editors show no such errors.
func (s *Server) shown(err error) error {
	s.show(levelWarning, "cursord: %s", err.Error())
	return err
}

func (s *Server) newCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	w.session, w.opening, w.fresh = "", nil, true
	s.show(levelInfo, "cursord: the next prompt begins a new session")
	return nil, nil
}

func (s *Server) cancelCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	turns := []string{}
	for id := range w.running {
		if t.Turn == "" || t.Turn == id {
			turns = append(turns, id)
		}
	}
	if len(turns) == 0 {
		s.show(levelInfo, "cursord: no turn is running")
	}
	// Cancel the latest turn first: the end of an earlier one would start it.
	slices.SortFunc(turns, func(a, b string) int { return w.running[b].number - w.running[a].number })
	for _, id := range turns {
		s.cancelTurn(id)
	}
	return nil, nil
}

func (s *Server) cancelTurn(id string) {
	call(s, "turn/cancel", rpc.TurnParams{TurnID: id}, func(_ rpc.TurnResult, err error) {
		if err != nil {
			s.complain(err)
		}
	})
}

func (s *Server) statusCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	title := "a new session"
	session := s.nextSession(w)
	if one := w.sessions[session]; one != nil {
		title = "session " + plaintext.FirstLine(one.Title, 60)
	}
	hunks, _ := w.left()
	s.show(levelInfo, "cursord: %s to review, %s running, %s", plaintext.Count(len(hunks), "hunk"), plaintext.Count(len(w.running), "turn"), title)
	return map[string]any{"workspace": w.path, "session": session, "running": len(w.running), "hunks": len(hunks)}, nil
}
