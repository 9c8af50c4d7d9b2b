package approvals

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/allow"
	"cursord/sessions"
)

var turn = &sessions.Turn{ID: "t", SessionID: "s", Workspace: "/w"}

func request() *agent.ApprovalRequested {
	return &agent.ApprovalRequested{
		ID: "1", Kind: agent.ApprovalPermission, Title: "Run it", Command: "make test",
		Options: []agent.ApprovalOption{{ID: "y", Label: "Yes", Kind: agent.AllowOnce}, {ID: "n", Label: "No", Kind: agent.RejectOnce}},
	}
}

func pending(t *testing.T, change func(*agent.ApprovalRequested)) *sessions.Approval {
	t.Helper()
	req := request()
	if change != nil {
		change(req)
	}
	a, why := New(req, turn, req.Paths)
	require.Empty(t, why)
	return a
}

// TestNew: what a person is shown, and what is refused because a person could not see or answer it.
func TestNew(t *testing.T) {
	t.Parallel()
	a := pending(t, nil)
	require.Regexp(t, `^[a-z2-9]{6}-t$`, a.ID)
	require.NotEqual(t, a.ID, pending(t, nil).ID)
	require.Equal(t, sessions.ApprovalPending, a.Status)
	require.Equal(t, "make test", a.Command)
	require.Empty(t, a.Detail)
	require.Equal(t, "Letters that may look like others, or like nothing: t<U+043E>uch\nwhy", pending(t, func(r *agent.ApprovalRequested) { r.Command, r.Detail = "t\u043euch x", "why" }).Detail)
	require.Equal(t, "/w", a.Workspace)
	require.Equal(t, "Question", pending(t, func(r *agent.ApprovalRequested) {
		r.Kind, r.Title, r.Options, r.Text = agent.ApprovalQuestion, " ", nil, true
	}).Title)
	require.Equal(t, "y", pending(t, func(r *agent.ApprovalRequested) { r.Options[0].Label = " " }).Options[0].Label)
	for why, change := range map[string]func(*agent.ApprovalRequested){
		"does not know what it asks for": func(r *agent.ApprovalRequested) { r.Kind = "wish" },
		"its command has 65537 bytes":    func(r *agent.ApprovalRequested) { r.Command = strings.Repeat("x", MaxCommand+1) },
		"its text has 262150 bytes":      func(r *agent.ApprovalRequested) { r.Detail = strings.Repeat("x", MaxDetail+1) },
		"its text has 262146 bytes":      func(r *agent.ApprovalRequested) { r.Options[0].Label = strings.Repeat("x", MaxDetail) },
		"it names 257 files":             func(r *agent.ApprovalRequested) { r.Paths = make([]string, MaxPaths+1) },
		"it offers 65 answers":           func(r *agent.ApprovalRequested) { r.Options = make([]agent.ApprovalOption, MaxOptions+1) },
		"it offers no answer":            func(r *agent.ApprovalRequested) { r.Options = nil },
		"cannot be told apart":           func(r *agent.ApprovalRequested) { r.Options[1].ID = "y" },
		"its answers cannot":             func(r *agent.ApprovalRequested) { r.Options[1].ID = "" },
		"its answers cannot be":          func(r *agent.ApprovalRequested) { r.Options[1].ID = FolderOption },
		"does not know the answers":      func(r *agent.ApprovalRequested) { r.Options[1].Kind = "perhaps" },
	} {
		req := request()
		change(req)
		_, got := New(req, turn, req.Paths)
		require.Contains(t, got, why)
	}
}

// TestLabelsStayWhole: labels were cut, so that two opposite answers could look the same.
func TestLabelsStayWhole(t *testing.T) {
	t.Parallel()
	same := strings.Repeat("x", 2<<10)
	a := pending(t, func(r *agent.ApprovalRequested) { r.Options[0].Label, r.Options[1].Label = same+"no", same+"yes" })
	require.Equal(t, same+"no", a.Options[0].Label)
	require.Equal(t, same+"yes", a.Options[1].Label)
}

