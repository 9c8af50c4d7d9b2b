package join

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"cursord/daemon/paths"
	"cursord/rpc"
)

// clientState is what an editor has said about itself, which each new daemon must get again. It belongs to whoever holds the joiner's
// order.
type clientState struct {
	initialize json.RawMessage          // the params of initialize; nil if there were none
	greeted    bool                     // the joiner has answered initialize
	trace      json.RawMessage          // the params of the latest $/setTrace
	documents  map[string]*openDocument // by path; a URI that is no path stands for itself
	opened     uint64                   // how many documents were opened so far
}

// An openDocument is the state that a document/didOpen would report now.
type openDocument struct {
	order   uint64 // the documents are opened again in this order
	version int
	params  json.RawMessage
}

// record keeps what a notification of the editor says about it.
func (s *clientState) record(m *rpc.Message) {
	switch m.Method {
	case "$/setTrace":
		s.trace = m.Params
	case "document/didOpen", "document/didChange", "document/didSave", "document/didClose":
		s.recordDocument(m)
	}
}

func (s *clientState) recordDocument(m *rpc.Message) {
	var p struct {
		URI     string          `json:"uri"`
		Version *int            `json:"version,omitempty"`
		Text    json.RawMessage `json:"text,omitempty"`
		Saved   bool            `json:"saved,omitempty"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	version := 0
	if p.Version != nil {
		version = *p.Version
	}
	name, err := paths.Local(p.URI)
	if err != nil {
		name = p.URI
	}
	d := s.documents[name]
	switch m.Method {
	case "document/didOpen":
		if s.documents == nil {
			s.documents = map[string]*openDocument{}
		}
		s.opened++
		s.documents[name] = &openDocument{order: s.opened, version: version, params: m.Params}
	case "document/didChange":
		if d != nil && p.Version != nil && p.Text != nil && version > d.version {
			d.version, d.params = version, m.Params
		}
	case "document/didSave":
		if d == nil || p.Version != nil && version < d.version {
			return
		}
		if p.Version == nil || version == d.version {
			_ = json.Unmarshal(d.params, &p) // it was JSON before
		} else {
			d.version, p.Text = version, nil // as on disk
		}
		p.Version, p.Saved = &d.version, p.Text != nil
		if saved, err := json.Marshal(p); err == nil {
			d.params = saved
		}
	case "document/didClose":
		delete(s.documents, name)
	}
}

// messages returns the messages that tell a new daemon the state; initializeID is the id of the initialize request.
func (s *clientState) messages(initializeID json.RawMessage) (list [][]byte) {
	if s.greeted {
		list = append(list, rpc.AppendRequest(nil, initializeID, "initialize", s.initialize))
	}
	if s.trace != nil {
		list = append(list, rpc.AppendRequest(nil, nil, "$/setTrace", s.trace))
	}
	open := slices.SortedFunc(maps.Values(s.documents), func(a, b *openDocument) int { return cmp.Compare(a.order, b.order) })
	for _, d := range open {
		list = append(list, rpc.AppendRequest(nil, nil, "document/didOpen", d.params))
	}
	return list
}
