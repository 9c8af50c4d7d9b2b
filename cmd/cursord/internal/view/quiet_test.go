package view

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestQuiet is about what a person sees of a turn that says nothing, by the time that has passed.
func TestQuiet(t *testing.T) {
	t.Parallel()
	const cancelling = "cancelling for 1m20s (Ctrl-C again leaves the turn to the daemon)"
	for _, tt := range []struct {
		turn  *sessions.Turn
		after time.Duration
		want  string
	}{
		{nil, time.Hour, ""},
		{&sessions.Turn{Status: sessions.TurnRunning}, 999 * time.Millisecond, ""},
		{&sessions.Turn{Status: sessions.TurnRunning}, time.Second, "working for 1s"},
		{&sessions.Turn{Status: sessions.TurnQueued}, time.Hour, ""},
		{&sessions.Turn{Status: sessions.TurnRunning}, 59*time.Second + 900*time.Millisecond, "working for 59s"},
		{&sessions.Turn{Status: sessions.TurnRunning}, time.Minute, "no output for 1m 0s"},
		{&sessions.Turn{Status: sessions.TurnRunning}, 80*time.Second + time.Millisecond, "no output for 1m 20s"},
		{&sessions.Turn{Status: sessions.TurnRunning}, 2*time.Hour + 5*time.Minute + time.Second, "no output for 2h 5m"},
		{&sessions.Turn{Status: sessions.TurnRunning, Background: []string{"npm run dev"}}, 0, "waiting for 1 background command: npm run dev"},
		{&sessions.Turn{Status: sessions.TurnRunning, Background: []string{"a", "b"}}, 80 * time.Second, "no output for 1m 20s, waiting for 2 background commands: a, …"},
		{&sessions.Turn{Status: sessions.TurnCompleted}, time.Hour, ""},
	} {
		q := Quiet{turn: tt.turn}
		require.Equal(t, tt.want, q.Text(q.since.Add(tt.after), false))
	}

	// The agent's text is not cut into lines for a short pause.
	q := Quiet{turn: &sessions.Turn{Status: sessions.TurnRunning}}
	require.Empty(t, q.Text(q.since.Add(9*time.Second), true))
	require.Equal(t, "working for 10s", q.Text(q.since.Add(10*time.Second), true))

	// A cancelled turn shows that until it has ended, whatever it says meanwhile.
	for _, turn := range []*sessions.Turn{nil, {Status: sessions.TurnQueued}, {Status: sessions.TurnRunning, Background: []string{"a"}}} {
		q := Quiet{turn: turn}
		q.Cancel()
		require.Equal(t, "cancelling (Ctrl-C again leaves the turn to the daemon)", q.Text(q.cancels, false))
		require.Equal(t, cancelling, q.Text(q.cancels.Add(80*time.Second), true))
		q.Heard(&sessions.Turn{Status: sessions.TurnCancelled})
		require.Empty(t, q.Text(q.cancels.Add(80*time.Second), false))
	}
}

// TestOutputsInOnePlace is about both outputs of a program in one pipe: no line of one begins in a line of the other.
func TestOutputsInOnePlace(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	again, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", w.Fd()), os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no second way to a pipe: ", err)
	}
	s := NewScreen(w, again)
	s.say("i", "Let me look.")
	s.Line("✓ Read a")
	s.say("j", "Done.")
	s.End()
	require.NoError(t, again.Close())
	require.NoError(t, w.Close())
	got, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, "Let me look.\n✓ Read a\nDone.\n", string(got))

	var out, errOut bytes.Buffer
	s = NewScreen(&out, &errOut)
	s.say("i", "Let me look.")
	s.Line("✓ Read a")
	s.say("i", " More.")
	s.End()
	require.Equal(t, "Let me look. More.\n", out.String(), "what programs read has no lines that the agent did not say")
	require.Equal(t, "✓ Read a\n", errOut.String())
}

// TestQuietOnAScreen shows silence on a terminal: it never stays, and never in the agent's text.
func TestQuietOnAScreen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	terminal := func() *Screen {
		out.Reset()
		return NewTerminal(&out, true)
	}
	const wiped = "\r\x1b[K"
	shown := func() string {
		var left []string
		for _, line := range strings.Split(out.String(), "\n") {
			left = append(left, line[strings.LastIndex(wiped+line, wiped):])
		}
		return strings.NewReplacer("\x1b[2m", "", "\x1b[0m", "", "\x1b[32m", "").Replace(strings.Join(left, "\n"))
	}
	call := &sessions.Item{ID: "c", Kind: sessions.ItemTool, Status: sessions.ItemRunning, Tool: &sessions.Tool{Name: "read", Title: "Read a"}}

	s := terminal()
	s.say("i", "One.")
	s.Quiet("no output for 1m 0s")
	s.Quiet("no output for 1m 1s")
	require.Equal(t, "One.\n… no output for 1m 1s", shown())
	s.say("i", " Two.\n")
	s.End()
	require.Equal(t, "One.\nTwo.\n", shown())

	s = terminal()
	s.Item(call)
	s.Quiet("no output for 1m 0s")
	require.Equal(t, "… no output for 1m 0s: Read a", shown())
	s.Quiet("")
	require.Equal(t, "… Read a", shown())
	s.Quiet("no output for 1m 0s")
	ended := *call
	ended.Status = sessions.ItemCompleted
	s.Item(&ended)
	s.Quiet("no output for 1m 0s")
	require.Equal(t, "✓ Read a\n… no output for 1m 0s", shown(), "the call does not run any more")
	s.End()
	require.Equal(t, "✓ Read a\n", shown())

	s = terminal()
	s.errTerm = false
	s.Quiet("no output for 1m 0s")
	require.Empty(t, out.String(), "nothing of it goes into a pipe")
}

// TestTypedAhead: what a person has typed before a line of progress is not left in it.
func TestTypedAhead(t *testing.T) {
	t.Parallel()
	var w narrow
	s := NewTerminal(&w, false)
	s.say("i", "One.")
	w.Reset()
	s.Quiet("working for 1s")
	require.Equal(t, "\n\r\x1b[K… working for 1s", w.String())
}

// narrow is a terminal with 40 columns.
type narrow struct{ bytes.Buffer }

func (*narrow) Columns() int { return 40 }

// TestWaitIsShownWhole: what a queued turn waits for is not cut at the width of the terminal, and is removed whole.
func TestWaitIsShownWhole(t *testing.T) {
	t.Parallel()
	var w narrow
	s := NewTerminal(&w, false)
	s.Behind(`waiting for the turn "paint the fence" of session 01M8HQM764TY3JFQFWTP7PWVFC`)
	require.Equal(t, "\r\x1b[K… (Ctrl-C cancels this turn) waiting\n  for the turn \"paint the fence\" of\n  session 01M8HQM764TY3JFQFWTP7PWVFC", w.String())
	w.Reset()
	s.Line("ok")
	require.Equal(t, "\r\x1b[K\x1b[A\x1b[K\x1b[A\x1b[Kok\n", w.String())
	w.Reset()
	s.await("… " + "0123456789 0123456789 0123456789 0123456789")
	s.wipe()
	require.Equal(t, "\r\x1b[K… 0123456789 0123456789 0123456789 0…\r\x1b[K", w.String(), "other waits have one line")
}
