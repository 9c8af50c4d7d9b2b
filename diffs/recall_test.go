package diffs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func ofSession(id string) func(Source) bool {
	return func(src Source) bool { return src.SessionID == id }
}

// TestRecall: what one review knows of a session, another one of the same file learns, if it has at least half of the lines and knows
// nothing better; its history goes through its stored form, and a rewind leaves the lines.
func TestRecall(t *testing.T) {
	ours, others := Source{SessionID: "s", TurnID: "t", Via: ViaEdit}, Source{SessionID: "other", TurnID: "u", Via: ViaShell}
	long := strings.NewReplacer("a", "a line that tells", "b", "another that does", "c", "and this one too")
	text := func(s string) Content { return Content{Exists: true, Data: []byte(long.Replace(s)), Mode: 0o644} }
	here := New(text("1\n2\n3\n4\n"))
	here.Observe(text("1\na\nb\n3\nc\n4\n"), &ours)
	here.Observe(text("1\na\nb\n3\nc\n4\nd\n"), &others)
	written := here.Written(ofSession("s"))
	require.Equal(t, []Written{{Source: ours, From: 1, Lines: []string{long.Replace("a"), long.Replace("b")}}, {Source: ours, From: 4, Lines: []string{long.Replace("c")}}}, written)
	require.Empty(t, here.Written(ofSession("nobody")))

	for name, one := range map[string]struct {
		text, want string // of each line: s, o for the other session, or - for nobody
		taken      int
	}{
		"the same":              {"1\na\nb\n3\nc\n4\n", "-ss-s-", 3},
		"with CRLF":             {"a\r\nb\r\nc\r\n", "sss", 3},
		"two of three":          {"c\na\nb\n", "-ss", 2},
		"one of three":          {"a\n1\n2\n", "---", 0},
		"nothing":               {"", "", 0},
		"no end of the file":    {"a\nb\nc", "sss", 3},
		"not text":              {"a\nb\nc\n\x00", "", 0},
		"twice the same lines":  {"a\nb\nc\na\nb\nc\n", "------", 3},
		"a line that it writes": {"x\na\nb\nc\n", "osss", 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(text(strings.TrimPrefix(one.text, "x\n")))
			if strings.HasPrefix(one.text, "x\n") {
				r.Observe(text(one.text), &others)
			}
			require.Equal(t, one.taken, r.Recall(written, false, nil))
			got := make([]byte, 0, len(one.want))
			for _, o := range r.Origins() {
				by := byte('-')
				if o.Source != nil {
					by = o.Source.SessionID[0]
					require.Equal(t, by == 's', o.ByText)
				}
				got = append(got, strings.Repeat(string(by), o.To-o.From)...)
			}
			require.Equal(t, one.want, string(got))
			require.Zero(t, r.Recall(written, false, nil), "it knows them by now")
			trial := r.Copy()
			_, _, _ = trial.Rewind(Undone{Session: "s", Turns: []string{"t"}})
			require.Equal(t, r.Current(), trial.Current())
		})
	}
}
