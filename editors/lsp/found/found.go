// Package found shows what a search of sessions has found as symbols of a folder: their names, and their places in files with the
// transcripts.
package found

import (
	"strings"

	"cursord/agent/plaintext"
	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// Kinds of symbols, as LSP numbers them.
const (
	kindFile   = 1
	kindString = 15
)

const (
	maxName  = 50 // characters of a symbol's name: pickers show places beside it
	maxFront = 16 // bytes of it in front of the first word that was found
)

// A Transcript is a session as Markdown. Lines are the lines, counted from 0, at which its turns and items begin, by their ids.
type Transcript struct {
	Text  string
	Lines map[string]int
}

// LineOf returns the line of a match: the one with the first word that was found, else the first line of its item or turn. A match
// that the transcript does not have, and one of a title, is on the first line.
func (t Transcript) LineOf(m *sessions.Match) int {
	id := m.ItemID
	if id == "" {
		id = m.TurnID
	}
	from, known := t.Lines[id]
	if m.In == "title" || !known {
		return 0
	}
	end := -1
	for _, line := range t.Lines {
		if line > from && (end < 0 || line < end) {
			end = line
		}
	}
	word, n := firstWord(m), 0
	for line := range strings.Lines(t.Text) {
		if n >= from && word != "" && strings.Contains(line, word) {
			return n
		}
		if n++; n == end {
			break
		}
	}
	return from
}

// firstWord returns the first word of what was found, as the text has it.
func firstWord(m *sessions.Match) string {
	if len(m.Ranges) == 0 {
		return ""
	}
	at := m.Ranges[0]
	if words := strings.Fields(m.Snippet[min(at.From, len(m.Snippet)):min(at.To, len(m.Snippet))]); len(words) > 0 {
		return words[0]
	}
	return ""
}

// Symbol returns a match as a symbol that is at a place.
func Symbol(m *sessions.Match, at protocol.Location) protocol.Symbol {
	what := map[string]string{"title": "session", "text": "agent"}[m.In]
	if what == "" {
		what = m.In
	}
	s := protocol.Symbol{Kind: kindString, Location: at, ContainerName: plaintext.FirstLine(m.Title, maxName)}
	text := m.Snippet
	if m.In == "title" {
		text, s.Kind = m.Title, kindFile
	} else if len(m.Ranges) > 0 && m.Ranges[0].From > maxFront {
		text = text[min(m.Ranges[0].From-maxFront, len(text)):]
		if _, rest, cut := strings.Cut(text, " "); cut {
			text = "… " + rest
		}
	}
	if text = plaintext.FirstLine(strings.ToValidUTF8(text, ""), maxName); text == "" {
		text = "(no title)"
	}
	s.Name = what + ": " + text
	return s
}
