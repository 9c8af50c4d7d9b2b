package approvals

import (
	"fmt"
	"strings"

	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// Bounds of a popup. Helix ends, with all unsaved texts, if one does not fit its window; other editors cut it off.
const (
	maxColumns  = 60 // a longer line counts as several
	maxLines    = 8  // of the message
	maxRows     = 14 // of the message and the answers
	maxRefusals = 2  // in a popup that does not say all
	around      = 2  // rows of a window that a popup leaves
)

// fitting returns how many rows a popup may have in a window with so many rows; 0: that is not known.
func fitting(window int) int {
	if window == 0 {
		return maxRows
	}
	return min(maxRows, window-around)
}

// A Popup is a question of the editor that fits a small window.
type Popup struct {
	Message string
	Actions []protocol.MessageAction // none: there is no answer to choose
	Whole   bool                     // the message says all that is asked
}

// PopupOf returns the popup of what is asked, in a window with so many rows; 0: that is not known. If it does not say all, nothing can be
// allowed or chosen in it: nobody says yes to what they have not seen. It has no answers where no popup fits.
func PopupOf(a *sessions.Approval, window int) Popup {
	message, actions, most := Message(a), Actions(a), fitting(window)
	if n := rows(message); n <= maxLines && n+len(actions) <= most {
		return Popup{message, actions, true}
	}
	hint := fmt.Sprintf("… %q has the rest and all answers", Show)
	least := 3 + 1 + rows(hint) // Later, Show and Remind, and a row of the message
	if most < least {
		return Popup{Message: message}
	}
	short := []protocol.MessageAction{{Title: Later}, {Title: Show}}
	refusing, _ := answers(a)
	short = append(append(short, refusing[:min(len(refusing), maxRefusals, most-least)]...), protocol.MessageAction{Title: Remind})
	return Popup{beginning(message, min(maxLines, most-len(short))-rows(hint)) + "\n" + hint, short, false}
}

// Document returns the text of a file that has the whole of what is asked. menu is how its reader gets the answers. The lines below that
// are short: Helix cuts long ones.
func Document(a *sessions.Approval, menu string) string {
	return fmt.Sprintf("%s\n\nTo answer, choose %s in this file.\nIn a terminal:\n\n    %s\n", Message(a), menu, strings.Join(commands(a), "\n    "))
}

// rows returns how many rows a text takes in a popup, at least.
func rows(text string) (n int) {
	for line := range strings.SplitSeq(text, "\n") {
		n += 1 + max(columns(line)-1, 0)/maxColumns
	}
	return n
}

// columns returns the most columns that a line may take.
func columns(line string) (n int) {
	for _, r := range line {
		n += width(r)
	}
	return n
}

func width(r rune) int {
	switch {
	case r == '\t':
		return 4
	case r >= 0x1100: // perhaps wide: from here there are East Asian scripts and emojis
		return 2
	}
	return 1
}

// Fit returns as much of the message of any popup as a window with so many rows shows beside the answers.
func Fit(message string, answers, window int) string {
	return beginning(message, max(1, min(maxLines, fitting(window)-answers)))
}

// beginning returns as much of a text as takes so many rows.
func beginning(text string, most int) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if n := rows(line); n <= most {
			kept = append(kept, line)
			most -= n
			continue
		}
		if most > 0 {
			at, left := 0, most*maxColumns-columns("…")
			for i, r := range line {
				if left -= width(r); left < 0 {
					break
				}
				at = i + len(string(r))
			}
			kept = append(kept, line[:at]+"…")
		}
		break
	}
	return strings.Join(kept, "\n")
}
