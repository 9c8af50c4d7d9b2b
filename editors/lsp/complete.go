package lsp

import (
	"fmt"
	"strings"
	"time"

	"cursord/agent/plaintext"
	"cursord/editors/lsp/client"
	"cursord/editors/lsp/drafts"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// Only the file of a prompt has completion: paths behind "@" and "file:", sessions and modes in their lines. Editors that
// take registrations ask for it only there; others only ask if the setting completion is on.

const (
	maxCompletions = 100
	filesAge       = 10 * time.Second // an older list of files is made anew

	kindText = 1
	kindFile = 17
)

// registerCompletion asks an editor that takes registrations to complete in files of prompts.
func (s *Server) registerCompletion() {
	s.ask("client/registerCapability", protocol.RegistrationParams{Registrations: []protocol.Registration{{
		ID: "cursord-prompt", Method: "textDocument/completion", RegisterOptions: protocol.RegisteredCompletion{
			DocumentSelector: []protocol.DocumentFilter{{Scheme: "file", Pattern: "**/" + promptFile}}, TriggerCharacters: client.CompletionTriggers,
		},
	}}}, nil)
}

// completion answers once the files of the folder are known.
func (s *Server) completion(p *protocol.CompletionParams) (*protocol.CompletionList, error) {
	d := s.docs[p.TextDocument.URI]
	if d == nil || !strings.HasSuffix(d.uri, "/"+promptFile) {
		return nil, nil
	}
	w := s.stateFolder(d.uri)
	if w == nil {
		return nil, nil
	}
	if !s.filesKnown(w) && w.listing {
		id := s.answering
		w.listed = append(w.listed, func() {
			if s.docs[d.uri] != d {
				s.reply(id, nil, nil)
				return
			}
			s.reply(id, s.complete(w, d, p.Position), nil)
		})
		return nil, errLater
	}
	return s.complete(w, d, p.Position), nil
}

// complete returns the completions at a place of a prompt's file; nil where there are none.
func (s *Server) complete(w *workspace, d *document, position protocol.Position) *protocol.CompletionList {
	at := d.text.Offset(position, s.client.Encoding)
	line := d.text.Before(position, s.client.Encoding)
	list := &protocol.CompletionList{Items: []protocol.CompletionItem{}}
	from := len(line)
	add := func(kind int, name, detail string) {
		if len(list.Items) == maxCompletions {
			list.IsIncomplete = true
			return
		}
		list.Items = append(list.Items, protocol.CompletionItem{
			Label: name, Kind: kind, Detail: detail, SortText: fmt.Sprintf("%03d", len(list.Items)),
			TextEdit: protocol.TextEdit{Range: d.text.Span(at-(len(line)-from), at, s.client.Encoding), NewText: name},
		})
	}
	field, value, isField := strings.Cut(line, ":")
	value = strings.TrimLeft(value, " ")
	switch field = strings.ReplaceAll(field, " ", ""); {
	case isField && field == "#file":
		from = len(line) - len(value)
		for _, name := range s.filesLike(w, value) {
			add(kindFile, name, "")
		}
	case isField && field == "#session":
		from = len(line) - len(value)
		add(kindText, "new", "a new session")
		for _, one := range w.latestSessions() {
			add(kindText, one.ID, plaintext.FirstLine(one.Title, 60))
		}
	case isField && field == "#mode":
		from = len(line) - len(value)
		for _, mode := range []string{"agent", "ask", "plan"} {
			add(kindText, mode, "")
		}
	default:
		token := line[strings.LastIndexAny(line, " \t(")+1:]
		name, ok := strings.CutPrefix(token, "@")
		if !ok {
			return nil
		}
		from = len(line) - len(name)
		for _, file := range s.filesLike(w, name) {
			add(kindFile, file, "")
		}
	}
	return list
}

// filesKnown reports whether the folder's files have been listed. It lists them anew for the next time if the list is old.
func (s *Server) filesKnown(w *workspace) bool {
	if s.opts.Files != nil && !w.listing && time.Since(w.filesAt) > filesAge {
		w.listing = true
		go func() {
			files, err := s.opts.Files(s.ctx, w.path)
			s.post(func() {
				if w.listing, w.filesAt = false, time.Now(); err == nil {
					w.files = files
				} else {
					s.opts.Log.Warn("the files cannot be listed", "folder", w.path, "err", err)
				}
				waiting := w.listed
				w.listed = nil
				for _, answer := range waiting {
					answer()
				}
			})
		}()
	}
	return !w.filesAt.IsZero()
}

// filesLike returns the files of a folder that what a person has typed may mean.
func (s *Server) filesLike(w *workspace, typed string) []string {
	open := map[string]bool{}
	for _, d := range s.docs {
		if d.workspace == w {
			open[d.path] = true
		}
	}
	return drafts.Like(w.files, open, typed)
}

// mentioned adds the files that a prompt names behind "@" to its context. A name without a file is just text.
func (s *Server) mentioned(w *workspace, prompt string, list []rpc.Context) []rpc.Context {
	named := map[string]bool{}
	for _, c := range list {
		if c.Kind == "file" && c.Range == nil {
			named[*c.Path] = true
		}
	}
	for _, word := range strings.FieldsFunc(prompt, func(r rune) bool { return strings.ContainsRune(" \t\r\n(", r) }) {
		name, ok := strings.CutPrefix(word, "@")
		if name = strings.TrimRight(name, "],;:.)?!"); !ok || name == "" || named[name] || len(named) > maxFiles*10 {
			continue
		}
		if c := s.fileContext(w, name); w.hasFile(*c.Path) {
			named[name] = true
			list = append(list, c)
		}
	}
	return list
}
