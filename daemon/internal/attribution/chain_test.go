package attribution

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// TestChain plays the rows of testdata/chain.txt. Each row is the story of one path: the looks at it and the calls' reports in
// order, the hunks of the review, and the file once all hunks are rejected.
//
// A word stands for a text, and each of its characters for a line. "-" is no file, "." an empty one, ">" in front makes a link; a
// final "!" removes the last line end, "$" makes all line ends CRLF, "^" puts a byte order mark in front. A row is
//
//	last | looks | reports | disk | pending | rejected | name
//
// last is the text of the last look before the calls ("?": unknown; with "*" behind it: the agent's). A look with "p:" comes from
// an editor, one with "i:" may show changes after the call's start, and one with "'" came after the end of the first call. A report
// is BEFORE>AFTER, with "?" for a missing text; "d:" marks the deletion of the file, "w:" a tool that omits no text, "2:" the
// second of two calls, and "c:" a command up to whose end nobody had looked. Pending lists the lines of hunks, with "2" behind
// those of the second call. In front of the disk, "beside" means "c:" for all reports, "3x" three counted saves, and "late" a
// change after the end. A "?" behind a hunk means that it may be a person's.
func TestChain(t *testing.T) {
	f, err := os.Open("testdata/chain.txt")
	require.NoError(t, err)
	defer f.Close()
	rows := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := strings.TrimSpace(s.Text()); line != "" && line[0] != '#' {
			rows++
			t.Run(strings.TrimSpace(line[strings.LastIndex(line, "|")+1:]), func(t *testing.T) { checkRow(t, line) })
		}
	}
	require.Greater(t, rows, 100)
}

var (
	one     = diffs.Source{TurnID: "1", Via: "edit"}
	two     = diffs.Source{TurnID: "2", Via: "edit"}
	command = diffs.Source{TurnID: "c", Via: "shell"}
)

func checkRow(t *testing.T, line string) {
	cols := strings.Split(line, "|")
	require.Len(t, cols, 7, line)
	for i := range cols {
		cols[i] = strings.TrimSpace(cols[i])
	}
	var s Story
	if cols[0] != "?" {
		cols[0], s.Agents = strings.CutSuffix(cols[0], "*")
		last := content(cols[0])
		s.Last = &last
	}
	for _, w := range strings.Fields(cols[1]) {
		w, person := strings.CutPrefix(w, "p:")
		w, ended := strings.CutSuffix(w, "'")
		w, within := strings.CutPrefix(w, "i:")
		look := Look{Content: content(w), Person: person, Within: within}
		if ended {
			look.Ended = 1
		}
		s.Looks = append(s.Looks, look)
	}
	for _, w := range strings.Fields(cols[2]) {
		r := Report{Source: one, LeavesEmpty: true, End: len(s.Reports) + 1}
		for cut := true; cut; {
			switch {
			case strings.HasPrefix(w, "d:"):
				r.Deleted = true
			case strings.HasPrefix(w, "w:"):
				r.LeavesEmpty = false
			case strings.HasPrefix(w, "2:"):
				r.Source = two
			case strings.HasPrefix(w, "c:"):
				r.Beside = &command
			default:
				cut = false
				continue
			}
			w = w[2:]
		}
		before, after, _ := strings.Cut(w, ">")
		r.Before, r.After = said(before), said(after)
		s.Reports = append(s.Reports, r)
	}
	disk, beside := strings.CutPrefix(cols[3], "beside ")
	for i := range s.Reports {
		if beside {
			s.Reports[i].Beside = &command
		}
	}
	disk, s.Late = strings.CutPrefix(disk, "late ")
	if count, rest, counted := strings.Cut(disk, "x "); counted {
		n, err := strconv.Atoi(count)
		require.NoError(t, err)
		s.Saves, disk = n, rest
	}
	s.Disk = content(disk)

	steps, known := Chain(s)
	var r *diffs.Review
	switch {
	case len(steps) == 0:
		r = diffs.Limits{}.New(s.Disk)
	case known:
		r = diffs.Limits{}.New(steps[0].Content)
		steps = steps[1:]
	default:
		r = diffs.Limits{}.NewUnknown(steps[0].Content, *steps[0].By)
		steps = steps[1:]
	}
	for _, step := range steps {
		r.Observe(step.Content, step.By)
	}
	r.Observe(s.Disk, nil) // the next look counts the rest as a person's
	require.True(t, same(s.Disk, r.Current()), "the disk holds %q, the review %q", s.Disk.Data, r.Current().Data)
	require.Equal(t, cols[4], pending(r), "pending")
	if cols[5] == "?" {
		require.False(t, r.BaselineKnown())
		return
	}
	require.True(t, r.BaselineKnown())
	var ids []uint64
	for _, h := range r.Hunks() {
		ids = append(ids, h.ID)
	}
	if len(ids) > 0 {
		_, err := r.Decide(ids, false, nil)
		require.NoError(t, err)
	}
	require.Equal(t, cols[5], word(r.Current()), "rejected")
}

// content returns the text that a word stands for.
func content(word string) diffs.Content {
	if word == "-" {
		return diffs.Content{}
	}
	if target, ok := strings.CutPrefix(word, ">"); ok {
		return diffs.Content{Exists: true, Target: target}
	}
	return diffs.Content{Exists: true, Data: []byte(text(word)), Mode: 0o644}
}

func text(word string) string {
	word, crlf := strings.CutSuffix(word, "$")
	word, bare := strings.CutSuffix(word, "!")
	word, mark := strings.CutPrefix(word, "^")
	var b strings.Builder
	for _, c := range strings.TrimSuffix(word, ".") {
		b.WriteString(string(c) + "\n")
	}
	text := b.String()
	if bare {
		text = strings.TrimSuffix(text, "\n")
	}
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if mark {
		text = byteOrderMark + text
	}
	return text
}

