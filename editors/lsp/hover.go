package lsp

import (
	"fmt"
	"strings"

	"cursord/daemon/api"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/protocol"
	"cursord/editors/lsp/why"
	"cursord/rpc"
)

// hover shows the hunk at a position as a diff, and why the line there is an agent's.
func (s *Server) hover(p *protocol.HoverParams) (any, error) {
	uri, line := p.TextDocument.URI, p.Position.Line
	w := s.folderShowing(uri)
	if w == nil {
		return nil, nil
	}
	if d := s.docs[uri]; d != nil {
		s.touch(d, &protocol.Range{Start: p.Position, End: p.Position})
	}
	return s.whereSeen(w, func(error) (any, error) {
		var shown *protocol.Hover
		for _, one := range s.placedAt(w, uri) {
			r := one.LineRange(s.client.Encoding)
			if r.Start.Line <= line && r.End.Line >= line {
				shown = &protocol.Hover{Contents: s.describe(w, &one), Range: &r}
				break
			}
		}
		at, path := s.locate(uri)
		if at != w || s.daemon == nil {
			return shown, nil
		}
		here := line
		if d := s.docs[uri]; d != nil {
			disk, _ := w.readFile(path)
			saved := false
			if here, saved = why.LineOnDisk(d.text.Content, disk, line); !saved {
				return shown, nil
			}
		}
		id, params := s.answering, rpc.WhyParams{Workspace: w.path, Path: path, Lines: &api.LineRange{From: here, To: here + 1}}
		call(s, "file/why", params, func(said rpc.WhyResult, err error) {
			if err == nil && len(said.Lines) > 0 && said.Lines[0].Source != nil {
				shown = s.withWhy(w, shown, said.Lines[0].Source)
			}
			s.reply(id, shown, nil)
		})
		return nil, errLater
	})
}

// withWhy returns what a hover shows with where the line comes from. The former lines are in the hunk, if it shows one.
func (s *Server) withWhy(w *workspace, shown *protocol.Hover, from *api.WhySource) *protocol.Hover {
	title := ""
	if one := w.sessions[from.SessionID]; one != nil {
		title = one.Title
	}
	text, kind := why.Text(from, title, shown == nil || from.State != api.WhyPending), "markdown"
	if s.client.IsHelix() {
		text = strings.ReplaceAll(text, "\t", "    ")
	}
	if !s.client.Markdown {
		text, kind = strings.NewReplacer("**", "", "```diff\n", "", "\n```", "").Replace(text), "plaintext"
	}
	if shown == nil {
		return &protocol.Hover{Contents: protocol.Markup{Kind: kind, Value: text}}
	}
	shown.Contents.Value += "\n\n" + text
	return shown
}

// folderShowing returns the folder whose hunks a URI may show.
func (s *Server) folderShowing(uri string) *workspace {
	if w, _ := s.locate(uri); w != nil {
		return w
	}
	return s.stateFolder(uri)
}

// describe returns the description of a hunk.
func (s *Server) describe(w *workspace, p *hunks.Placed) protocol.Markup {
	body := strings.Join(hunks.Lines(p.Hunk), "\n")
	if s.client.IsHelix() { // it paints nothing for a tab, and what lies below the popup is seen there
		body = strings.ReplaceAll(body, "\t", "    ")
	}
	return hunks.Describe(p, promptOf(w, p.Hunk), body, s.client.Markdown)
}

// codeLenses returns the decisions above each hunk.
func (s *Server) codeLenses(p *protocol.DocumentParams) ([]protocol.CodeLens, error) {
	list := []protocol.CodeLens{}
	if d := s.docs[p.TextDocument.URI]; s.sessionsListed(d) != nil {
		for line := range d.text.CountLines() {
			at := protocol.Range{Start: protocol.Position{Line: line}, End: protocol.Position{Line: line}}
			actions, _ := s.sessionActions(d, at)
			for _, a := range actions {
				list = append(list, protocol.CodeLens{Range: at, Command: *a.Command})
			}
		}
		return list, nil
	}
	w := s.folderShowing(p.TextDocument.URI)
	if w == nil {
		return list, nil
	}
	for _, one := range s.placedAt(w, p.TextDocument.URI) {
		list = append(list, lensesOf(w, &one, one.LineRange(s.client.Encoding).Start.Line)...)
	}
	return list, nil
}

// lensesOf returns the decisions about a hunk as lenses above a line.
func lensesOf(w *workspace, p *hunks.Placed, line int) (list []protocol.CodeLens) {
	number, t := fmt.Sprintf("%d/%d", p.Index+1, len(p.Diff.Hunks)), target{Workspace: w.path, Hunks: []string{p.Hunk.ID}}
	commands := []*protocol.Command{commandOf("Accept "+number, commandAccept, t), commandOf("Reject", commandReject, t)}
	if p.Hunk.BothChanged() {
		commands = nil
		for i, one := range choices {
			title := one.title
			if i == 0 {
				title += " " + number
			}
			commands = append(commands, commandOf(title, one.command, t))
		}
	}
	for _, c := range append(commands, commandOf("Diff", commandDiff, target{Workspace: w.path, URI: p.URI})) {
		list = append(list, protocol.CodeLens{Range: protocol.Range{Start: protocol.Position{Line: line}, End: protocol.Position{Line: line}}, Command: *c})
	}
	return list
}

// inlayHints returns a mark at the end of each hunk's first line.
func (s *Server) inlayHints(p *protocol.InlayHintParams) ([]protocol.InlayHint, error) {
	list := []protocol.InlayHint{}
	w := s.folderShowing(p.TextDocument.URI)
	if w == nil {
		return list, nil
	}
	for _, one := range s.placedAt(w, p.TextDocument.URI) {
		r := one.LineRange(s.client.Encoding)
		if r.End.Line < p.Range.Start.Line || r.Start.Line > p.Range.End.Line {
			continue
		}
		at := r.End
		if one.Text != nil {
			line := one.Text.LineAt(r.Start, s.client.Encoding)
			at = one.Text.LineRange(line, line+1, s.client.Encoding).End
		}
		tip := s.describe(w, &one)
		who := "agent"
		if one.Hunk.MaybeYours() {
			who = "may be yours"
		}
		list = append(list, protocol.InlayHint{
			Position: at, Label: fmt.Sprintf("%s %d/%d %s", who, one.Index+1, len(one.Diff.Hunks), hunks.Summary(one.Diff, one.Hunk)),
			Tooltip: &tip, PaddingLeft: true,
		})
	}
	return list, nil
}
