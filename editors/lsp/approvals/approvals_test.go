package approvals

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestWords: the whole command is shown, the first action and its neighbours do not allow, and titles lead back to their options.
func TestWords(t *testing.T) {
	t.Parallel()
	a := &sessions.Approval{ID: "k3-t", Title: "Run a command", Command: "rm -rf \x1b[2K\u202e" + strings.Repeat("x", 5000), Paths: []string{"a.go"}, Options: []sessions.ApprovalOption{
		{ID: "y", Label: "Yes", Kind: sessions.AllowOnce}, {ID: "w", Label: "Same", Kind: sessions.AllowAlways}, {ID: "n", Label: "No", Kind: sessions.RejectOnce}, {ID: "v", Label: "Same", Kind: sessions.RejectAlways},
	}}
	require.Equal(t, "The agent asks: Run a command\nrm -rf ␛[2K<U+202E>"+strings.Repeat("x", 5000)+"\na.go", Message(a))
	var titles, ids []string
	for _, action := range Actions(a) {
		titles, ids = append(titles, action.Title), append(ids, Chosen(a, action.Title))
	}
	require.Equal(t, []string{"Look again later", "No", "Same (4)", "Yes", "Same (2)", "Only remind me"}, titles)
	require.Equal(t, []string{"", "n", "v", "y", "w", ""}, ids)
	for _, none := range []string{"", "Same", "yes", "y", "Maybe"} {
		require.Empty(t, Chosen(a, none), none)
	}
	require.Empty(t, Actions(&sessions.Approval{}))
	require.Equal(t, "cursord approve k3, cursord deny k3", Elsewhere(a))
	q := &sessions.Approval{ID: "k3-t", Kind: sessions.ApprovalQuestion, Text: true, Options: []sessions.ApprovalOption{{ID: "r", Label: "Red\x1b", Kind: sessions.AnswerOption}}}
	require.Equal(t, "cursord approve k3 1 (Red␛), cursord approve k3 --text …, cursord deny k3 (no answer)", Elsewhere(q))
	require.Contains(t, Message(q), "A text as the answer: cursord approve k3 --text …")
	plan := &sessions.Approval{ID: "k3-t", Kind: sessions.ApprovalPlan, Text: true, Options: a.Options}
	require.Equal(t, "cursord approve k3, cursord deny k3 [--text …]", Elsewhere(plan))
	require.Contains(t, Message(plan), "A rejection with a text: cursord deny k3 --text …")
	require.NotContains(t, Message(plan), "approve")
	_, below, _ := strings.Cut(Document(plan, "with space a (code actions)"), "\n\n")
	for line := range strings.Lines(below) { // Helix cuts long lines, and shows line numbers beside them
		require.LessOrEqual(t, len(line), 60, line)
	}
}

// TestTheCommandIsSaidOnce: a title that is only the beginning of the command is not said beside it.
func TestTheCommandIsSaidOnce(t *testing.T) {
	t.Parallel()
	long := "echo " + strings.Repeat("x", 200)
	for title, command := range map[string]string{"echo short …": "echo short\necho more", long[:80] + "…": long, "make": "make"} {
		require.Equal(t, "The agent asks: "+command, Message(&sessions.Approval{Title: title, Command: command}))
	}
	require.Equal(t, "The agent asks: Run\nmake", Message(&sessions.Approval{Title: "Run", Command: "make"}))
}

// TestTitlesFitPopups: an answer has a short title, and the message says what it means.
func TestTitlesFitPopups(t *testing.T) {
	t.Parallel()
	a := &sessions.Approval{ID: "k3-t", Title: "Run", Command: "make", Options: []sessions.ApprovalOption{
		{ID: "y", Label: "Allow once", Kind: sessions.AllowOnce}, {ID: "cursord:folder", Label: "Always in this folder, also with more arguments", Kind: sessions.AllowAlways},
		{ID: "l", Label: "Look again later", Kind: sessions.AllowOnce}, {ID: "n", Label: "No, and here is a very long reason for it", Kind: sessions.RejectOnce},
	}}
	var titles []string
	for _, action := range Actions(a) {
		require.LessOrEqual(t, len([]rune(action.Title)), 25)
		titles = append(titles, action.Title)
	}
	require.Equal(t, []string{"Look again later", "No, and here is a very l…", "Allow once", "Always here (prefix)", "Look again later (3)", "Only remind me"}, titles)
	require.Equal(t, "The agent asks: Run\nmake\nAlways here (prefix) means: Always in this folder, also with more arguments\n"+
		"No, and here is a very l… means: No, and here is a very long reason for it", Message(a))
	require.Equal(t, "cursord:folder", Chosen(a, "Always here (prefix)"))
	a.Options[1].Label = "Always in this folder, exactly this command"
	require.Equal(t, "cursord:folder", Chosen(a, "Always here"))
	require.Contains(t, Message(a), "Always here means: Always in this folder, exactly this command\n")
	require.Empty(t, Chosen(a, Later))
	first := Actions(&sessions.Approval{Options: []sessions.ApprovalOption{{ID: "y", Label: "Yes", Kind: sessions.AllowOnce}}})
	require.Equal(t, Remind, first[1].Title, "without a refusal, too, the second one does not allow")
}