// TestTransitions goes through each state with each action: only a pending approval changes, and only an answer that allows
// reaches the agent as a yes.
func TestTransitions(t *testing.T) {
	t.Parallel()
	actions := map[string]func(*sessions.Approval) (*sessions.Approval, error){
		"yes":      func(a *sessions.Approval) (*sessions.Approval, error) { return Answer(a, "y", "") },
		"no":       func(a *sessions.Approval) (*sessions.Approval, error) { return Answer(a, "n", "") },
		"withdraw": func(a *sessions.Approval) (*sessions.Approval, error) { return Withdrawn(a), nil },
		"expire":   func(a *sessions.Approval) (*sessions.Approval, error) { return Expired(a), nil },
		"deny":     func(a *sessions.Approval) (*sessions.Approval, error) { return Denied(a), nil },
	}
	tells := map[string]agent.ApprovalAnswer{
		"yes": {OptionID: "y"}, "no": {OptionID: "n"}, "withdraw": {Cancelled: true}, "expire": {OptionID: "n", Unasked: "nobody answered in time (approval_timeout)"}, "deny": {OptionID: "n"},
	}
	statuses := map[string]sessions.ApprovalStatus{
		"yes": sessions.ApprovalAnswered, "no": sessions.ApprovalAnswered, "withdraw": sessions.ApprovalWithdrawn, "expire": sessions.ApprovalExpired, "deny": sessions.ApprovalAnswered,
	}
	a := pending(t, nil)
	require.True(t, ForAgent(a).Cancelled, "nobody has answered")
	for first, act := range actions {
		ended, err := act(a)
		require.NoError(t, err, first)
		require.Equal(t, sessions.ApprovalPending, a.Status, "objects do not change")
		require.Equal(t, statuses[first], ended.Status, first)
		require.Equal(t, tells[first], ForAgent(ended), first)
		require.Equal(t, first == "yes" || first == "no" || first == "deny", ended.Answer != nil, first)
		for second, act := range actions {
			again, err := act(ended)
			if second == "yes" || second == "no" {
				var e *api.Error
				require.True(t, errors.As(err, &e), "%s, then %s", first, second)
				require.Equal(t, api.KindConflict, e.Kind)
				continue
			}
			require.Same(t, ended, again, "%s, then %s", first, second)
		}
	}
	_, err := Answer(Denied(a), "y", "")
	require.ErrorContains(t, err, `it was answered with "No"`)
	says := pending(t, func(r *agent.ApprovalRequested) { r.Kind, r.Text = agent.ApprovalQuestion, true })
	for _, answer := range []struct{ option, text, want string }{{"", "dark", `with the text "dark"`}, {NoAnswer, "", "with no answer"}, {"y", "dark", `with "Yes"`}} {
		ended, err := Answer(says, answer.option, answer.text)
		require.NoError(t, err)
		_, err = Answer(ended, "y", "")
		require.ErrorContains(t, err, "it was answered "+answer.want)
	}
	_, err = Answer(Expired(a), "y", "")
	require.ErrorContains(t, err, `no longer pending: it has expired`)
}

