package lsp

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"cursord/daemon/paths"
	"cursord/editors/lsp/drafts"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/localfile"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// rejectCommentCommand rejects a hunk with the comment of its argument. Without one it opens a file for the comment.
func (s *Server) rejectCommentCommand(t *target) (any, error) {
	w, chosen, err := s.choose(t, atTarget)
	if err != nil {
		return nil, err
	}
	if !isBlank(t.Comment) {
		s.rejectWith(w, chosen, t.Comment)
		return nil, nil
	}
	file, err := s.stateFile(w, commentFile)
	if err != nil {
		return nil, s.shown(err)
	}
	var b strings.Builder
	b.WriteString("\n\n" + drafts.Comment)
	for _, path := range w.paths() {
		for i := range w.diffs[path].Hunks {
			h := &w.diffs[path].Hunks[i]
			if !slices.Contains(chosen, h.ID) {
				continue
			}
			fmt.Fprintf(&b, "# reject: %s (%s, %s)\n", h.ID, path, hunks.Summary(w.diffs[path], h))
			for _, line := range h.Lines[:min(len(h.Lines), maxQuoted)] {
				fmt.Fprintf(&b, "#     %s\n", strings.TrimRight(line, "\r"))
			}
		}
	}
	uri := paths.URI(file)
	d := &draft{workspace: w}
	s.compose[file] = d
	if open := s.docs[uri]; open != nil {
		return nil, s.write(w, commentFile, b.String(), &protocol.Range{})
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return nil, s.shown(err)
	}
	d.stamp = localfile.Changed(file)
	s.watchPrompt(file, d)
	s.open(uri, &protocol.Range{})
	return nil, nil
}

// sendComment rejects the hunks that the text of a comment's file names.
func (s *Server) sendComment(d *draft, text string) {
	own, lines := drafts.Cut(text)
	var chosen []string
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "reject: "); ok {
			id, _, _ := strings.Cut(rest, " ")
			chosen = append(chosen, id)
		}
	}
	switch {
	case text == d.sent:
		s.show(levelInfo, "cursord: this comment was sent already")
	case isBlank(own):
		s.show(levelInfo, "cursord: no comment: nothing rejected")
	case len(chosen) == 0:
		s.show(levelWarning, `cursord: nothing rejected: the line "# reject: …" is gone – %s writes it again`, s.client.Key("rejectComment"))
	default:
		d.sent, d.stamp = text, time.Time{}
		s.rejectWith(d.workspace, chosen, strings.TrimSpace(own))
	}
}

// rejectWith rejects hunks with a comment, which the agent gets with the next prompt.
func (s *Server) rejectWith(w *workspace, chosen []string, comment string) {
	s.inTurn(w, func(done func()) {
		decisionCall(s, w, "diff/reject", rpc.DecideParams{Workspace: w.path, Hunks: &chosen, Comment: comment},
			s.whenDecided(w, "kept your comment for the next prompt, and rejected", "", chosen, done))
	})
}
