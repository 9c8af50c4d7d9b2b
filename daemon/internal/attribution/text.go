package attribution

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"

	"cursord/diffs"
)

const byteOrderMark = "\ufeff"

// same reports whether two contents are equal. Modes count only if both are known.
func same(a, b diffs.Content) bool {
	return a.Exists == b.Exists && a.Target == b.Target && bytes.Equal(a.Data, b.Data) && (a.Mode == b.Mode || a.Mode == 0 || b.Mode == 0)
}

// isText reports whether c is a regular file, whose lines can be compared.
func isText(c diffs.Content) bool { return c.Exists && c.Target == "" }

// decoded returns a text as an agent has it after reading: without the byte order mark, with LF as line end, and with U+FFFD
// for bytes that are not UTF-8. Decoders write different numbers of U+FFFD, so each run of them counts as one.
func decoded(b []byte) []byte {
	b = bytes.TrimPrefix(b, []byte(byteOrderMark))
	if bytes.IndexByte(b, '\r') >= 0 {
		b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	}
	if !utf8.Valid(b) || bytes.Contains(b, []byte("\ufffd")) {
		b = bytes.ToValidUTF8(bytes.ReplaceAll(b, []byte("\ufffd"), []byte{0xff}), []byte("\ufffd"))
	}
	return b
}

// reads reports whether an agent that reads the bytes of file may report text as its content.
func reads(file []byte, text string) bool {
	if n := strings.Count(text, "\r\n"); n > 0 && n != bytes.Count(file, []byte("\r\n")) {
		return false // the agent keeps line ends, and these differ
	}
	return string(file) == text || bytes.Equal(decoded(file), decoded([]byte(text)))
}

// inFormOf returns a text that an agent reports in the form of a file. Agents drop the byte order mark and turn CRLF into LF
// when they read, and some escape HTML. Lines that are in both texts keep the file's line end; the others get the file's
// most frequent one.
func inFormOf(file []byte, text string) []byte {
	switch {
	case reads(file, text), strings.Contains(text, "&") && reads(file, html.UnescapeString(text)):
		return file
	case strings.Contains(text, "\r"):
		return []byte(text) // the agent kept the line ends
	}
	mark := keepsMark(file, text)
	crlf, lf := bytes.Count(file, []byte("\r\n")), bytes.Count(file, []byte("\n"))
	var b bytes.Buffer
	if mark {
		b.WriteString(byteOrderMark)
	}
	if crlf == 0 {
		b.WriteString(text)
		return b.Bytes()
	}
	end := "\r\n"
	if 2*crlf < lf {
		end = "\n"
	}
	have := strings.SplitAfter(string(bytes.TrimPrefix(file, []byte(byteOrderMark))), "\n")
	at := 0
	for _, e := range diffs.LineEdits(string(decoded(file)), text) {
		for ; at < e.From; at++ {
			b.WriteString(have[at])
		}
		b.WriteString(strings.ReplaceAll(e.Text, "\n", end))
		at = e.To
	}
	for ; at < len(have); at++ {
		b.WriteString(have[at])
	}
	return b.Bytes()
}

// withFreshEnds returns text with other line ends: a line that is in later and not in earlier ends as it does in later.
func withFreshEnds(text, earlier, later []byte) []byte {
	crlf := bytes.Count(text, []byte("\r\n"))
	if crlf == 0 && !bytes.Contains(later, []byte("\r\n")) {
		return text
	}
	lines, ends := lineList(string(text)), lineList(string(later))
	same := map[int]int{} // lines of later that equal lines of text, by the latter
	at, there := 0, 0
	for _, e := range append(diffs.LineEdits(string(decoded(text)), string(decoded(later))), diffs.LineEdit{From: len(lines), To: len(lines)}) {
		for ; at < e.From; at++ {
			same[at] = there
			there++
		}
		at, there = e.To, there+lineCount(e.Text)
	}
	line, from := 0, 0
	for _, e := range diffs.LineEdits(string(decoded(earlier)), string(decoded(text))) {
		line += e.From - from
		from = e.To
		for range lineCount(e.Text) {
			if now, both := same[line]; both && strings.HasSuffix(lines[line], "\n") && strings.HasSuffix(ends[now], "\n") {
				lines[line] = strings.TrimSuffix(strings.TrimSuffix(lines[line], "\n"), "\r") + "\n"
				if strings.HasSuffix(ends[now], "\r\n") {
					lines[line] = strings.TrimSuffix(lines[line], "\n") + "\r\n"
				}
			}
			line++
		}
	}
	return []byte(strings.Join(lines, ""))
}

// keepsMark reports whether a text that an agent reports without the file's byte order mark has it in truth, because agents
// drop it when they read. It has not if the line with the mark comes after another line in it.
func keepsMark(file []byte, text string) bool {
	if !bytes.HasPrefix(file, []byte(byteOrderMark)) || strings.HasPrefix(text, byteOrderMark) {
		return false
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(string(file), "\r\n", "\n"), "\n")
	return !strings.Contains(text+"\n", "\n"+first+"\n")
}