// TestChoices: a menu puts an answer that allows only behind all of what it allows, and never first.
func TestChoices(t *testing.T) {
	t.Parallel()
	var o Open
	options := []sessions.ApprovalOption{{ID: "y", Label: "Allow once", Kind: sessions.AllowOnce}, {ID: "n", Label: "Reject", Kind: sessions.RejectOnce}}
	a := &sessions.Approval{ID: "k3-t", Title: "Run", Command: "make", Options: options}
	require.NotNil(t, o.Add(a))
	require.Nil(t, o.Add(a))
	require.Equal(t, []Choice{
		{"See what the agent asks: $ make", "k3-t", ""}, {"Answer the agent: Reject: $ make", "k3-t", "n"}, {"Answer the agent: Allow once: $ make", "k3-t", "y"},
	}, o.Choices(unseen))
	require.Equal(t, a, o.Remove(a).Ended)
	require.Nil(t, o.Remove(a))
	for _, command := range []string{"make\nrm -rf x", strings.Repeat("x", 200)} {
		o = Open{}
		o.Add(&sessions.Approval{ID: "k3-t", Command: command, Options: options})
		list := o.Choices(unseen)
		require.Len(t, list, 2)
		require.Equal(t, "n", list[1].Option)
		list = o.Choices(func(one *Asked) bool { return one.ID == "k3-t" })
		require.Len(t, list, 3)
		require.Equal(t, "y", list[2].Option, "a reader who has the whole before them can allow it")
	}
}

func unseen(*Asked) bool { return false }

// TestLongAnswersAreReadFirst: an answer whose title does not say all of it could be given from the menu, unread; the question says all of it.
func TestLongAnswersAreReadFirst(t *testing.T) {
	t.Parallel()
	same := strings.Repeat("Do as you think ", 20)
	a := &sessions.Approval{ID: "k3-t", Kind: sessions.ApprovalQuestion, Title: "Which?", Options: []sessions.ApprovalOption{
		{ID: "a", Label: same + "delete NOTHING", Kind: sessions.AnswerOption}, {ID: "b", Label: same + "delete EVERYTHING", Kind: sessions.AnswerOption},
		{ID: "c", Label: "Wait", Kind: sessions.AnswerOption},
	}}
	require.Equal(t, "The agent asks: Which?\nDo as you think Do as yo… (1) means: "+same+"delete NOTHING\nDo as you think Do as yo… (2) means: "+same+"delete EVERYTHING", Message(a))
	var o Open
	o.Add(a)
	require.Equal(t, []Choice{
		{"See what the agent asks: Which?", "k3-t", ""}, {"Answer the agent: No answer: Which?", "k3-t", "cursord:none"}, {"Answer the agent: Wait: Which?", "k3-t", "c"},
	}, o.Choices(unseen))
}

// TestQuestionsCanBeLeftUnanswered: a question has the answer of "cursord deny", and nothing else has it.
func TestQuestionsCanBeLeftUnanswered(t *testing.T) {
	t.Parallel()
	q := &sessions.Approval{Kind: sessions.ApprovalQuestion, Options: []sessions.ApprovalOption{
		{ID: "r", Label: "Red", Kind: sessions.AnswerOption}, {ID: "n", Label: "No answer", Kind: sessions.AnswerOption},
	}}
	var titles, ids []string
	for _, action := range Actions(q) {
		titles, ids = append(titles, action.Title), append(ids, Chosen(q, action.Title))
	}
	require.Equal(t, []string{"Look again later", "No answer", "Red", "No answer (2)", "Only remind me"}, titles)
	require.Equal(t, []string{"", "cursord:none", "r", "n", ""}, ids)
	require.Empty(t, Chosen(&sessions.Approval{Kind: sessions.ApprovalPermission}, None))
}

// TestEnded says how a question ended for which an answer comes too late.
func TestEnded(t *testing.T) {
	t.Parallel()
	a := func(status sessions.ApprovalStatus, answer *sessions.ApprovalAnswer) *sessions.Approval {
		return &sessions.Approval{Status: status, Answer: answer, Options: []sessions.ApprovalOption{{ID: "n", Label: "Reject", Kind: sessions.RejectOnce}}}
	}
	for _, one := range []struct {
		ended *sessions.Approval
		want  string
	}{
		{nil, "the agent does not wait for it any more"},
		{a(sessions.ApprovalWithdrawn, nil), "the agent does not wait for it any more"},
		{a(sessions.ApprovalExpired, nil), "nobody had answered in time, and the agent was told no"},
		{a(sessions.ApprovalAnswered, &sessions.ApprovalAnswer{OptionID: "n"}), "it was already answered with Reject"},
		{a(sessions.ApprovalAnswered, &sessions.ApprovalAnswer{Text: "not so"}), "it was already answered with not so"},
		{a(sessions.ApprovalAnswered, &sessions.ApprovalAnswer{OptionID: "cursord:none"}), "it had been ended without an answer"},
		{a(sessions.ApprovalAnswered, &sessions.ApprovalAnswer{OptionID: "n", Rule: "make *"}), "it was already allowed by the rule make *"},
	} {
		require.Equal(t, one.want, Ended(one.ended))
	}
}
