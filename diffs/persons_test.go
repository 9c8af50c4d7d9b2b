package diffs

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs/internal/linetext"
)

func reviewOf(t *testing.T, before, agent, person string) *Review {
	t.Helper()
	text := func(s string) Content { return Content{Exists: true, Data: []byte(s)} }
	r := Limits{}.New(text(before))
	r.Observe(text(agent), &Source{TurnID: "t", Via: ViaEdit})
	r.Observe(text(person), nil)
	require.Equal(t, person, string(r.Current().Data))
	return r
}

func rejected(t *testing.T, r *Review) string {
	t.Helper()
	var ids []uint64
	for _, h := range r.Hunks() {
		ids = append(ids, h.ID)
	}
	_, err := r.Decide(ids, false, nil)
	require.NoError(t, err)
	require.False(t, r.Pending())
	return string(r.Current().Data)
}

// TestAnEditorEndsTheLastLine: a person's editor adds the missing line end of the agent's last line, or removes the line
// end. The line is still the agent's.
func TestAnEditorEndsTheLastLine(t *testing.T) {
	for _, c := range []struct{ name, before, agent, person, want string }{
		{"ended", "a\nb\n", "a\nb\nA", "a\nb\nA\n", "a\nb\n"},
		{"ended where nothing was", "a\nb", "a\nb\nA", "a\nb\nA\n", "a\nb"},
		{"ended with CRLF", "a\r\nb\r\n", "a\r\nb\r\nA", "a\r\nb\r\nA\r\n", "a\r\nb\r\n"},
		{"ended and more", "a\nb\n", "a\nb\nA", "a\nb\nA\nmine\n", "a\nb\nmine\n"},
		{"ended and changed above", "a\nb\n", "a\nb\nA", "mine\na\nb\nA\n", "mine\na\nb\n"},
		{"replaced and ended", "a\nb\n", "a\nB", "a\nB\n", "a\nb\n"},
		{"taken away", "a\nb\n", "a\nb\nA\n", "a\nb\nA", "a\nb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reviewOf(t, c.before, c.agent, c.person)
			require.NotEmpty(t, r.Hunks())
			require.Equal(t, c.want, rejected(t, r))
		})
	}
}

// TestALineAboveAReplacedOne: a person writes lines right above and right below lines that the agent has replaced. They stay
// there after a reject.
func TestALineAboveAReplacedOne(t *testing.T) {
	for _, c := range []struct{ name, before, agent, person, want string }{
		{"above", "a\nb\nc\n", "a\nB\nc\n", "a\nmine\nB\nc\n", "a\nmine\nb\nc\n"},
		{"below", "a\nb\nc\n", "a\nB\nc\n", "a\nB\nmine\nc\n", "a\nb\nmine\nc\n"},
		{"at the top", "a\nb\n", "A\nb\n", "mine\nA\nb\n", "mine\na\nb\n"},
		{"above two", "a\nb\nc\nd\n", "a\nB\nC\nd\n", "a\nmine\nB\nC\nd\n", "a\nmine\nb\nc\nd\n"},
		{"above what was added", "a\nc\n", "a\nB\nc\n", "a\nmine\nB\nc\n", "a\nmine\nc\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reviewOf(t, c.before, c.agent, c.person)
			require.Len(t, r.Hunks(), 1)
			require.Equal(t, c.want, rejected(t, r))
		})
	}
}

