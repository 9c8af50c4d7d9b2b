package recap

import (
	"cmp"
	"fmt"
	"strings"

	"cursord/agent/plaintext"
	"cursord/sessions"
)

// asked returns a turn's prompt, with a line for each image, file and text that went with it.
func (r *recap) asked(t *sessions.Turn, latest bool) string {
	text := r.share(t.Asked(), latest)
	if len(t.Context) > 0 && len(t.Images) == 0 {
		text += "\n"
	}
	room := max(r.limit/16, 128)
	for i := range t.Context {
		line := "\n[" + Plainly(sent(&t.Context[i])) + "]"
		if room -= len(line); room < 0 {
			return text + fmt.Sprintf("\n(%d more that went with it are left out)", len(t.Context)-i)
		}
		text += line
	}
	return text
}

// sent says in a line what went with a prompt.
func sent(s *sessions.Sent) string {
	line := s.Kind
	if name := cmp.Or(s.Path, s.Title); name != "" {
		line += ": " + strings.Join(strings.Fields(plaintext.Cut(name, lineMax)), " ")
	}
	if s.Range != nil {
		first, last := lines(s.Range)
		if first == last {
			line += fmt.Sprintf(", line %d", first)
		} else {
			line += fmt.Sprintf(", lines %d-%d", first, last)
		}
	}
	switch {
	case s.Kind == "diagnostics":
		line += fmt.Sprintf(", %d", len(s.Items))
	case s.Kind == "text" && s.Text == nil:
		line += ", a long one"
	case s.Kind == "text":
		line += fmt.Sprintf(", %s", plaintext.Count(len(*s.Text), "byte"))
		if first := strings.TrimSpace(*s.Text); first != "" {
			line += ": " + plaintext.OneLine("", first)
		}
	}
	return line
}

// lines returns the first and the last line that a range touches, counted from 1. One that ends before the first character of a line
// does not touch that line.
func lines(r *sessions.Range) (first, last int) {
	first, last = r.Start.Line+1, r.End.Line+1
	if r.End.Character == 0 {
		last--
	}
	return first, max(first, last)
}
