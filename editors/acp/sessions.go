package acp

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/editors/acp/protocol"
	"cursord/editors/acp/updates"
	"cursord/rpc"
	"cursord/sessions"
)

// listPage is the length of a page of session/list. Some clients ask for one page only.
const listPage = 500

// resumed is how many items of a session are read to find those of a turn that runs.
const resumed = 200

// A session is one that the editor has opened.
type session struct {
	info    *sessions.Session // its newest form
	cwd     string            // as the editor spells it
	dirs    []string          // further folders for the agent, as the editor named them
	folder  *folder
	tell    *updates.Session
	since   uint64           // what has a higher seq is news
	news    *news            // what waits until the session is loaded or resumed; else nil
	was     *updates.Session // tell, before the editor loaded it again; nil: it had not opened it
	missed  *news            // what came then, before the history was asked for; or nil
	then    []func()         // what waits until it is loaded or resumed
	turn    string           // the id of the turn that runs, whoever started it
	later   []*sessions.Turn // they ended before they began; the editor hears of them when the running turn has ended
	prompts []*prompt
	told    string // the options that the editor has, encoded
	setting int    // changes that the editor has asked for; their answers tell it of these
	through bool   // accepts are written by the editor

	approvals map[string]*askedApproval // pending, by id
	over      map[string]bool           // approvals that have ended, by id
	commands  []*request                // that have no answer yet
	writing   *writing                  // what the editor writes now; or nil
	rewound   []string                  // turns that /rewind removes here
	back      string                    // the prompt of the first turn that another client has removed, until the editor is told
}

// remarkID returns an id for a message of cursord's own, which no other process has given one either.
func (s *Server) remarkID() string { return "cursord:" + rand.Text() }

// openable checks the parameters by which a session is made or opened.
func openable(p *protocol.SessionParams) error {
	if p.CWD == "" || !filepath.IsAbs(p.CWD) {
		return invalid("cwd", "must be an absolute path")
	}
	if p.AdditionalDirectories.Wrong {
		return invalid("additionalDirectories", "must be a list of absolute paths")
	}
	for i, dir := range p.AdditionalDirectories.Paths {
		if !filepath.IsAbs(dir) {
			return invalid(fmt.Sprintf("additionalDirectories[%d]", i), "must be an absolute path")
		}
	}
	return nil
}

// owns enters a session as open in the editor. If it was open before, its prompts go on.
func (s *Server) owns(in *folder, p *protocol.SessionParams, info *sessions.Session) *session {
	at := &session{
		info: info, cwd: filepath.Clean(p.CWD), dirs: p.AdditionalDirectories.Paths, folder: in, since: in.seq,
		approvals: map[string]*askedApproval{}, over: map[string]bool{},
	}
	at.tell = updates.NewSession(at.cwd, func(update json.RawMessage) { s.update(info.ID, update) })
	if old := s.sessions[info.ID]; old != nil { // it is opened again
		at.prompts, at.turn, at.through, at.commands, at.was, at.then = old.prompts, old.turn, old.through, old.commands, old.tell, old.then
		at.approvals, at.over, at.missed = old.approvals, old.over, old.news
		for _, p := range at.prompts {
			p.at = at
		}
	}
	s.sessions[info.ID] = at
	return at
}

// update tells the editor what is new of a session, unless it has closed it.
func (s *Server) update(session string, update json.RawMessage) {
	if s.sessions[session] != nil {
		s.out.Send("", protocol.AppendUpdate(nil, session, update))
	}
}

func (s *Server) newSession(r *request) {
	var p protocol.SessionParams
	r.decode(&p)
	if err := openable(&p); err != nil {
		r.answer(nil, err)
		return
	}
	s.subscribeTo(p.CWD, func(in *folder, err error) {
		if err != nil {
			r.answer(nil, inCWD(err))
			return
		}
		call(s, "session/create", rpc.SessionCreateParams{Workspace: in.path}, func(made rpc.SessionResult, err error) {
			if err != nil {
				r.answer(nil, inCWD(err))
				return
			}
			s.made(r, in, &p, made.Session)
		})
	})
}

