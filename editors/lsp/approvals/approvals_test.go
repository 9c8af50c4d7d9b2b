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
	require.Contains(t, Message(&sessions.Approval{ID: "k3-t", Title: "Why?", Text: true}), "cursord approve k3 --text")
	require.Empty(t, Actions(&sessions.Approval{}))
	require.Equal(t, "cursord approve k3, or cursord deny k3", Elsewhere(a))
	q := &sessions.Approval{ID: "k3-t", Kind: sessions.ApprovalQuestion, Text: true, Options: []sessions.ApprovalOption{{ID: "r", Label: "Red\x1b", Kind: sessions.AnswerOption}}}
	require.Equal(t, "cursord approve k3 1 (Red␛), cursord approve k3 --text …, cursord deny k3 (no answer)", Elsewhere(q))
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
	}, o.Choices())
	require.NotNil(t, o.Remove("k3-t"))
	require.Nil(t, o.Remove("k3-t"))
	for _, command := range []string{"make\nrm -rf x", strings.Repeat("x", 200)} {
		o = Open{}
		o.Add(&sessions.Approval{ID: "k3-t", Command: command, Options: options})
		list := o.Choices()
		require.Len(t, list, 2)
		require.Equal(t, "n", list[1].Option)
	}
}

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
	require.Equal(t, []Choice{{"See what the agent asks: Which?", "k3-t", ""}, {"Answer the agent: Wait: Which?", "k3-t", "c"}}, o.Choices())
}
