// Package approvals puts what agents ask into the words of window/showMessageRequest and of code actions, and keeps what the editor
// shows of it, pure. A question fits a small window. An answer of the editor that is none of the offered ones is no answer.
package approvals

import (
	"fmt"
	"slices"
	"strings"

	"cursord/agent/plaintext"
	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// Message returns what is asked: all of it, with each character shown.
func Message(a *sessions.Approval) string {
	var parts []string
	if a.Title == a.Command || !beginsWith(a.Command, a.Title) {
		parts = append(parts, a.Title)
	}
	for _, text := range append([]string{a.Detail, a.Command}, a.Paths...) {
		if text = strings.TrimSpace(text); text != "" && text != a.Title {
			parts = append(parts, text)
		}
	}
	for i, o := range a.Options {
		if short := title(a, i); !strings.HasPrefix(short, plaintext.InFull(o.Label)) {
			parts = append(parts, short+" means: "+o.Label)
		}
	}
	switch {
	case a.Text && a.Kind == sessions.ApprovalPlan: // the agent gets no text with a yes to its plan
		parts = append(parts, fmt.Sprintf("A rejection with a text: cursord deny %s --text …", Tag(a)))
	case a.Text:
		parts = append(parts, fmt.Sprintf("A text as the answer: cursord approve %s --text …", Tag(a)))
	}
	return "The agent asks: " + plaintext.InFull(strings.Join(parts, "\n"))
}

// beginsWith reports whether a title is only the beginning of a command: its first line, or as much as fits in a line.
func beginsWith(command, title string) bool {
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	title = words(strings.TrimSuffix(strings.TrimSpace(title), "…"))
	return title != "" && strings.HasPrefix(words(command), title)
}

// About returns what is asked as one line, and whether the line has all of it.
func About(a *sessions.Approval) (line string, whole bool) {
	const most = 100
	parts := append([]string{a.Title}, a.Detail)
	if a.Command != "" {
		parts = []string{"$ " + a.Command, a.Detail}
	}
	all := strings.TrimSpace(plaintext.InFull(strings.Join(slices.DeleteFunc(append(parts, a.Paths...), func(s string) bool { return s == "" }), " · ")))
	line = plaintext.FirstLine(all, most)
	return line, line == all
}

// Elsewhere returns the commands that answer in a terminal, in one line.
func Elsewhere(a *sessions.Approval) string { return strings.Join(commands(a), ", ") }

// commands returns the commands that answer in a terminal.
func commands(a *sessions.Approval) (ways []string) {
	once := a.Chosen(sessions.AllowOnce) != nil
	if once {
		ways = append(ways, "cursord approve "+Tag(a), "cursord deny "+Tag(a))
	}
	for i := range a.Options {
		if !once {
			ways = append(ways, fmt.Sprintf("cursord approve %s %d (%s)", Tag(a), i+1, title(a, i)))
		}
	}
	switch {
	case a.Text && a.Kind == sessions.ApprovalPlan:
		ways = append(slices.DeleteFunc(ways, func(way string) bool { return way == "cursord deny "+Tag(a) }), fmt.Sprintf("cursord deny %s [--text …]", Tag(a)))
	case a.Text:
		ways = append(ways, fmt.Sprintf("cursord approve %s --text …", Tag(a)))
	}
	if a.Kind == sessions.ApprovalQuestion {
		ways = append(ways, fmt.Sprintf("cursord deny %s (no answer)", Tag(a)))
	}
	return ways
}

// Tag returns the part of an approval's id that people type.
func Tag(a *sessions.Approval) string {
	tag, _, _ := strings.Cut(a.ID, "-")
	return tag
}

// Later and Remind are answers to a question that leave what the agent asks open, and so does Show, which shows the whole of it. None ends
// a question without an answer.
const (
	Later  = "Look again later"
	Remind = "Only remind me"
	Show   = "Show the whole"
	None   = "No answer"
)

// noAnswer is the option that ends a question without an answer; approvals do not list it.
const noAnswer = "cursord:none"

// Actions returns the answers. Editors preselect the first one and go round in a circle; neither it nor its neighbours allow
// anything, because keys of somebody who types may land there. Each title is there once.
func Actions(a *sessions.Approval) []protocol.MessageAction {
	refusing, others := answers(a)
	switch {
	case len(refusing)+len(others) == 0:
		return nil
	case len(refusing) == 0:
		return append([]protocol.MessageAction{{Title: Later}, {Title: Remind}}, others...)
	}
	return slices.Concat([]protocol.MessageAction{{Title: Later}}, refusing, others, []protocol.MessageAction{{Title: Remind}})
}

func answers(a *sessions.Approval) (refusing, others []protocol.MessageAction) {
	for i, o := range a.Options {
		if one := (protocol.MessageAction{Title: title(a, i)}); o.Kind.Rejects() {
			refusing = append(refusing, one)
		} else {
			others = append(others, one)
		}
	}
	if a.Kind == sessions.ApprovalQuestion {
		refusing = append(refusing, protocol.MessageAction{Title: None})
	}
	return refusing, others
}

const (
	maxTitle    = 25 // characters of an answer: popups of editors cut longer ones off
	folder      = "cursord:folder"
	folderTitle = "Always here"
	prefixTitle = "Always here (prefix)"
)

// title returns the short title of an option; one that another option has too, or that is none of the agent's, gets its number.
func title(a *sessions.Approval, at int) string {
	label := short(a.Options[at])
	twice := slices.Contains([]string{Later, Remind, Show, None}, label)
	for i, o := range a.Options {
		twice = twice || i != at && short(o) == label
	}
	if twice {
		return fmt.Sprintf("%s (%d)", label, at+1)
	}
	return label
}

func short(o sessions.ApprovalOption) string {
	switch {
	case o.ID == folder && strings.HasSuffix(o.Label, "more arguments"):
		return prefixTitle
	case o.ID == folder:
		return folderTitle
	}
	return plaintext.FirstLine(plaintext.InFull(o.Label), maxTitle)
}

// cut reports whether the short title is only a part of the label.
func cut(o sessions.ApprovalOption) bool {
	return o.ID != folder && short(o) != plaintext.InFull(o.Label)
}

// Chosen returns the id of the option with a title; "" if there is none.
func Chosen(a *sessions.Approval, chosen string) string {
	for i, o := range a.Options {
		if title(a, i) == chosen {
			return o.ID
		}
	}
	if chosen == None && a.Kind == sessions.ApprovalQuestion {
		return noAnswer
	}
	return ""
}
