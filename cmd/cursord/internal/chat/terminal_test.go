package chat

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/term"
)

// TestTerminalDrawsAfterEachLoan takes the terminal away and gives it back, again and again. Each time the prompt must be drawn again, and
// lines above it.
func TestTerminalDrawsAfterEachLoan(t *testing.T) {
	t.Parallel()
	in, typed, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	defer typed.Close()
	shown, out, err := os.Pipe()
	require.NoError(t, err)
	defer shown.Close()
	defer out.Close()
	f, events := newFeed(), make(chan event, workMost)
	p := newPrompt(f, events, term.Palette(false), openHistory(""), func(string) (int, []string) { return 0, nil })
	tm := openTerminal(t.Context(), in, out, f, p)
	screen := bufio.NewReader(shown)
	for i := range 50 {
		line := fmt.Sprintf("line %d", i)
		fmt.Fprintln(f, line)
		for {
			text, err := screen.ReadString('\n')
			require.NoError(t, err)
			if strings.Contains(text, line) {
				break
			}
		}
		f.post(againMsg{})
		require.Equal(t, returns, (<-events).kind)
	}
	go func() { _, _ = io.Copy(io.Discard, screen) }()
	tm.close()
	require.NoError(t, tm.err)
}

// TestKeysAndQuestions: an answer is a line that was begun while its question was on the screen. What was typed before stays a prompt, also where
// the line comes back later.
func TestKeysAndQuestions(t *testing.T) {
	t.Parallel()
	key := func(name rune) tea.Msg { return tea.KeyPressMsg{Code: name, Text: string(name)} }
	enter, up, down := tea.KeyPressMsg{Code: tea.KeyEnter}, tea.KeyPressMsg{Code: tea.KeyUp}, tea.KeyPressMsg{Code: tea.KeyDown}
	back := tea.KeyPressMsg{Code: tea.KeyBackspace}
	for name, test := range map[string]struct {
		msgs []tea.Msg
		want string
	}{
		"after it":                   {[]tea.Msg{questionMsg{"Q"}, asksMsg{"Q"}, key('y'), enter}, "Q"},
		"before it":                  {[]tea.Msg{key('y'), questionMsg{"Q"}, asksMsg{"Q"}, enter}, ""},
		"read before it was shown":   {[]tea.Msg{questionMsg{"Q"}, key('y'), asksMsg{"Q"}, enter}, ""},
		"about the one before":       {[]tea.Msg{questionMsg{"A"}, asksMsg{"A"}, key('y'), questionMsg{"Q"}, asksMsg{"Q"}, enter}, "A"},
		"one that has ended":         {[]tea.Msg{questionMsg{"A"}, questionMsg{""}, asksMsg{"A"}, key('y'), enter}, ""},
		"one late":                   {[]tea.Msg{questionMsg{"A"}, questionMsg{"Q"}, asksMsg{"Q"}, asksMsg{"A"}, key('y'), enter}, "Q"},
		"a prompt that was refused":  {[]tea.Msg{questionMsg{"Q"}, asksMsg{"Q"}, back, restoreMsg{"y"}, enter}, ""},
		"a draft from before it":     {[]tea.Msg{key('y'), up, questionMsg{"Q"}, asksMsg{"Q"}, back, back, back, down, enter}, ""},
		"a draft from while it asks": {[]tea.Msg{questionMsg{"Q"}, asksMsg{"Q"}, key('y'), up, down, enter}, "Q"},
	} {
		t.Run(name, func(t *testing.T) {
			events := make(chan event, workMost)
			h := openHistory("")
			h.add("old")
			p := newPrompt(newFeed(), events, term.Palette(false), h, func(string) (int, []string) { return 0, nil })
			for _, msg := range test.msgs {
				p.Update(msg)
			}
			got := <-events
			require.Equal(t, event{kind: sent, text: "y", question: test.want}, got)
		})
	}
}

// TestAQuestionWaitsForItsLines: while another program has the terminal, a question is not on the screen.
func TestAQuestionWaitsForItsLines(t *testing.T) {
	t.Parallel()
	f := newFeed()
	p := newPrompt(f, make(chan event, 1), term.Palette(false), openHistory(""), nil)
	f.fits(80, 10)
	f.draws(true)
	fmt.Fprintln(f, "The agent asks")
	f.post(questionMsg{"Q"})
	f.post(questionMsg{"R"})
	lines, question := f.next(), f.next()
	f.draws(false)
	require.Nil(t, p.filter(p, lines))
	require.Nil(t, p.filter(p, question))
	f.draws(true)
	require.Equal(t, []string{"The agent asks"}, f.next().(aboveMsg).lines)
	for _, want := range []string{"Q", "R"} {
		msg := f.next()
		if above, ok := msg.(aboveMsg); ok {
			require.Empty(t, above.lines)
			msg = f.next()
		}
		require.Equal(t, questionMsg{want}, p.filter(p, msg))
	}
}
