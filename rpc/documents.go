package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"cursord/agent/jsontext"
	"cursord/daemon/api"
	"cursord/daemon/paths"
)

// maxRemarks bounds how many remarks a connection gets about its own notifications.
const maxRemarks = 100

// maxRemarkKey bounds what is kept of a remark, in bytes: a refused URI may be as long as a message.
const maxRemarkKey = 4096

// notified takes the client's notifications. A wrong one cannot be answered, so a log/message says what is wrong, once for
// each kind of mistake and each URI.
func (f *face) notified(method string, params json.RawMessage) {
	var uri string
	var err error
	switch method {
	case "initialized":
		return
	case "document/didOpen":
		err = document(params, func(p *DidOpenParams) error {
			uri = p.URI
			return f.d.OpenDocument(f.client, p.URI, p.Version, p.Text, p.Saved)
		})
	case "document/didChange":
		err = document(params, func(p *DidChangeParams) error {
			uri = p.URI
			return f.d.ChangeDocument(f.client, p.URI, p.Version, p.Text, p.Saved)
		})
	case "document/didSave":
		err = document(params, func(p *DidSaveParams) error {
			uri = p.URI
			return f.d.SaveDocument(f.client, p.URI, p.Version)
		})
	case "document/didClose":
		err = document(params, func(p *DidCloseParams) error {
			uri = p.URI
			return f.d.CloseDocument(f.client, p.URI)
		})
	default:
		if slices.Contains(methodNames(), method) {
			f.remark(method, slog.LevelWarn, method+" did nothing: it is a request and needs an id")
			return
		}
		f.remark(method, slog.LevelDebug, fmt.Sprintf("the unknown notification %.100q was ignored", method))
		return
	}
	switch {
	case err != nil:
		f.remark(method+" "+mistake(err)+" "+uri, slog.LevelWarn, method+" did nothing: "+err.Error())
	case !strings.HasPrefix(strings.ToLower(uri), "file:"):
		f.remark("path", slog.LevelWarn, fmt.Sprintf("%s: uri is a path; send the URI %s", method, paths.URI(uri)))
	}
}

// document decodes the parameters of a notification and calls take with them.
func document[P any](params json.RawMessage, take func(*P) error) error {
	var p P
	err := DecodeParams(params, &p)
	if err == nil {
		return take(&p)
	}
	if len(params) > 0 && params[0] == '{' {
		for name := range jsontext.Value(params).Members() {
			if string(name) == "textDocument" {
				err = fmt.Errorf("%w; unlike in LSP, uri, version and text are direct members (no textDocument), and text is the whole text", err)
			}
		}
	}
	return err
}

// mistake returns the kind of a mistake in a notification.
func mistake(err error) string {
	var own *Error
	var core *api.Error
	switch {
	case errors.As(err, &own):
		return string(own.Data.Kind) + own.Data.Field
	case errors.As(err, &core):
		return string(core.Kind) + core.Field
	}
	return ""
}

// remark sends the client a remark about its own notifications, each remark once. Remarks below the level warning go only to
// clients that listen. After maxRemarks remarks, one says that there will be no more.
func (f *face) remark(what string, level slog.Level, text string) {
	what = what[:min(len(what), maxRemarkKey)]
	f.mu.Lock()
	if level < slog.LevelWarn && f.news == nil || f.remarked[what] || len(f.remarked) > maxRemarks {
		f.mu.Unlock()
		return
	}
	if f.remarked == nil {
		f.remarked = map[string]bool{}
	}
	f.remarked[what] = true
	last := len(f.remarked) > maxRemarks
	f.mu.Unlock()
	if last {
		level = slog.LevelWarn
		text = fmt.Sprintf("%d mistakes in this connection's notifications were reported; further ones are not", maxRemarks)
	}
	f.logMessage(level, text)
}
