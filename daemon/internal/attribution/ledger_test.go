package attribution

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// TestAuthor finds the author of a change in a file that no call names. The calls of a row are NAME FROM-TO in ms, without TO
// while the call is open; EARLIEST~FROM-TO is a call whose agent did not report its start. The change is its time and its known
// properties; "earlier WHEN" or "earlier WHEN~BY" is a seen change before it.
func TestAuthor(t *testing.T) {
	for _, row := range []struct{ name, calls, change, want string }{
		{"no call", "", "100", "person"},
		{"in an open command", "shell 50-", "100", "shell"},
		{"at its start", "shell 50-", "50", "shell"},
		{"in a command that has ended", "shell 50-150", "100", "shell"},
		{"at its end", "shell 50-150", "150", "shell"},
		{"as long before it as most file systems lag", "shell 50-150", "46", "shell"},
		{"longer before it", "shell 50-150", "45", "unknown"},
		{"a tick before it", "shell 50-150", "40", "unknown"},
		{"a tick before a command that has not ended", "shell 50-", "40", "unknown"},
		{"a tick before it, in another one", "tool 10-100 shell 50-150", "40", "tool"},
		{"before it", "shell 50-150", "39", "person"},
		{"after it", "shell 50-150", "151", "person"},
		{"well before it", "shell 5000-", "100", "person"},
		{"well after it", "shell 50-150", "5000", "person"},
		{"between two", "shell 50-150 shell 300-400", "200", "person"},
		{"in the second", "shell 50-150 tool 300-400", "350", "tool"},
		{"in the first", "shell 50-150 tool 300-400", "100", "shell"},
		{"in both, the later one", "shell 50-400 tool 100-300", "200", "tool"},
		{"in the outer one alone", "shell 50-400 tool 100-300", "350", "shell"},
		{"in a call of an MCP server", "tool 50-150", "100", "tool"},
		{"when it may have begun", "shell 10~50-150", "30", "unknown"},
		{"before it may have begun", "shell 30~50-150", "15", "person"},
		{"when it had certainly begun", "shell 10~50-150", "60", "shell"},
		{"when one had and another may have", "shell 10-20 tool 15~50-150", "18", "shell"},
		{"when the later one certainly had", "shell 10~50-150 tool 20-30", "25", "tool"},
		{"when the earlier one certainly had", "tool 20-100 shell 30~90-150", "60", "tool"},
		{"when two may have begun, the later one", "shell 10~90-150 tool 20~90-150", "40", "unknown"},
		{"a clock set back: before all", "shell 5000-", "1", "person"},

		{"an editor reports it", "shell 50-150", "100 typed", "person"},
		{"an editor reports it beside loose processes", "", "100 typed loose", "person"},
		{"an editor reports it and locks it", "shell 50-150", "100 typed locked", "person"},
		{"an editor locks it", "shell 50-150", "100 locked", "unknown"},
		{"an editor locks it in a tool", "tool 50-150", "100 locked", "unknown"},
		{"an editor locks it and no call is open", "", "100 locked", "person"},
		{"an editor locks it after the command", "shell 50-150", "300 locked", "person"},

		{"processes may write without a call", "", "100 loose", "unknown"},
		{"they may, and a command was open", "shell 50-150", "100 loose", "shell"},
		{"they may, and a command was over", "shell 50-150", "300 loose", "unknown"},
		{"they may, and an editor locks it", "", "100 loose locked", "unknown"},
		{"they may, and the command that may be open", "shell 10~50-150", "30 loose", "unknown"},

		{"in a copy, without a call", "", "100 alone", "alone"},
		{"in a copy, in a command", "shell 50-150", "100 alone", "shell"},
		{"in a copy, after a command", "shell 50-150", "300 alone", "alone"},
		{"in a copy, a tick before a command", "shell 50-150", "40 alone", "alone"},
		{"in a copy, with a lock file", "shell 50-150", "100 alone locked", "shell"},
		{"in a copy, beside loose processes", "", "100 alone loose", "alone"},

		{"after a command, looked at since", "shell 50-150", "200 since 160", "person"},
		{"after a command, last looked at while it ran", "shell 50-150", "200 since 100", "unknown"},
		{"after a command, last looked at before it", "shell 50-150", "200 since 40", "unknown"},
		{"after a command, last looked at when it ended", "shell 50-150", "200 since 150", "unknown"},
		{"after two, looked at between", "shell 50-150 tool 200-250", "300 since 160", "unknown"},
		{"after two, looked at since", "shell 50-150 tool 200-250", "300 since 260", "person"},
		{"in the second of two, looked at before the first", "shell 50-150 tool 200-250", "220 since 40", "tool"},
		{"between two, looked at before the first", "shell 50-150 tool 200-250", "180 since 40", "unknown"},
		{"between two, looked at since the first", "shell 50-150 tool 200-250", "180 since 160", "person"},
		{"in an open command beside one that has ended", "shell 50- tool 60-150", "200 since 40", "shell"},
		{"in an open command", "shell 50-", "200 since 160", "shell"},
		{"dated in a command, which had ended when it was looked at", "shell 50-150", "149 since 151", "person"},
		{"dated at its end, which was before it was looked at", "shell 50-150", "150 since 151", "person"},
		{"dated in a command, looked at when it ended", "shell 50-150", "149 since 150", "shell"},
		{"dated in a command, looked at while it ran", "shell 50-150", "149 since 100", "shell"},
		{"after a command, last looked at before it, and typed", "shell 50-150", "200 typed since 40", "person"},
		{"after a command, last looked at before it, and locked", "shell 50-150", "200 locked since 40", "unknown"},
		{"after a command, last looked at before it, in a copy", "shell 50-150", "200 alone since 40", "alone"},
		{"after a command, looked at since, beside loose processes", "shell 50-150", "200 loose since 160", "unknown"},

		{"in a command, and changed before it", "shell 50-150", "100 earlier 20", "unknown"},
		{"in a command, and in it before", "shell 50-150", "100 earlier 60", "shell"},
		{"in a command, and twice before, once in it", "shell 50-150", "100 earlier 20 earlier 60", "unknown"},
		{"in the second command, and between the two", "shell 50-150 shell 300-400", "350 earlier 200", "unknown"},
		{"in the second, and in the first", "shell 50-150 tool 300-400", "350 earlier 100", "tool"},
		{"in the second, and in both, and between", "shell 50-150 tool 300-400", "350 earlier 100 earlier 200 earlier 310", "unknown"},
		{"by a person, and in a command before", "shell 50-150", "200 earlier 100", "unknown"},
		{"by a person, and by one before", "shell 50-150", "200 earlier 20", "person"},
		{"in a command, and when it may have begun", "shell 10~50-150", "100 earlier 30", "unknown"},
		{"in a command, and a moment before it", "shell 50-150", "100 earlier 48", "shell"},
		{"in a command, and dated in it, but made by then", "shell 50-150", "100 earlier 48~49", "unknown"},
		{"in a command, and made by its start", "shell 50-150", "100 earlier 48~50", "shell"},
		{"in a command, and dated in the one before", "shell 10-49 shell 50-150", "100 earlier 48~49", "shell"},
		{"in a command, changed before it, and typed", "shell 50-150", "100 typed earlier 20", "person"},
		{"in a copy, in a command, and changed before it", "shell 50-150", "100 alone earlier 20", "alone"},

		{"undated, in an open command", "shell 50-", "undated", "shell"},
		{"undated, after a command", "shell 50-150", "undated", "person"},
		{"undated, no call", "", "undated", "person"},
		{"undated, beside loose processes", "", "undated loose", "unknown"},
		{"undated and typed", "shell 50-", "undated typed", "person"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var l Ledger
			words := strings.Fields(row.calls)
			for i := 0; i < len(words); i += 2 {
				from, to, _ := strings.Cut(words[i+1], "-")
				earliest, later, vague := strings.Cut(from, "~")
				if vague {
					from = later
				}
				c := l.OpenAny(diffs.Source{Via: diffs.Via(words[i])}, ms(t, earliest), ms(t, from))
				if to != "" {
					l.End(c, ms(t, to))
				}
			}
			var c Change
			since, earlier := false, false
			for _, w := range strings.Fields(row.change) {
				switch w {
				case "typed":
					c.Typed = true
				case "locked":
					c.Locked = true
				case "undated":
					c.Undated = true
				case "loose":
					c.Loose = &diffs.Source{Via: "loose"}
				case "since":
					since = true
				case "earlier":
					earlier = true
				case "alone":
					c.Alone = &diffs.Source{Via: "alone"}
				default:
					when, by, known := strings.Cut(w, "~")
					switch {
					case since:
						c.Since = ms(t, w)
					case earlier && known:
						c.Earlier = append(c.Earlier, Change{When: ms(t, when), By: ms(t, by)})
					case earlier:
						c.Earlier = append(c.Earlier, Change{When: ms(t, when)})
					default:
						c.When = ms(t, w)
					}
				}
			}
			got := "person"
			if src := l.Author(c); src != nil {
				got = string(src.Via)
			}
			require.Equal(t, row.want, got)
		})
	}
}