// forkSession makes a session with what was said in another one, up to the turn that is named, and opens it.
func (s *Server) forkSession(r *request) {
	var p struct {
		protocol.SessionParams
		TurnID string  `json:"turnId"`
		Title  *string `json:"title"`
	}
	r.decode(&p)
	if at := s.sessions[p.SessionID]; p.CWD == "" && at != nil {
		p.CWD = at.cwd
	}
	fork := func() {
		if err := openable(&p.SessionParams); err != nil {
			r.answer(nil, err)
			return
		}
		s.subscribeTo(p.CWD, func(in *folder, err error) {
			if err != nil {
				r.answer(nil, inCWD(err))
				return
			}
			call(s, "session/fork", rpc.SessionForkParams{SessionID: p.SessionID, TurnID: p.TurnID, Title: p.Title}, func(made rpc.SessionResult, err error) {
				switch {
				case err != nil:
					r.answer(nil, err)
				case made.Session.Workspace != in.path:
					wrong := invalid("cwd", fmt.Sprintf("the session belongs to %s: fork it with that cwd", made.Session.Workspace))
					call(s, "session/delete", rpc.SessionParams{SessionID: made.Session.ID}, func(none, error) { r.answer(nil, wrong) })
				default:
					s.made(r, in, &p.SessionParams, made.Session)
				}
			})
		})
	}
	switch {
	case p.SessionID == "":
		r.answer(nil, invalid("sessionId", "must be the id of a session"))
	case p.CWD != "":
		fork()
	default: // it is not open here
		call(s, "session/read", rpc.SessionReadParams{SessionID: p.SessionID, Limit: 1}, func(read api.Transcript, err error) {
			if err != nil {
				r.answer(nil, err)
				return
			}
			p.CWD = read.Session.Workspace
			fork()
		})
	}
}

// made gives the editor a session that was made for it. If the editor has cancelled that, nobody knows the session, and it goes.
func (s *Server) made(r *request, in *folder, p *protocol.SessionParams, info *sessions.Session) {
	if r.answered {
		call(s, "session/delete", rpc.SessionParams{SessionID: info.ID}, func(none, error) {})
		return
	}
	s.opened(r, s.owns(in, p, info), info.ID)
}

// inCWD names the parameter by which the editor gave the workspace.
func inCWD(err error) error {
	if e, ok := err.(*rpc.Error); ok && e.Data.Field == "workspace" {
		return invalid("cwd", e.Message)
	}
	return err
}

// opened answers the request that has opened a session, with its choices, and offers the commands.
func (s *Server) opened(r *request, at *session, id string) {
	options := s.optionsOf(at)
	at.told = string(protocol.Encode(options))
	r.answer(protocol.NewResult{SessionID: id, Modes: modesOf(at), ConfigOptions: options}, nil)
	s.update(at.info.ID, commandsUpdate())
	s.learnModels()
}

func (s *Server) listSessions(r *request) {
	var p protocol.ListParams
	r.decode(&p)
	if p.CWD != "" && !filepath.IsAbs(p.CWD) {
		r.answer(nil, invalid("cwd", "must be an absolute path"))
		return
	}
	params := rpc.SessionListParams{Workspace: p.CWD, Limit: listPage, Cursor: p.Cursor}
	call(s, "session/list", params, func(list rpc.SessionList, err error) {
		if e := (*rpc.Error)(nil); err != nil && !(errors.As(err, &e) && e.Data.Field == "workspace") { // a folder that nobody knows has none
			r.answer(nil, err)
			return
		}
		result := protocol.ListResult{Sessions: []protocol.SessionInfo{}, NextCursor: list.NextCursor}
		for _, one := range list.Sessions {
			if one.Turns == 0 {
				continue // editors make sessions that they never use
			}
			info := protocol.SessionInfo{SessionID: one.ID, CWD: one.Workspace, Title: one.Title, UpdatedAt: rfc3339(one.UpdatedAt)}
			if p.CWD != "" {
				info.CWD = p.CWD
			}
			result.Sessions = append(result.Sessions, info)
		}
		r.answer(result, nil)
	})
}

func rfc3339(t sessions.Time) string { return t.Format(time.RFC3339Nano) }

// closeSession lets go of a session, and cancels the turns that this editor has started in it. It answers when these have ended. The turns of
// others go on, though the editor's calls end.
func (s *Server) closeSession(r *request) {
	at := s.sessionOf(r)
	if at == nil {
		return
	}
	left := 1
	ended := func(rpc.TurnResult, error) {
		if left--; left == 0 {
			r.answer(none{}, nil)
		}
	}
	for _, p := range slices.Backward(slices.Clone(at.prompts)) {
		if s.cancelPrompt(p); p.begun {
			left++
			call(s, "turn/wait", rpc.TurnParams{TurnID: p.params.TurnID}, ended)
		}
	}
	s.endCalls(at)
	s.drop(at, nil)
	ended(rpc.TurnResult{}, nil)
}

