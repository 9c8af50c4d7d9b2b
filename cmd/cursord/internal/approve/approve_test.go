package approve

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

func permission() *sessions.Approval {
	return &sessions.Approval{
		ID: "k3m9xw-t", Kind: sessions.ApprovalPermission, Title: "Run a command", Command: "make test", Status: sessions.ApprovalPending,
		Options: []sessions.ApprovalOption{
			{ID: "allow-once", Label: "Yes", Kind: sessions.AllowOnce}, {ID: "allow-always", Label: "Always", Kind: sessions.AllowAlways},
			{ID: folderOption, Label: "Always here", Kind: sessions.AllowAlways}, {ID: "reject-once", Label: "No", Kind: sessions.RejectOnce},
		},
	}
}

func question(text bool) *sessions.Approval {
	return &sessions.Approval{ID: "q-t", Kind: sessions.ApprovalQuestion, Title: "Which colour?", Text: text, Status: sessions.ApprovalPending, Options: []sessions.ApprovalOption{
		{ID: "r", Label: "Red", Kind: sessions.AnswerOption}, {ID: "b", Label: "Blue", Kind: sessions.AnswerOption},
	}}
}

// TestRead: what counts as an answer, and above all what does not.
func TestRead(t *testing.T) {
	t.Parallel()
	free := &sessions.Approval{Kind: sessions.ApprovalQuestion, Text: true}
	for _, c := range []struct {
		a            *sessions.Approval
		typed        string
		option, text string
		ok           bool
	}{
		{permission(), "y", "allow-once", "", true}, {permission(), " Y ", "allow-once", "", true}, {permission(), "n", "reject-once", "", true},
		{permission(), "a", folderOption, "", true}, {permission(), "2", "allow-always", "", true}, {permission(), "4", "reject-once", "", true},
		{permission(), "allow-always", "allow-always", "", true},
		{permission(), "", "", "", false}, {permission(), "yes please", "", "", false}, {permission(), "yy", "", "", false}, {permission(), "0", "", "", false},
		{permission(), "5", "", "", false}, {permission(), `"yes"`, "", "", false}, {permission(), `y "because"`, "", "", false}, {permission(), "allow", "", "", false},
		{question(false), "y", "", "", false}, {question(false), "a", "", "", false}, {question(false), "n", noAnswer, "", true}, {question(true), `n "text"`, "", "", false},
		{permission(), "\x1b", "", "", false}, {permission(), "\x1by", "", "", false}, {permission(), "\x1b[A", "", "", false}, {question(false), "1", "r", "", true}, {question(false), "b", "b", "", true}, {question(false), `"green"`, "", "", false},
		{question(true), `"green"`, "", "green", true}, {question(true), `2 "dark"`, "b", "dark", true}, {question(true), `9 "dark"`, "", "dark", false},
		{question(true), `"green`, "", "", false}, {question(true), `""`, "", "", false}, {question(true), "green", "", "", false},
		{free, `"green"`, "", "green", true}, {free, "1", "", "", false},
	} {
		got, ok := Read(c.a, c.typed)
		require.Equal(t, c.ok, ok, "%q", c.typed)
		if ok {
			require.Equal(t, Answer{c.option, c.text}, got, "%q", c.typed)
		}
	}
}

// TestMeant: which lines are no prompts while a question is on the screen, although they answer nothing.
func TestMeant(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]bool{
		"4": true, " 12 ": true, "9.": true, "x": true, "é": true, "?": true, "yes": true, "No": true, `"green"`: true, `9 "dark"`: true,
		"": false, `"`: true, "go on": false, "yes please": false, "42 is wrong": false, `call it "x"`: false, "ok": false, "/deny": false, `9 "dark`: false,
	} {
		require.Equal(t, want, Meant(typed), typed)
	}
}

// TestAnswersThatAreCalledLikeKeys: 1 was the first answer although another one was called "1", and n was none although one was called "n".
func TestAnswersThatAreCalledLikeKeys(t *testing.T) {
	t.Parallel()
	q := question(false)
	q.Options = []sessions.ApprovalOption{{ID: "o1", Label: "red"}, {ID: "1", Label: "blue"}, {ID: "o3", Label: "1"}, {ID: "o4", Label: "N"}, {ID: "o5", Label: "5"}}
	require.Equal(t, []string{"1. red", "2 blue", "3 1", "4 N", "5 5", "n. no answer; the agent goes on without one"}, All(q))
	for typed, want := range map[string]string{"1": "", "1.": "o1", "2": "1", "3": "o3", "4": "o4", "5": "o5", "n": "", "N": "", "n.": noAnswer, "o3": "o3"} {
		got, ok := Read(q, typed)
		require.Equal(t, want != "", ok, typed)
		require.Equal(t, want, got.Option, typed)
	}
	_, err := (&Reply{Option: "1"}).option(q)
	require.ErrorContains(t, err, "\"1\" is not one of the answers:\n  1. red\n  2 blue\n  3 1")
	require.Contains(t, commands(q, "k3"), "  cursord approve k3 1.  (red)")
	p := permission()
	p.Options[3].Label = "y"
	require.Equal(t, []string{"  y. Yes", "  n y", "  a Always here", "  e other answers"}, Offers(p, "")[1:])
}

