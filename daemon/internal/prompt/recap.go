package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"cursord/agent/plaintext"
	"cursord/sessions"
)

// recapLine bounds the line for a tool call, in bytes.
const recapLine = 1 << 10

// A recap is a session's transcript in words, for an agent that does not have its chat: prompts, answers, and a line for
// each tool call. It grows from the newest turn backwards until it is long enough.
type recap struct {
	limit int      // bytes
	size  int      // of parts, in bytes
	parts []string // the newest first
	keep  int      // the part of limit that is reserved for the prompt of the present turn, because that prompt explains the rest
	full  bool     // something was left out
	cut   bool     // the omitted part belongs to a turn whose prompt is in the recap
	turns int      // number of turns whose prompts are in the recap
}

// Pages returns a page of a session: turns and their items, from old to new. With "" it returns the latest page, else the
// page before the item with this id. more reports whether earlier pages exist.
type Pages func(before string) (turns []*sessions.Turn, items []*sessions.Item, more bool, err error)

// Recap returns the conversation of a session's ended turns, and a sentence for people about it. It leaves out the oldest
// parts of a text above limit bytes, and adds a line about that. Both results are "" if there was no conversation. An error
// comes from pages.
func Recap(pages Pages, limit int) (text, remark string, err error) {
	r := &recap{limit: limit}
	before := ""
	var open *sessions.Turn // a turn with items that have not been seen yet
	for !r.full {
		turns, items, more, err := pages(before)
		if err != nil {
			return "", "", err
		}
		byTurn := map[string][]*sessions.Item{}
		for _, it := range items {
			byTurn[it.TurnID] = append(byTurn[it.TurnID], it)
		}
		for _, t := range slices.Backward(turns) {
			if open != nil && open.ID != t.ID {
				r.prompt(open)
			}
			if open == nil || open.ID != t.ID {
				r.end(t)
			}
			open = t
			if t.Status.Final() && !r.full {
				r.items(t, byTurn[t.ID])
			}
		}
		if !more || len(items) == 0 {
			break
		}
		before = items[0].ID
	}
	if open != nil {
		r.prompt(open)
	}
	if len(r.parts) == 0 {
		return "", "", nil
	}
	remark = "a fresh chat has begun, with the transcript of " + plaintext.Count(r.turns, "earlier turn") + " as context"
	if r.full {
		remark += "; the oldest of it did not fit"
	}
	if r.full && !r.cut {
		r.parts = append(r.parts, recapLeftOut)
	}
	slices.Reverse(r.parts)
	return strings.Join(r.parts, "\n"), remark, nil
}

// add puts a part before the others. It removes the middle of a part that is longer than its share.
func (r *recap) add(head, text string) {
	if r.full {
		return
	}
	part := head + r.share(text) + "\n"
	if r.size+len(part)+r.keep > r.limit {
		r.full = true
		return
	}
	r.size += len(part) + 1
	r.parts = append(r.parts, part)
}

// share shortens a text to the length that one part may have.
func (r *recap) share(text string) string {
	text = strings.TrimSpace(plainly(text))
	share := max(r.limit/4, 256)
	if len(text) <= share {
		return text
	}
	cut := len(text) - share
	return plaintext.Cut(text, share*2/3) + fmt.Sprintf("\n…(%d bytes left out)…\n", cut) + plaintext.CutFront(text, share/3)
}

const (
	recapUser    = "[user]\n"
	recapLeftOut = "(what came before is left out)\n"
	recapCut     = "(the beginning of the answer is left out)\n"
)

var (
	recapEnds  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)</(\s*(?:transcript|context)\b)`) })
	recapMarks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\[(?:user|you)\]`) })
)

// plainly returns a text without control characters in which nothing can pass for a mark of the transcript, or for its end.
func plainly(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' && c != '\r' {
			return utf8.RuneError
		}
		return c
	}, text)
	text = recapEnds().ReplaceAllString(text, "< /$1")
	return recapMarks().ReplaceAllString(text, " $0")
}

func (r *recap) end(t *sessions.Turn) {
	switch t.Status {
	case sessions.TurnFailed:
		r.add("", "(a failure ended this turn)")
	case sessions.TurnCancelled:
		r.add("", "(the user cancelled this turn)")
	case sessions.TurnInterrupted:
		r.add("", "(this turn was interrupted)")
	}
}

func (r *recap) prompt(t *sessions.Turn) {
	if !t.Status.Final() {
		return // the turn that asks, or a later one
	}
	r.keep = 0
	if r.add(recapUser, t.Asked()); !r.full {
		r.turns++
	}
}

// items adds the messages of a turn behind the turn's prompt, as many as fit.
func (r *recap) items(t *sessions.Turn, items []*sessions.Item) {
	r.keep = len(recapUser) + len(r.share(t.Asked())) + len(recapCut) + 3
	if r.full = r.size+r.keep > r.limit; r.full {
		return
	}
	for _, it := range slices.Backward(items) {
		if r.item(it); r.full {
			r.parts = append(r.parts, recapCut, recapUser+r.share(t.Asked())+"\n")
			r.cut, r.turns = true, r.turns+1
			return
		}
	}
}

func (r *recap) item(it *sessions.Item) {
	switch it.Kind {
	case sessions.ItemAssistant, sessions.ItemPlan:
		if strings.TrimSpace(it.Text) != "" {
			r.add("[you]\n", it.Text)
		}
	case sessions.ItemTool:
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
		r.add("- ", plaintext.Cut(line, recapLine))
	}
}
