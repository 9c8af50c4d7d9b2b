package lsp

import (
	"encoding/json"

	"cursord/editors/lsp/client"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

func (s *Server) initialize(params json.RawMessage) (any, error) {
	if s.phase != fresh {
		return nil, protocol.InvalidRequest("initialize came before")
	}
	var p protocol.InitializeParams
	if err := rpc.DecodeParams(params, &p); err != nil {
		return nil, err
	}
	var c client.Capabilities
	// An error means that a member has another type; the others are read.
	_ = json.Unmarshal(p.Capabilities, &c)
	s.client = client.New(&c)
	if p.ClientInfo != nil {
		s.client.Name, s.client.Version = p.ClientInfo.Name, p.ClientInfo.Version
	}
	_ = json.Unmarshal(p.InitializationOptions, &s.client.Settings) // an error means the same here
	s.phase, s.roots = serving, client.RootsOf(&p)
	return s.client.Answer(s.opts.Version, commandNames()), nil
}

// initialized asks the editor for its configuration: from now on it takes requests.
func (s *Server) initialized() {
	if s.phase != serving {
		return
	}
	if s.client.Configuration {
		s.askConfiguration()
	}
	if s.client.Registers {
		s.registerCompletion()
	}
}

func (s *Server) askConfiguration() {
	params := protocol.ConfigurationParams{Items: []protocol.ConfigurationItem{{Section: protocol.Source}}}
	s.ask("workspace/configuration", params, func(m rpc.Message) {
		var answer []client.Settings
		if protocol.Failed(m) != nil || json.Unmarshal(m.Result, &answer) != nil || len(answer) == 0 {
			return
		}
		s.client.Settings.Update(answer[0])
	})
}

func (s *Server) didChangeConfiguration(p *protocol.ConfigurationChange) {
	if s.client.Configuration {
		s.askConfiguration()
		return
	}
	var all struct{ Cursord client.Settings }
	if json.Unmarshal(p.Settings, &all) == nil {
		s.client.Settings.Update(all.Cursord)
	}
}

func (s *Server) exit() {
	clean := s.phase == shutDown
	s.phase = exited
	s.clean = clean
}
