// Package drafts reads and writes the files in which people write prompts and comments: their words, and below them lines of
// settings. It is pure.
package drafts

import (
	"fmt"
	"strconv"
	"strings"

	"cursord/editors/lsp/protocol"
)

const (
	// scissors separate the words from the settings below them.
	scissors = "# ------------------------ >8 ------------------------"
	// Their lines fit into a window of 60 columns beside Helix's line numbers: Helix cuts longer ones.
	aboutPrompt = `# Write your prompt above that line; saving sends it
# (in Helix :wbc). An empty prompt is not sent.
# @path/of/file in it sends a file along, and so do
# the lines "file:" and "image:" below, which you can
# change, remove or add. Add "# session: new" for a
# new session, and "# mode: ask" or "# mode: plan"
# for an agent that changes nothing.
`
	aboutComment = `# Write a comment above that line, and save to
# reject the hunk below (in Helix :wbc). The agent
# gets the comment with your next prompt. Without a
# comment nothing is rejected.
`
	// Prompt and Comment are what stands below the words of a prompt and of a comment, and above the settings.
	Prompt  = scissors + "\n" + aboutPrompt + "#\n"
	Comment = scissors + "\n" + aboutComment + "#\n"
)

// Cut splits the text of a file for a prompt or a comment into the words of the person and the lines of its settings. It finds these also
// if the person has typed in the line above them.
func Cut(text string) (own string, lines []string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	last := "" // of own
	below := false
	for line := range strings.Lines(text) {
		plain := strings.TrimRight(line, "\n")
		switch note, isNote := strings.CutPrefix(plain, "#"); {
		case strings.Contains(plain, "--- >8 ---"):
			below = true
		case !below && plain != "" && (strings.HasPrefix(aboutPrompt, plain+"\n") || strings.HasPrefix(aboutComment, plain+"\n")):
			if below = true; strings.Contains(last, "----") { // somebody has typed in the line of the scissors
				own = strings.TrimSuffix(own, last)
			}
		case below:
			if isNote {
				lines = append(lines, strings.TrimSpace(note))
			}
		default:
			own, last = own+line, line
		}
	}
	return own, lines
}

// Lines splits "a.go:3-9" and "a.go:3" into the name and the lines, counted from 1, both inclusive. Without lines they are 0.
func Lines(name string) (path string, from, to int) {
	i := strings.LastIndexByte(name, ':')
	if i <= 0 {
		return name, 0, 0
	}
	first, last, ranged := strings.Cut(name[i+1:], "-")
	from, errFrom := strconv.Atoi(first)
	to, errTo := from, error(nil)
	if ranged {
		to, errTo = strconv.Atoi(last)
	}
	if errFrom != nil || errTo != nil || from <= 0 || to < from {
		return name, 0, 0
	}
	return name[:i], from, to
}

// LinesOf returns a range as Lines reads it behind a name.
func LinesOf(r *protocol.Range) string {
	from, to := r.Start.Line+1, r.End.Line+1
	if to > from && r.End.Character == 0 {
		to--
	}
	if to > from {
		return fmt.Sprintf(":%d-%d", from, to)
	}
	return fmt.Sprintf(":%d", from)
}
