package approve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cursord/agent/plaintext"
	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
	"cursord/sessions"
)

// A Listing is "cursord approvals".
type Listing struct {
	All    bool // of all workspaces
	JSON   bool
	Rules  bool   // the rules in place of what is pending
	Remove uint64 // the rule to remove; 0: none
}

// Check returns the error of flags that do not go together.
func (l *Listing) Check(remove bool) error {
	switch {
	case remove && !l.Rules:
		return errors.New("--remove goes with --rules")
	case remove && l.Remove == 0:
		return errors.New("--remove is 0; rules count from 1")
	case l.Rules && l.All:
		return errors.New("--rules lists those of one workspace: it excludes --all")
	}
	return nil
}

// Do lists what is pending in a workspace, or its rules.
func (l *Listing) Do(ctx context.Context, client *rpc.Client, root string, out io.Writer) error {
	if l.Rules {
		return l.rules(ctx, client, root, out)
	}
	if l.All {
		root = ""
	}
	list, err := client.ApprovalList(ctx, rpc.ApprovalListParams{Workspace: root})
	switch {
	case err != nil:
		return err
	case l.JSON:
		return term.PrintJSON(out, list)
	case len(list.Approvals) == 0 && l.All:
		fmt.Fprintln(out, "no agent asks anything")
		return nil
	case len(list.Approvals) == 0:
		term.PrintFolded(out, fmt.Sprintf("no agent asks anything in %s\n", term.Clean(root)))
		return nil
	}
	short, prompts := shortest(list.Approvals), promptsOf(ctx, client)
	for i, a := range list.Approvals {
		if i > 0 {
			fmt.Fprintln(out)
		}
		about := fmt.Sprintf("%s  asked %s, turn %s%s", short[a.ID], term.Ago(a.CreatedAt.Time, time.Now()), term.Clean(a.TurnID), prompts[a.TurnID])
		if l.All {
			about += " in " + term.Clean(a.Workspace)
		}
		term.PrintFolded(out, about+"\n")
		all := All(a)
		if a.Kind == sessions.ApprovalQuestion {
			all = nil // the commands name them
		}
		for _, line := range slices.Concat(Lines(a, false, term.PaletteOf(out)), all, commands(a, short[a.ID])) {
			term.PrintFolded(out, "  "+line+"\n")
		}
	}
	return nil
}

// promptsOf returns the beginnings of the prompts of the turns that run, by the turns' ids: "" for those that cannot be read.
func promptsOf(ctx context.Context, client *rpc.Client) map[string]string {
	const most = 60 // characters
	prompts := map[string]string{}
	if active, err := client.TurnList(ctx, rpc.TurnListParams{Active: true, Limit: 1000}); err == nil {
		for _, t := range active.Turns {
			prompts[t.ID] = fmt.Sprintf(" %q", term.Clean(plaintext.FirstLine(t.Asked(), most)))
		}
	}
	return prompts
}

func (l *Listing) rules(ctx context.Context, client *rpc.Client, root string, out io.Writer) error {
	var list rpc.ApprovalRules
	var err error
	if l.Remove != 0 {
		list, err = client.ApprovalRemoveRule(ctx, rpc.ApprovalRuleParams{Workspace: root, N: l.Remove})
	} else {
		list, err = client.ApprovalRules(ctx, rpc.WorkspaceParams{Workspace: root})
	}
	switch {
	case err != nil:
		return err
	case l.JSON:
		return term.PrintJSON(out, list)
	case len(list.Rules) == 0:
		term.PrintFolded(out, fmt.Sprintf("no rules: agents in %s ask for every command that they may not run by their own settings\n", term.Clean(root)))
	}
	for _, r := range list.Rules {
		name, from := "-", "configuration"
		switch {
		case r.N != 0:
			name, from = fmt.Sprint(r.N), "this folder"
		case r.Folder != "":
			from += ", for " + term.Clean(r.Folder)
		}
		if r.Exact {
			from += ", exactly this command"
		}
		term.PrintFolded(out, fmt.Sprintf("%3s  %s  (%s)\n", name, term.Clean(r.Command), from))
	}
	return nil
}

