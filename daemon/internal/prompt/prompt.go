// Package prompt makes the text for the agent. Before the person's prompt it puts the context from the client, remarks about
// earlier changes, and the transcript of a session whose chat the agent does not have. A transcript is bounded, and no text
// in it can pass for its end. The parameters are checked before: Compose cannot fail.
package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/daemon/pictures"
	"cursord/sessions"
)

// KindTranscript is the kind of the context that holds a transcript. Clients cannot send it.
const KindTranscript = "transcript"

// Compose puts what goes with a prompt in front of it, in this form:
//
//	<context>
//	<transcript>
//	[user]
//	an earlier prompt
//
//	[you]
//	its answer
//
//	- Edit a.go
//
//	[review]
//	- The user has not decided yet on 1 hunk in a.go.
//	</transcript>
//	<remarks>
//	- text
//	</remarks>
//	<file path="a.go" lines="3-7" />
//	<selection path="a.go" lines="3-7">
//	text
//	</selection>
//	<diagnostics path="a.go">
//	3:5 error: message (source)
//	</diagnostics>
//	<text title="notes">
//	text
//	</text>
//	<image path="/home/me/shot.png" />
//	</context>
//
//	the prompt
//
// Lines and columns count from 1, as people count. If there is a transcript, it is the first of context. Without context and
// remarks the prompt is left as it is.
func Compose(remarks []string, context []api.Context, prompt string) string {
	if len(remarks) == 0 && len(context) == 0 {
		return prompt
	}
	var b strings.Builder
	b.WriteString("<context>\n")
	if len(context) > 0 && context[0].Kind == KindTranscript {
		fmt.Fprintf(&b, "<transcript>\n%s</transcript>\n", closed(context[0].Text))
		context = context[1:]
	}
	if len(remarks) > 0 {
		b.WriteString("<remarks>\n")
		for _, r := range remarks {
			fmt.Fprintf(&b, "- %s\n", r)
		}
		b.WriteString("</remarks>\n")
	}
	for _, c := range context {
		switch c.Kind {
		case "file":
			fmt.Fprintf(&b, "<file path=%q%s />\n", c.Path, lines(c.Range))
		case "selection":
			fmt.Fprintf(&b, "<selection path=%q%s>\n%s</selection>\n", c.Path, lines(c.Range), closed(c.Text))
		case "diagnostics":
			fmt.Fprintf(&b, "<diagnostics path=%q>\n", c.Path)
			for _, d := range c.Items {
				fmt.Fprintf(&b, "%d:%d %s: %s", d.Range.Start.Line+1, d.Range.Start.Character+1, severity(d.Severity), d.Message)
				if d.Source != "" {
					fmt.Fprintf(&b, " (%s)", d.Source)
				}
				b.WriteByte('\n')
			}
			b.WriteString("</diagnostics>\n")
		case "text":
			title := ""
			if c.Title != "" {
				title = fmt.Sprintf(" title=%q", c.Title)
			}
			fmt.Fprintf(&b, "<text%s>\n%s</text>\n", title, closed(c.Text))
		case pictures.Kind:
			fmt.Fprintf(&b, "<image path=%q />\n", c.Path)
		}
	}
	b.WriteString("</context>\n\n")
	b.WriteString(prompt)
	return b.String()
}

// lines says which lines a range touches; a range that ends before the first character of a line does not touch that line.
func lines(r *api.Range) string {
	if r == nil {
		return ""
	}
	last := r.End.Line
	if r.End.Character == 0 && last > r.Start.Line {
		last--
	}
	if last == r.Start.Line {
		return fmt.Sprintf(" lines=\"%d\"", last+1)
	}
	return fmt.Sprintf(" lines=\"%d-%d\"", r.Start.Line+1, last+1)
}

func closed(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func severity(n int) string {
	switch n {
	case 2:
		return "warning"
	case 3:
		return "information"
	case 4:
		return "hint"
	}
	return "error"
}

// ForkTitle returns the title of a session that is forked from one with a title: "a (fork)", of that "a (fork 2)", and the next number
// that none of the sessions of the workspace has which changed last. A session without a title gets one with its next prompt.
func ForkTitle(title, root string, list func(root, cursor string, limit int) ([]*sessions.Session, string, error)) string {
	if title == "" {
		return ""
	}
	others, _, _ := list(root, "", forkTitlesMost) // on an error two may have one title
	for title = nextFork(title); slices.ContainsFunc(others, func(s *sessions.Session) bool { return s.Title == title }); {
		title = nextFork(title)
	}
	return title
}

const forkTitlesMost = 200

func nextFork(title string) string {
	n := 1
	if head, last, ok := cutLast(title, " (fork"); ok {
		if last == ")" {
			title, n = head, 2
		} else if _, err := fmt.Sscanf(last, " %d)", &n); err == nil && n > 1 && last == fmt.Sprintf(" %d)", n) {
			title, n = head, n+1
		} else {
			n = 1
		}
	}
	if n == 1 {
		return title + " (fork)"
	}
	return fmt.Sprintf("%s (fork %d)", title, n)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// keptText is how many bytes of the texts that went with a prompt are kept with its turn.
const keptText = 256 * 1024

// Sent returns what is kept of a turn's context beside its images. Texts for which there is no room are left out.
func Sent(context []api.Context) (kept []sessions.Sent) {
	room := keptText
	for _, c := range context {
		if c.Kind == pictures.Kind {
			continue
		}
		s := sessions.Sent{Kind: c.Kind, Path: c.Path, Range: c.Range, Title: c.Title, Items: c.Items}
		if (c.Kind == "selection" || c.Kind == "text") && len(c.Text) <= room {
			room -= len(c.Text)
			s.Text = &c.Text
		}
		kept = append(kept, s)
	}
	return kept
}

const titleRunes = 80

// Title returns the title of a session that begins with a prompt: its first line that is not blank, cut to 80 characters.
func Title(prompt string) string {
	for line := range strings.Lines(prompt) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			if utf8.RuneCountInString(line) > titleRunes {
				line = string([]rune(line)[:titleRunes-1]) + "…"
			}
			return line
		}
	}
	return ""
}

// Retitle returns the title of a session whose first prompt another one is about to replace: "" if that prompt has given the title.
func Retitle(title, first string, replaced bool) string {
	if replaced && title == Title(first) {
		return ""
	}
	return title
}
