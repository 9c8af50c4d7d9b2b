package plaintext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxTitle is the largest length of OneLine's result, in characters.
const MaxTitle = 120

// OneLine returns a verb and the first line of its object, cut to MaxTitle characters.
func OneLine(verb, what string) string {
	what = strings.TrimSpace(what)
	if line, _, more := strings.Cut(what, "\n"); more {
		what = strings.TrimSpace(line) + " …"
	}
	s := strings.Join(strings.Fields(Cut(verb+" "+what, 4*MaxTitle+8)), " ")
	if utf8.RuneCountInString(s) <= MaxTitle {
		return s
	}
	return string([]rune(s)[:MaxTitle-1]) + "…"
}

// Joined returns the whole of a text as one line: "⏎" stands for the ends of lines.
func Joined(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return strings.Join(lines, " ⏎ ")
}

// Count returns a number with its noun: "1 turn", "2 turns".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Cut returns at most the first n bytes of s, cut between characters.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// CutFront returns at most the last n bytes of s, cut between characters.
func CutFront(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// FirstLine returns the first line of s, without spaces around it, cut to so many characters. An ellipsis stands for the rest
// of s.
func FirstLine(s string, most int) string {
	s, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	runes := []rune(strings.TrimSpace(s))
	if len(runes) > most {
		return strings.TrimSpace(string(runes[:most-1])) + "…"
	}
	if more && len(runes) < most {
		return string(runes) + "…"
	}
	return string(runes)
}
