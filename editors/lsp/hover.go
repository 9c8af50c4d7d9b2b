package lsp

import (
	"fmt"
	"strings"
)

type hoverParams struct {
	TextDocument documentID `json:"textDocument"`
	Position     Position   `json:"position"`
}

// hover shows the hunk at a position as a diff.
func (s *Server) hover(p *hoverParams) (*hover, error) {
	uri := p.TextDocument.URI
	w := s.folderShowing(uri)
	if w == nil {
		return nil, nil
	}
	if d := s.docs[uri]; d != nil {
		s.touch(d, &Range{Start: p.Position, End: p.Position})
	}
	for _, one := range s.placedAt(w, uri) {
		r := one.lineRange(s.client.encoding)
		if r.Start.Line <= p.Position.Line && r.End.Line >= p.Position.Line {
			return &hover{Contents: s.describe(w, &one), Range: r}, nil
		}
	}
	return nil, nil
}

// folderShowing returns the folder whose hunks may be shown at a URI.
func (s *Server) folderShowing(uri string) *workspace {
	if w, _ := s.locate(uri); w != nil {
		return w
	}
	return s.stateFolder(uri)
}

// describe returns a hunk for people.
func (s *Server) describe(w *workspace, p *placed) markup {
	head := fmt.Sprintf("hunk %d/%d %s%s", p.index+1, len(p.diff.Hunks), summary(p.diff, p.hunk), authorOf(p.hunk))
	if prompt := promptOf(w, p.hunk); prompt != "" {
		head += " · " + prompt
	}
	if p.hunk.Isolated {
		head += " · not in the file until it is accepted"
	}
	if p.hunk.InConflict() {
		head += " · you have changed these lines too, and not saved: keep yours, take the agent's, or keep both"
	}
	body := strings.Join(p.hunk.Lines, "\n")
	if !s.client.markdown {
		return markup{Kind: "plaintext", Value: strings.TrimSpace("cursord " + head + "\n" + body)}
	}
	value := "**cursord** " + head
	if body != "" {
		fence := "```"
		for strings.Contains(body, fence) {
			fence += "`"
		}
		value += fmt.Sprintf("\n\n%sdiff\n%s\n%s", fence, body, fence)
	}
	return markup{Kind: "markdown", Value: value}
}

// codeLenses offers the decisions above each hunk.
func (s *Server) codeLenses(p *documentParams) ([]codeLens, error) {
	list := []codeLens{}
	if d := s.docs[p.TextDocument.URI]; s.sessionsListed(d) != nil {
		for line := range d.text.count() {
			at := Range{Start: Position{Line: line}, End: Position{Line: line}}
			actions, _ := s.sessionActions(d, at)
			for _, a := range actions {
				list = append(list, codeLens{Range: at, Command: *a.Command})
			}
		}
		return list, nil
	}
	w := s.folderShowing(p.TextDocument.URI)
	if w == nil {
		return list, nil
	}
	for _, one := range s.placedAt(w, p.TextDocument.URI) {
		list = append(list, lensesOf(w, &one, one.lineRange(s.client.encoding).Start.Line)...)
	}
	return list, nil
}

// lensesOf returns the decisions about a hunk, to be shown above a line.
func lensesOf(w *workspace, p *placed, line int) (list []codeLens) {
	number, t := fmt.Sprintf("%d/%d", p.index+1, len(p.diff.Hunks)), target{Workspace: w.path, Hunks: []string{p.hunk.ID}}
	commands := []*command{commandOf("Accept "+number, commandAccept, t), commandOf("Reject", commandReject, t)}
	if p.hunk.InConflict() {
		commands = []*command{
			commandOf("Keep mine "+number, commandReject, t), commandOf("Take the agent's", commandAccept, t),
			commandOf("Keep both", commandAcceptBoth, t),
		}
	}
	for _, c := range append(commands, commandOf("Diff", commandDiff, target{Workspace: w.path, URI: p.uri})) {
		list = append(list, codeLens{Range: Range{Start: Position{Line: line}, End: Position{Line: line}}, Command: *c})
	}
	return list
}

type inlayHintParams struct {
	TextDocument documentID `json:"textDocument"`
	Range        Range      `json:"range"`
}

// inlayHints marks the hunks at the ends of their first lines.
func (s *Server) inlayHints(p *inlayHintParams) ([]inlayHint, error) {
	list := []inlayHint{}
	w := s.folderShowing(p.TextDocument.URI)
	if w == nil {
		return list, nil
	}
	for _, one := range s.placedAt(w, p.TextDocument.URI) {
		r := one.lineRange(s.client.encoding)
		if r.End.Line < p.Range.Start.Line || r.Start.Line > p.Range.End.Line {
			continue
		}
		at := r.End
		if one.text != nil {
			line := one.text.lineAt(r.Start, s.client.encoding)
			at = one.text.lineRange(line, line+1, s.client.encoding).End
		}
		tip := s.describe(w, &one)
		who := "agent"
		if one.hunk.MaybeYours() {
			who = "may be yours"
		}
		list = append(list, inlayHint{
			Position: at, Label: fmt.Sprintf("%s %d/%d %s", who, one.index+1, len(one.diff.Hunks), summary(one.diff, one.hunk)),
			Tooltip: &tip, PaddingLeft: true,
		})
	}
	return list, nil
}