// TestAnswer: which answers are taken.
func TestAnswer(t *testing.T) {
	t.Parallel()
	asks := pending(t, nil)
	says := pending(t, func(r *agent.ApprovalRequested) { r.Kind, r.Text = agent.ApprovalQuestion, true })
	free := pending(t, func(r *agent.ApprovalRequested) { r.Kind, r.Text, r.Options = agent.ApprovalQuestion, true, nil })
	for _, c := range []struct {
		a            *sessions.Approval
		option, text string
		field        string
	}{
		{asks, "y", "", ""}, {asks, "", "", "optionId"}, {asks, "Y", "", "optionId"}, {asks, "yes", "", "optionId"}, {asks, "y", "hm", "text"}, {asks, "", "hm", "text"},
		{asks, FolderOption, "", "optionId"},
		{says, "y", "", ""}, {says, "y", "hm", ""}, {says, "", "hm", ""}, {says, "", "", "optionId"}, {says, "z", "hm", "optionId"},
		{free, "", "hm", ""}, {free, "", "", "optionId"}, {free, "y", "hm", "optionId"},
	} {
		got, err := Answer(c.a, c.option, c.text)
		if c.field == "" {
			require.NoError(t, err, "%q %q", c.option, c.text)
			require.Equal(t, agent.ApprovalAnswer{OptionID: c.option, Text: c.text}, ForAgent(got))
			continue
		}
		var e *api.Error
		require.True(t, errors.As(err, &e), "%q %q", c.option, c.text)
		require.Equal(t, api.KindInvalid, e.Kind)
		require.Equal(t, c.field, e.Field)
	}
	none, err := Answer(says, NoAnswer, "")
	require.NoError(t, err)
	require.True(t, ForAgent(none).Cancelled)
	_, err = Answer(asks, NoAnswer, "")
	require.ErrorContains(t, err, "not one of the options", "of a permission")
	plan := pending(t, func(r *agent.ApprovalRequested) { r.Kind, r.Text = agent.ApprovalPlan, true })
	_, err = Answer(plan, "y", "hurry")
	require.ErrorContains(t, err, "no text with the yes")
	no, err := Answer(plan, "", "later")
	require.NoError(t, err)
	require.Equal(t, sessions.ApprovalAnswer{OptionID: "n", Text: "later"}, *no.Answer)
	_, err = Answer(says, "y", strings.Repeat("x", MaxText+1))
	require.ErrorContains(t, err, "65537 bytes")
}

// TestNoOptionForIt: nobody is asked for a permission that cannot be given; an agent that offers no way to say no is told that nobody answers.
func TestNoOptionForIt(t *testing.T) {
	t.Parallel()
	req := request()
	req.Options = req.Options[1:]
	no, why := New(req, turn, nil)
	require.Contains(t, why, "no way to allow it")
	require.Nil(t, Allowed(no, "make"))
	withFolder(no, true)
	require.Len(t, no.Options, 1)
	yes := pending(t, func(r *agent.ApprovalRequested) { r.Options = r.Options[:1] })
	require.Equal(t, sessions.ApprovalWithdrawn, Denied(yes).Status)
	require.True(t, ForAgent(Denied(yes)).Cancelled)
	require.True(t, ForAgent(Expired(yes)).Cancelled)
	require.Nil(t, Allowed(pending(t, func(r *agent.ApprovalRequested) { r.Kind = agent.ApprovalPlan }), "make"), "a rule allows commands only")
	require.Nil(t, Allowed(Denied(no), "make"))
	require.Equal(t, &sessions.ApprovalAnswer{OptionID: "y", Rule: "make"}, Allowed(yes, "make").Answer)
}

// TestFolderOption: the daemon's option stands behind those that allow, and allows once in the agent's words.
func TestFolderOption(t *testing.T) {
	t.Parallel()
	a := pending(t, func(r *agent.ApprovalRequested) {
		r.Options = slices.Insert(r.Options, 1, agent.ApprovalOption{ID: "a", Label: "Always", Kind: agent.AllowAlways})
	})
	withFolder(a, false)
	require.Equal(t, FolderOption, a.Options[2].ID)
	require.Equal(t, sessions.RejectOnce, a.Options[3].Kind)
	got, err := Answer(a, FolderOption, "")
	require.NoError(t, err)
	require.Equal(t, FolderOption, got.Answer.OptionID)
	require.Equal(t, agent.ApprovalAnswer{OptionID: "y"}, ForAgent(got))
}

