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

// notified serves the client's notifications. A wrong one cannot be answered, so a log/message says what is wrong, once for
// each kind of mistake and each URI.
func (f *face) notified(method string, params json.RawMessage) {
	var uri string
	var err error
	switch method {
	case "initialized":
		return
	case "document/didOpen":
		err = decoded(params, func(p *DidOpenParams) error {
			uri = p.URI
			return f.d.OpenDocument(f.client, p.URI, p.Version, p.Text, p.Saved)
		})
	case "document/didChange":
		err = decoded(params, func(p *DidChangeParams) error {
			uri = p.URI
			return f.d.ChangeDocument(f.client, p.URI, p.Version, p.Text, p.Saved)
		})
	case "document/didSave":
		err = decoded(params, func(p *DidSaveParams) error {
			uri = p.URI
			return f.d.SaveDocument(f.client, p.URI, p.Version)
		})
	case "document/didClose":
		err = decoded(params, func(p *DidCloseParams) error {
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
		f.remark(method+" "+mistakeKind(err)+" "+uri, slog.LevelWarn, method+" did nothing: "+err.Error())
	case !strings.HasPrefix(strings.ToLower(uri), "file:"):
		f.remark("path", slog.LevelWarn, fmt.Sprintf("%s: uri is a path; send the URI %s", method, paths.URI(uri)))
	}
}

// decoded decodes the parameters of a document notification and calls serve with them.
func decoded[P any](params json.RawMessage, serve func(*P) error) error {
	var p P
	err := DecodeParams(params, &p)
	if err == nil {
		return serve(&p)
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

// mistakeKind names the kind of a mistake in a notification, so that each kind is remarked once.
func mistakeKind(err error) string {
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

// remark sends the client a remark about its own notifications, once for each key. Remarks below the level warning go only to
// clients that get the daemon's messages (listen). After maxRemarks remarks, one says that there will be no more.
func (f *face) remark(key string, level slog.Level, text string) {
	key = key[:min(len(key), maxRemarkKey)]
	f.mu.Lock()
	if level < slog.LevelWarn && f.news == nil || f.remarked[key] || len(f.remarked) > maxRemarks {
		f.mu.Unlock()
		return
	}
	if f.remarked == nil {
		f.remarked = map[string]bool{}
	}
	f.remarked[key] = true
	last := len(f.remarked) > maxRemarks
	f.mu.Unlock()
	if last {
		level = slog.LevelWarn
		text = fmt.Sprintf("%d mistakes in this connection's notifications were reported; further ones are not", maxRemarks)
	}
	f.logMessage(level, text)
}
