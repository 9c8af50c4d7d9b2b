package approvals

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestPopupsFitSmallWindows: whatever is asked, its popup is small. One that does not say all offers nothing that allows or chooses.
func TestPopupsFitSmallWindows(t *testing.T) {
	t.Parallel()
	permission := []sessions.ApprovalOption{
		{ID: "y", Label: "Allow once", Kind: sessions.AllowOnce}, {ID: "a", Label: "Allow always", Kind: sessions.AllowAlways},
		{ID: folder, Label: "Always in this folder, also with more arguments", Kind: sessions.AllowAlways}, {ID: "n", Label: "Reject", Kind: sessions.RejectOnce},
	}
	options := func(n int, kind sessions.ApprovalOptionKind) (list []sessions.ApprovalOption) {
		for i := range n {
			list = append(list, sessions.ApprovalOption{ID: fmt.Sprint("o", i), Label: fmt.Sprint("option ", i), Kind: kind})
		}
		return list
	}
	lines := func(n int) string { return strings.Repeat("a line of it\n", n) }
	cut := []string{Later, Show, "Reject", Remind}
	for name, one := range map[string]struct {
		asked sessions.Approval
		whole bool
		cut   []string // the answers, if it is not whole
	}{
		"a command":                {asked: sessions.Approval{Title: "Run", Command: "make test", Options: permission}, whole: true},
		"a command of some lines":  {asked: sessions.Approval{Title: "Run", Command: "a\nb\nc", Options: permission}, whole: true},
		"a command of many lines":  {asked: sessions.Approval{Title: "Run", Command: lines(25), Options: permission}, cut: cut},
		"a line too many":          {asked: sessions.Approval{Title: "Run", Command: lines(6), Options: permission}, cut: cut},
		"a long line":              {asked: sessions.Approval{Title: "Run", Command: strings.Repeat("x", 600), Options: permission}, cut: cut},
		"a long line of wide ones": {asked: sessions.Approval{Title: "Run", Command: strings.Repeat("字", 300), Options: permission}, cut: cut},
		"a diff":                   {asked: sessions.Approval{Title: "Edit f", Detail: strings.Repeat("-\told\n+\tnew\n", 25), Options: permission}, cut: cut},
		"many paths":               {asked: sessions.Approval{Title: "Edit", Paths: strings.Fields(lines(20)), Options: permission}, cut: cut},
		"a plan":                   {asked: sessions.Approval{Kind: sessions.ApprovalPlan, Detail: lines(18), Options: permission, Text: true}, cut: cut},
		"a short plan":             {asked: sessions.Approval{Kind: sessions.ApprovalPlan, Detail: lines(3), Options: permission[2:], Text: true}, whole: true},
		"a question":               {asked: sessions.Approval{Kind: sessions.ApprovalQuestion, Title: "Which?", Options: options(3, sessions.AnswerOption)}, whole: true},
		"a text":                   {asked: sessions.Approval{Kind: sessions.ApprovalQuestion, Title: "Which?", Text: true}, whole: true},
		"many answers":             {asked: sessions.Approval{Kind: sessions.ApprovalQuestion, Title: "Which?", Options: options(20, sessions.AnswerOption)}, cut: []string{Later, Show, None, Remind}},
		"many refusals":            {asked: sessions.Approval{Title: "Run", Options: options(20, sessions.RejectOnce)}, cut: []string{Later, Show, "option 0", "option 1", Remind}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one.asked.ID = "k3-t"
			for window := 1; window < 20; window++ {
				if small := PopupOf(&one.asked, window); len(small.Actions) > 0 {
					require.LessOrEqual(t, rows(small.Message)+len(small.Actions)+2, window, small.Message)
					require.Equal(t, small.Message, Fit(small.Message, len(small.Actions), window))
				} else {
					require.Less(t, window, 7, "there is room")
				}
			}
			popup := PopupOf(&one.asked, 0)
			require.LessOrEqual(t, rows(popup.Message), 8, popup.Message)
			require.LessOrEqual(t, rows(popup.Message)+len(popup.Actions), 14, popup.Message)
			require.Equal(t, one.whole, popup.Whole, popup.Message)
			require.Equal(t, popup.Message, Fit(popup.Message, len(popup.Actions), 0))
			if one.whole {
				require.Equal(t, Popup{Message(&one.asked), Actions(&one.asked), true}, popup)
				return
			}
			var titles []string
			for _, action := range popup.Actions {
				titles = append(titles, action.Title)
			}
			require.Equal(t, one.cut, titles)
			require.True(t, strings.HasSuffix(popup.Message, "\n… \"Show the whole\" has the rest and all answers"), popup.Message)
			require.True(t, strings.HasPrefix(Document(&one.asked, "it"), Message(&one.asked)+"\n\nTo answer, choose it in this file.\nIn a terminal:\n\n    cursord "))
		})
	}
}

// TestCutInALine: of a line that is too long its beginning is there.
func TestCutInALine(t *testing.T) {
	t.Parallel()
	x := strings.Repeat("x", 119)
	for _, one := range []struct{ text, want string }{
		{"a\nb\nc", "a\nb"}, {x + "xx\nb", x[:118] + "…"}, {"a\n" + x, "a\n" + x[:58] + "…"}, {strings.Repeat("字", 100), strings.Repeat("字", 59) + "…"}, {"", ""},
	} {
		require.Equal(t, one.want, beginning(one.text, 2))
	}
}
