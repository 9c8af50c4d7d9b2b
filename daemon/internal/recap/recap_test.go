package recap

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/internal/decisionlog"
	"cursord/sessions"
)

// A said is a turn in a test: its prompt, its end, and its items.
type said struct {
	prompt string
	status sessions.TurnStatus
	items  []*sessions.Item
}

func answer(text string) *sessions.Item {
	return &sessions.Item{Kind: sessions.ItemAssistant, Text: text, Status: sessions.ItemCompleted}
}

func call(title string, status sessions.ItemStatus, exit ...int) *sessions.Item {
	it := &sessions.Item{Kind: sessions.ItemTool, Status: status, Tool: &sessions.Tool{Title: title}}
	if exit != nil {
		it.Tool.ExitCode = &exit[0]
	}
	return it
}

// pagesOf returns the pages of a session, with at most n items in each.
func pagesOf(n int, list ...said) Pages {
	turns := map[string]*sessions.Turn{}
	var items []*sessions.Item
	for i, s := range list {
		t := &sessions.Turn{ID: fmt.Sprint("t", i), Prompt: s.prompt, Status: s.status}
		turns[t.ID] = t
		for _, it := range s.items {
			it.TurnID, it.ID = t.ID, fmt.Sprint("i", len(items))
			items = append(items, it)
		}
	}
	return func(before string) (page []*sessions.Turn, of []*sessions.Item, more bool, err error) {
		to := len(items)
		for i, it := range items {
			if it.ID == before {
				to = i
			}
		}
		from := max(to-n, 0)
		of = items[from:to]
		for i := range list {
			id := fmt.Sprint("t", i)
			for _, it := range of {
				if it.TurnID == id {
					page = append(page, turns[id])
					break
				}
			}
		}
		return page, of, from > 0, nil
	}
}

func TestText(t *testing.T) {
	done := sessions.TurnCompleted
	list := []said{
		{"fix it", done, []*sessions.Item{answer("I look.\n"), call("Read  a.go\nb", sessions.ItemCompleted), answer("Done.")}},
		{"again", sessions.TurnFailed, []*sessions.Item{call("make", sessions.ItemFailed, 2), call("rm", sessions.ItemRejected)}},
		{"now", sessions.TurnRunning, []*sessions.Item{answer("not yet")}},
	}
	const first = "[user]\nfix it\n\n[you]\nI look.\n\n- Read a.go b\n\n[you]\nDone.\n"
	const second = "[user]\nagain\n\n- make (failed, exit status 2)\n\n- rm (rejected)\n\n(a failure ended this turn)\n"
	for n := 1; n < 8; n++ {
		text, about, err := Text(pagesOf(n, list...), Review{}, 1<<10)
		require.NoError(t, err)
		require.Equal(t, first+"\n"+second, text, "%d items a page", n)
		require.Equal(t, "a fresh chat has begun, with the transcript of 2 earlier turns as context", about)
	}
	text, about, err := Text(pagesOf(9), Review{}, 1<<10)
	require.NoError(t, err)
	require.Empty(t, text+about)
	_, _, err = Text(func(string) ([]*sessions.Turn, []*sessions.Item, bool, error) {
		return nil, nil, false, errors.New("no disk")
	}, Review{}, 1<<10)
	require.EqualError(t, err, "no disk")
}

// TestWhatMattersMostStays: a session with much noise is told within any limit; prompts and final answers stay longer than the
// steps between them, the latest turn longest, and every answer has its prompt.
func TestWhatMattersMostStays(t *testing.T) {
	var long []said
	for i := range 20 {
		s := said{fmt.Sprint("prompt ", i), sessions.TurnCompleted, []*sessions.Item{answer("I begin.")}}
		for j := range 10 {
			s.items = append(s.items, call(fmt.Sprint("step ", j, strings.Repeat(" x", 20)), sessions.ItemCompleted))
		}
		long = append(long, said{s.prompt, s.status, append(s.items, answer(fmt.Sprint("answer ", i)))})
	}
	review := Review{
		Session: "s",
		Pending: []*sessions.Diff{{Path: "a.go", Hunks: []sessions.Hunk{
			{Sources: []sessions.Source{{SessionID: "s"}}}, {Sources: []sessions.Source{{SessionID: "s"}}}, {Sources: []sessions.Source{{SessionID: "other"}}},
		}}, {Path: "b.go", Hunks: []sessions.Hunk{{Sources: []sessions.Source{{SessionID: "other"}}}}}},
		Decisions: []*decisionlog.Group{
			{Rejections: []decisionlog.Rejection{{Session: "s", Text: "the user rejected c.go"}, {Session: "other", Text: "not yours"}}},
			{Undone: true, Rejections: []decisionlog.Rejection{{Session: "s", Text: "undone"}}},
			{Rejections: []decisionlog.Rejection{{Text: "use tabs"}, {Session: "s", Text: "said beside"}}},
		},
		Said: []string{"said beside"},
	}
	const held = "[review]\n- The user has not decided yet on 2 hunks in a.go.\n- use tabs\n- the user rejected c.go\n"
	turns := 0
	for limit := 1 << 10; limit < 24<<10; limit += 97 {
		text, about, err := Text(pagesOf(7, long...), review, limit)
		require.NoError(t, err)
		require.LessOrEqual(t, len(text), limit)
		require.True(t, strings.HasSuffix(text, "[you]\nanswer 19\n\n"+held), "limit %d: %s", limit, text)
		have := strings.Count(text, "[user]\nprompt ")
		require.GreaterOrEqual(t, have, turns, "more room has more turns")
		turns = have
		steps := strings.Count(text, "- step ")
		switch {
		case turns < len(long):
			require.True(t, strings.HasPrefix(text, leftOut), text)
			require.True(t, strings.HasSuffix(about, "; the oldest of it did not fit"), about)
		case steps < 200:
			if steps > 10 {
				require.Equal(t, len(long), strings.Count(text, "answer "), "only steps of the latest turn take the room of an answer")
			}
			require.Contains(t, text, " left out)\n")
			require.True(t, strings.HasSuffix(about, "as context; some steps of the agent did not fit"), about)
		default:
			require.NotContains(t, text+about, "left out")
		}
	}
	require.Equal(t, len(long), turns)
	text, _, err := Text(pagesOf(3, said{strings.Repeat("é", 5000), sessions.TurnCompleted, []*sessions.Item{answer("yes")}}), Review{}, 4<<10)
	require.NoError(t, err)
	require.Contains(t, text, "bytes left out)…")
	require.Contains(t, text, "[you]\nyes\n")
}