// TestALineWrittenAnew: a person, or a formatter that is no hook, rewrites lines by which the agent replaced others. The
// deletion of the others is still listed, and a reject restores each at its place, right above the person's line.
func TestALineWrittenAnew(t *testing.T) {
	for _, c := range []struct{ name, base, steps, left, want string }{
		{"one line", `a\nb\nc\n`, `agent a\nB\nc\n; user a\nB;\nc\n`, `-b`, `a\nb\nB;\nc\n`},
		{"all lines", `b\nc\n`, `agent B\nC\n; user B;\nC;\n`, `-b|-c`, `b\nc\nB;\nC;\n`},
		{"the first of three", `b\nc\nd\n`, `agent B\nC\nD\n; user B;\nC\nD\n`, `-b; -c|-d|+C|+D`, `b\nB;\nc\nd\n`},
		{"one in the middle", `b\nc\nd\n`, `agent B\nC\nD\n; user B\nC;\nD\n`, `-b|-c|+B; -d|+D`, `b\nc\nC;\nd\n`},
		{"the last of three", `b\nc\nd\n`, `agent B\nC\nD\n; user B\nC\nD;\n`, `-b|-c|-d|+B|+C`, `b\nc\nd\nD;\n`},
		{"two of five", `b\nc\nd\ne\nf\n`, `agent B\nC\nD\nE\nF\n; user B\nC;\nD\nE;\nF\n`,
			`-b|-c|+B; -d|-e|+D; -f|+F`, `b\nc\nC;\nd\ne\nE;\nf\n`},
		{"a line between", `b\nc\n`, `agent B\nC\n; user B\nmine\nC\n`, `-b|+B; -c|+C`, `b\nmine\nc\n`},
		{"into more lines", `b\nc\nd\n`, `agent B\nC\nD\n; user B\nC(\n)\nD\n`, `-b|-c|+B; -d|+D`, `b\nc\nC(\n)\nd\n`},
		{"by an edit for each", `b\nc\n`, `agent B\nc\n; tool B\nC\n; user B\nC;\n`, `-b|-c|+B`, `b\nc\nC;\n`},
		{"of more lines than there were", `a\nb\n`, `agent a\nB\nC\n; user a\nB\nC;\n`, `-b|+B`, `a\nb\nC;\n`},
		{"typed back", `b\nc\nd\n`, `agent B\nC\nD\n; user B\nc\nD\n`, `-b|+B; -d|+D`, `b\nc\nd\n`},
		{"deleted", `b\nc\n`, `agent B\nC\n; user C\n`, `-b|-c|+C`, `b\nc\n`},
		{"over a person's line", `a\nb\n`, `user a\nwhat I wrote\n; agent a\nB\n; user a\nB;\n`, `-what I wrote`, `a\nwhat I wrote\nB;\n`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(unquoted(t, c.base))
			tell(t, r, strings.Split(c.steps, "; "))
			var left []string
			for _, h := range r.Hunks() {
				left = append(left, strings.Join(changes(h), "|"))
			}
			require.Equal(t, c.left, strings.Join(left, "; "))
			rejected(t, r)
			require.Equal(t, unquoted(t, c.want), r.Current())
		})
	}
}

// TestTheEndsOfAText: a person changes lines beside the byte order mark, or beside a missing line end at the end. The mark
// stays before the first line, and the agent's lines stay the agent's. If a line has the mark, or lacks its line end, only
// on one side of the agent's change, that difference is the agent's.
func TestTheEndsOfAText(t *testing.T) {
	const bom = "\ufeff"
	for _, c := range []struct{ name, before, agent, person, left, want string }{
		{"mark: above a replaced line", bom + "b\nc\n", bom + "B\nc\n", bom + "mine\nB\nc\n", "-b|+B", bom + "mine\nb\nc\n"},
		{"mark: above an added line", bom + "b\nc\n", bom + "A\nb\nc\n", bom + "mine\nA\nb\nc\n", "+A", bom + "mine\nb\nc\n"},
		{"mark: below an added line", bom + "b\nc\n", bom + "A\nb\nc\n", bom + "A\nmine\nc\n", "-" + bom + "mine|+" + bom + "A|+mine", bom + "mine\nc\n"},
		{"mark: what is first once a line is deleted", bom + "a\nb\nc\n", bom + "b\nc\n", bom + "mine\nc\n", "-" + bom + "a|-mine|+" + bom + "mine", bom + "a\nmine\nc\n"},
		{"mark: far below", bom + "a\nb\nc\n", bom + "A\nb\nc\n", bom + "A\nb\nmine\n", "-" + bom + "a|+" + bom + "A", bom + "a\nb\nmine\n"},
		{"mark: an added line, far below", bom + "a\nb\nc\n", bom + "A\na\nb\nc\n", bom + "A\na\nb\nmine\n",
			"-" + bom + "a|+" + bom + "A|+a", bom + "a\nb\nmine\n"},
		{"mark: taken away by a person", bom + "a\nb\n", bom + "A\nb\n", "A\nb\n", "-a|+A", "a\nb\n"},
		{"mark: taken away by a person, with a line above", bom + "a\nb\n", bom + "A\nb\n", "mine\nA\nb\n", "-a|+A", "mine\na\nb\n"},
		{"mark: taken away by a person, with other line ends", bom + "a\nb\n", bom + "A\nb\n", "A\r\nb\r\n", "-a", "a\nA\r\nb\r\n"},
		{"mark: a line above the one that has it", bom + "a\nb\n", bom + "A\nb\n", "mine\n" + bom + "A\nb\n", "-" + bom + "a|+" + bom + "A", "mine\n" + bom + "a\nb\n"},
		{"mark: a line above the only one", bom + "a\n", bom + "A", "mine\n" + bom + "A", "-" + bom + "a|+" + bom + "A", "mine\n" + bom + "a\n"},
		{"mark: gone with its line", bom + "a\nb\n", bom + "A\nB\nb\n", "B\nb\n", "-" + bom + "a|+B", bom + "a\nb\n"},
		{"mark: gone with its line, and another line has the same text", bom + "a\nb\n", bom + "A\nA\nb\n", "A\nb\n", "-" + bom + "a|+A", bom + "a\nb\n"},
		{"mark: added by a person", "a\nb\n", "A\nb\n", bom + "A\nb\n", "-" + bom + "a|+" + bom + "A", bom + "a\nb\n"},
		{"mark: taken away by the agent", bom + "a\nb\n", "a\nb\n", "a\nb\nmine\n", "-" + bom + "a|+a", bom + "a\nb\nmine\n"},
		{"end: the line before what was added", "a\nb", "a\nb\nA", "a\nmine\nA", "-mine|+mine|+A", "a\nmine"},
		{"end: the line before what was added with an end", "a\nb", "a\nb\nA\n", "a\nmine\nA\n", "-mine|+mine|+A", "a\nmine"},
		{"end: an empty line before what was added", "a", "a\nA\nB", "\nA\nB", "-a; +A|+B", "a\n\n"},
		{"end: a line between", "a\nb", "a\nb\nA", "a\nb\nmine\nA", "+A", "a\nb\nmine\n"},
		{"end: far above", "a\nb", "a\nb\nA", "mine\nb\nA", "-b|+b|+A", "mine\nb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := reviewOf(t, c.before, c.agent, c.person)
			wellFormed(t, r)
			var left []string
			for _, h := range r.Hunks() {
				left = append(left, strings.Join(changes(h), "|"))
			}
			require.Equal(t, c.left, strings.Join(left, "; "))
			require.Equal(t, c.want, rejected(t, r))
		})
	}
}

