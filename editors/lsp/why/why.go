// Package why says for a hover where a line of an agent's comes from, and which line of a file a line of an unsaved text is. It is
// pure.
package why

import (
	"strings"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/editors/lsp/protocol"
)

// Bounds of a hover.
const (
	promptLines = 8
	formerLines = 12
	lineBytes   = 200
)

// Text returns as Markdown why an agent's line is there: the prompt, the time, the session and the turn, and with former also the lines
// that it has replaced. title is that of the session; "" if it is not known. A source without a prompt is of a session that was
// deleted, or of a turn that was taken back.
func Text(from *api.WhySource, title string, former bool) string {
	var b strings.Builder
	b.WriteString("**why** " + string(from.State))
	if from.At != nil {
		b.WriteString(" · " + from.At.Local().Format("2006-01-02 15:04"))
	}
	if title = plaintext.FirstLine(title, 60); title != "" {
		b.WriteString(" · session “" + title + "”")
	}
	b.WriteString(" · turn " + plaintext.FirstLine(from.TurnID, 64))
	if from.ByText {
		b.WriteString(" · a guess by the text")
	}
	if from.MaybeYours {
		b.WriteString(" · may be yours: it is not surely the agent's")
	}
	b.WriteString("\n\n")
	if from.Prompt == "" {
		b.WriteString("Its session was deleted, or its turn was taken back.\n")
	}
	quote(&b, "> ", strings.Split(strings.TrimSpace(from.Prompt), "\n"), promptLines, 0)
	if former && len(from.Was)+from.WasMore > 0 {
		fence := "```"
		for strings.Contains(strings.Join(from.Was, "\n"), fence) {
			fence += "`"
		}
		b.WriteString("\nbefore:\n\n" + fence + "diff\n")
		quote(&b, "-", from.Was, formerLines, from.WasMore)
		b.WriteString(fence + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// quote writes at most so many lines, each behind a mark. There are more lines than given.
func quote(b *strings.Builder, mark string, lines []string, most, more int) {
	if len(lines) == 1 && lines[0] == "" && more == 0 {
		return
	}
	for i, line := range lines {
		if i == most {
			more += len(lines) - most
			break
		}
		b.WriteString(mark + plaintext.Cut(strings.TrimRight(line, "\r\n"), lineBytes) + "\n")
	}
	if more > 0 {
		b.WriteString(mark + "… and " + plaintext.Count(more, "more line") + "\n")
	}
}

// LineOnDisk returns the line of a file, from 0, that is a line of a text which may be unsaved. It reports false for a line that the
// file does not have, or has at more than one place among the lines that differ.
func LineOnDisk(text, disk string, line int) (int, bool) {
	t, d := linesOf(text), linesOf(disk)
	if line < 0 || line >= len(t) {
		return 0, false
	}
	head, most := 0, min(len(t), len(d))
	for head < most && t[head] == d[head] {
		head++
	}
	tail := 0
	for tail < most-head && t[len(t)-1-tail] == d[len(d)-1-tail] {
		tail++
	}
	switch {
	case line < head:
		return line, true
	case line >= len(t)-tail:
		return line - len(t) + len(d), true
	}
	if only(t[head:len(t)-tail], t[line]) < 0 {
		return 0, false
	}
	at := only(d[head:len(d)-tail], t[line])
	return head + at, at >= 0
}

// only returns the index of a line in lines; -1 if it is not there, or more than once.
func only(lines []string, line string) int {
	at := -1
	for i, one := range lines {
		if one == line {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}

// linesOf returns the lines of a text without their ends and without a byte order mark, which editors keep beside the text.
func linesOf(text string) []string {
	text = strings.TrimSuffix(strings.ReplaceAll(strings.TrimPrefix(text, protocol.ByteOrderMark), "\r\n", "\n"), "\n")
	return strings.Split(text, "\n")
}
