package acp

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/editors/acp/protocol"
	"cursord/rpc"
)

const (
	trustOption = "trust"
	denyOption  = "deny"
)

// askTrust asks a person whether the agent may work in a folder. The session's prompts wait for the answer.
func (s *Server) askTrust(p *prompt, refused error) {
	folder := p.at.folder.path
	if waiting := s.trusting[folder]; waiting != nil {
		s.trusting[folder] = append(waiting, p)
		return
	}
	s.trusting[folder] = []*prompt{p}
	wanted := folder
	if e := (*rpc.Error)(nil); errors.As(refused, &e) && e.Data.Path != "" {
		wanted = e.Data.Path
	}
	call(s, "workspace/trust", rpc.TrustParams{Workspace: wanted, Trusted: true, DryRun: true}, func(would api.TrustResult, err error) {
		if !slices.Contains(s.trusting[folder], p) {
			return
		}
		if err != nil {
			s.distrust(folder, err)
			return
		}
		s.askPerson(p, folder, wanted, would.Unused, refused)
	})
}

// askPerson puts the question, as the permission for a call of cursord's own.
func (s *Server) askPerson(p *prompt, folder, wanted string, unused []string, refused error) {
	session, id := p.at.info.ID, "trust-"+rand.Text()
	about := fmt.Sprintf("The agent runs commands and changes files in %s, and a repository there can tell it to. cursord asks once for each folder.", wanted)
	if len(unused) > 0 {
		about += "\n\nThese settings of its repository would be used from now on:\n\n- " + strings.Join(unused, "\n- ")
	}
	question := protocol.ToolCall{
		Update: "tool_call", ToolCallID: id, Title: "Trust " + wanted, Kind: "other", Status: protocol.Pending,
		Content: []protocol.Content{protocol.TextContent(about)}, Locations: []protocol.Location{{Path: wanted}},
	}
	s.update(session, protocol.Encode(&question))
	question.Update = ""
	end := func(status string) {
		s.update(session, protocol.Encode(&protocol.ToolCall{Update: "tool_call_update", ToolCallID: id, Status: status}))
	}
	params := protocol.PermissionParams{SessionID: session, ToolCall: question, Options: []protocol.PermissionOption{
		{OptionID: trustOption, Name: "Trust this folder", Kind: "allow_once"},
		{OptionID: denyOption, Name: "Not now", Kind: "reject_once"},
	}}
	p.asking = s.ask("session/request_permission", params, func(m rpc.Message) {
		p.asking = ""
		var said protocol.PermissionResult
		if m.Error != nil || protocol.Decode(m.Result, &said) != nil || said.Outcome.Outcome != "selected" || said.Outcome.OptionID != trustOption {
			end(protocol.Failed)
			s.distrust(folder, refused)
			return
		}
		call(s, "workspace/trust", rpc.TrustParams{Workspace: wanted, Trusted: true}, func(_ api.TrustResult, err error) {
			if err != nil {
				end(protocol.Failed)
				s.distrust(folder, err)
				return
			}
			end(protocol.Completed)
			waiting := s.trusting[folder]
			delete(s.trusting, folder)
			for _, next := range waiting {
				s.start(next)
			}
		})
	})
}

// distrust answers the prompts that wait for trust in a folder.
func (s *Server) distrust(folder string, err error) {
	waiting := s.trusting[folder]
	delete(s.trusting, folder)
	for _, p := range waiting {
		if p.cancelled {
			err = nil
		}
		s.settle(p, protocol.PromptResult{StopReason: "cancelled"}, err)
	}
}
