package lsp

import (
	"fmt"
	"strings"

	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/protocol"
)

// hover shows the hunk at a position as a diff.
func (s *Server) hover(p *protocol.HoverParams) (*protocol.Hover, error) {
	uri := p.TextDocument.URI
	w := s.folderShowing(uri)
	if w == nil {
		return nil, nil
	}
	if d := s.docs[uri]; d != nil {
		s.touch(d, &protocol.Range{Start: p.Position, End: p.Position})
	}
	for _, one := range s.placedAt(w, uri) {
		r := one.LineRange(s.client.Encoding)
		if r.Start.Line <= p.Position.Line && r.End.Line >= p.Position.Line {
			return &protocol.Hover{Contents: s.describe(w, &one), Range: r}, nil
		}
	}
	return nil, nil
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
	head := fmt.Sprintf("hunk %d/%d %s%s", p.Index+1, len(p.Diff.Hunks), hunks.Summary(p.Diff, p.Hunk), hunks.Author(p.Hunk))
	if prompt := promptOf(w, p.Hunk); prompt != "" {
		head += " · " + prompt
	}
	if p.Hunk.Isolated {
		head += " · not in your folder until you accept it"
	}
	if p.Hunk.InConflict() {
		head += " · you have changed these lines too, and not saved: keep yours, take the agent's, or keep both"
	}
	body := strings.Join(p.Hunk.Lines, "\n")
	if s.client.IsHelix() { // it paints nothing for a tab, and what lies below the popup is seen there
		body = strings.ReplaceAll(body, "\t", "    ")
	}
	if !s.client.Markdown {
		return protocol.Markup{Kind: "plaintext", Value: strings.TrimSpace("cursord " + head + "\n" + body)}
	}
	value := "**cursord** " + head
	if body != "" {
		fence := "```"
		for strings.Contains(body, fence) {
			fence += "`"
		}
		value += fmt.Sprintf("\n\n%sdiff\n%s\n%s", fence, body, fence)
	}
	return protocol.Markup{Kind: "markdown", Value: value}
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
	if p.Hunk.InConflict() {
		commands = []*protocol.Command{
			commandOf("Keep mine "+number, commandReject, t), commandOf("Take the agent's", commandAccept, t),
			commandOf("Keep both", commandAcceptBoth, t),
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
