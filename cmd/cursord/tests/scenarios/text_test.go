//go:build unix

package scenarios

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"cursord/cmd/cursord/tests/world"
)

// A style is a way of writing a file.
type style struct {
	eol   string // "": mixed
	bom   bool
	final int // of 8 texts, the number that end with a line end
}

func newStyle(r *rand.Rand) style {
	return style{
		eol: []string{"\n", "\n", "\n", "\r\n", "\r\n", ""}[r.IntN(6)], bom: r.IntN(6) == 0, final: []int{8, 8, 7, 4, 0}[r.IntN(5)],
	}
}

// common lists lines that many files have.
var common = []string{
	"{", "}", "", "", "return", "x = 1", "\tindented", "  two", "trailing ", "+plus", "-minus", " space", "@@ -1 +1 @@", "\\ No newline",
	"größe", "日本語", "a\rb", "form\ffeed", "next\u0085line", "sep\u2028arated", "\ufeffinner", "e\u0301",
}

// A scribe writes lines. Its new lines are unique.
type scribe struct {
	rng   *rand.Rand
	made  int
	style style
}

func (s *scribe) unique(who string) string {
	s.made++
	return fmt.Sprintf("%s %d %s", who, s.made, []string{"", "", "ä", "語", "\t.", "\"q\""}[s.rng.IntN(6)])
}

// line returns a new line, a common one, or a long one.
func (s *scribe) line(who string, ownOf8 int) string {
	switch {
	case s.rng.IntN(8) < ownOf8:
		return s.unique(who)
	case s.rng.IntN(40) == 0:
		return s.unique(who) + strings.Repeat("long ä", 1+s.rng.IntN(1500))
	}
	return common[s.rng.IntN(len(common))]
}

func (s *scribe) end() string {
	if s.style.eol == "" {
		return []string{"\n", "\r\n"}[s.rng.IntN(2)]
	}
	return s.style.eol
}

// text writes a file.
func (s *scribe) text(who string) string {
	n := []int{0, 1, 2, 5, 12, 12, 30}[s.rng.IntN(7)]
	if s.rng.IntN(150) == 0 {
		n = 1500
	}
	var lines []string
	for range n {
		lines = append(lines, s.line(who, 3)+s.end())
	}
	if s.style.bom && n > 0 {
		lines[0] = "\ufeff" + lines[0]
	}
	return s.finish(lines, s.style.final)
}

// finish joins lines. In 8-final of 8 texts the last line has no end.
func (s *scribe) finish(lines []string, final int) string {
	text := strings.Join(lines, "")
	if s.rng.IntN(8) >= final {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	return text
}

// edited changes a text in one to three places. It may move lines; it never joins two.
func (s *scribe) edited(text, who string, ownOf8 int) string {
	lines := world.SplitAfter(text)
	lacked := len(lines) > 0 && !strings.HasSuffix(text, "\n")
	if lacked {
		lines[len(lines)-1] += s.end()
	}
	for range 1 + s.rng.IntN(3) {
		from := s.rng.IntN(len(lines) + 1)
		to := min(len(lines), from+s.rng.IntN(4))
		var added []string
		switch s.rng.IntN(8) {
		case 0: // move or copy a few lines
			if len(lines) > 0 {
				i := s.rng.IntN(len(lines))
				j := min(len(lines), i+1+s.rng.IntN(3))
				added = slices.Clone(lines[i:j])
				if s.rng.IntN(2) == 0 {
					lines = slices.Delete(lines, i, j)
				}
				from = s.rng.IntN(len(lines) + 1)
				to = from
			}
		case 1: // the other line ends
			added = slices.Clone(lines[from:to])
			for i, l := range added {
				if strings.HasSuffix(l, "\r\n") {
					added[i] = strings.TrimSuffix(l, "\r\n") + "\n"
				} else {
					added[i] = strings.TrimSuffix(l, "\n") + "\r\n"
				}
			}
		default:
			for range s.rng.IntN(4) {
				added = append(added, s.line(who, ownOf8)+s.end())
			}
		}
		lines = slices.Replace(lines, from, to, added...)
	}
	final := s.style.final
	if lacked {
		final = 3
	}
	return s.finish(lines, final)
}

// typed returns a text after a person's change. at is the line of the change if it is one new line, otherwise -1.
func (s *scribe) typed(text string) (now string, at int) {
	lines := world.SplitAfter(text)
	switch s.rng.IntN(6) {
	case 0, 1, 2:
		at = s.rng.IntN(len(lines) + 1)
		if at == len(lines) && at > 0 && !strings.HasSuffix(text, "\n") {
			at--
		}
		return strings.Join(slices.Insert(lines, at, s.unique("user")+s.end()), ""), at
	case 3:
		if len(lines) > 0 {
			i := s.rng.IntN(len(lines))
			return strings.Join(slices.Delete(lines, i, min(len(lines), i+1+s.rng.IntN(2))), ""), -1
		}
	}
	return s.edited(text, "user", 5), -1
}
