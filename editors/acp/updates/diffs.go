package updates

import (
	"fmt"
	"strconv"
	"strings"

	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
	"cursord/editors/acp/protocol"
	"cursord/sessions"
)

const (
	// maxWhole bounds the texts of a change that a client gets whole, in bytes; of larger ones it gets the changed lines.
	maxWhole = 512 << 10
	// around is how many lines come with these.
	around = 3
	// maxHunks bounds the changes of a call by hunks.
	maxHunks = 200
)

// changed returns what a call has changed. past says that its turn has ended: if its item has no changes, because an older daemon has stored
// it, the agent's own report stands for them.
func (s *Session) changed(i *sessions.Item, past bool) (all []protocol.Content) {
	if len(i.Changes) == 0 && past && i.Status != sessions.ItemRunning {
		if d := s.reported(i.Tool); d != nil && (d.OldText == nil || *d.OldText != d.NewText) {
			all = append(all, shortened(d))
		}
		return all
	}
	left := 0
	for n := range i.Changes {
		c := &i.Changes[n]
		room := maxHunks - len(all)
		if room <= 0 {
			left++
			continue
		}
		hunks := s.hunks(c)
		cut := c.Cut || len(hunks) > room
		hunks = hunks[:min(len(hunks), room)]
		all = append(all, hunks...)
		if len(hunks) == 0 || cut {
			all = append(all, protocol.TextContent(about(c, cut)))
		}
	}
	if left += i.MoreChanges; left > 0 {
		all = append(all, protocol.TextContent(fmt.Sprintf("… and more changes of %s", plaintext.Count(left, "file"))))
	}
	return all
}

// about says in words what a change is that its hunks do not show; cut says that they show a part of it.
func about(c *sessions.Change, cut bool) string {
	words := c.Path + ": " + string(c.Kind)
	if c.OldPath != "" {
		words = c.OldPath + " → " + words
	}
	if c.Added+c.Removed > 0 {
		words += fmt.Sprintf(", +%d −%d", c.Added, c.Removed)
	}
	if cut {
		words += "; not all of it is shown"
	}
	return words
}

// hunks returns the hunks of a change, each as a change of the lines that it shows. A hunk of a changed file that was cut off is left out: it
// would look as if the lines that are missing were deleted.
func (s *Session) hunks(c *sessions.Change) (all []protocol.Content) {
	var old, now *strings.Builder
	var from, to int // lines of a hunk that are still to come
	end := func() {
		if now == nil || c.Kind != sessions.DiffCreated && c.Kind != sessions.DiffDeleted && from+to > 0 {
			return
		}
		d := &protocol.Diff{Type: "diff", Path: s.Absolute(c.Path), NewText: now.String()}
		if c.Kind != sessions.DiffCreated {
			text := old.String()
			d.OldText = &text
		}
		all = append(all, d)
	}
	last := byte(0)
	for line := range strings.Lines(c.Patch) {
		switch line[0] {
		case '@':
			end()
			old, now = &strings.Builder{}, &strings.Builder{}
			from, to = linesOf(line)
		case '\\': // the line before has no end
			if last != '+' {
				cutEnd(old)
			}
			if last != '-' {
				cutEnd(now)
			}
		case '+':
			now.WriteString(line[1:])
			to--
		case '-':
			old.WriteString(line[1:])
			from--
		default:
			old.WriteString(line[1:])
			now.WriteString(line[1:])
			from, to = from-1, to-1
		}
		last = line[0]
	}
	end()
	return all
}

// linesOf returns how many lines a hunk has of both texts, by its header.
func linesOf(header string) (from, to int) {
	count := func(sign string) (n int) {
		_, part, _ := strings.Cut(header, " "+sign)
		part, _, _ = strings.Cut(part, " ")
		if _, number, more := strings.Cut(part, ","); more {
			n, _ = strconv.Atoi(number)
			return n
		}
		return 1
	}
	return count("-"), count("+")
}

// cutEnd cuts the last line end off.
func cutEnd(b *strings.Builder) {
	text := strings.TrimSuffix(b.String(), "\n")
	b.Reset()
	b.WriteString(text)
}

// changedLine returns the first line that a change makes different, from 1; 0 if it is not known.
func changedLine(c *sessions.Change) int {
	line := 0
	for text := range strings.Lines(c.Patch) {
		switch text[0] {
		case '@':
			if _, err := fmt.Sscanf(text[strings.IndexByte(text, '+')+1:], "%d", &line); err != nil {
				return 0
			}
		case ' ':
			line++
		default:
			return max(line, 1)
		}
	}
	return line
}

// reported returns the change that a call itself reports, with the texts from before and after it; nil if it reports none.
func (s *Session) reported(t *sessions.Tool) *protocol.Diff {
	if len(t.Paths) == 0 {
		return nil
	}
	body := jsontext.Value(t.Result)
	if inner := body.Get("success"); inner != nil {
		body = inner
	}
	d := &protocol.Diff{Type: "diff", Path: s.Absolute(t.Paths[0])}
	before := textOf(body, "beforeFullFileContent", "prevContent")
	after := textOf(body, "afterFullFileContent", "fileContentAfterWrite")
	switch {
	case t.Name == "delete" && before != nil:
		d.OldText = before
	case t.Name == "delete" || before == nil && after == nil:
		return nil
	case t.Name != "edit" && t.Name != "write":
		return nil
	default:
		d.OldText = before
		if after != nil {
			d.NewText = *after
		}
	}
	return d
}

// textOf returns the string of the first of the members that there is.
func textOf(object jsontext.Value, names ...string) *string {
	for _, name := range names {
		if v := object.Get(name); v.IsString() {
			text := v.Text()
			return &text
		}
	}
	return nil
}

// shortened returns a change of large texts as one of the lines that differ, with some around them.
func shortened(d *protocol.Diff) *protocol.Diff {
	if d.OldText == nil || len(*d.OldText)+len(d.NewText) <= maxWhole {
		return d
	}
	before, after := strings.SplitAfter(*d.OldText, "\n"), strings.SplitAfter(d.NewText, "\n")
	head, tail := same(before, after)
	head, tail = max(0, head-around), max(0, tail-around)
	old := strings.Join(before[head:len(before)-tail], "")
	now := strings.Join(after[head:len(after)-tail], "")
	return &protocol.Diff{Type: d.Type, Path: d.Path, OldText: &old, NewText: now}
}

// same counts the lines that two texts have in common at their beginnings and at their ends.
func same(a, b []string) (head, tail int) {
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

func (s *Session) toolOf(itemID string) *tool {
	for _, t := range s.turns {
		if i := t.items[itemID]; i != nil {
			return i.tool
		}
	}
	return nil
}
