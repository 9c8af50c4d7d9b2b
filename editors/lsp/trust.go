package lsp

import (
	"fmt"
	"path/filepath"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// The answers to the question of trust. The safe one comes first, because editors preselect the first one.
const (
	titleDeny  = "Deny"
	titleAllow = "Trust this folder"
)

// askTrust asks whether the agent may work in the folder of a prompt. The prompt waits for the answer.
func (s *Server) askTrust(p *prompt) {
	w := p.workspace
	if w.untrusted = append(w.untrusted, p); len(w.untrusted) > 1 {
		return // the question is open
	}
	if !s.client.Questions {
		// Some editors cut the line off, so it begins with what to do.
		s.show(levelWarning, "cursord: trust %s? %s or %s – the agent would run commands and change files in %s",
			plaintext.FirstLine(filepath.Base(w.named), 40), s.client.Key("allow"), s.client.Key("deny"), w.named)
		return
	}
	message := fmt.Sprintf("May the agent run commands and change files in %s?", w.named)
	s.question(message, []protocol.MessageAction{{Title: titleDeny}, {Title: titleAllow}}, func(title string, err error) {
		switch {
		case len(w.untrusted) == 0:
		case err != nil:
			s.show(levelWarning, "cursord: %s is not trusted: %s or %s", w.named, s.client.Key("allow"), s.client.Key("deny"))
		case title == titleAllow:
			s.trust(w)
		default:
			s.deny(w)
		}
	})
}

// trustCommand trusts the folder and sends the prompts that wait for that.
func (s *Server) trustCommand(t *target) (any, error) {
	w, err := s.askedFolder(t)
	if err != nil {
		return nil, err
	}
	s.trust(w)
	return nil, nil
}

func (s *Server) denyCommand(t *target) (any, error) {
	w, err := s.askedFolder(t)
	if err != nil {
		return nil, err
	}
	if len(w.untrusted) == 0 {
		s.show(levelInfo, "cursord: no prompt waits for trust")
		return nil, nil
	}
	s.deny(w)
	return nil, nil
}

// askedFolder returns the folder of an answer. If the command names none, it is one whose question is open.
func (s *Server) askedFolder(t *target) (*workspace, error) {
	for _, w := range s.folders {
		if t.Workspace == "" && t.URI == "" && t.Path == "" && len(w.untrusted) > 0 {
			return w, nil
		}
	}
	return s.folderOf(t)
}

func (s *Server) trust(w *workspace) {
	waiting := w.untrusted
	w.untrusted = nil
	call(s, "workspace/trust", rpc.TrustParams{Workspace: w.path, Trusted: true}, func(_ api.TrustResult, err error) {
		if err != nil {
			for _, p := range waiting {
				s.drop(p)
			}
			s.complain(err)
			return
		}
		s.show(levelInfo, "cursord: trusted %s", w.named)
		for _, p := range waiting {
			s.startTurn(p)
		}
	})
}

func (s *Server) deny(w *workspace) {
	waiting := w.untrusted
	w.untrusted = nil
	for _, p := range waiting {
		s.drop(p)
	}
	s.show(levelInfo, "cursord: denied, and the prompt was not sent – %s opens it again", s.client.Key("compose"))
}