func ms(t *testing.T, word string) int64 {
	n, err := strconv.Atoi(word)
	require.NoError(t, err)
	return int64(n) * int64(time.Millisecond)
}

// TestForgottenCalls: refused calls, and calls of ended turns, explain no changes.
func TestForgottenCalls(t *testing.T) {
	var l Ledger
	c := l.OpenAny(diffs.Source{Via: "shell"}, 0, 0)
	other := l.OpenAny(diffs.Source{Via: "tool"}, 0, 0)
	l.Name(other, "item")
	l.Forget(c)
	require.Equal(t, &diffs.Source{Via: "tool", ItemID: "item"}, l.Author(Change{When: 1}))
	l.Forget(other)
	require.Nil(t, l.Author(Change{When: 1}))
}

// TestReportsWaitForOpenCalls: two calls name a file. The report of the first is taken in only once the second has ended
// too.
func TestReportsWaitForOpenCalls(t *testing.T) {
	var l Ledger
	look := func(text string) Look { return Look{Content: content(text)} }
	require.False(t, l.Look("f", look("a")), "no call names it")
	first, second := l.Open([]string{"f", "g"}, one), l.Open([]string{"f"}, two)
	require.True(t, l.Look("f", look("a")))
	require.True(t, l.Look("f", look("a")))
	require.True(t, l.Pending("f"))
	require.True(t, l.Writing("g"))
	require.Equal(t, 1, l.Ends("f", 5))
	require.Zero(t, l.Ends("h", 5))
	l.Report("f", Report{Source: one})
	l.Close(first)
	require.False(t, l.Writing("g"))
	_, _, ok := l.TakeIn("f")
	require.False(t, ok)
	require.Empty(t, l.Reported())
	l.Look("f", Look{Content: content("b"), Person: true, At: 7})
	l.Look("f", Look{Content: content("c"), At: 6})
	l.Look("f", Look{Content: content("d"), At: 4})
	l.Report("f", Report{Source: two})
	l.Close(second)
	require.True(t, l.Pending("f"))
	require.False(t, l.Writing("f"))
	require.Equal(t, []string{"f"}, l.Reported())
	looks, reports, ok := l.TakeIn("f")
	require.True(t, ok)
	require.Equal(t, []Look{
		{Content: content("a")}, {Content: content("d"), At: 4}, {Content: content("c"), At: 6, Ended: 1},
		{Content: content("b"), At: 7, Person: true, Ended: 1},
	}, looks)
	require.Len(t, reports, 2)
	_, _, ok = l.TakeIn("f")
	require.False(t, ok, "once")
	require.False(t, l.Pending("f"))
	require.Empty(t, l.paths)
}

