package acp

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"cursord/agent"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

const (
	maxChange = 16 << 10 // bytes that a person is shown of the changes that a call announces
	maxPaths  = 300      // files of a call: more than the daemon asks a person about
	around    = 3        // unchanged lines that are shown beside changed ones
)

// A change is what a call announces to change in a file.
type change struct {
	path, old, new string
	fresh          bool // the file is new
}

// changesOf returns the changes among the contents of a call.
func changesOf(content jsontext.Value) (all []change) {
	for item := range content.Elements() {
		if item.Get("type").Text() == "diff" && len(all) < maxPaths {
			old := item.Get("oldText")
			all = append(all, change{strings.Clone(item.Get("path").Text()), strings.Clone(old.Text()), strings.Clone(item.Get("newText").Text()), old.IsNull()})
		}
	}
	return all
}

// unsaidChanges returns the announced changes of which the arguments do not have the new text, for a person to decide about.
func (c *call) unsaidChanges() string {
	var b strings.Builder
	for _, one := range c.changes {
		if !c.argumentsSay(&one) {
			one.write(&b)
		}
	}
	text := plaintext.Visible(b.String(), "\n\t")
	if left := len(text) - maxChange; left > 0 {
		text = fmt.Sprintf("%s\n… (%d more bytes)", plaintext.Cut(text, maxChange), left)
	}
	return text
}

// newText matches the names of arguments that have the text which an edit writes.
var newText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)content|new|text`) })

// argumentsSay reports whether unsaid shows a change, as the whole of what one of the arguments says: the call writes this file alone.
func (c *call) argumentsSay(one *change) bool {
	call := c.report.Call("")
	if one.new == "" || call.Writes() != agent.WritesNamed || len(call.Paths) != 1 || call.Paths[0] != one.path {
		return false
	}
	// People see an argument whole if it is no longer than maxShown as it is shown, where a character may take three times its bytes.
	for k, v := range jsontext.Value(c.report.Args).Members() {
		if v.Text() == one.new && newText().Match(k) && len(v) < maxShown/3 {
			return true
		}
	}
	return false
}

// write writes the change as a diff with one hunk, from the first changed line to the last.
func (c *change) write(b *strings.Builder) {
	from, old, now := c.path, splitLines(c.old), splitLines(c.new)
	if c.fresh {
		from = "/dev/null"
	}
	fmt.Fprintf(b, "--- %s\n+++ %s\n", oneLine(from), oneLine(c.path))
	begin, end := 0, 0
	for begin < min(len(old), len(now)) && old[begin] == now[begin] {
		begin++
	}
	for end < min(len(old), len(now))-begin && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	put := func(sign string, list []string) {
		for _, line := range list {
			b.WriteString(sign + line + "\n")
		}
	}
	put(" ", old[max(0, begin-around):begin])
	put("-", old[begin:len(old)-end])
	put("+", now[begin:len(now)-end])
	put(" ", old[len(old)-end:min(len(old), len(old)-end+around)])
}

func oneLine(path string) string { return strings.Join(strings.Fields(path), " ") }

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}