func plan() *sessions.Approval {
	a := permission()
	a.Kind, a.Text, a.Title, a.Command = sessions.ApprovalPlan, true, "Plan", ""
	return a
}

// TestTextOfAPlan: a text never turns a yes into a no, nor is it lost with a yes.
func TestTextOfAPlan(t *testing.T) {
	t.Parallel()
	for typed, ok := range map[string]bool{`"hurry"`: false, `y "hurry"`: false, `1 "hurry"`: false, `n "later"`: true, `4 "later"`: true, "y": true} {
		_, got := Read(plan(), typed)
		require.Equal(t, ok, got, typed)
	}
	for _, r := range []Reply{{Text: "hurry"}, {Option: "y", Text: "hurry"}, {Option: "1", Text: "hurry"}} {
		_, err := r.option(plan())
		require.ErrorContains(t, err, "cursord deny k3m9xw --text")
	}
	id, err := (&Reply{Deny: true, Text: "later"}).option(plan())
	require.NoError(t, err)
	require.Equal(t, "reject-once", id)
	id, err = (&Reply{Text: "hurry"}).option(permission())
	require.NoError(t, err)
	require.Equal(t, "allow-once", id, "the daemon says that it takes no text")
	require.Contains(t, All(plan()), `n "text", in quotes, rejects it with that text; an accept takes none`)
}

// TestAnIDWithBlanks: another option's id may differ by these alone.
func TestAnIDWithBlanks(t *testing.T) {
	t.Parallel()
	a := permission()
	a.Options = []sessions.ApprovalOption{{ID: "x", Label: "Allow", Kind: sessions.AllowOnce}, {ID: " x", Label: "Refuse", Kind: sessions.RejectOnce}}
	for typed, want := range map[string]string{"x": "x", " x": " x", "x ": "x", " 1 ": "x"} {
		answer, ok := Read(a, typed)
		require.True(t, ok, typed)
		require.Equal(t, want, answer.Option, typed)
	}
}

// TestNoAnswerByApprove: "n" is among the answers that the command lists.
func TestNoAnswerByApprove(t *testing.T) {
	t.Parallel()
	id, err := (&Reply{Option: "n"}).option(question(false))
	require.NoError(t, err)
	require.Equal(t, noAnswer, id)
	_, err = (&Reply{Option: "n", Text: "later"}).option(question(true))
	require.ErrorContains(t, err, "--text does not go with leaving the question unanswered")
}

// TestShown: a command is shown whole and obeyed by no terminal, and the answers are named.
func TestShown(t *testing.T) {
	t.Parallel()
	a := permission()
	a.Command, a.Title, a.Paths = "rm -rf \x1b[2Kx\r\u202ey\nmake "+strings.Repeat("z", 5000), "Run\nit", []string{"a\x1bb"}
	text := strings.Join(Lines(a, false, false), "\n")
	for _, bad := range []string{"\x1b", "\r", "\u202e"} {
		require.NotContains(t, text, bad)
	}
	require.Contains(t, text, "rm -rf ␛[2Kx␍<U+202E>y␊\n  make "+strings.Repeat("z", 5000), "the second line is not the rest of the first")
	require.NotContains(t, text, "zz␊")
	require.Contains(t, text, "The agent asks for permission: Run␊it")
	require.Equal(t, []string{"Type a letter and press Enter. Ctrl-C waves.", "  y Yes", "  n No", "  a Always here", "  e other answers"}, Offers(permission(), "Ctrl-C waves."))
	require.Equal(t, []string{"1 Yes", "2 Always", "3 Always here", "4 No"}, All(permission()))
	require.Equal(t, []string{"Type a number and press Enter.", "  1 Yes", "  2 Always", "  3 Always here", "  4 No"}, Numbers(permission(), ""))
	require.Equal(t, []string{"Type a number and press Enter.", "  1 Red", "  2 Blue", "  n no answer; the agent goes on without one"}, Offers(question(false), ""))
	require.Contains(t, Offers(question(true), ""), `  "text" in quotes answers with that text; a number may stand before it`)
	require.Equal(t, "Type an answer and press Enter.", Offers(&sessions.Approval{Kind: sessions.ApprovalQuestion, Text: true}, "")[0])
	plain := permission()
	plain.Options = []sessions.ApprovalOption{plain.Options[0], plain.Options[3]}
	require.Equal(t, []string{"  y Yes", "  n No"}, Offers(plain, "")[1:])
	for _, a := range []*sessions.Approval{permission(), question(true), plan()} {
		for _, line := range slices.Concat(Offers(a, CancelsTurn), Numbers(a, CancelsTurn)) {
			require.LessOrEqual(t, len(line), 80, line)
		}
	}
	odd := &sessions.Approval{Kind: "wish", Title: "?"}
	require.Equal(t, []string{"The agent asks (wish): ?"}, Lines(odd, false, false))
	require.Empty(t, Offers(odd, CancelsTurn))
}