// TestACallThatNobodyHearsOf: a turn ends without the end of its call. The call delays nothing any more.
func TestACallThatNobodyHearsOf(t *testing.T) {
	var l Ledger
	c := l.Open([]string{"f"}, one)
	l.Look("f", Look{Content: content("a")})
	l.Close(c)
	require.False(t, l.Pending("f"))
	_, reports, ok := l.TakeIn("f")
	require.False(t, ok)
	require.Empty(t, reports)
	require.Empty(t, l.paths)
}

// TestADecisionWritesInACall: a decision's write drops the looks before it.
func TestADecisionWritesInACall(t *testing.T) {
	var l Ledger
	l.Wrote("f")
	c := l.Open([]string{"f"}, one)
	l.Look("f", Look{Content: content("a")})
	l.Wrote("f")
	l.Report("f", Report{Source: one})
	l.Close(c)
	looks, _, ok := l.TakeIn("f")
	require.True(t, ok)
	require.Empty(t, looks)
}

// TestSavesOfNamedFiles counts the saves of a path from its first open call until its looks are taken in.
func TestSavesOfNamedFiles(t *testing.T) {
	var l Ledger
	l.Saved("f", 1)
	require.Zero(t, l.Saves("f"), "no call names it")
	first, second := l.Open([]string{"f"}, one), l.Open([]string{"f"}, two)
	l.Saved("f", 1)
	l.Report("f", Report{Source: one})
	l.Close(first)
	l.Saved("f", 2)
	require.Equal(t, 3, l.Saves("f"))
	l.Wrote("f")
	require.Zero(t, l.Saves("f"), "a decision has written it")
	l.Saved("f", 1)
	third := l.Open([]string{"f"}, one)
	l.Silence(third)
	l.Report("f", Report{Source: two})
	l.Close(second)
	_, _, ok := l.TakeIn("f")
	require.True(t, ok)
	require.Zero(t, l.Saves("f"), "taken in")
	l.Close(third)
	require.Empty(t, l.paths)
}

// TestLooksAreBounded looks at a huge file that changes again and again: the first look and the last one stay.
func TestLooksAreBounded(t *testing.T) {
	var l Ledger
	c := l.Open([]string{"f"}, one)
	huge := func(n int) Look {
		return Look{Content: diffs.Content{Exists: true, Data: append(make([]byte, looksMax/4), byte(n))}}
	}
	for n := range 20 {
		l.Look("f", huge(n))
	}
	l.Report("f", Report{})
	l.Close(c)
	looks, _, _ := l.TakeIn("f")
	require.LessOrEqual(t, len(looks), 4)
	require.True(t, same(huge(0).Content, looks[0].Content))
	require.True(t, same(huge(19).Content, looks[len(looks)-1].Content))
}

// TestChangesThatScansLeave: the report of the call that names the path says who else may have changed it. The report after it does not.
func TestChangesThatScansLeave(t *testing.T) {
	var l Ledger
	require.False(t, l.LeftBeside("f", &command))
	calls := []*Call{l.Open([]string{"f"}, one), l.Open([]string{"f"}, two)}
	require.True(t, l.LeftBeside("f", nil))
	require.True(t, l.LeftBeside("f", &command))
	for _, c := range calls {
		l.Report("f", Report{Source: l.Source(c)})
		l.Close(c)
	}
	_, reports, ok := l.TakeIn("f")
	require.True(t, ok)
	require.Equal(t, perhaps(command), reports[0].Beside)
	require.Nil(t, reports[1].Beside)
	require.False(t, l.LeftBeside("f", &command))
}