// TestRules adds, lists, matches and removes rules, and reads them again.
func TestRules(t *testing.T) {
	t.Parallel()
	rule := func(command, folder string) config.Approve {
		parsed, err := allow.Parse(command)
		require.NoError(t, err)
		return config.Approve{Command: command, Rule: parsed, Folder: folder}
	}
	of := []config.Approve{rule("go vet", ""), rule("npm test", "/w"), rule("npm run", "/w/sub"), rule("cargo", "/other")}
	r := NewRules("/w", nil, nil)
	for command, want := range map[string]string{"go vet ./...": "go vet", "npm test -- -u": "npm test", "npm run x": "", "cargo build": "", "go vet; x": ""} {
		got, allowed := r.Allow(command, of)
		require.Equal(t, want, got, command)
		require.Equal(t, want != "", allowed, command)
	}
	offers := func(command string) string {
		a := pending(t, func(req *agent.ApprovalRequested) { req.Command = command })
		r.Offer(a)
		if o := a.Option(FolderOption); o != nil {
			return o.Label
		}
		return ""
	}
	require.Equal(t, exactLabel, offers("docker run x"))
	require.Equal(t, exactLabel, offers("make test"))
	require.Equal(t, exactLabel, offers("t\u043euch x"))
	require.Equal(t, folderLabel, offers("go test"))
	require.Empty(t, offers("if a; then b; fi"))
	require.Empty(t, offers("sudo -n"))
	require.Nil(t, r.Add("if a; then b; fi"))
	first, second := r.Add("cat x").(sessions.PutRule), r.Add("make").(sessions.PutRule)
	require.Nil(t, r.Add("make"), "there is one like it")
	require.Equal(t, uint64(2), second.N)
	got, _ := r.Allow("cat  x y", of)
	require.Equal(t, "cat x", got)
	_, allowed := r.Allow("make lint", of)
	require.False(t, allowed, "the rule is exact")

	var damaged []uint64
	r = NewRules("/w", []sessions.Numbered{{N: first.N, Data: first.Data}, {N: 2, Data: []byte("{")}, {N: 7, Data: []byte(`{"command":"if a; then b; fi"}`)}, {N: 8, Data: []byte(`{"command":"go build -o x"}`)}}, func(n uint64, err error) { damaged = append(damaged, n) })
	require.Equal(t, []uint64{2}, damaged)
	list := r.List(of)
	require.Len(t, list, 5)
	require.Equal(t, "cat x", list[0].Command)
	require.False(t, list[0].Exact)
	require.NotZero(t, list[0].CreatedAt)
	require.Equal(t, Rule{Command: "npm test", Folder: "/w"}, list[4])
	require.True(t, list[2].Exact, "a rule of a build that took more arguments here allows its command alone")
	_, allowed = r.Allow("go build -o x -toolexec ./evil", nil)
	require.False(t, allowed)
	require.Nil(t, r.Remove(2))
	require.Equal(t, sessions.DropRule{N: 1}, r.Remove(1))
	_, allowed = r.Allow("cat x", nil)
	require.False(t, allowed)
	require.Equal(t, uint64(9), r.Add("ls").(sessions.PutRule).N, "a number never comes again while a later one is there")
	for n := 0; len(r.stored) < MaxRules; n++ {
		require.NotNil(t, r.Add("ls "+strings.Repeat("x", n+1)))
	}
	require.Empty(t, offers("cp"))
	require.Nil(t, r.Add("cp"))
}

// TestAbout is one line, whatever is asked.
func TestAbout(t *testing.T) {
	t.Parallel()
	require.Equal(t, "rm -r x", About(&sessions.Approval{Title: "Run", Command: "rm  -r x\n"}))
	require.Equal(t, "echo # ⏎ rm -r x", About(&sessions.Approval{Title: "Run", Command: "echo #\n\n rm -r x"}))
	require.Equal(t, "Edit: a.go, b.go", About(&sessions.Approval{Title: "Edit", Paths: []string{"a.go", "b.go"}}))
	const permission, question, plan = sessions.ApprovalPermission, sessions.ApprovalQuestion, sessions.ApprovalPlan
	require.Equal(t, "Edit a.go: src/a.go", About(&sessions.Approval{Kind: permission, Title: "Edit a.go", Paths: []string{"src/a.go"}}))
	require.Equal(t, "Edit a.go", About(&sessions.Approval{Kind: permission, Title: "Edit a.go", Paths: []string{"a.go"}}))
	require.Equal(t, "Question: Which colour?", About(&sessions.Approval{Kind: question, Title: "Which colour?"}))
	require.Equal(t, "Plan: Move it", About(&sessions.Approval{Kind: plan, Title: "Move it"}))
	require.Equal(t, "Plan", About(&sessions.Approval{Kind: plan, Title: "Plan"}))
}
