package recap

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"cursord/agent/plaintext"
	"cursord/daemon/internal/decisionlog"
	"cursord/sessions"
)

const (
	markUser     = "[user]\n"
	markYou      = "[you]\n"
	markReview   = "[review]\n"
	leftOut      = "(what came before is left out)\n"
	stepsLeftOut = "(%s left out)\n"
)

var (
	ends  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)</(\s*(?:transcript|context|remarks)\b)`) })
	marks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\[(?:user|you|review)\]`) })
)

// Plainly returns a text without control characters in which nothing can pass for a mark of the transcript, or for its end.
func Plainly(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' && c != '\r' {
			return utf8.RuneError
		}
		return c
	}, text)
	text = ends().ReplaceAllString(text, "< /$1")
	return marks().ReplaceAllString(text, " $0")
}

// share shortens a text to the length that one part may have: it removes the middle. Parts of the latest turn may be longer.
func (r *recap) share(text string, latest bool) string {
	if latest {
		return shorten(text, max(r.limit/4, 256))
	}
	return shorten(text, max(r.limit/8, 128))
}

func shorten(text string, share int) string {
	text = strings.TrimSpace(Plainly(text))
	if len(text) <= share {
		return text
	}
	cut := len(text) - share
	return plaintext.Cut(text, share*2/3) + fmt.Sprintf("\n…(%d bytes left out)…\n", cut) + plaintext.CutFront(text, share/3)
}

func isText(it *sessions.Item) bool {
	return (it.Kind == sessions.ItemAssistant || it.Kind == sessions.ItemPlan) && strings.TrimSpace(it.Text) != ""
}

// part returns what is told of an item; "" if nothing is.
func (r *recap) part(it *sessions.Item, latest bool) string {
	switch {
	case isText(it):
		return markYou + r.share(it.Text, latest) + "\n"
	case it.Kind == sessions.ItemTool && it.Tool != nil:
		return "- " + r.share(plaintext.Cut(callLine(it), lineMax), latest) + "\n"
	}
	return ""
}

func callLine(it *sessions.Item) string {
	title := it.Tool.Title
	if title == "" {
		title = it.Tool.RawName
	}
	line := strings.Join(strings.Fields(title), " ")
	switch t := it.Tool; {
	case it.Status == sessions.ItemCompleted:
	case t.ExitCode != nil && *t.ExitCode != 0:
		line += fmt.Sprintf(" (failed, exit status %d)", *t.ExitCode)
	default:
		line += fmt.Sprintf(" (%s)", it.Status)
	}
	return line
}

func endOf(status sessions.TurnStatus) string {
	switch status {
	case sessions.TurnFailed:
		return "(a failure ended this turn)\n"
	case sessions.TurnCancelled:
		return "(the user cancelled this turn)\n"
	case sessions.TurnInterrupted:
		return "(this turn was interrupted)\n"
	}
	return ""
}

// parts returns what is told of a turn, in the order of time, and whether steps of it are left out.
func (t *turn) parts() (parts []string, cut bool) {
	parts = []string{t.prompt}
	if left := len(t.items) - len(t.taken) + t.more; left > 0 {
		cut = true
		parts = append(parts, fmt.Sprintf(stepsLeftOut, plaintext.Count(left, "step")))
	}
	for _, it := range slices.Backward(t.items) {
		if part := t.taken[it]; part != "" {
			parts = append(parts, part)
		}
	}
	if end := endOf(t.of.Status); end != "" {
		parts = append(parts, end)
	}
	return parts, cut
}

// A Review is what review holds of a session, and of those that it was forked from.
type Review struct {
	Session   string
	Pending   []*sessions.Diff     // of the workspace
	Decisions []*decisionlog.Group // of the workspace, from old to new
	Said      []string             // what the prompt says of them elsewhere
	// Inherited reports whether a source is of a turn that the session has a copy of, because it is a fork; one without a turn: whether
	// it is of the session of such turns. nil: it is no fork.
	Inherited func(sessions.Source) bool
}

// of counts the hunks of a diff that are the session's, and those that are only in the copy of the one that it was forked from.
func (v *Review) of(d *sessions.Diff) (here, elsewhere int) {
	for _, h := range d.Hunks {
		switch {
		case slices.ContainsFunc(h.Sources, func(s sessions.Source) bool { return s.SessionID == v.Session }):
			here++
		case v.Inherited == nil || !slices.ContainsFunc(h.Sources, v.Inherited):
		case h.Isolated:
			elsewhere++
		default:
			here++
		}
	}
	return here, elsewhere
}

func (v *Review) concerns(d *sessions.Diff) bool {
	here, elsewhere := v.of(d)
	return here+elsewhere > 0
}

// about reports whether the session is to know a rejection or a comment.
func (v *Review) about(said decisionlog.Rejection) bool {
	return said.Session == v.Session || said.Session == "" || v.Inherited != nil && v.Inherited(sessions.Source{SessionID: said.Session})
}

// lines says in at most limit bytes which hunks of the session nobody has decided, which of these its agent does not have in its files, and what a person has rejected or said about
// decisions, the latest first. It returns "" if there is nothing to say.
func (v *Review) lines(limit int) string {
	var all []string
	for _, d := range v.Pending {
		path := plaintext.OneLine("", d.Path)
		here, elsewhere := v.of(d)
		if here > 0 {
			all = append(all, fmt.Sprintf("- The user has not decided yet on %s in %s.\n", plaintext.Count(here, "hunk"), path))
		}
		if elsewhere > 0 {
			all = append(all, fmt.Sprintf("- Not here, but in the copy of the session that this one was forked from: %s in %s.\n", plaintext.Count(elsewhere, "hunk"), path))
		}
	}
	for _, g := range slices.Backward(v.Decisions) {
		if g.Undone {
			continue
		}
		for _, said := range g.Rejections {
			if v.about(said) && !slices.Contains(v.Said, said.Text) {
				all = append(all, "- "+shorten(said.Text, max(limit/4, 128))+"\n")
			}
		}
	}
	text := ""
	for i, line := range all {
		rest := fmt.Sprintf("(%d more are left out)\n", len(all)-i)
		if len(markReview)+len(text)+len(line)+len(rest) > limit {
			text += rest
			break
		}
		text += line
	}
	if text == "" {
		return ""
	}
	return markReview + text
}
