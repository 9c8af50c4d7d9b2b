package attribution

import (
	"bytes"
	"html"
	"strings"
	"unicode/utf8"

	"cursord/diffs"
)

const byteOrderMark = "\ufeff"

// same reports whether two contents are equal, in their modes as far as these are known.
func same(a, b diffs.Content) bool {
	return a.Exists == b.Exists && a.Target == b.Target && bytes.Equal(a.Data, b.Data) && (a.Mode == b.Mode || a.Mode == 0 || b.Mode == 0)
}

// isText reports whether c is a regular file, whose lines may be compared.
func isText(c diffs.Content) bool { return c.Exists && c.Target == "" }

// decoded returns a text as an agent has it that has read it: without the byte order mark, with LF as line end, and with
// U+FFFD for what is not UTF-8. How many U+FFFD a decoder writes differs, so each run of them counts as one.
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

// reads reports whether an agent that reads file may report it as text.
func reads(file []byte, text string) bool {
	if n := strings.Count(text, "\r\n"); n > 0 && n != bytes.Count(file, []byte("\r\n")) {
		return false // it keeps line ends, and has others
	}
	return string(file) == text || bytes.Equal(decoded(file), decoded([]byte(text)))
}

// inFormOf returns a text that an agent reports in the form of a file: agents drop the byte order mark and turn CRLF into
// LF when they read, and some escape HTML. Lines that both have keep the file's line end, the others get the one that
// the file uses most.
func inFormOf(file []byte, text string) []byte {
	switch {
	case reads(file, text), strings.Contains(text, "&") && reads(file, html.UnescapeString(text)):
		return file
	case strings.Contains(text, "\r"):
		return []byte(text) // it kept the line ends
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

// withFreshEnds returns a text in which lines that an earlier one has not, and a later one has, end as they do in that.
func withFreshEnds(text, earlier, later []byte) []byte {
	crlf := bytes.Count(text, []byte("\r\n"))
	if crlf == 0 && !bytes.Contains(later, []byte("\r\n")) {
		return text
	}
	lines, ends := lineList(string(text)), lineList(string(later))
	same := map[int]int{} // lines of later, by those of text
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

// keepsMark reports whether a text that is reported without a byte order mark is of a file that has one, which the agent has
// dropped: not if the line that has it is there, with it, behind another.
func keepsMark(file []byte, text string) bool {
	if !bytes.HasPrefix(file, []byte(byteOrderMark)) || strings.HasPrefix(text, byteOrderMark) {
		return false
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(string(file), "\r\n", "\n"), "\n")
	return !strings.Contains(text+"\n", "\n"+first+"\n")
}

// Torn reports whether a text that was seen after prev is only the beginning of next, which somebody was writing then.
func Torn(seen, prev, next diffs.Content) bool { return torn(seen, &prev, next, false) }

// torn reports whether a text that was seen is one that a writer of next had half written over prev: writers truncate
// or remove a file before they write it, or write over it and cut off the rest at the end. If a report says that next was
// made of prev, certain is true: else a person may have appended what is now there, or left a rest of whole lines.
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

// overlaid reports whether seen is next and, behind it, the rest of prev. Unless certain, a rest that begins with a line may
// be meant.
func overlaid(seen, prev, next []byte, certain bool) bool {
	n := len(next)
	return 0 < n && n < len(prev) && len(seen) == len(prev) && bytes.Equal(seen[:n], next) && bytes.Equal(seen[n:], prev[n:]) &&
		(certain || prev[n-1] != next[n-1])
}

// holds reports whether a text has the edit from before to after in it: whether it has kept more of the lines that the
// edit brought than of those that it took away.
func holds(text, before, after diffs.Content) bool {
	has, had := remains(text, before, after)
	return has > had
}

// remains counts the lines of an edit from before to after that a text has, less those that it has not: of those that the
// edit brought, and of those that it took away.
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
	at, line := 0, 0 // lines of before, and of after
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

// share returns how many of the lines of from that count are still in text, less those that are not.
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

// withLost returns a text with the lines that it was seen to get and that are gone by now: they were overwritten.
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
		if len(lost) == 0 || len(lost) < len(got) { // the lines before are in what is there now
			b.WriteString(strings.Join(lines[e.From:e.To], ""))
		}
		b.WriteString(strings.Join(lost, ""))
		at = e.To
	}
	b.WriteString(strings.Join(lines[at:], ""))
	text.Data = []byte(b.String())
	return text
}

// lineCount counts a last line without LF as well.
func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// related reports whether two texts have a line in common, or one of them has none.
func related(a, b diffs.Content) bool {
	if !isText(a) || !isText(b) || len(a.Data) == 0 || len(b.Data) == 0 {
		return true
	}
	all := lineCount(string(a.Data))
	return share(string(a.Data), string(b.Data), func(int) bool { return true }) > -all
}