// TestALineOfManyWrittenAnew: a person rewrites a whole file. The lines that the agent deleted come back beside those that
// replaced them.
func TestALineOfManyWrittenAnew(t *testing.T) {
	for _, c := range []struct{ name, before, agent, person, want string }{
		{"indented", "a\nb\nc\nd\n", "a\nb\nC\nd\n", "  a\n  b\n  C\n  d\n", "  a\n  b\nc\n  C\n  d\n"},
		{"line ends", "a\nb\nc\n", "a\nB\nc\n", "a\r\nB\r\nc\r\n", "a\r\nb\nB\r\nc\r\n"},
		{"indented, with another line", "a\nb\nc\nd\n", "a\nb\nC\nd\n", "  a\n  mine\n  b\n  C\n  d\n", "  a\n  mine\n  b\nc\n  C\n  d\n"},
		{"indented, with a line less", "a\nb\nc\nd\n", "a\nb\nC\nd\n", "  a\n  C\n  d\n", "  a\nc\n  C\n  d\n"},
		{"a deleted line", "a\nb\nc\nd\n", "a\nb\nd\n", "  a\n  b\n  d\n", "  a\n  b\nc\n  d\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, rejected(t, reviewOf(t, c.before, c.agent, c.person)))
		})
	}
}

// TestAMarkInAnInnerLine: a person inserts or removes a line, in all short texts whose lines may begin with a byte order
// mark. No line becomes pending by that.
func TestAMarkInAnInnerLine(t *testing.T) {
	texts := [][]string{{}}
	for from, n := 0, 1; n <= 3; n++ {
		for to := len(texts); from < to; from++ {
			for _, line := range []string{"a", "b", linetext.ByteOrderMark + "a", linetext.ByteOrderMark + "b"} {
				texts = append(texts, append(slices.Clone(texts[from]), line))
			}
		}
	}
	join := func(lines []string, end string) string {
		return strings.TrimSuffix(strings.Join(append(slices.Clone(lines), ""), "\n"), end)
	}
	pending := func(r *Review, marks string) map[string]int {
		count := map[string]int{}
		for _, h := range r.Hunks() {
			for _, l := range changes(h) {
				count[strings.Replace(l, marks, "", 1)]++
			}
		}
		return count
	}
	for _, before := range texts {
		if len(before) > 2 {
			break
		}
		for _, agent := range texts {
			was := reviewOf(t, join(before, ""), join(agent, ""), join(agent, ""))
			for i := 0; i <= len(agent); i++ {
				persons := [][]string{slices.Insert(slices.Clone(agent), i, "mine")}
				if i < len(agent) {
					persons = append(persons, slices.Delete(slices.Clone(agent), i, i+1))
				}
				for _, person := range persons {
					r := was.Copy()
					r.Observe(Content{Exists: true, Data: []byte(join(person, ""))}, nil)
					marks := "" // a mark at the beginning of both texts is the file's, whichever line is first
					if strings.HasPrefix(join(person, ""), linetext.ByteOrderMark) && strings.HasPrefix(join(agent, ""), linetext.ByteOrderMark) {
						marks = linetext.ByteOrderMark
					}
					had := pending(was, marks)
					for line, n := range pending(r, marks) {
						require.LessOrEqual(t, n, had[line], "%q: before %q, the agent's %q, the person's %q", line, before, agent, person)
					}
				}
			}
		}
	}
}
