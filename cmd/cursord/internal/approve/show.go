// Package approve shows what agents ask people, and answers it: by commands, and at the terminal of a command that follows a turn.
// It never answers by itself.
package approve

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cursord/agent/plaintext"
	"cursord/cmd/cursord/internal/term"
	"cursord/sessions"
)

// folderOption is the daemon's own option, for a rule of the workspace.
const folderOption = "cursord:folder"

// noAnswer ends a question without an answer; it is not among its options.
const noAnswer = "cursord:none"

// No returns the id of the answer that says no; for a question, of the one by which it stays unanswered. It is "" if there is none.
func No(a *sessions.Approval) string {
	if o := a.Chosen(sessions.RejectOnce, sessions.RejectAlways); o != nil {
		return o.ID
	}
	if a.Kind == sessions.ApprovalQuestion {
		return noAnswer
	}
	return ""
}

// commands returns lines with the commands that answer an approval; id is what to type for it.
func commands(a *sessions.Approval, id string) []string {
	switch yes, no := a.Chosen(sessions.AllowOnce), No(a); {
	case yes != nil && no != "":
		return []string{fmt.Sprintf("answer with: cursord approve %s, or cursord deny %[1]s", id)}
	case a.Kind != sessions.ApprovalQuestion && no != "":
		return []string{fmt.Sprintf("answer with: cursord approve %s NUMBER, or cursord deny %[1]s", id)}
	case a.Kind != sessions.ApprovalQuestion:
		return []string{fmt.Sprintf("answer with: cursord approve %s NUMBER", id)}
	}
	lines := []string{"answer with one of:"}
	for i, o := range a.Options {
		lines = append(lines, fmt.Sprintf("  cursord approve %s %s  (%s)", id, word(a, fmt.Sprint(i+1), o.ID), term.Clean(o.Label)))
	}
	switch {
	case a.Several:
		lines = append(lines, fmt.Sprintf(`  cursord approve %s --text "1, 2"  (several)`, id))
	case a.Text:
		lines = append(lines, fmt.Sprintf(`  cursord approve %s --text "…"  (your own words)`, id))
	}
	lines = append(lines, fmt.Sprintf("  cursord deny %s  (no answer)", id))
	if !a.Text {
		lines = append(lines, "  the agent takes no other answer, so no --text")
	}
	return lines
}

// Elsewhere returns lines with the commands that answer an approval in another terminal.
func Elsewhere(a *sessions.Approval) []string { return commands(a, tagOf(a)) }

// Lines returns the whole of what is asked, for people, with every character shown. above says that the details are on the screen already: then they
// are left out.
func Lines(a *sessions.Approval, above bool, p term.Palette) []string {
	return LinesBy(theAgent, a, above, p)
}

const theAgent = "The agent"

// LinesBy is Lines with who asks, such as "The agent of another turn".
func LinesBy(who string, a *sessions.Approval, above bool, p term.Palette) []string {
	does := map[sessions.ApprovalKind]string{
		sessions.ApprovalPermission: " asks for permission", sessions.ApprovalQuestion: " asks", sessions.ApprovalPlan: " has a plan",
	}[a.Kind]
	what := who + does
	if does == "" {
		what += " asks (" + term.Clean(string(a.Kind)) + ")"
	}
	if a.Title == "" || a.Title != a.Command {
		what += ": " + term.Clean(a.Title)
	} else {
		what += ":"
	}
	lines := []string{p.Yellow(what)}
	details := a.Detail
	if above {
		details = ""
	}
	if details = strings.TrimRight(details, "\n"); details != "" {
		for line := range strings.SplitSeq(plaintext.InFull(details), "\n") {
			lines = append(lines, "  "+line)
		}
	}
	lines = append(lines, commandLines(a.Command, p)...)
	for _, path := range a.Paths {
		lines = append(lines, "  "+term.Clean(path))
	}
	return lines
}

// commandLines returns the lines of a command with the line ends marked. Otherwise a line could be taken for the rest of the one above it, wrapped by the
// terminal.
func commandLines(command string, p term.Palette) (lines []string) {
	command = strings.TrimRight(command, "\n")
	if command == "" {
		return nil
	}
	command = strings.ReplaceAll(command, "\r\n", "␍\n")
	all := strings.Split(plaintext.InFull(command), "\n")
	for i, line := range all {
		if line = p.Bold(line); i < len(all)-1 {
			line += p.Dim("␊")
		}
		lines = append(lines, "  "+line)
	}
	return lines
}

