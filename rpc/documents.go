package rpc

import "encoding/json"

// notified takes the client's notifications. What is wrong with one cannot be answered; it is ignored.
func (f *face) notified(method string, params json.RawMessage) {
	var p DocumentParams
	if DecodeParams(params, &p) != nil {
		return
	}
	version := 0
	if p.Version != nil {
		version = *p.Version
	}
	switch method {
	case "document/didOpen":
		f.d.OpenDocument(f.client, p.URI, version, p.Text)
	case "document/didChange":
		if p.Version != nil && p.Text != nil {
			f.d.ChangeDocument(f.client, p.URI, version, *p.Text)
		}
	case "document/didSave":
		f.d.SaveDocument(f.client, p.URI, p.Version)
	case "document/didClose":
		f.d.CloseDocument(f.client, p.URI)
	}
}
