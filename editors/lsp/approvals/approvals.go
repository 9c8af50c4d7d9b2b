// Package approvals puts what agents ask into the words of window/showMessageRequest, pure. An answer of the editor that is none of
// the offered ones is no answer.
package approvals

import (
	"fmt"
	"strings"

	"cursord/agent/plaintext"
	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// Message returns what is asked: all of it, with each character shown.
func Message(a *sessions.Approval) string {
	parts := []string{a.Title}
	for _, text := range append([]string{a.Detail, a.Command}, a.Paths...) {
		if text = strings.TrimSpace(text); text != "" && text != a.Title {
			parts = append(parts, text)
		}
	}
	if a.Text {
		parts = append(parts, fmt.Sprintf("A text as the answer: cursord approve %s --text …", Tag(a)))
	}
	return "The agent asks: " + plaintext.InFull(strings.Join(parts, "\n"))
}

// Elsewhere returns the commands that answer in a terminal.
func Elsewhere(a *sessions.Approval) string {
	if a.Chosen(sessions.AllowOnce) != nil {
		return fmt.Sprintf("cursord approve %s, or cursord deny %[1]s", Tag(a))
	}
	var ways []string
	for i := range a.Options {
		ways = append(ways, fmt.Sprintf("cursord approve %s %d (%s)", Tag(a), i+1, title(a, i)))
	}
	if a.Text {
		ways = append(ways, fmt.Sprintf("cursord approve %s --text …", Tag(a)))
	}
	if a.Kind == sessions.ApprovalQuestion {
		ways = append(ways, fmt.Sprintf("cursord deny %s (no answer)", Tag(a)))
	}
	return strings.Join(ways, ", ")
}

// Tag returns the part of an approval's id that people type.
func Tag(a *sessions.Approval) string {
	tag, _, _ := strings.Cut(a.ID, "-")
	return tag
}

// Actions returns the answers, those that allow last: editors preselect the first one. Each title is there once.
func Actions(a *sessions.Approval) []protocol.MessageAction {
	var list []protocol.MessageAction
	for _, allowing := range []bool{false, true} {
		for i, o := range a.Options {
			if o.Kind.Allows() == allowing {
				list = append(list, protocol.MessageAction{Title: title(a, i)})
			}
		}
	}
	return list
}

// title returns the title of an option; a label that another one has too gets its number.
func title(a *sessions.Approval, at int) string {
	label := plaintext.InFull(a.Options[at].Label)
	for i, o := range a.Options {
		if i != at && plaintext.InFull(o.Label) == label {
			return fmt.Sprintf("%s (%d)", label, at+1)
		}
	}
	return label
}

// Chosen returns the id of the option with a title; "" if there is none.
func Chosen(a *sessions.Approval, chosen string) string {
	for i, o := range a.Options {
		if title(a, i) == chosen {
			return o.ID
		}
	}
	return ""
}