// ReadTime is how long a question must have been on the screen when an answer comes. One that comes sooner was meant for another question, and the
// person is told TooSoon.
const ReadTime = 500 * time.Millisecond

const TooSoon = "This question has just come: read it, then answer."

// TooTall is said once of an answer to a question that is longer than the screen, unless it is a no.
const TooTall = "The beginning of this question is above the window: scroll up and read it, then answer again."

// Refuses reports whether an answer is a no, or leaves the question unanswered.
func Refuses(a *sessions.Approval, answer Answer) bool {
	o := a.Option(answer.Option)
	return o != nil && (o.Kind == sessions.RejectOnce || o.Kind == sessions.RejectAlways) || answer.Option == noAnswer
}

// A Key is a short answer that a person types, and what it stands for.
type Key struct {
	Word   string // "y", "n", "a", or the number of an option; see word
	Option string // its id
	About  string // for people
}

// Keys returns the short answers to an approval: y, n and a as far as there are such options, then all options by number. For a
// question, n leaves it unanswered.
func Keys(a *sessions.Approval) (keys []Key) {
	add := func(key string, o *sessions.ApprovalOption) {
		if o != nil {
			keys = append(keys, Key{word(a, key, o.ID), o.ID, term.Clean(o.Label)})
		}
	}
	add("y", a.Chosen(sessions.AllowOnce))
	add("n", a.Chosen(sessions.RejectOnce, sessions.RejectAlways))
	add("a", a.Option(folderOption))
	if No(a) == noAnswer {
		keys = append(keys, Key{word(a, "n", noAnswer), noAnswer, "no answer; the agent goes on without one"})
	}
	for i := range a.Options {
		add(fmt.Sprint(i+1), &a.Options[i])
	}
	return keys
}

func (k Key) isLetter() bool { return strings.Contains("yna", strings.TrimRight(k.Word, ".")) }

// word returns the key for the option id. If another answer is called like the key, word adds a dot, because a person who types the name may mean
// that answer.
func word(a *sessions.Approval, key, id string) string {
	for named(a, key, id) {
		key += "."
	}
	return key
}

// named reports whether another answer than the option id is called like a key.
func named(a *sessions.Approval, key, id string) bool {
	return slices.ContainsFunc(a.Options, func(o sessions.ApprovalOption) bool { return o.ID != id && strings.EqualFold(o.Label, key) })
}

// Shown reports whether an answer that a person has typed is one of those that they see. Where Offers shows letters alone, numbers and names count only
// after Numbers has shown them, because the second line of letters need not be answer 2.
func Shown(a *sessions.Approval, typed string, numbers bool) bool {
	letters, _ := letters(a)
	if numbers || len(letters) == 0 {
		return true
	}
	word, _, _ := strings.Cut(typed, `"`)
	return slices.ContainsFunc(Keys(a), func(k Key) bool { return k.isLetter() && strings.EqualFold(k.Word, strings.TrimSpace(word)) })
}

// letters returns a line for each answer that has a letter, and whether there are others.
func letters(a *sessions.Approval) (lines []string, others bool) {
	for _, k := range Keys(a) {
		if k.isLetter() && k.Option != noAnswer {
			lines = append(lines, k.Word+" "+k.About)
		} else {
			others = true
		}
	}
	return lines, others
}

// Offers returns the lines that say what to press, and what it does: letters, where e stands for all other answers, or numbers. end says
// what else there is to press; it may be "".
func Offers(a *sessions.Approval, end string) []string {
	letters, numbers := letters(a)
	switch {
	case len(letters) == 0:
		return Numbers(a, end)
	case numbers && len(letters) < len(a.Options) || a.Text:
		letters = append(letters, "e other answers")
	}
	return offering("Type a letter and press Enter.", end, letters)
}

// Numbers is Offers with all answers.
func Numbers(a *sessions.Approval, end string) []string {
	all := All(a)
	switch {
	case len(all) == 0:
		return nil
	case len(a.Options) > 0:
		return offering("Type a number and press Enter.", end, all)
	}
	return offering("Type an answer and press Enter.", end, all)
}

