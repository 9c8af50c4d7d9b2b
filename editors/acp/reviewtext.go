package acp

import (
	"fmt"
	"slices"
	"strings"

	"cursord/agent/plaintext"
	"cursord/editors/acp/protocol"
	"cursord/sessions"
)

// maxShown bounds the text of /review, in bytes.
const maxShown = 64 << 10

func (s *Server) reviewCommand(at *session, r *request, rest string) {
	s.pending(at, r, func(diffs []*sessions.Diff) {
		ids, _, _, err := chosen(at, diffs, rest, false)
		if err != nil {
			s.saysError(at, r, err)
			return
		}
		s.says(at, r, reviewText(diffs, ofSession(at.info.ID), func(h *sessions.Hunk) bool { return slices.Contains(ids, h.ID) }))
	})
}

// reviewText shows the wanted hunks as Markdown, and counts the others, of the session and not.
func reviewText(diffs []*sessions.Diff, own, wanted func(*sessions.Hunk) bool) string {
	var b strings.Builder
	shown, hidden, ours, others, files := 0, 0, 0, 0, 0
	for _, d := range diffs {
		begun := false
		for i := range d.Hunks {
			h := &d.Hunks[i]
			switch {
			case !wanted(h) && own(h):
				ours++
				continue
			case !wanted(h):
				others++
				continue
			case b.Len() > maxShown:
				hidden++
				continue
			}
			if !begun {
				begun = true
				files++
				fmt.Fprintf(&b, "\n**%s**\n", d.Path)
			}
			shown++
			b.WriteString(hunkText(d, h))
		}
	}
	head := fmt.Sprintf("%s in %s to review.\n", plaintext.Count(shown+hidden, "hunk"), plaintext.Count(files, "file"))
	if shown == 0 {
		head = "Nothing to review.\n"
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "\n…and %s more.\n", plaintext.Count(hidden, "hunk"))
	}
	if ours > 0 {
		fmt.Fprintf(&b, "\nThis session has %s besides: `/review` shows them.\n", plaintext.Count(ours, "hunk"))
	}
	if others > 0 {
		fmt.Fprintf(&b, "\nOther sessions have %s here: `/review all` shows them.\n", plaintext.Count(others, "hunk"))
	}
	if shown > 0 {
		b.WriteString("\n`/accept` and `/reject` decide about all of this session, or about its hunks in the file that you name, or about the hunk that you name.\n")
	}
	return head + b.String()
}

func hunkText(d *sessions.Diff, h *sessions.Hunk) string {
	note := ""
	switch {
	case h.MaybeYours():
		note = " — may be your own: it is not surely the agent's"
	case h.InConflict():
		note = " — you have unsaved changes of the same lines"
	case len(h.Beside) > 0:
		note = " — you have changed these lines, too: `/reject` keeps yours, `/accept` keeps both, `/accept replace` takes the agent's, each with this id"
	}
	if h.Kind != "text" {
		note = fmt.Sprintf(" — %s%s", d.Kind, note)
	}
	text := fmt.Sprintf("\nHunk `%s`%s\n", h.ID, note)
	if len(h.Lines) == 0 {
		return text
	}
	body := fmt.Sprintf("@@ -%d,%d +%d,%d @@\n%s", h.OldStart, h.OldLines, h.NewStart, h.NewLines, strings.Join(h.Lines, "\n"))
	return text + protocol.Fenced("diff", body) + "\n"
}
