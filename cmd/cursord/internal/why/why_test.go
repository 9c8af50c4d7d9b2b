package why

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

func TestParse(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "odd:3")
	require.NoError(t, os.WriteFile(odd, nil, 0o600))
	for _, c := range []struct {
		arg  string
		want Why
		bad  bool
	}{
		{arg: "f", want: Why{File: "f"}},
		{arg: "a/f:3", want: Why{File: "a/f", Lines: &api.LineRange{From: 2, To: 3}}},
		{arg: "f:3-5", want: Why{File: "f", Lines: &api.LineRange{From: 2, To: 5}}},
		{arg: "f:x", want: Why{File: "f:x"}},
		{arg: odd, want: Why{File: odd}},
		{arg: "f:0", bad: true},
		{arg: "f:5-3", bad: true},
		{arg: "f:99999999999999999999", bad: true},
	} {
		got, err := Parse(c.arg)
		if c.bad {
			require.Error(t, err, c.arg)
			continue
		}
		require.NoError(t, err, c.arg)
		require.Equal(t, c.want, got)
	}
}

func TestShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("one\n\x1b[2J two\nthree"), 0o600))
	at := &sessions.Time{Time: time.Date(2031, 5, 4, 12, 0, 0, 0, time.Local)}
	lines := []api.WhyLine{
		{From: 0, To: 1},
		{From: 1, To: 3, Source: &api.WhySource{SessionID: "s", TurnID: "t", Prompt: "add\nlines", At: at, State: api.WhyPending}},
	}
	shown := annotated(lines, path, nil, 0)
	require.Contains(t, shown, " 1  one\n")
	require.Contains(t, shown, "*2031-05-04 12:00 add lines")
	require.Contains(t, shown, " 3  three\n")
	require.Equal(t, "                    1  one\n*2031-05-04 add li… 2  ␛[2J two\n*2031-05-04 add li… 3  three\n", annotated(lines, path, nil, 40))
	guess := []api.WhyLine{{From: 0, To: 3, Source: &api.WhySource{Prompt: "add", ByText: true, State: api.WhyAccepted}}}
	require.Contains(t, annotated(guess, path, nil, 0), "?                 add  ")
	require.Contains(t, Commit{}.prompts(api.CommitWhy{Files: []api.CommitFile{{Path: "f", Lines: guess}}}), "f:1-3  (a guess by the text)\n")
	require.Contains(t, Why{File: "f"}.runs([]api.WhyLine{{To: 1, Commit: "0123456789abcdef"}}, nil), "f:1  of commit 0123456789, which a command of an agent brought\n")
	require.NotContains(t, shown, "\x1b")
	require.Empty(t, legend(lines))
	require.Equal(t, "\n? a guess by the text\n", legend(guess))
	maybe := []api.WhyLine{{From: 3, To: 4, Source: &api.WhySource{Prompt: "add", MaybeYours: true, State: api.WhyPending}}}
	require.Contains(t, annotated(maybe, path, nil, 0), "?                 add  ")
	require.Equal(t, "\n* still to be reviewed\n? may be yours: it is not surely the agent's\n", legend(append(lines, maybe...)))
	require.Equal(t, "\n? may be yours, or a guess by the text: cursord why FILE:LINE says which\n", legend(append(guess, maybe...)))
	said := Why{File: "f", Lines: &api.LineRange{}}.runs(lines, nil)
	require.Contains(t, said, "f:1  a person's, or older than cursord\n\nf:2-3  an agent's, pending\n  when     2031-05-04 12:00:00 (")
	require.Contains(t, said, "  > add\n  > lines\n")
}

// TestAnnotatedWithoutAPrompt says why a line of an agent has no prompt.
func TestAnnotatedWithoutAPrompt(t *testing.T) {
	lines := []api.WhyLine{
		{From: 0, To: 1, Source: &api.WhySource{SessionID: "there", State: api.WhyAccepted}},
		{From: 1, To: 2, Source: &api.WhySource{SessionID: "gone", State: api.WhyPending}},
	}
	shown := annotated(lines, filepath.Join(t.TempDir(), "none"), map[string]bool{"there": true}, 0)
	require.Regexp(t, `(?m)^ +\(taken back\) +1$`, shown)
	require.Regexp(t, `(?m)^\* +\(session deleted\) +2$`, shown)
}

// TestLongLines: on a terminal a line that is too wide goes on in its own column, and loses nothing; elsewhere it stays one line.
func TestLongLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("return a + b // and so on and on\n\t六番目の関数は六を返すだけです\n"), 0o600))
	at := &sessions.Time{Time: time.Date(2031, 5, 4, 12, 0, 0, 0, time.Local)}
	lines := []api.WhyLine{{From: 0, To: 2, Source: &api.WhySource{Prompt: "add", At: at, ByText: true, State: api.WhyPending}}}
	require.Equal(t, "?2031-05-04 add     1  return a + b // a\n"+
		"                       nd so on and on\n"+
		"?2031-05-04 add     2  ␉六番目の関数は六\n"+
		"                       を返すだけです\n", annotated(lines, path, nil, 40))
	require.Equal(t, 2, strings.Count(annotated(lines, path, nil, 0), "\n"))
	require.Equal(t, "before  wide\n", beside("before  ", "wide", 11), "there is no room for a column")
}