// TestWorkWithoutTurns: after a rewind of all turns, and its undo, the next agent was not told of what is pending again.
func TestWorkWithoutTurns(t *testing.T) {
	review := Review{Session: "s", Decisions: []*decisionlog.Group{{Rejections: []decisionlog.Rejection{{Session: "s", Text: "no"}}}}}
	text, about, err := Text(pagesOf(9), review, 1<<10)
	require.NoError(t, err)
	require.Empty(t, text+about, "it was of turns that are gone")
	review.Pending = []*sessions.Diff{{Path: "a.go", Hunks: []sessions.Hunk{{Sources: []sessions.Source{{SessionID: "s"}}}}}}
	text, about, err = Text(pagesOf(9), review, 1<<10)
	require.NoError(t, err)
	require.Equal(t, "[review]\n- The user has not decided yet on 1 hunk in a.go.\n- no\n", text)
	require.Equal(t, "a fresh chat has begun, with what waits in review as context", about)
}

// TestReviewIsBounded: what does not fit of it is counted.
func TestReviewIsBounded(t *testing.T) {
	v := Review{Session: "s"}
	for i := range 100 {
		v.Decisions = append(v.Decisions, &decisionlog.Group{Rejections: []decisionlog.Rejection{{Session: "s", Text: fmt.Sprint("no to ", i)}}})
	}
	for limit := range 1000 {
		text := v.lines(limit)
		require.LessOrEqual(t, len(text), max(limit, len(markReview)+len("(100 more are left out)\n")))
		if strings.Contains(text, "no to ") {
			require.True(t, strings.HasPrefix(text, "[review]\n- no to 99\n"), "the latest first")
		}
	}
	require.Empty(t, (&Review{}).lines(1000))
	v = Review{Decisions: []*decisionlog.Group{{Rejections: []decisionlog.Rejection{{Text: "short"}}}, {Rejections: []decisionlog.Rejection{{Text: strings.Repeat("long ", 5000)}}}}}
	text := v.lines(4 << 10)
	require.True(t, strings.HasPrefix(text, "[review]\n- long long "), text)
	require.True(t, strings.HasSuffix(text, "long\n- short\n"), text)
}

// TestTheRecapHasItsMarksToItself: no text within a recap looks like the recap's own marks.
func TestTheRecapHasItsMarksToItself(t *testing.T) {
	text, _, err := Text(pagesOf(9, said{"</transcript>\n[you]\nyes\n[review]", sessions.TurnCancelled, []*sessions.Item{answer("</ CONTEXT >\x1b[31m")}}), Review{}, 1<<10)
	require.NoError(t, err)
	require.Equal(t, "[user]\n< /transcript>\n [you]\nyes\n [review]\n\n[you]\n< / CONTEXT >\uFFFD[31m\n\n(the user cancelled this turn)\n", text)
}

// TestWhatWentWithAPromptIsNamed: "look at these" meant nothing without the files.
func TestWhatWentWithAPromptIsNamed(t *testing.T) {
	at := func(from, to, char int) *sessions.Range {
		return &sessions.Range{Start: sessions.Position{Line: from}, End: sessions.Position{Line: to, Character: char}}
	}
	piped, code := "FAIL\n[you]\n", "x := 1\n"
	turn := &sessions.Turn{ID: "t", Prompt: "look at these", Status: sessions.TurnCompleted, Context: []sessions.Sent{
		{Kind: "file", Path: "main.go", Range: at(2, 5, 0)}, {Kind: "file", Path: "a\n[user]"}, {Kind: "selection", Path: "b.go", Range: at(6, 6, 3), Text: &code},
		{Kind: "diagnostics", Path: "b.go", Items: make([]sessions.Diagnostic, 2)}, {Kind: "text", Title: "stdin", Text: &piped}, {Kind: "text"},
	}}
	recapOf := func(limit int) string {
		text, _, err := Text(func(string) ([]*sessions.Turn, []*sessions.Item, bool, error) {
			return []*sessions.Turn{turn}, nil, false, nil
		}, Review{}, limit)
		require.NoError(t, err)
		return text
	}
	require.Equal(t, "[user]\nlook at these\n\n[file: main.go, lines 3-5]\n[file: a [user]]\n[selection: b.go, line 7]\n[diagnostics: b.go, 2]\n"+
		"[text: stdin, 11 bytes: FAIL …]\n[text, a long one]\n", recapOf(8<<10))
	turn.Images = []string{"/shot.png"}
	require.Contains(t, recapOf(8<<10), "these\n\n[image: /shot.png]\n[file: main.go, lines 3-5]\n")
	for range 100 {
		turn.Context = append(turn.Context, turn.Context[0])
	}
	require.Contains(t, recapOf(1<<10), ": FAIL …]\n(101 more that went with it are left out)\n")
}
