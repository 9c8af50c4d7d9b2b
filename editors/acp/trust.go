package acp

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cursord/daemon/api"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
)

const (
	trustOption = "trust"
	denyOption  = "deny"
)

// A trusting is the question whether the agent may work in a folder, until it is answered.
type trusting struct {
	by      *prompt                  // in whose session it is put
	waiting []*prompt                // those that wait for the answer, by included
	wanted  string                   // the folder to trust
	request string                   // by which a person is asked; "" before that
	end     func(status, why string) // ends the call as which the question is shown; why it has failed, or ""
}

// add has a prompt wait, in the order in which prompts came.
func (q *trusting) add(p *prompt) {
	i, _ := slices.BinarySearchFunc(q.waiting, p, func(a, b *prompt) int { return cmp.Compare(a.number, b.number) })
	q.waiting = slices.Insert(q.waiting, i, p)
}

// askTrust asks a person whether the agent may work in a folder. The folder's prompts wait for the answer.
func (s *Server) askTrust(p *prompt, refused error) {
	folder := p.at.folder.path
	if q := s.trusting[folder]; q != nil {
		q.add(p)
		return
	}
	q := &trusting{by: p, waiting: []*prompt{p}, wanted: folder}
	s.trusting[folder] = q
	if e := (*rpc.Error)(nil); errors.As(refused, &e) && e.Data.Path != "" {
		q.wanted = e.Data.Path
	}
	call(s, "workspace/trust", rpc.TrustParams{Workspace: q.wanted, Trusted: true, DryRun: true}, func(would api.TrustResult, err error) {
		switch {
		case s.trusting[folder] != q: // the prompt was cancelled
		case err != nil:
			s.distrust(folder, err)
		default:
			s.askPerson(q, would.Unused)
		}
	})
}

// leaves has a prompt wait no longer. If it was the one in whose session the question is, the others ask again.
func (s *Server) leaves(p *prompt) {
	folder := p.at.folder.path
	q := s.trusting[folder]
	if q == nil {
		return
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(other *prompt) bool { return other == p })
	if q.by != p {
		return
	}
	if q.request != "" {
		q.end(protocol.Failed, "The prompt was cancelled.")
		s.withdraw(q.request)
	}
	s.goOn(folder)
}

// askTrustAgain ends the question for a folder if somebody has answered it elsewhere, as by "cursord trust".
func (s *Server) askTrustAgain(folder string) {
	q := s.trusting[folder]
	if q == nil || q.request == "" {
		return
	}
	call(s, "workspace/trust", rpc.TrustParams{Workspace: q.wanted, Trusted: true, DryRun: true}, func(now api.TrustResult, err error) {
		if err == nil && now.Trusted && s.trusting[folder] == q && s.asked[q.request] != nil {
			q.end(protocol.Completed, "")
			s.withdraw(q.request)
			s.goOn(folder)
		}
	})
}

// trustPause is the time between two looks whether a question for trust was answered elsewhere. The daemon sends no word of that.
const trustPause = 2 * time.Second

func (s *Server) watchTrust(folder string, q *trusting) {
	time.AfterFunc(trustPause, func() {
		s.post(func() {
			if s.trusting[folder] == q && s.asked[q.request] != nil {
				s.askTrustAgain(folder)
				s.watchTrust(folder, q)
			}
		})
	})
}

// goOn ends a question, and starts the prompts that waited for the answer.
func (s *Server) goOn(folder string) {
	waiting := s.trusting[folder].waiting
	delete(s.trusting, folder)
	for _, next := range waiting {
		s.start(next)
	}
}

// askPerson puts the question, as the permission for a call of cursord's own.
func (s *Server) askPerson(q *trusting, unused []string) {
	folder, session, id, wanted := q.by.at.folder.path, q.by.at.info.ID, "trust-"+rand.Text(), q.wanted
	about := fmt.Sprintf("The agent runs commands and changes files in %s, and a repository there can tell it to. cursord asks once for each folder.", wanted)
	if len(unused) > 0 {
		about += "\n\nThese settings of its repository would be used from now on:\n\n- " + strings.Join(unused, "\n- ")
	}
	s.watchTrust(folder, q)
	question := protocol.ToolCall{
		Update: "tool_call", ToolCallID: id, Title: "Trust " + wanted, Kind: "other", Status: protocol.Pending,
		Content: []protocol.Content{protocol.TextContent(about)}, Locations: []protocol.Location{{Path: wanted}},
	}
	s.update(session, protocol.Encode(&question))
	question.Update = ""
	q.end = func(status, why string) {
		ended := protocol.ToolCall{Update: "tool_call_update", ToolCallID: id, Status: status}
		if why != "" {
			ended.Content = append(slices.Clone(question.Content), protocol.TextContent(why))
		}
		s.update(session, protocol.Encode(&ended))
	}
	params := protocol.PermissionParams{SessionID: session, ToolCall: question, Options: []protocol.PermissionOption{
		{OptionID: trustOption, Name: "Trust this folder", Kind: "allow_once"},
		{OptionID: denyOption, Name: "Not now", Kind: "reject_once"},
	}}
	q.request = s.ask("session/request_permission", params, func(m rpc.Message) {
		var said protocol.PermissionResult
		if m.Error != nil || protocol.Decode(m.Result, &said) != nil || said.Outcome != "selected" || said.OptionID != trustOption {
			s.notNow(folder, q)
			return
		}
		call(s, "workspace/trust", rpc.TrustParams{Workspace: wanted, Trusted: true}, func(_ api.TrustResult, err error) {
			if err != nil {
				q.end(protocol.Failed, failure(err, "workspace/trust").Message)
			} else {
				q.end(protocol.Completed, "")
			}
			switch {
			case s.trusting[folder] != q: // the prompt was cancelled meanwhile
			case err != nil:
				s.distrust(folder, err)
			default:
				s.goOn(folder)
			}
		})
	})
}

// notNow ends a question with a no. The folder may have been trusted elsewhere while the question was open: the prompts do not begin then either, but
// are not told that it is not trusted.
func (s *Server) notNow(folder string, q *trusting) {
	call(s, "workspace/trust", rpc.TrustParams{Workspace: q.wanted, Trusted: true, DryRun: true}, func(now api.TrustResult, err error) {
		if s.trusting[folder] != q { // the prompt was cancelled meanwhile
			return
		}
		switch {
		case err != nil:
		case now.Trusted:
			err = &rpc.Error{
				Code: rpc.CodeInternal, Message: "the agent did not begin, because nobody allowed it here, although " + q.wanted + " was trusted elsewhere meanwhile",
				Data: rpc.ErrorData{Path: q.wanted, Hint: "send the prompt again to have it begin"},
			}
		default:
			err = &rpc.Error{Code: rpc.CodeInternal, Message: q.wanted + " is not trusted, so the agent did not begin", Data: rpc.ErrorData{
				Kind: api.KindWorkspaceUntrusted, Path: q.wanted, Hint: "send the prompt again to be asked again, or run: cursord trust " + q.wanted,
			}}
		}
		q.end(protocol.Failed, failure(err, "workspace/trust").Message)
		s.distrust(folder, err)
	})
}

// distrust answers the prompts that wait for trust in a folder.
func (s *Server) distrust(folder string, err error) {
	waiting := s.trusting[folder].waiting
	delete(s.trusting, folder)
	for _, p := range waiting {
		s.settle(p, nil, err)
	}
}
