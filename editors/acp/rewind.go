package acp

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

const (
	rewindOption = "rewind"
	leaveOption  = "leave"
	// maxTurns bounds the turns among which /rewind finds one.
	maxTurns = 1000
)

var countOfTurns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[1-9]\d{0,3}$`) })

// rewindCommand takes the session back to before a turn, by default the last one. The person sees first what that changes in files.
func (s *Server) rewindCommand(at *session, r *request, rest string) {
	params := rpc.TurnListParams{SessionID: at.info.ID, Limit: maxTurns}
	call(s, "turn/list", params, func(list rpc.TurnList, err error) {
		turn := ""
		if err == nil && len(list.Turns) == 0 {
			s.says(at, r, "Nothing to rewind: the session has no turns.\n")
			return
		}
		if err == nil {
			turn, err = turnOf(list.Turns, rest)
		}
		if err != nil {
			s.saysError(at, r, err)
			return
		}
		s.rewind(at, r, turn, "", func(would api.Rewound) { s.askRewind(at, r, turn, &would) })
	})
}

// turnOf returns the turn from which on a session is taken back. turns begin with the last one; name is how many of them, or an id or its
// beginning.
func turnOf(turns []*sessions.Turn, name string) (string, error) {
	if name == "" {
		name = "1"
	}
	if countOfTurns().MatchString(name) {
		n, _ := strconv.Atoi(name)
		if n > len(turns) {
			return "", invalid(name, "is too many: the session has "+plaintext.Count(len(turns), "turn"))
		}
		return turns[n-1].ID, nil
	}
	var found []string
	for _, t := range turns {
		if t.ID == name {
			return name, nil
		}
		if strings.HasPrefix(t.ID, name) {
			found = append(found, t.ID)
		}
	}
	if len(found) != 1 {
		return "", invalid(name, "names no turn of this session: give its id, or how many of the last turns")
	}
	return found[0], nil
}

// rewind takes the session back to before a turn if last is its last one; with last "", it only says what that would be.
func (s *Server) rewind(at *session, r *request, turn, last string, then func(api.Rewound)) {
	params := rpc.SessionRewindParams{SessionID: at.info.ID, TurnID: turn, LastTurnID: last, DryRun: last == ""}
	call(s, "session/rewind", params, func(done api.Rewound, err error) {
		if err != nil {
			at.rewound = nil
		}
		switch {
		case r.answered: // cancelled meanwhile
		case kindOf(err) == api.KindConflict:
			s.says(at, r, "Nothing was taken back: the session has gone on since you were asked. Send the command again to see what it takes back now.\n")
		case err != nil:
			s.saysError(at, r, err)
		default:
			then(done)
		}
	})
}

// askRewind puts the question, as the permission for a call of cursord's own.
func (s *Server) askRewind(at *session, r *request, turn string, would *api.Rewound) {
	about := []protocol.Content{protocol.TextContent(rewoundText("This takes back", would))}
	if would.Patch != "" {
		about = append(about, protocol.TextContent(protocol.Fenced("diff", plaintext.Cut(would.Patch, maxShown))))
	}
	question := protocol.ToolCall{
		Update: "tool_call", ToolCallID: "rewind-" + rand.Text(), Title: "Take back " + plaintext.Count(len(would.Turns), "turn"), Kind: "other",
		Status: protocol.Pending, Content: about,
	}
	s.update(at.info.ID, protocol.Encode(&question))
	id := question.ToolCallID
	question.Update = ""
	end := func(status string) {
		r.endsAsPrompt(at)
		s.update(at.info.ID, protocol.Encode(&protocol.ToolCall{Update: "tool_call_update", ToolCallID: id, Status: status}))
	}
	params := protocol.PermissionParams{SessionID: at.info.ID, ToolCall: question, Options: []protocol.PermissionOption{
		{OptionID: rewindOption, Name: "Take back", Kind: "allow_once"},
		{OptionID: leaveOption, Name: "Leave as it is", Kind: "reject_once"},
	}}
	asked := s.ask("session/request_permission", params, func(m rpc.Message) {
		var said protocol.PermissionResult
		switch {
		case m.Error != nil || protocol.Decode(m.Result, &said) != nil:
			end(protocol.Failed)
			s.says(at, r, fmt.Sprintf("This editor does not ask. In a terminal: `cursord rewind --turn %s %s`\n", turn, at.info.ID))
		case said.Outcome != "selected" || said.OptionID != rewindOption:
			end(protocol.Failed)
			s.says(at, r, "Nothing was taken back.\n")
		default:
			end(protocol.Completed)
			at.rewound = slices.Clone(would.Turns)
			s.rewind(at, r, turn, would.Turns[len(would.Turns)-1], func(done api.Rewound) {
				text := rewoundText("Took back", &done) + "\nThe agent knows of them no more, though the editor may still show them."
				if done.Applied > 0 { // else it is no decision
					text += " `/undo` brings the files back."
				}
				s.says(at, r, text+"\n")
			})
		}
	})
	r.onCancel = func() {
		end(protocol.Failed)
		s.withdraw(asked)
		r.onCancel()
	}
}

// rewoundText says what a rewind takes back, and what it leaves.
func rewoundText(verb string, done *api.Rewound) string {
	text := fmt.Sprintf("%s %s and %s of files.\n", verb, plaintext.Count(len(done.Turns), "turn"), plaintext.Count(done.Applied, "change"))
	for _, left := range done.Skipped {
		why := left.Message
		if left.Kind == api.KindChangedSince {
			why = "what was changed since"
		}
		text += fmt.Sprintf("\n- `%s` keeps: %s\n", left.Path, why)
	}
	return text
}

// removed takes the removal of a turn, maybe one of another session. The change of the session itself comes behind its turns.
func (at *session) removed(turnID string) {
	prompt, shows := at.tell.Removed(turnID)
	if i := slices.Index(at.rewound, turnID); i >= 0 {
		at.rewound = slices.Delete(at.rewound, i, i+1)
	} else if shows && at.back == "" {
		at.back = cmp.Or(prompt, "its first prompt")
	}
}

// tellBack tells the editor that another client has taken the session back: ACP cannot remove what an editor shows.
func (s *Server) tellBack(at *session) {
	if at.back != "" {
		at.tell.Remark(s.remarkID(), fmt.Sprintf("The session went back to before the prompt “%s”. What this editor shows from there on is no part of it "+
			"any more: load the session again to see it as it is.", at.back))
		at.back = ""
	}
}
