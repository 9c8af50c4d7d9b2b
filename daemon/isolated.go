package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cursord/agent"
	"cursord/agent/failure"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/copytree"
	"cursord/daemon/internal/review"
	"cursord/sessions"
)

// This file is the part of a turn that works in a copy of the workspace.

// copyNotice is how long a copy may take before a notice says that it is made.
const copyNotice = 2 * time.Second

// A site is where a turn's agent works.
type site struct {
	tree  *review.Worktree
	words *words // nil in the work tree
	end   func() // ends the turn's use of it
}

// site returns where a turn is to work; a copy is made, or brought up to date, and say tells people what there is to
// tell of that. alias is another name of the workspace.
func (w *workspace) site(ctx context.Context, s *sessions.Session, turn, alias string, say func(string)) (site, error) {
	if s.Isolation != config.IsolationCopy {
		return site{tree: w.review.WorkTree(), end: func() {}}, nil
	}
	release, err := w.d.copies.use(ctx, s.ID)
	if err != nil {
		return site{}, err
	}
	late := time.AfterFunc(copyNotice, func() {
		say("The agent works in a copy of the workspace. It is being made or brought up to date, which takes a while here.")
	})
	t, fresh, err := w.review.BeginInCopy(ctx, s.ID, turn)
	late.Stop()
	if err != nil {
		release()
		return site{}, err
	}
	if text := aboutCopy(t.Notes()); fresh && text != "" {
		say(text)
	}
	return site{tree: t, words: newWords(t.Root(), w.root, alias), end: func() {
		w.review.EndInCopy(t)
		release()
	}}, nil
}

