package lsp

import (
	"encoding/json"
	"fmt"
	"slices"

	"cursord/agent/plaintext"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// Bounds of a menu.
const (
	maxHunksOffered       = 8
	maxDiagnosticsOffered = 3
)

// codeActions returns the menu of a place. While the hunks of its folder are not known yet, it waits for them.
func (s *Server) codeActions(p *protocol.CodeActionParams) (any, error) {
	return s.later(s.folderShowing(p.TextDocument.URI), false, func(error) (any, error) { return s.menu(p), nil })
}

func (s *Server) menu(p *protocol.CodeActionParams) []any {
	uri := p.TextDocument.URI
	actions := []protocol.CodeAction{}
	doc := s.docs[uri]
	w, _ := s.locate(uri)
	if doc != nil {
		s.touch(doc, &p.Range)
	}
	if sessions, ok := s.sessionActions(doc, p.Range); ok {
		actions = sessions
	} else if w == nil {
		if w = s.stateFolder(uri); w != nil {
			if uri == s.reviewURI(w) {
				w.at = location{uri: uri, line: p.Range.Start.Line}
			}
			actions = slices.Concat(s.hunkActions(w, uri, p.Range), s.linkActions(w, doc, p.Range.Start), w.redoActions())
		}
	} else {
		actions = append(s.hunkActions(w, uri, p.Range), w.redoActions()...)
		actions = append(actions, s.diagnosticActions(uri, p)...)
		actions = append(s.trustActions(w), actions...)
		actions = append(actions, s.askAction(uri, p.Range))
		if len(w.running) > 0 {
			actions = append(actions, protocol.CodeAction{
				Title: "Cancel the agent's turn", Kind: protocol.KindSource + ".cursord",
				Command: commandOf("Cancel the agent's turn", commandCancel, target{Workspace: w.path}),
			})
		}
	}
	list := []any{}
	for _, a := range append(actions, s.approvalActions(doc)...) {
		switch {
		case len(p.Context.Only) > 0 && !slices.ContainsFunc(p.Context.Only, func(kind string) bool { return protocol.IsKind(a.Kind, kind) }):
		case a.Disabled != nil && !s.client.DisabledActions:
		case s.client.LiteralActions:
			if !s.client.Preferred {
				a.IsPreferred = false
			}
			list = append(list, a)
		case a.Command != nil:
			list = append(list, a.Command)
		}
	}
	return list
}

// hunkActions returns the actions for the hunks in a range, and those for all hunks of the file and of the folder.
func (s *Server) hunkActions(w *workspace, uri string, r protocol.Range) (actions []protocol.CodeAction) {
	var here []hunks.Placed
	for _, p := range s.placedAt(w, uri) {
		if at := p.LineRange(s.client.Encoding); at.Start.Line <= r.End.Line && at.End.Line >= r.Start.Line {
			here = append(here, p)
		}
	}
	if len(here) == 0 {
		return nil
	}
	var last []protocol.CodeAction
	for i, p := range here[:min(len(here), maxHunksOffered)] {
		list := []protocol.Diagnostic{s.diagnosticOf(w, &p)}
		if p.Hunk.BothChanged() {
			actions = append(actions, conflictActions(w, &p, list)...)
			continue
		}
		name := fmt.Sprintf("hunk %d/%d (%s)", p.Index+1, len(p.Diff.Hunks), hunks.Summary(p.Diff, p.Hunk))
		if p.Hunk.MaybeYours() {
			name += ", which may be yours"
		}
		accept := acceptAction(w, "Accept "+name, protocol.KindQuickFix, []*sessions.Hunk{p.Hunk})
		accept.Diagnostics, accept.IsPreferred = list, i == 0
		reject := protocol.CodeAction{
			Title: "Reject " + name, Kind: protocol.KindQuickFix, Diagnostics: list,
			Command: commandOf("Reject "+name, commandReject, target{Workspace: w.path, Hunks: []string{p.Hunk.ID}}),
		}
		if reason := p.Undecidable(); reason != "" {
			accept.Disabled, reject.Disabled = &protocol.Disabled{Reason: reason}, &protocol.Disabled{Reason: reason}
		} else if p.Diff.Baseline == "unknown" {
			reject.Disabled = &protocol.Disabled{Reason: "what was there before is not known"}
		}
		comment := protocol.CodeAction{
			Title: "Reject hunk with a comment…", Kind: protocol.KindQuickFix, Disabled: reject.Disabled,
			Command: commandOf("Reject hunk with a comment…", commandRejectWith, target{Workspace: w.path, Hunks: []string{p.Hunk.ID}}),
		}
		if actions = append(actions, accept, reject); i == 0 {
			last = append(last, comment)
		}
		if uri == s.reviewURI(w) && !p.Alone {
			title := fmt.Sprintf("Go to hunk %d/%d in %s", p.Index+1, len(p.Diff.Hunks), p.Diff.Path)
			last = append(last, protocol.CodeAction{
				Title: title, Kind: protocol.KindSource + ".cursord",
				Command: commandOf(title, commandGoTo, target{Workspace: w.path, Hunks: []string{p.Hunk.ID}}),
			})
		}
	}
	actions = append(actions, last...)
	actions = append(actions, s.severalActions(w, here[0].Diff)...)
	if uri == s.reviewURI(w) {
		return actions
	}
	return append(actions, protocol.CodeAction{
		Title: "Open full diff", Kind: protocol.KindSource + ".cursord",
		Command: commandOf("Open full diff", commandDiff, target{Workspace: w.path}),
	})
}

// severalActions returns the actions that decide all hunks of a file, and all hunks of the folder. They decide the hunks
// that their titles count, also if more come before one is chosen.
func (s *Server) severalActions(w *workspace, diff *sessions.Diff) (actions []protocol.CodeAction) {
	reject := func(title, command string, t target, ids []string, yours int) {
		title = "Reject " + title + hunks.ButYours(yours)
		t.Counted = s.count(w, ids)
		actions = append(actions, protocol.CodeAction{Title: title, Kind: protocol.KindSource + ".cursord", Command: commandOf(title, command, t)})
	}
	of := hunks.Pointers(diff.Hunks)
	if len(of) > 1 {
		title := fmt.Sprintf("all %d hunks of %s", len(of), diff.Path)
		actions = append(actions, acceptAction(w, "Accept "+title, protocol.KindSource+".cursord", of))
		reject(title, commandRejectFile, target{Workspace: w.path, Path: diff.Path}, hunks.IDs(of), len(diff.MaybeYours()))
	}
	if all, files := w.left(); files > 1 {
		yours := 0
		for _, d := range w.diffs {
			yours += len(d.MaybeYours())
		}
		title := fmt.Sprintf("all %d hunks in %d files", len(all), files)
		actions = append(actions, protocol.CodeAction{
			Title: "Accept " + title, Kind: protocol.KindSource + ".cursord",
			Command: commandOf("Accept "+title, commandAcceptAll, target{Workspace: w.path, Counted: s.count(w, all)}),
		})
		reject(title, commandRejectAll, target{Workspace: w.path}, all, yours)
	}
	return actions
}

// choices are those of a hunk whose lines the user has changed, too.
var choices = []struct{ title, command string }{{"Keep mine", commandReject}, {"Take the agent's", commandAccept}, {"Keep both", commandAcceptBoth}}

// conflictActions decides a hunk whose lines the user has changed, too.
func conflictActions(w *workspace, p *hunks.Placed, list []protocol.Diagnostic) (actions []protocol.CodeAction) {
	t := target{Workspace: w.path, Hunks: []string{p.Hunk.ID}}
	for _, one := range choices {
		title := fmt.Sprintf("%s: hunk %d/%d (%s)", one.title, p.Index+1, len(p.Diff.Hunks), hunks.Summary(p.Diff, p.Hunk))
		actions = append(actions, protocol.CodeAction{
			Title: title, Kind: protocol.KindQuickFix, Diagnostics: list, Command: commandOf(title, one.command, t),
		})
	}
	return actions
}

// acceptAction returns the action that accepts hunks.
func acceptAction(w *workspace, title, kind string, list []*sessions.Hunk) protocol.CodeAction {
	return protocol.CodeAction{Title: title, Kind: kind, Command: commandOf(title, commandAccept, target{Workspace: w.path, Hunks: hunks.IDs(list)})}
}

// diagnosticActions offers to ask the agent about the diagnostics of other servers.
func (s *Server) diagnosticActions(uri string, p *protocol.CodeActionParams) (actions []protocol.CodeAction) {
	var list []protocol.Diagnostic
	if json.Unmarshal(p.Context.Diagnostics, &list) != nil {
		return nil
	}
	n := 0
	for _, d := range list {
		if d.Source == protocol.Source || n >= maxDiagnosticsOffered {
			continue
		}
		n++
		about := plaintext.FirstLine(d.Message, 50)
		for _, one := range []struct{ title, command string }{
			{"Ask agent to fix: " + about, commandFix}, {"Ask agent to explain: " + about, commandExplain},
		} {
			actions = append(actions, protocol.CodeAction{
				Title: one.title, Kind: protocol.KindQuickFix, Diagnostics: []protocol.Diagnostic{d},
				Command: commandOf(one.title, one.command, target{URI: uri, Range: &d.Range, Diagnostic: &d}),
			})
		}
	}
	return actions
}

// trustActions answers the question of trust in editors that cannot show questions.
func (s *Server) trustActions(w *workspace) []protocol.CodeAction {
	if len(w.untrusted) == 0 {
		return nil
	}
	t := target{Workspace: w.path}
	deny, allow := "Deny: do not let the agent work here", "Trust this folder: let the agent run commands and change files"
	return []protocol.CodeAction{
		{Title: deny, Kind: protocol.KindQuickFix, Command: commandOf(deny, commandDeny, t)},
		{Title: allow, Kind: protocol.KindQuickFix, Command: commandOf(allow, commandAllow, t)},
	}
}

func (s *Server) askAction(uri string, r protocol.Range) protocol.CodeAction {
	title := "Ask agent about this line…"
	if !s.isPoint(uri, r) {
		title = "Ask agent about selection…"
	}
	return protocol.CodeAction{
		Title: title, Kind: protocol.KindSource + ".cursord",
		Command: commandOf(title, commandCompose, target{URI: uri, Range: &r}),
	}
}

// isPoint reports whether a selection is only the cursor: at most one character.
func (s *Server) isPoint(uri string, r protocol.Range) bool {
	d := s.docs[uri]
	if d == nil || r.Start == r.End {
		return r.Start == r.End
	}
	part := d.text.Content[d.text.Offset(r.Start, s.client.Encoding):max(d.text.Offset(r.Start, s.client.Encoding), d.text.Offset(r.End, s.client.Encoding))]
	return len([]rune(part)) <= 1 || part == "\r\n"
}

func commandOf(title, name string, t target) *protocol.Command {
	return &protocol.Command{Title: title, Command: name, Arguments: []any{t}}
}
