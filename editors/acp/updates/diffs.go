package updates

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"cursord/agent/jsontext"
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

// IsCut reports whether an item says what it wrote and was cut: item/read has the whole of it.
func IsCut(i *sessions.Item) bool {
	if i.Tool == nil {
		return false
	}
	switch i.Tool.Name {
	case "write", "edit", "delete":
		return i.Status == sessions.ItemCompleted && (bytes.Contains(i.Tool.Result, cutMark) || bytes.Contains(i.Tool.Args, cutMark))
	}
	return false
}

var cutMark = []byte("…(")

// reported returns the change that a call itself reports, with the texts from before and after it; nil if it reports none. The review's
// hunks say it then (Diff).
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

// firstChange returns the first line that a change makes different, from 1.
func firstChange(d *protocol.Diff) int {
	if d.OldText == nil {
		return 1
	}
	line := 1
	for i := range min(len(*d.OldText), len(d.NewText)) {
		if d.NewText[i] != (*d.OldText)[i] {
			break
		}
		if d.NewText[i] == '\n' {
			line++
		}
	}
	return line
}

// Diff takes a file under review. Calls of turns that have not ended, and that have not reported themselves what they changed there, as
// commands do, get its hunks.
func (s *Session) Diff(d *sessions.Diff) {
	byItem := map[string][]protocol.Content{}
	var order []string
	for n := range d.Hunks {
		h := &d.Hunks[n]
		change := s.ofHunk(d, h)
		for _, from := range h.Sources {
			if from.ItemID == "" || slices.Contains(byItem[from.ItemID], change) {
				continue
			}
			if byItem[from.ItemID] == nil {
				order = append(order, from.ItemID)
			}
			byItem[from.ItemID] = append(byItem[from.ItemID], change)
		}
	}
	path := s.Absolute(d.Path)
	others := s.mistaken(path, byItem)
	for _, id := range append(order, others...) {
		known := s.toolOf(id)
		if known == nil || known.reported || known.unseen || known.status == "" {
			continue
		}
		known.hunks = slices.DeleteFunc(known.hunks, func(c protocol.Content) bool { return pathOf(c) == path })
		known.hunks = append(known.hunks, byItem[id]...)
		known.hunks = known.hunks[:min(len(known.hunks), maxHunks)]
		if content := append(slices.Clip(known.hunks), known.words...); known.isNews(content) {
			// All of the call: some editors forget a call that has ended.
			s.emit(protocol.Encode(&protocol.ToolCall{
				Update: "tool_call_update", ToolCallID: known.id, Title: known.title, Kind: known.kind, Status: known.status, Content: content,
				Locations: known.locations,
			}))
		}
	}
}

// mistaken returns the calls that show the client a change of a file, although the review now says that another call made it.
func (s *Session) mistaken(path string, byItem map[string][]protocol.Content) (ids []string) {
	sure := map[string]bool{}
	for _, changes := range byItem {
		for _, c := range changes {
			sure[string(protocol.Encode(c))] = true
		}
	}
	for _, t := range s.turns {
		for _, id := range t.order {
			if known := t.items[id].tool; known != nil && byItem[id] == nil && slices.ContainsFunc(known.hunks, func(c protocol.Content) bool {
				return pathOf(c) == path && sure[string(protocol.Encode(c))]
			}) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

func (s *Session) toolOf(itemID string) *tool {
	for _, t := range s.turns {
		if i := t.items[itemID]; i != nil {
			return i.tool
		}
	}
	return nil
}

func pathOf(c protocol.Content) string {
	switch c := c.(type) {
	case *protocol.Diff:
		return c.Path
	case *about:
		return c.path
	}
	return ""
}

// An about is a change that cannot be shown as text.
type about struct {
	protocol.Text
	path string
}

// ofHunk returns a hunk as a change of the lines that it shows.
func (s *Session) ofHunk(d *sessions.Diff, h *sessions.Hunk) protocol.Content {
	path := s.Absolute(d.Path)
	if h.Kind != "text" && len(h.Lines) == 0 {
		return &about{*protocol.TextContent(fmt.Sprintf("%s: %s", d.Path, d.Kind)), path}
	}
	old, now := Sides(h)
	change := &protocol.Diff{Type: "diff", Path: path, NewText: now}
	if d.Kind != sessions.DiffCreated || h.OldLines > 0 {
		change.OldText = &old
	}
	return change
}

// Sides returns the lines of a hunk before and after its change.
func Sides(h *sessions.Hunk) (old, now string) {
	var a, b strings.Builder
	for _, line := range h.Lines {
		if line == "" {
			continue
		}
		if line[0] != '+' {
			a.WriteString(line[1:] + "\n")
		}
		if line[0] != '-' {
			b.WriteString(line[1:] + "\n")
		}
	}
	old, now = a.String(), b.String()
	if h.OldNoEOL {
		old = strings.TrimSuffix(old, "\n")
	}
	if h.NewNoEOL {
		now = strings.TrimSuffix(now, "\n")
	}
	return old, now
}
