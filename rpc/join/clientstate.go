package join

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"cursord/daemon/paths"
	"cursord/rpc"
)

// clientState is what an editor has said about itself, which each new daemon must get again. Whoever holds the joiner's
// order owns it.
type clientState struct {
	initialize json.RawMessage          // params; nil if the joiner has not answered any
	greeted    bool                     // it has answered one, even if without params
	trace      json.RawMessage          // params of the latest $/setTrace
	documents  map[string]*openDocument // by path, else by URI
	opened     uint64
}

// An openDocument is the state that a document/didOpen would report now.
type openDocument struct {
	order   uint64
	version int
	params  json.RawMessage
}

// record keeps what a notification of the editor says about it.
func (k *clientState) record(m *rpc.Message) {
	switch m.Method {
	case "$/setTrace":
		k.trace = m.Params
	case "document/didOpen", "document/didChange", "document/didSave", "document/didClose":
		k.recordDocument(m)
	}
}

func (k *clientState) recordDocument(m *rpc.Message) {
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
	d := k.documents[name]
	switch m.Method {
	case "document/didOpen":
		if k.documents == nil {
			k.documents = map[string]*openDocument{}
		}
		k.opened++
		k.documents[name] = &openDocument{order: k.opened, version: version, params: m.Params}
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
		delete(k.documents, name)
	}
}

// messages returns the messages for a new daemon; initializeID is the id of the initialize request.
func (k *clientState) messages(initializeID json.RawMessage) (list [][]byte) {
	if k.greeted {
		list = append(list, rpc.AppendRequest(nil, initializeID, "initialize", k.initialize))
	}
	if k.trace != nil {
		list = append(list, rpc.AppendRequest(nil, nil, "$/setTrace", k.trace))
	}
	open := slices.SortedFunc(maps.Values(k.documents), func(a, b *openDocument) int { return cmp.Compare(a.order, b.order) })
	for _, d := range open {
		list = append(list, rpc.AppendRequest(nil, nil, "document/didOpen", d.params))
	}
	return list
}