// PrintPending prints the pending approvals for which in returns true: what waits, since when, for which turn, and how to answer it.
func PrintPending(ctx context.Context, client *rpc.Client, out io.Writer, in func(*sessions.Approval) bool) error {
	list, err := client.ApprovalList(ctx, rpc.ApprovalListParams{})
	if err != nil {
		return err
	}
	const most = 60 // characters of what waits
	short, prompts, begun, now := shortest(list.Approvals), promptsOf(ctx, client), false, time.Now()
	for _, a := range list.Approvals {
		if !in(a) {
			continue
		}
		if !begun {
			begun = true
			term.PrintFolded(out, "\nAgents wait for your answers (\"cursord approvals --all\" shows the questions in full):\n")
		}
		what := term.Clean(plaintext.FirstLine(plaintext.Joined(cmp.Or(a.Command, a.Title, string(a.Kind))), most))
		about := fmt.Sprintf("  %s\n    %s, asked %s by turn %s%s\n", term.PaletteOf(out).Bold(what), term.Clean(string(a.Kind)), term.Ago(a.CreatedAt.Time, now), term.Clean(a.TurnID), prompts[a.TurnID])
		if detail := plaintext.FirstLine(a.Detail, 2*most); detail != "" {
			about += "    " + term.Clean(detail) + "\n"
		}
		for _, line := range commands(a, short[a.ID]) {
			about += "    " + line + "\n"
		}
		term.PrintFolded(out, about)
	}
	return nil
}

// shortest maps ids to the part that people type: the tag, which is different for all but by accident.
func shortest(list []*sessions.Approval) map[string]string {
	times := map[string]int{}
	tag := func(a *sessions.Approval) string { t, _, _ := strings.Cut(a.ID, "-"); return t }
	for _, a := range list {
		times[tag(a)]++
	}
	short := map[string]string{}
	for _, a := range list {
		if short[a.ID] = term.Clean(a.ID); times[tag(a)] == 1 {
			short[a.ID] = term.Clean(tag(a))
		}
	}
	return short
}

// A Reply is "cursord approve" or "cursord deny".
type Reply struct {
	ID     string // or its beginning
	Option string // of "approve": the option's id, its number or a key; "": allow once
	Text   string
	Deny   bool
	JSON   bool
}

// Do answers the approval.
func (r *Reply) Do(ctx context.Context, client *rpc.Client, root string, out io.Writer) error {
	list, err := client.ApprovalList(ctx, rpc.ApprovalListParams{})
	if err != nil {
		return err
	}
	id, err := naming.Approval(r.ID, root, list.Approvals)
	if err != nil {
		return err
	}
	option := r.Option
	for _, a := range list.Approvals {
		if a.ID == id {
			if option, err = r.option(a); err != nil {
				return err
			}
		}
	}
	got, err := client.ApprovalAnswer(ctx, rpc.ApprovalAnswerParams{ApprovalID: id, OptionID: option, Text: r.Text})
	if err != nil {
		return err
	}
	if r.JSON {
		return term.PrintJSON(out, got)
	}
	fmt.Fprintln(out, Ended(got.Approval))
	return nil
}

// option returns the id of the option that is meant.
func (r *Reply) option(a *sessions.Approval) (string, error) {
	var o *sessions.ApprovalOption
	switch {
	case r.Text != "" && a.Kind == sessions.ApprovalQuestion && !a.Text:
		return "", misuse.Errorf("the agent takes only the answers that it offers, so leave --text out; the answers are:\n  %s", strings.Join(All(a), "\n  "))
	case r.Deny:
		id := No(a)
		if id == noAnswer {
			return r.noAnswer(a)
		}
		o = a.Option(id)
	case r.Option == "" && r.Text != "" && a.Kind == sessions.ApprovalQuestion:
		return "", nil
	case r.Option == "" && a.Kind != sessions.ApprovalQuestion:
		o = a.Chosen(sessions.AllowOnce)
	case r.Option != "":
		answer, ok := Read(a, r.Option)
		switch {
		case ok && answer.Option == noAnswer:
			return r.noAnswer(a)
		case ok && answer.Text == "":
			o = a.Option(answer.Option)
		default:
			return "", misuse.Errorf("%q is not one of the answers:\n  %s", term.Clean(r.Option), strings.Join(All(a), "\n  "))
		}
	}
	if o == nil {
		return "", misuse.Errorf("say which answer:\n  %s", strings.Join(All(a), "\n  "))
	}
	if r.Text != "" && a.Kind == sessions.ApprovalPlan && o.Kind.Allows() {
		return "", misuse.Errorf(`the agent gets no text with the yes to its plan: accept it without --text, and say the rest in your next prompt, or reject it with the text:
  cursord deny %s --text "…"`, tagOf(a))
	}
	return o.ID, nil
}

// noAnswer returns the answer by which a question stays unanswered.
func (r *Reply) noAnswer(a *sessions.Approval) (string, error) {
	if r.Text != "" {
		return "", misuse.Errorf("--text does not go with leaving the question unanswered; to answer with the text: cursord approve %s --text …", tagOf(a))
	}
	return noAnswer, nil
}