// aboutCopy says what a copy has not, or has otherwise; "" if nothing.
func aboutCopy(notes []copytree.Note) string {
	if len(notes) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("The copy of the workspace differs from it: ")
	for i, n := range notes {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(notes)-i)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %s", n.Path, n.Text)
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// withoutPlace is the outcome of a turn for whose agent there is no place.
func withoutPlace(ctx context.Context, err error) agent.Outcome {
	if ctx.Err() != nil {
		return agent.Outcome{Status: agent.Cancelled}
	}
	f := &failure.Error{
		Kind: string(api.KindStorage), Message: "the copy of the workspace could not be made: " + err.Error(),
		Hint: "make room or put the folder right, and try again; or work in a session without a copy (isolation \"none\")",
	}
	switch {
	case errors.Is(err, copytree.ErrTooLarge):
		f.Kind, f.Hint = string(api.KindTooLarge), `the settings copy_files and copy_size say how large it may be`
	case errors.Is(err, copytree.ErrTooWide):
		f.Kind, f.Hint = string(api.KindTooLarge), `open a folder further down, or work in a session without a copy (isolation "none")`
	}
	return agent.Outcome{Status: agent.Failed, Failure: f}
}

// Words translate between what an agent in a copy says and what people read: to the agent the workspace is its copy.
type words struct {
	copy   string
	in     *copytree.Translator // for the agent
	out    *copytree.Translator // for people
	stream *copytree.Stream     // of the open text; nil without one
	think  bool                 // the open text is reasoning
	calls  map[string]int       // open ones
}

func newWords(copy, root, alias string) *words {
	var aliases []string
	if alias != "" && alias != root {
		aliases = append(aliases, alias)
	}
	return &words{
		copy: copy, in: copytree.NewTranslator(root, copy, aliases...), out: copytree.NewTranslator(copy, root), calls: map[string]int{},
	}
}

// prompt returns a prompt in the agent's terms.
func (ws *words) prompt(text string) string {
	if ws == nil {
		return text
	}
	return ws.in.String(text)
}

// events returns what to tell of events, in the terms of the workspace. Text may be held back until more of it comes.
func (ws *words) events(events []agent.Event) []agent.Event {
	if ws == nil {
		return events
	}
	translated := make([]agent.Event, 0, len(events)+1)
	for _, ev := range events {
		switch ev := ev.(type) {
		case agent.Text:
			translated = ws.text(translated, ev.Text, false)
		case agent.Thinking:
			translated = ws.text(translated, ev.Text, true)
		case agent.TextEnd, agent.ThinkingEnd, agent.Withdraw:
			translated = append(ws.flush(translated), ev)
		case agent.ToolStart:
			ws.calls[ev.Call.ID]++
			translated = append(ws.flush(translated), agent.ToolStart{Call: ws.call(ev.Call), Said: ev.Said})
		case agent.ToolEnd:
			if ws.calls[ev.Call.ID] > 0 {
				ws.calls[ev.Call.ID]--
			} else {
				translated = ws.flush(translated) // it is an item of its own
			}
			translated = append(translated, agent.ToolEnd{Call: ws.call(ev.Call), State: ev.State, Said: ev.Said})
		case agent.Failure:
			translated = append(translated, agent.Failure{Message: ws.out.String(ev.Message)})
		case agent.Notice:
			translated = append(translated, agent.Notice{Text: ws.out.String(ev.Text)})
		case agent.Waiting:
			commands := slices.Clone(ev.Commands)
			for i, c := range commands {
				commands[i] = ws.out.String(c)
			}
			translated = append(translated, agent.Waiting{Commands: commands})
		case agent.Unreadable:
			translated = append(translated, agent.Unreadable{Line: ws.out.String(ev.Line)})
		default:
			translated = append(translated, ev)
		}
	}
	return translated
}

func (ws *words) text(translated []agent.Event, text string, think bool) []agent.Event {
	if ws.stream != nil && ws.think != think {
		translated = ws.flush(translated)
	}
	if ws.stream == nil {
		ws.stream, ws.think = ws.out.Stream(), think
	}
	return ws.say(translated, ws.stream.Write(text))
}

func (ws *words) say(translated []agent.Event, text string) []agent.Event {
	switch {
	case text == "":
		return translated
	case ws.think:
		return append(translated, agent.Thinking{Text: text})
	}
	return append(translated, agent.Text{Text: text})
}

// flush ends the open text.
func (ws *words) flush(translated []agent.Event) []agent.Event {
	if ws == nil || ws.stream == nil {
		return translated
	}
	translated = ws.say(translated, ws.stream.Flush())
	ws.stream = nil
	return translated
}

func (ws *words) call(c agent.Call) agent.Call {
	c.Title, c.Command, c.Plan = ws.title(c.Title), ws.out.String(c.Command), ws.out.String(c.Plan)
	c.Output, c.Error = ws.out.String(c.Output), ws.out.String(c.Error)
	c.Args, c.Result = ws.out.JSON(c.Args), ws.out.JSON(c.Result)
	paths := make([]string, len(c.Paths))
	for i, p := range c.Paths {
		paths[i] = ws.out.String(p)
	}
	c.Paths = paths
	todos := make([]agent.Todo, len(c.Todos))
	for i, t := range c.Todos {
		t.Content = ws.out.String(t.Content)
		todos[i] = t
	}
	c.Todos = todos
	denials := make([]agent.Denial, len(c.Denials))
	for i, d := range c.Denials {
		d.Subject, d.Reason = ws.title(d.Subject), ws.out.String(d.Reason)
		denials[i] = d
	}
	c.Denials = denials
	return c
}

// title translates a title, which may be cut in the middle of a path.
func (ws *words) title(title string) string {
	title = ws.out.String(title)
	text, cut := strings.CutSuffix(title, "…")
	if !cut {
		return title
	}
	for n := min(len(text), len(ws.copy)-1); n > 1; n-- {
		if begun, ok := strings.CutSuffix(text, ws.copy[:n]); ok {
			return begun + "…"
		}
	}
	return title
}

// outcome translates the end of a run.
func (ws *words) outcome(out *agent.Outcome) {
	if ws == nil {
		return
	}
	if out.Result != nil {
		text := ws.out.String(*out.Result)
		out.Result = &text
	}
	if f := out.Failure; f != nil {
		failed := *f
		failed.Message, failed.Hint, failed.Detail = ws.out.String(f.Message), ws.out.String(f.Hint), ws.out.String(f.Detail)
		out.Failure = &failed
	}
}