// TestReplies: which option "cursord approve" and "cursord deny" choose.
func TestReplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r      Reply
		a      *sessions.Approval
		option string
		err    string
	}{
		{Reply{}, permission(), "allow-once", ""}, {Reply{Deny: true}, permission(), "reject-once", ""}, {Reply{Option: "a"}, permission(), folderOption, ""},
		{Reply{Option: "3"}, permission(), folderOption, ""}, {Reply{Option: "maybe"}, permission(), "", `"maybe" is not one of the answers`},
		{Reply{}, question(true), "", "say which answer"}, {Reply{Text: "green"}, question(true), "", ""}, {Reply{Option: "2", Text: "dark"}, question(true), "b", ""},
		{Reply{Deny: true}, question(true), noAnswer, ""}, {Reply{Deny: true, Text: "x"}, question(true), "", "to answer with the text: cursord approve"},
		{Reply{Deny: true, Text: "x"}, question(false), "", "so leave --text out; the answers are:\n  1 Red\n  2 Blue\n  n no answer"},
		{Reply{Text: "x"}, question(false), "", "so leave --text out; the answers are:\n  1 Red\n  2 Blue\n  n no answer"},
		{Reply{Option: "1", Text: "x"}, question(false), "", "so leave --text out"},
	} {
		got, err := c.r.option(c.a)
		if c.err != "" {
			require.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.option, got)
	}
}

// TestCommands: a question comes with each command that answers it.
func TestCommands(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"answer with: cursord approve k3, or cursord deny k3"}, commands(permission(), "k3"))
	require.Equal(t, []string{
		"answer with one of:", "  cursord approve q 1  (Red)", "  cursord approve q 2  (Blue)", `  cursord approve q --text "…"  (your own words)`,
		"  cursord deny q  (no answer)",
	}, commands(question(true), "q"))
	require.Equal(t, []string{"  cursord deny q  (no answer)", "  the agent takes no other answer, so no --text"}, commands(question(false), "q")[3:])
	always := permission()
	always.Options = always.Options[1:]
	require.Equal(t, []string{"answer with: cursord approve k3 NUMBER, or cursord deny k3"}, commands(always, "k3"))
}

// TestAskerWithoutATerminal says how to answer elsewhere, once, and how it ended; it answers nothing.
func TestAskerWithoutATerminal(t *testing.T) {
	t.Parallel()
	said := make(chan string, 10)
	k := NewAsker(nil, Streams{In: strings.NewReader("y\n")}, func(_ io.Writer, lines ...string) { said <- strings.Join(lines, "\n") })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	k.Who = func(a *sessions.Approval) string { return "Attempt " + a.ID[:1] }
	go k.Run(ctx)
	k.Changed(permission())
	first := <-said
	require.Contains(t, first, "Attempt k asks for permission: ")
	require.Contains(t, first, "make test")
	require.Contains(t, first, "answer with: cursord approve k3m9xw, or cursord deny k3m9xw")
	other := permission()
	other.ID = "b2-t"
	k.Changed(other)
	ended := permission()
	ended.Status, ended.Answer = sessions.ApprovalAnswered, &sessions.ApprovalAnswer{OptionID: "reject-once"}
	k.Changed(ended)
	require.Equal(t, "answered: No", <-said)
	require.Contains(t, <-said, "cursord approve b2")
	other = permission()
	other.ID, other.Status = "b2-t", sessions.ApprovalWithdrawn
	k.Changed(other)
	require.Equal(t, "withdrawn", <-said)
}

// TestTypedBeforeTheQuestion: a line that was read before the question was shown answers nothing, however late it is looked at.
func TestTypedBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	k := NewAsker(nil, Streams{ErrOut: io.Discard}, func(io.Writer, ...string) {})
	k.pending, k.asked = []*sessions.Approval{permission()}, 2
	a, _ := k.read(typedLine{"y\n", time.Now(), 1}, true)
	require.Nil(t, a)
	a, answer := k.read(typedLine{"y\n", time.Now(), 2}, true)
	require.NotNil(t, a)
	require.Equal(t, "allow-once", answer.Option)
}