// endCalls ends the calls of a session that are open: the editor is told no more of them.
func (s *Server) endCalls(at *session) {
	if at.news != nil && at.was != nil { // it is loaded again
		at.was.CloseBeside(at.tell)
	}
	at.tell.Close()
	for id, asked := range at.approvals {
		if asked.own && !asked.linked {
			s.showsQuestion(at, id, protocol.Failed)
		}
	}
}

// deleteSession deletes a session, unless something is to review in its copy, which would go too. That of one which is not there succeeds.
func (s *Server) deleteSession(r *request) {
	var p protocol.SessionParams
	r.decode(&p)
	if p.SessionID == "" {
		r.answer(nil, invalid("sessionId", "must be the id of a session"))
		return
	}
	end := func(err error) {
		if err != nil && kindOf(err) != api.KindNotFound {
			r.answer(nil, err)
			return
		}
		r.answer(none{}, nil)
	}
	call(s, "session/read", rpc.SessionReadParams{SessionID: p.SessionID, Limit: 1}, func(read api.Transcript, err error) {
		if err != nil {
			end(err)
			return
		}
		remove := func() {
			call(s, "session/delete", rpc.SessionParams{SessionID: p.SessionID}, func(_ none, err error) { end(err) })
		}
		if read.Session.Isolation != "copy" {
			remove()
			return
		}
		call(s, "diff/list", rpc.DiffParams{Workspace: read.Session.Workspace}, func(list rpc.DiffList, err error) {
			left, hunks := sessions.InCopy(list.Diffs, p.SessionID)
			switch {
			case err == nil && hunks > 0:
				end(&rpc.Error{
					Code: rpc.CodeInternal, Message: fmt.Sprintf("the copy of session %s has %s in %s to review, and they would be lost: nothing was deleted",
						p.SessionID, plaintext.Count(hunks, "hunk"), plaintext.Count(len(left), "file")),
					Data: rpc.ErrorData{Kind: api.KindConflict, Hint: "/accept or /reject in its chat decides them; in a terminal, cursord delete -y " + p.SessionID + " deletes it all the same"},
				})
			case err != nil || r.answered: // cancelled meanwhile
				end(err)
			default:
				remove()
			}
		})
	})
}

// sessionOf returns the session that a request names; if it is not open here, it answers the request and returns nil.
func (s *Server) sessionOf(r *request) *session {
	var p protocol.SessionParams
	r.decode(&p)
	at := s.sessions[p.SessionID]
	if at == nil {
		r.answer(nil, unknownSession(p.SessionID))
	}
	return at
}

// drop forgets a session. Its prompts are answered with err, or as cancelled; commands that wait for a person as cancelled.
func (s *Server) drop(at *session, err error) {
	for _, asked := range at.approvals { // other clients may answer
		s.withdraw(asked.request)
	}
	at.cancelCommands()
	for _, p := range slices.Backward(slices.Clone(at.prompts)) {
		if err != nil {
			s.settle(p, nil, err)
		} else {
			s.settle(p, protocol.PromptResult{StopReason: "cancelled"}, nil)
		}
	}
	delete(s.sessions, at.info.ID)
	s.goOnOpening(at)
}

// tellSession takes the newest form of a session, and tells the editor what is new in it.
func (s *Server) tellSession(at *session, info *sessions.Session) {
	was := at.info
	at.info = info
	s.tellBack(at)
	if was.Title != info.Title {
		s.update(info.ID, protocol.Encode(protocol.InfoUpdate{Update: "session_info_update", Title: info.Title, UpdatedAt: rfc3339(info.UpdatedAt)}))
	}
	if at.setting > 0 {
		return
	}
	if was.Mode != info.Mode {
		s.tellMode(at)
	}
	s.tellOptions(at)
}

// tellMode tells the editor the mode, for editors that show it apart from the choices.
func (s *Server) tellMode(at *session) {
	s.update(at.info.ID, protocol.Encode(protocol.ModeUpdate{Update: "current_mode_update", CurrentModeID: string(at.info.Mode)}))
}

// tellOptions tells the editor the choices of a session, if it has others.
func (s *Server) tellOptions(at *session) {
	options := s.optionsOf(at)
	encoded := string(protocol.Encode(options))
	if encoded == at.told {
		return
	}
	at.told = encoded
	s.update(at.info.ID, protocol.Encode(protocol.OptionsUpdate{Update: "config_option_update", ConfigOptions: options}))
}
