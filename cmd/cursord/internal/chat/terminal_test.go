package chat

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

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
		"after it":                   {[]tea.Msg{questionMsg{id: "Q"}, asksMsg{"Q"}, key('y'), enter}, "Q"},
		"before it":                  {[]tea.Msg{key('y'), questionMsg{id: "Q"}, asksMsg{"Q"}, enter}, ""},
		"read before it was shown":   {[]tea.Msg{questionMsg{id: "Q"}, key('y'), asksMsg{"Q"}, enter}, ""},
		"about the one before":       {[]tea.Msg{questionMsg{id: "A"}, asksMsg{"A"}, key('y'), questionMsg{id: "Q"}, asksMsg{"Q"}, enter}, "A"},
		"one that has ended":         {[]tea.Msg{questionMsg{id: "A"}, questionMsg{}, asksMsg{"A"}, key('y'), enter}, ""},
		"one late":                   {[]tea.Msg{questionMsg{id: "A"}, questionMsg{id: "Q"}, asksMsg{"Q"}, asksMsg{"A"}, key('y'), enter}, "Q"},
		"a prompt that was refused":  {[]tea.Msg{questionMsg{id: "Q"}, asksMsg{"Q"}, back, restoreMsg{"y"}, enter}, ""},
		"a draft from before it":     {[]tea.Msg{key('y'), up, questionMsg{id: "Q"}, asksMsg{"Q"}, back, back, back, down, enter}, ""},
		"a draft from while it asks": {[]tea.Msg{questionMsg{id: "Q"}, asksMsg{"Q"}, key('y'), up, down, enter}, "Q"},
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
			require.Equal(t, []any{sent, "y", test.want}, []any{got.kind, got.text, got.question})
		})
	}
}

// TestAnswersThatAreTooSoonOrBlind: the prompt knows of an answer whether its question has just come, and whether it has left the screen.
func TestAnswersThatAreTooSoonOrBlind(t *testing.T) {
	t.Parallel()
	lines := []string{"The agent asks", "  rm -rf /", "  y Yes"}
	for name, test := range map[string]struct {
		age        time.Duration
		rows       int // printed behind the question
		msg        tea.Msg
		soon, left bool
	}{
		"just come":               {0, 0, nil, true, false},
		"read":                    {time.Minute, 0, nil, false, false},
		"with rows below":         {time.Minute, 4, nil, false, false},
		"its first row is gone":   {time.Minute, 5, nil, false, true},
		"drawn anew":              {time.Minute, 0, tea.KeyPressMsg{Code: 'l', Mod: tea.ModCtrl}, false, false},
		"a pager had the screen":  {time.Minute, 0, &execMsg{}, false, true},
		"the window is too small": {time.Minute, 0, tea.WindowSizeMsg{Width: 80, Height: 4}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			events, f := make(chan event, workMost), newFeed()
			p := newPrompt(f, events, term.Palette(false), openHistory(""), func(string) (int, []string) { return 0, nil })
			f.draws(true)
			p.Update(tea.WindowSizeMsg{Width: 80, Height: 10})
			p.View()
			require.Equal(t, 7, p.room)
			p.Update(questionMsg{id: "Q", lines: lines})
			p.Update(asksMsg{"Q"})
			p.question.since = p.question.since.Add(-test.age)
			require.True(t, f.takes(aboveMsg{lines: make([]string, test.rows)}))
			if test.msg != nil {
				p.Update(test.msg)
				p.hidden = false
				f.draws(true)
			}
			require.Equal(t, test.left, strings.Contains(p.View().Content, "Enter shows it"), "%s", p.View().Content)
			p.Update(tea.KeyPressMsg{Code: 'y', Text: "y"})
			p.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
			require.Equal(t, event{kind: sent, text: "y", question: "Q", soon: test.soon, left: test.left, tall: strings.Contains(name, "small")}, <-events)
			p.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
			require.Equal(t, event{kind: empty}, <-events)
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
	f.post(questionMsg{id: "Q"})
	f.post(questionMsg{id: "R"})
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
		require.Equal(t, questionMsg{id: want}, p.filter(p, msg))
	}
}