// TestAnswersThatAreTooSoon: nobody has read a question that has just come, and a key that repeats itself does not make it older.
func TestAnswersThatAreTooSoon(t *testing.T) {
	t.Parallel()
	var said string
	k := NewAsker(nil, Streams{ErrOut: io.Discard}, func(_ io.Writer, lines ...string) { said = strings.Join(lines, "\n") })
	came := time.Now()
	k.pending, k.since = []*sessions.Approval{permission()}, came
	typed := func(text string, after time.Duration) *sessions.Approval {
		a, _ := k.read(typedLine{text, came.Add(after), 0}, true)
		return a
	}
	for i, line := range []string{"y", "n", "a", "y"} {
		require.Nil(t, typed(line, time.Duration(i+1)*(ReadTime-1)))
		require.Equal(t, "This question has just come: read it, then answer.", said)
	}
	require.Nil(t, typed("x", 4*ReadTime))
	require.Contains(t, said, "none of the answers")
	require.NotNil(t, typed("y", 5*ReadTime))
}

// TestAnswersThatAreNotOnTheScreen: where letters are shown, a number or a name counts only after the person has had these shown, and a question
// that is longer than the screen needs a second yes.
func TestAnswersThatAreNotOnTheScreen(t *testing.T) {
	t.Parallel()
	var said string
	k := NewAsker(nil, Streams{ErrOut: io.Discard}, func(_ io.Writer, lines ...string) { said = strings.Join(lines, "\n") })
	k.pending, k.tall = []*sessions.Approval{permission()}, true
	typed := func(text string) (a *sessions.Approval, answer Answer) {
		return k.read(typedLine{text, time.Now(), 0}, true)
	}
	for _, line := range []string{"1", "2", "allow-once"} {
		a, _ := typed(line)
		require.Nil(t, a, line)
		require.Contains(t, said, "none of the answers")
	}
	typed("e")
	a, _ := typed("1")
	require.Nil(t, a)
	require.Equal(t, TooTall, said)
	a, answer := typed("1")
	require.NotNil(t, a)
	require.Equal(t, "allow-once", answer.Option)
	typed("")
	a, _ = typed("1")
	require.Nil(t, a, "the letters are shown again")
	k.tall = true
	a, answer = typed("n")
	require.NotNil(t, a, "a no needs no reading")
	require.Equal(t, "reject-once", answer.Option)
}

// TestReadsSeveral: where the agent takes several options, a list of them is an answer, and nothing else is.
func TestReadsSeveral(t *testing.T) {
	t.Parallel()
	a := question(false)
	a.Text, a.Several = true, true
	for typed, want := range map[string]Answer{
		"1, 2": {Text: "1, 2"}, "1 2": {Text: "1 2"}, `"1, 2"`: {Text: "1, 2"}, "Blue, 1": {Text: "Blue, 1"}, `1 "2"`: {Option: a.Options[0].ID, Text: "2"}, "2": {Option: a.Options[1].ID},
	} {
		got, is := Read(a, typed)
		require.True(t, is, typed)
		require.Equal(t, want, got, typed)
	}
	for _, typed := range []string{"1, 9", `"1 and 2"`, `"dark"`, `1 "but darker"`, "1,2,3 please"} {
		_, is := Read(a, typed)
		require.False(t, is, typed)
	}
	require.True(t, Meant("1, 9"))
}

// TestEnded says how an approval ended.
func TestEnded(t *testing.T) {
	t.Parallel()
	a := question(true)
	a.Status, a.Answer = sessions.ApprovalAnswered, &sessions.ApprovalAnswer{OptionID: "b", Text: "dark\x1b"}
	require.Equal(t, "answered: Blue: dark␛", Ended(a))
	a.Answer = &sessions.ApprovalAnswer{OptionID: "b", Rule: "make"}
	require.Equal(t, "allowed by the rule make", Ended(a))
	a.Answer = &sessions.ApprovalAnswer{OptionID: noAnswer}
	require.Equal(t, "ended without an answer", Ended(a))
	a.Status, a.Answer = sessions.ApprovalExpired, nil
	require.Equal(t, "expired: nobody answered in time (approval_timeout)", Ended(a))
}

// TestPlanOnTheScreen: a plan that is on the screen already is asked about without its text; elsewhere the question has all of it.
func TestPlanOnTheScreen(t *testing.T) {
	t.Parallel()
	for _, shown := range []bool{true, false} {
		said := make(chan string, 1)
		k := NewAsker(nil, Streams{In: strings.NewReader("")}, func(_ io.Writer, lines ...string) { said <- strings.Join(lines, "\n") })
		k.Shown = func(*sessions.Approval) bool { return shown }
		ctx, stop := context.WithCancel(t.Context())
		go k.Run(ctx)
		a := plan()
		a.Detail = "Paint it."
		k.Changed(a)
		text := <-said
		stop()
		require.Contains(t, text, "The agent has a plan: Plan")
		require.Equal(t, !shown, strings.Contains(text, "Paint it."))
	}
}