// Torn reports whether the text seen after prev is only the beginning of next, because somebody was just writing next.
func Torn(seen, prev, next diffs.Content) bool { return torn(seen, &prev, next, false) }

// torn reports whether a text that was seen is next half written over prev. Writers truncate or remove a file before they
// write it, or write over it and cut off the rest at the end. If certain, a report gives prev and next; otherwise a person
// may have appended the text, or left whole lines at the end.
func torn(seen diffs.Content, prev *diffs.Content, next diffs.Content, certain bool) bool {
	if prev != nil && same(seen, *prev) || same(seen, next) || !isText(next) {
		return false
	}
	if !seen.Exists {
		return prev != nil && prev.Exists
	}
	if !isText(seen) {
		return false
	}
	switch {
	case len(seen.Data) == 0:
		return true
	case bytes.HasPrefix(next.Data, seen.Data):
		return certain || prev == nil || !isText(*prev) || !bytes.HasPrefix(seen.Data, prev.Data)
	case prev != nil:
		return overlaid(seen.Data, prev.Data, next.Data, certain)
	}
	return false
}

// overlaid reports whether seen is next followed by the rest of prev. If not certain, a rest that begins with a whole line
// may be intended.
func overlaid(seen, prev, next []byte, certain bool) bool {
	n := len(next)
	return 0 < n && n < len(prev) && len(seen) == len(prev) && bytes.Equal(seen[:n], next) && bytes.Equal(seen[n:], prev[n:]) &&
		(certain || prev[n-1] != next[n-1])
}

// holds reports whether a text contains the edit from before to after: it has more of the lines that the edit added than of
// those that it removed.
func holds(text, before, after diffs.Content) bool {
	has, had := remains(text, before, after)
	return has > had
}

// remains compares a text with the edit from before to after. has is the number of added lines that the text has, less the
// added lines that it lacks; had is the same for removed lines.
func remains(text, before, after diffs.Content) (has, had int) {
	switch {
	case same(text, after):
		return 1, 0
	case same(text, before) || !isText(text) || !isText(after):
		return 0, 1
	case !isText(before):
		return share(string(after.Data), string(text.Data), func(int) bool { return true }), 0
	}
	brought, taken := map[int]bool{}, map[int]bool{}
	at, line := 0, 0 // line numbers in before, and in after
	for _, e := range diffs.LineEdits(string(before.Data), string(after.Data)) {
		line += e.From - at
		for at = e.From; at < e.To; at++ {
			taken[at] = true
		}
		for n := lineCount(e.Text); n > 0; n-- {
			brought[line] = true
			line++
		}
	}
	has = share(string(after.Data), string(text.Data), func(i int) bool { return brought[i] })
	had = share(string(before.Data), string(text.Data), func(i int) bool { return taken[i] })
	return has, had
}

// share returns the number of counted lines of from that text has, less the number of those that it lacks.
func share(from, text string, counts func(line int) bool) (n int) {
	at := 0
	for _, e := range append(diffs.LineEdits(from, text), diffs.LineEdit{From: lineCount(from), To: lineCount(from)}) {
		for ; at < e.From; at++ {
			if counts(at) {
				n++
			}
		}
		for ; at < e.To; at++ {
			if counts(at) {
				n--
			}
		}
	}
	return n
}

// withLost returns a text with the lines of seen that now lacks: they were overwritten.
func withLost(text, seen, now diffs.Content) diffs.Content {
	if !isText(text) || !isText(seen) || !isText(now) {
		return text
	}
	gone := map[int]bool{} // lines of seen
	for _, e := range diffs.LineEdits(string(seen.Data), string(now.Data)) {
		for i := e.From; i < e.To; i++ {
			gone[i] = true
		}
	}
	lines := lineList(string(text.Data))
	var b strings.Builder
	at, line := 0, 0 // lines of text, and of seen
	for _, e := range diffs.LineEdits(string(text.Data), string(seen.Data)) {
		line += e.From - at
		b.WriteString(strings.Join(lines[at:e.From], ""))
		var lost []string
		got := lineList(e.Text)
		for _, l := range got {
			if gone[line] {
				lost = append(lost, l)
			}
			line++
		}
		if len(lost) == 0 || len(lost) < len(got) { // the lines of seen are still there
			b.WriteString(strings.Join(lines[e.From:e.To], ""))
		}
		b.WriteString(strings.Join(lost, ""))
		at = e.To
	}
	b.WriteString(strings.Join(lines[at:], ""))
	text.Data = []byte(b.String())
	return text
}

// lineCount returns the number of lines; a last line without LF counts.
func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// related reports whether two texts have a line in common, or one of them has no lines.
func related(a, b diffs.Content) bool {
	if !isText(a) || !isText(b) || len(a.Data) == 0 || len(b.Data) == 0 {
		return true
	}
	all := lineCount(string(a.Data))
	return share(string(a.Data), string(b.Data), func(int) bool { return true }) > -all
}
