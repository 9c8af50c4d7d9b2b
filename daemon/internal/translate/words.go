// Package translate translates paths between an agent that works in a copy of a workspace and people: for the agent, paths
// of the workspace become paths of the copy; for people, the reverse. Text comes in pieces. If the end of a piece may be the
// beginning of such a path, that end waits for the next piece, or for the next item.
package translate

import (
	"slices"
	"strings"

	"cursord/agent"
	"cursord/daemon/copytree"
)

// Words translates for one turn, whose goroutine owns it. A nil *Words is for an agent in the workspace itself and changes
// nothing.
type Words struct {
	copy   string
	in     *copytree.Translator // for the agent
	out    *copytree.Translator // for people
	stream *copytree.Stream     // of the open text; nil if none is open
	think  bool                 // the open text is reasoning
	calls  map[string]int       // number of open calls, by id
}

// New returns the translation between a copy and its workspace root; alias is another path of the root, or "".
func New(copy, root, alias string) *Words {
	var aliases []string
	if alias != "" && alias != root {
		aliases = append(aliases, alias)
	}
	return &Words{
		copy: copy, in: copytree.NewTranslator(root, copy, aliases...), out: copytree.NewTranslator(copy, root), calls: map[string]int{},
	}
}

// Prompt returns a prompt with paths of the copy.
func (ws *Words) Prompt(text string) string {
	if ws == nil {
		return text
	}
	return ws.in.String(text)
}

// Events returns events with paths of the workspace, in their order.
func (ws *Words) Events(events []agent.Event) []agent.Event {
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
			translated = append(ws.Flush(translated), ev)
		case agent.ToolStart:
			ws.calls[ev.Call.ID]++
			translated = append(ws.Flush(translated), agent.ToolStart{Call: ws.call(ev.Call), Said: ev.Said})
		case agent.ToolEnd:
			if ws.calls[ev.Call.ID] > 0 {
				ws.calls[ev.Call.ID]--
			} else {
				translated = ws.Flush(translated) // the next event belongs to another item
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
		case agent.ApprovalRequested:
			translated = append(translated, ws.approval(ev))
		case agent.Unreadable:
			translated = append(translated, agent.Unreadable{Line: ws.out.String(ev.Line)})
		default:
			translated = append(translated, ev)
		}
	}
	return translated
}

func (ws *Words) text(translated []agent.Event, text string, think bool) []agent.Event {
	if ws.stream != nil && ws.think != think {
		translated = ws.Flush(translated)
	}
	if ws.stream == nil {
		ws.stream, ws.think = ws.out.Stream(), think
	}
	return ws.say(translated, ws.stream.Write(text))
}

func (ws *Words) say(translated []agent.Event, text string) []agent.Event {
	switch {
	case text == "":
		return translated
	case ws.think:
		return append(translated, agent.Thinking{Text: text})
	}
	return append(translated, agent.Text{Text: text})
}

// Flush ends the open text and appends the part that was held back.
func (ws *Words) Flush(translated []agent.Event) []agent.Event {
	if ws == nil || ws.stream == nil {
		return translated
	}
	translated = ws.say(translated, ws.stream.Flush())
	ws.stream = nil
	return translated
}

func (ws *Words) call(c agent.Call) agent.Call {
	c.Title, c.Command, c.Plan = ws.title(c.Title), ws.out.String(c.Command), ws.out.String(c.Plan)
	c.Output, c.Error = ws.out.String(c.Output), ws.out.String(c.Error)
	c.Args, c.Result = ws.out.JSON(c.Args), ws.out.JSON(c.Result)
	paths := make([]string, len(c.Paths))
	for i, p := range c.Paths {
		paths[i] = ws.out.String(p)
	}
	c.Paths = paths
	c.Todos = slices.Clone(c.Todos)
	for i := range c.Todos {
		c.Todos[i].Content = ws.out.String(c.Todos[i].Content)
	}
	denials := make([]agent.Denial, len(c.Denials))
	for i, d := range c.Denials {
		d.Subject, d.Reason = ws.title(d.Subject), ws.out.String(d.Reason)
		denials[i] = d
	}
	c.Denials = denials
	return c
}

func (ws *Words) approval(r agent.ApprovalRequested) agent.ApprovalRequested {
	r.Title, r.Detail, r.Command, r.Dir = ws.title(r.Title), ws.out.String(r.Detail), ws.out.String(r.Command), ws.out.String(r.Dir)
	r.Paths = slices.Clone(r.Paths)
	for i, p := range r.Paths {
		r.Paths[i] = ws.out.String(p)
	}
	r.Options = slices.Clone(r.Options)
	for i := range r.Options {
		r.Options[i].Label = ws.out.String(r.Options[i].Label)
	}
	return r
}

// title translates a title, which may end in the middle of a path.
func (ws *Words) title(title string) string {
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

// Outcome translates the end of a run in place, but not the values behind its pointers.
func (ws *Words) Outcome(out *agent.Outcome) {
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
