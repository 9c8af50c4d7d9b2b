package hunks

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cursord/editors/lsp/protocol"
	"cursord/sessions"
)

// A Side is the side of a hunk that an editor's text has.
type Side int

const (
	Neither Side = iota
	OldSide      // the lines before the agent
	NewSide      // the lines that the agent made
)

// A Placed hunk is a hunk with its place in an editor.
type Placed struct {
	Hunk  *sessions.Hunk
	Diff  *sessions.Diff
	Index int // among the file's hunks, from top to bottom
	URI   string
	Text  *protocol.Text // of the document; nil if it is not open
	Side  Side
	From  int  // the first line of the hunk's changed part
	To    int  // the line behind the last; From if there is none
	Alone bool // only the list of all hunks has it
}

// A Block is the text of one side of a hunk, without line ends. Its first and last lines are context.
type Block struct {
	Lines        []string
	Before, Tail int // numbers of lines of context
}

// Sides returns both sides of a hunk of lines.
func Sides(h *sessions.Hunk) (old, now Block) {
	first, last := -1, -1
	for i, line := range h.Lines {
		if line == "" || line[0] == ' ' {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	for i, line := range h.Lines {
		if line == "" {
			line = " "
		}
		content := strings.TrimSuffix(line[1:], "\r")
		if len(old.Lines) == 0 && h.OldStart <= 1 || len(now.Lines) == 0 && h.NewStart <= 1 {
			content = strings.TrimPrefix(content, protocol.ByteOrderMark)
		}
		if line[0] != '+' {
			old.Lines = append(old.Lines, content)
		}
		if line[0] != '-' {
			now.Lines = append(now.Lines, content)
		}
		if line[0] == ' ' && i < first {
			old.Before, now.Before = old.Before+1, now.Before+1
		}
		if line[0] == ' ' && i > last {
			old.Tail, now.Tail = old.Tail+1, now.Tail+1
		}
	}
	return old, now
}

// changed returns the lines that are not context.
func (b Block) changed() []string { return b.Lines[b.Before : len(b.Lines)-b.Tail] }

// Start returns the line, from 0, at which a side of a hunk begins. line and lines are a hunk's: line counts from 1, and for an
// empty side it is the line before.
func Start(line, lines int) int {
	if lines == 0 {
		return line
	}
	return max(line-1, 0)
}

// LineRange returns the range at which a hunk is shown: its lines and those of the user that it is beside, or if it has none here, the line at
// which they would be, at the end of the text the line before.
func (p *Placed) LineRange(e protocol.Encoding) protocol.Range {
	before, after := beside(p.Hunk)
	from, to := max(p.From-before, 0), p.To+after
	if p.Text == nil {
		if old, _ := Sides(p.Hunk); p.Hunk.Kind == "text" && from == to && old.Tail == 0 {
			from = max(from-1, 0)
		}
		return protocol.Range{Start: protocol.Position{Line: from}, End: protocol.Position{Line: max(from, to-1)}}
	}
	from = min(from, max(p.Text.CountLines()-1, 0))
	if to <= from {
		to = from + 1
	}
	return p.Text.LineRange(from, min(to, max(p.Text.CountLines(), 1)), e)
}

// beside returns how many lines before a hunk's changed part, and behind it, reach to those of the user beside it.
func beside(h *sessions.Hunk) (before, after int) {
	changed := func(line string) bool { return line != "" && line[0] != ' ' }
	first := slices.IndexFunc(h.Lines, changed)
	last := len(h.Lines) - 1
	for last >= 0 && !changed(h.Lines[last]) {
		last--
	}
	for _, at := range h.Beside {
		before, after = max(before, first-at), max(after, at-last)
	}
	return before, after
}

// counts returns how many lines a hunk adds and removes.
func counts(h *sessions.Hunk) (added, removed int) {
	for _, line := range h.Lines {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// Summary returns what a hunk does in a few words, such as "+2 −1" or "a.go: new file, +9".
func Summary(d *sessions.Diff, h *sessions.Hunk) string {
	added, removed := counts(h)
	if h.Kind == "text" {
		return fmt.Sprintf("+%d −%d", added, removed)
	}
	switch d.Kind {
	case sessions.DiffCreated:
		mode := ""
		if d.NewMode != "" {
			mode = ", mode " + d.NewMode
		}
		return fmt.Sprintf("%s: new file%s, +%d", path.Base(d.Path), mode, added)
	case sessions.DiffDeleted:
		return fmt.Sprintf("%s: deleted, −%d", path.Base(d.Path), removed)
	case sessions.DiffRenamed:
		return fmt.Sprintf("renamed: %s → %s", d.OldPath, d.Path)
	case sessions.DiffMode:
		return fmt.Sprintf("%s: mode %s → %s", path.Base(d.Path), d.OldMode, d.NewMode)
	case sessions.DiffSymlink:
		return fmt.Sprintf("%s: link %s → %s", path.Base(d.Path), d.OldTarget, d.NewTarget)
	case sessions.DiffBinary:
		return path.Base(d.Path) + ": binary"
	case sessions.DiffLarge:
		return path.Base(d.Path) + ": too large to be shown"
	}
	if d.OldPath != "" {
		return fmt.Sprintf("renamed: %s → %s", d.OldPath, d.Path)
	}
	return path.Base(d.Path) + ": " + string(d.Kind)
}

// Author returns what follows a hunk's summary: how it was made, unless by edits alone, and whether it may be the user's own.
func Author(h *sessions.Hunk) (text string) {
	if by := h.MadeBy(); by != "" && by != "edit" {
		text = " by " + by
	}
	if h.MaybeYours() {
		text += " · may be yours: it is not surely the agent's"
	}
	return text
}

// Describe returns a hunk for a hover: a line about it, with the prompt if it is known, and its lines, which body has.
func Describe(p *Placed, prompt, body string, markdown bool) protocol.Markup {
	head := fmt.Sprintf("hunk %d/%d %s%s", p.Index+1, len(p.Diff.Hunks), Summary(p.Diff, p.Hunk), Author(p.Hunk))
	if prompt != "" {
		head += " · " + prompt
	}
	if p.Hunk.Isolated {
		head += " · not in your folder until you accept it"
	}
	if p.Hunk.InConflict() {
		head += " · you have changed these lines too, and not saved: keep yours, take the agent's, or keep both"
	} else if p.Hunk.BothChanged() {
		head += " · you have changed this place too: keep your lines, take the agent's, or keep both"
	}
	if !markdown {
		return protocol.Markup{Kind: "plaintext", Value: strings.TrimSpace("cursord " + head + "\n" + body)}
	}
	value := "**cursord** " + head
	if body != "" {
		fence := "```"
		for strings.Contains(body, fence) {
			fence += "`"
		}
		value += fmt.Sprintf("\n\n%sdiff\n%s\n%s", fence, body, fence)
	}
	return protocol.Markup{Kind: "markdown", Value: value}
}

// Undecidable returns why nothing can be decided about a hunk; "" if it can be decided.
func (p *Placed) Undecidable() string {
	if strings.HasPrefix(p.Diff.Path, "/") || len(p.Diff.Path) > 1 && p.Diff.Path[1] == ':' {
		return "the file is outside of the workspace"
	}
	return ""
}

// IDs returns the ids of hunks.
func IDs(hunks []*sessions.Hunk) (list []string) {
	for _, h := range hunks {
		list = append(list, h.ID)
	}
	return list
}

// FirstChanged returns the line, from 1, of a hunk's first change.
func FirstChanged(h *sessions.Hunk) int {
	context := slices.IndexFunc(h.Lines, func(line string) bool { return !strings.HasPrefix(line, " ") })
	return max(h.NewStart+max(context, 0), 1)
}

// Pointers returns pointers to hunks.
func Pointers(hunks []sessions.Hunk) (list []*sessions.Hunk) {
	for i := range hunks {
		list = append(list, &hunks[i])
	}
	return list
}