func offering(how, end string, answers []string) []string {
	lines := []string{strings.TrimSpace(how + " " + end)}
	for _, answer := range answers {
		lines = append(lines, "  "+answer)
	}
	return lines
}

// All returns a line for each answer that there is.
func All(a *sessions.Approval) (lines []string) {
	no := ""
	for _, k := range Keys(a) {
		switch {
		case k.Option == noAnswer:
			no = k.Word + " " + k.About
		case !k.isLetter():
			lines = append(lines, k.Word+" "+k.About)
		}
	}
	switch {
	case a.Several:
		lines = append(lines, "several: their numbers with commas between, such as 1, 2")
	case a.Kind == sessions.ApprovalPlan && a.Text:
		lines = append(lines, `n "text", in quotes, rejects it with that text; an accept takes none`)
	case a.Text:
		lines = append(lines, `"text" in quotes answers with that text; a number may stand before it`)
	}
	if no != "" {
		lines = append(lines, no)
	}
	return lines
}

// An Answer is what a person has typed: an option, a text, or both.
type Answer struct{ Option, Text string }

// Read reads an answer to an approval: a key, or the number or id of an option. Where the agent takes a text, a text in quotes may follow
// the option or stand alone; a plan takes one only after a no. ok is false for everything else.
func Read(a *sessions.Approval, typed string) (answer Answer, ok bool) {
	if o := a.Option(typed); o != nil && typed != strings.TrimSpace(typed) {
		return Answer{Option: o.ID}, true // another one's id may differ by the blanks alone
	}
	typed = strings.TrimSpace(typed)
	if before, text, quoted := strings.Cut(typed, `"`); quoted {
		inner, closed := strings.CutSuffix(text, `"`)
		if !a.Text || !closed || strings.TrimSpace(inner) == "" || a.Several && plaintext.Chosen(inner, a.Names()) == nil {
			return Answer{}, false
		}
		plan := a.Kind == sessions.ApprovalPlan
		if before = strings.TrimSpace(before); before == "" {
			return Answer{Text: inner}, !plan
		}
		answer, ok = Read(a, before)
		answer.Text = inner
		if answer.Option == noAnswer {
			return Answer{}, false
		}
		if o := a.Option(answer.Option); plan && o != nil && o.Kind.Allows() {
			return Answer{}, false // the agent would not get the text
		}
		return answer, ok
	}
	keys := Keys(a)
	if i := slices.IndexFunc(keys, func(k Key) bool { return strings.EqualFold(k.Word, typed) }); i >= 0 {
		return Answer{Option: keys[i].Option}, true
	}
	if o := a.Option(typed); o != nil && !named(a, typed, o.ID) {
		return Answer{Option: o.ID}, true
	}
	if a.Several && plaintext.Chosen(typed, a.Names()) != nil {
		return Answer{Text: typed}, true
	}
	return Answer{}, false
}

// Meant reports whether a line that is no answer was meant as one: a single character, numbers, a yes or a no, or a text in quotes.
func Meant(typed string) bool {
	typed = strings.TrimSpace(typed)
	text, before := strings.CutSuffix(typed, `"`)
	if at := strings.Index(text, `"`); before && at >= 0 {
		return at == 0 || Meant(text[:at])
	}
	return utf8.RuneCountInString(typed) == 1 || strings.Trim(typed, "0123456789., ") == "" && typed != "" ||
		slices.Contains([]string{"yes", "no"}, strings.ToLower(typed))
}

// Ended says for people how an approval ended.
func Ended(a *sessions.Approval) string {
	if a.Status == sessions.ApprovalExpired {
		return "expired: nobody answered in time (approval_timeout)"
	}
	if a.Status != sessions.ApprovalAnswered || a.Answer == nil {
		return string(a.Status)
	}
	if a.Answer.OptionID == noAnswer {
		return "ended without an answer"
	}
	said := term.Clean(a.Answer.Text)
	if o := a.Option(a.Answer.OptionID); o != nil {
		said = strings.TrimSuffix(term.Clean(o.Label)+": "+said, ": ")
	}
	if a.Answer.Rule != "" {
		return "allowed by the rule " + term.Clean(a.Answer.Rule)
	}
	return "answered: " + said
}
