// Package listed has the text of the list of sessions: people rename sessions by editing it.
package listed

import (
	"fmt"
	"iter"
	"strings"

	"cursord/agent/plaintext"
	"cursord/sessions"
)

// About is the head of the list. Its lines fit into a window of 60 columns beside Helix's line numbers.
const About = `# Sessions

The code actions of a line (in Helix: space a)
resume that session, ask in it, cancel its turn,
open its transcript or delete it. To rename
sessions, change their titles here and save.
`

// Line returns the line of a session: the title first, the id last. marks stands between them, "" or parts that each begin
// with " · ".
func Line(one *sessions.Session, marks string) string {
	at := one.UpdatedAt.Local().Format("2006-01-02 15:04")
	return fmt.Sprintf("- %s · %s · %s%s · %s", Title(one.Title), at, plaintext.Count(one.Turns, "turn"), marks, one.ID)
}

// Hunks are the numbers of hunks to review in a folder: all, and those of each session, by its id. Several sessions may have made one.
type Hunks struct {
	All int
	Of  map[string]int
}

// CountHunks counts the hunks of a folder.
func CountHunks(diffs iter.Seq[*sessions.Diff]) Hunks {
	n := Hunks{Of: map[string]int{}}
	for d := range diffs {
		for i := range d.Hunks {
			n.All++
			of := map[string]bool{}
			for _, from := range d.Hunks[i].Sources {
				if !of[from.SessionID] {
					n.Of[from.SessionID]++
				}
				of[from.SessionID] = true
			}
		}
	}
	return n
}

// Title returns a title for the list, without the separator of a line's parts.
func Title(title string) string {
	if title = strings.ReplaceAll(plaintext.FirstLine(title, 60), " · ", " - "); title == "" {
		return "(no title)"
	}
	return title
}

// ID returns the id of the session in a line of the list, "" for none.
func ID(line string) string {
	if fields := strings.Fields(line); strings.HasPrefix(line, "- ") && len(fields) > 1 {
		return fields[len(fields)-1]
	}
	return ""
}

// Renamed returns the new titles of sessions, by id, in a list that a person has edited, and how many lines of sessions cannot
// be read. titles are those that the list had.
func Renamed(text string, titles map[string]string) (renamed map[string]string, damaged int) {
	renamed = map[string]string{}
	for line := range strings.Lines(text) {
		id := ID(line)
		if words := strings.Fields(line); id == "" && len(words) > 0 && titles[words[len(words)-1]] != "" {
			damaged++
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(line, "- "), " · ")
		title = strings.TrimSpace(title)
		if was, ok := titles[id]; ok && was != title && title != "" {
			renamed[id] = title
		}
	}
	return renamed, damaged
}

// Question asks whether a session is to be deleted, with so many hunks in its copy.
func Question(title string, hunks int) string {
	if hunks == 0 {
		return fmt.Sprintf("Delete the session %s and all that was said in it?", title)
	}
	return fmt.Sprintf("%s to review would be lost with its copy: delete the session %s and all that was said in it?", plaintext.Count(hunks, "hunk"), title)
}

// Refusal says why a session with so many hunks in its copy was not deleted.
func Refusal(title string, hunks int) string {
	return fmt.Sprintf("the session %s was not deleted: its copy has %s to review, which would be lost – accept or reject them first", title, plaintext.Count(hunks, "hunk"))
}