// word is the reverse of content.
func word(c diffs.Content) string {
	switch {
	case !c.Exists:
		return "-"
	case c.Target != "":
		return ">" + c.Target
	}
	text, mark := strings.CutPrefix(string(c.Data), byteOrderMark)
	w := strings.ReplaceAll(strings.ReplaceAll(text, "\r", ""), "\n", "")
	if w == "" {
		w = "."
	}
	if mark {
		w = "^" + w
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		w += "!"
	}
	if strings.Contains(text, "\r") {
		w += "$"
	}
	return w
}

func said(word string) *string {
	if word == "?" {
		return nil
	}
	t := text(word)
	return &t
}

// pending describes the hunks of a review.
func pending(r *diffs.Review) string {
	var hunks []string
	for _, h := range r.Hunks() {
		var b strings.Builder
		if h.Kind == diffs.FileHunk {
			b.WriteString("file")
		}
		for _, l := range h.Lines {
			if l[0] != ' ' {
				b.WriteString(strings.TrimRight(strings.Replace(l, byteOrderMark, "^", 1), "\r"))
			}
		}
		var by string
		for _, s := range h.Sources {
			by += s.TurnID
		}
		if by != "1" {
			b.WriteString("/" + by)
		}
		if slices.ContainsFunc(h.Sources, func(s diffs.Source) bool { return s.Via == diffs.ViaUnknown }) {
			b.WriteString("?")
		}
		hunks = append(hunks, b.String())
	}
	if hunks == nil {
		return "none"
	}
	return strings.Join(hunks, " ")
}

// TestSomebodyIsWriting: a person truncates the file when a call ends. The agent's text gets the line ends of the file
// before.
func TestSomebodyIsWriting(t *testing.T) {
	for _, disk := range []string{".", "-", "a!"} {
		last := content("^abc$")
		steps, known := Chain(Story{
			Last: &last, Looks: []Look{{Content: last}}, Disk: content(disk),
			Reports: []Report{{Source: one, Before: said("abc"), After: said("aBc"), LeavesEmpty: true}},
		})
		require.True(t, known)
		require.Len(t, steps, 2)
		require.Equal(t, "^aBc$", word(steps[1].Content))
	}
}

// TestLineEndsThatAReportKeeps: a person saves a file with other line ends before an agent reads it, and the agent's report
// keeps them. The text that it read counts as the person's.
func TestLineEndsThatAReportKeeps(t *testing.T) {
	for _, row := range []struct{ last, mine, agents, disk, want string }{
		{"a\r\n", "a\nx", "a\nb\r\nc\r\n", "a\nb\r\nc\r\n", "a\nx"},
		{"a\r\nb\r\n", "a\nb\nx\n", "a\nb\nx\ny\r\n", "a\nb\nx\ny\r\n", "a\nb\nx\n"},
		{"a\r\nb\r\n", "a\nb\n", "a\nb\nX\r\n", "a\nb\nX\r\n", ""}, // in this row the report may have dropped the line ends
		{"a\r\n", "a\nx\n", "a\nx\ny\n", "a\r\nx\r\ny\r\n", "a\r\nx\r\n"},
	} {
		held := func(text string) diffs.Content { return diffs.Content{Exists: true, Data: []byte(text), Mode: 0o644} }
		last := held(row.last)
		steps, known := Chain(Story{
			Last: &last, Disk: held(row.disk), Reports: []Report{{Source: one, Before: &row.mine, After: &row.agents, LeavesEmpty: true}},
		})
		require.True(t, known)
		if row.want == "" {
			require.Len(t, steps, 2)
			continue
		}
		require.Len(t, steps, 3)
		require.Equal(t, row.want, string(steps[1].Content.Data))
		require.Nil(t, steps[1].By)
	}
}

// TestFreshLinesHaveTheirOwnEnds: a person writes a line with a line end of its own before the agent reads. The agent's
// report lacks that line end, and the disk shows it.
func TestFreshLinesHaveTheirOwnEnds(t *testing.T) {
	for _, row := range []struct{ last, mine, agents string }{
		{"a\nb\r\n", "a\nx\n", "a\nx\ny\n"},
		{"a\r\nb\r\nc\r\n", "a\r\nx\nc\r\n", "a\r\nx\nC\r\n"},
		{"a\nb\nc\n", "a\nx\r\nc\n", "A\nx\r\nc\n"},
		{"a\nb\nc\n", "a\nx\r\nc\n", "a\nx\r\n"},
		{"\ufeffa\nb\n", "\ufeffx\r\nb\n", "\ufeffx\r\nB\n"},
		{"a\nb\r\n", "a\nx", "A\nx"},
	} {
		held := func(text string) diffs.Content { return diffs.Content{Exists: true, Data: []byte(text), Mode: 0o644} }
		tell := func(text string) *string { text = string(decoded([]byte(text))); return &text }
		last := held(row.last)
		steps, known := Chain(Story{
			Last: &last, Disk: held(row.agents),
			Reports: []Report{{Source: one, Before: tell(row.mine), After: tell(row.agents), LeavesEmpty: true}},
		})
		require.True(t, known)
		require.Len(t, steps, 3)
		require.Equal(t, row.mine, string(steps[1].Content.Data))
		require.Nil(t, steps[1].By)
		require.Equal(t, row.agents, string(steps[2].Content.Data))
		require.Equal(t, &one, steps[2].By)
	}
}
