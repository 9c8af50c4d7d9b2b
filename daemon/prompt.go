package daemon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"cursord/daemon/api"
	"cursord/daemon/internal/wire"
	"cursord/daemon/pictures"
	"cursord/sessions"
)

// Limits of turn/start.
const (
	promptMax = 8 << 20 // bytes of prompt and context together
	turnIDMax = 64      // characters
	wordMax   = 256     // characters of what the agent gets as an argument
)

// kindTranscript is the kind of the context that turn/start's recap makes. It comes first, and not from clients.
const kindTranscript = "transcript"

// checkTurn validates what does not depend on the daemon's state.
func checkTurn(p *api.TurnParams) error {
	if strings.TrimSpace(p.Prompt) == "" {
		return api.Invalid("prompt", "must not be empty")
	}
	if err := api.NoNUL("prompt", p.Prompt); err != nil {
		return err
	}
	if len([]rune(p.TurnID)) > turnIDMax {
		return api.Invalid("turnId", "is longer than %d characters", turnIDMax)
	}
	if strings.ContainsFunc(p.TurnID, unicode.IsControl) {
		return api.Invalid("turnId", "must not contain control characters")
	}
	if p.Model != nil {
		if err := checkWord("model", *p.Model); err != nil {
			return err
		}
	}
	if p.Mode != nil && !validMode(*p.Mode) {
		return api.Invalid("mode", "must be agent, ask or plan")
	}
	if err := checkIsolation(p.Isolation); err != nil {
		return err
	}
	if err := checkPermits(&p.Permits, false); err != nil {
		return err
	}
	size, images := len(p.Prompt), 0
	for i, c := range p.Context {
		size += len(c.Text) + len(c.Path) + len(c.Title)
		for _, d := range c.Items {
			size += len(d.Message) + len(d.Source)
		}
		switch c.Kind {
		case "file", "selection", "diagnostics":
			if c.Path == "" {
				return api.Invalid(fmt.Sprintf("context[%d].path", i), "is missing")
			}
		case "text":
		case pictures.Kind:
			if images++; images > pictures.Most {
				return api.Invalid(fmt.Sprintf("context[%d]", i), "is one image too many; a turn takes %d", pictures.Most)
			}
		default:
			return api.Invalid(fmt.Sprintf("context[%d].kind", i), "must be file, selection, diagnostics, text or image")
		}
		if err := checkContext(&c, fmt.Sprintf("context[%d].", i)); err != nil {
			return err
		}
	}
	if size > promptMax {
		return &api.Error{
			Kind: api.KindTooLarge, Field: "prompt",
			Message: fmt.Sprintf("the prompt has %d bytes with its context; the limit is %d", size, promptMax),
			Hint:    "name files by path instead of putting their content in",
		}
	}
	return nil
}

// checkContext looks for what no prompt can hold; at is where c stands in the parameters.
func checkContext(c *api.Context, at string) error {
	for field, text := range map[string]string{"path": c.Path, "title": c.Title, "text": c.Text} {
		if err := api.NoNUL(at+field, text); err != nil {
			return err
		}
	}
	for i, d := range c.Items {
		for field, text := range map[string]string{"message": d.Message, "source": d.Source} {
			if err := api.NoNUL(fmt.Sprintf("%sitems[%d].%s", at, i, field), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkWord checks what the agent gets as an argument.
func checkWord(field, word string) error {
	if len([]rune(word)) > wordMax {
		return api.Invalid(field, "is longer than %d characters", wordMax)
	}
	return api.NoNUL(field, word)
}

// composePrompt puts what goes with a prompt in front of it, in this form:
//
//	<context>
//	<transcript>
//	[user]
//	an earlier prompt
//
//	[you]
//	its answer
//
//	- Edit a.go
//	</transcript>
//	<remarks>
//	- text
//	</remarks>
//	<file path="a.go" lines="3-7" />
//	<selection path="a.go" lines="3-7">
//	text
//	</selection>
//	<diagnostics path="a.go">
//	3:5 error: message (source)
//	</diagnostics>
//	<text title="notes">
//	text
//	</text>
//	<image path="/home/me/shot.png" />
//	</context>
//
//	the prompt
//
// Lines and columns count from 1, as people's do. Without context and remarks the prompt goes as it is.
func composePrompt(remarks []string, context []api.Context, prompt string) string {
	if len(remarks) == 0 && len(context) == 0 {
		return prompt
	}
	var b strings.Builder
	b.WriteString("<context>\n")
	if len(context) > 0 && context[0].Kind == kindTranscript {
		fmt.Fprintf(&b, "<transcript>\n%s</transcript>\n", closed(context[0].Text))
		context = context[1:]
	}
	if len(remarks) > 0 {
		b.WriteString("<remarks>\n")
		for _, r := range remarks {
			fmt.Fprintf(&b, "- %s\n", r)
		}
		b.WriteString("</remarks>\n")
	}
	for _, c := range context {
		switch c.Kind {
		case "file":
			fmt.Fprintf(&b, "<file path=%q%s />\n", c.Path, lines(c.Range))
		case "selection":
			fmt.Fprintf(&b, "<selection path=%q%s>\n%s</selection>\n", c.Path, lines(c.Range), closed(c.Text))
		case "diagnostics":
			fmt.Fprintf(&b, "<diagnostics path=%q>\n", c.Path)
			for _, d := range c.Items {
				fmt.Fprintf(&b, "%d:%d %s: %s", d.Range.Start.Line+1, d.Range.Start.Character+1, severity(d.Severity), d.Message)
				if d.Source != "" {
					fmt.Fprintf(&b, " (%s)", d.Source)
				}
				b.WriteByte('\n')
			}
			b.WriteString("</diagnostics>\n")
		case "text":
			title := ""
			if c.Title != "" {
				title = fmt.Sprintf(" title=%q", c.Title)
			}
			fmt.Fprintf(&b, "<text%s>\n%s</text>\n", title, closed(c.Text))
		case pictures.Kind:
			fmt.Fprintf(&b, "<image path=%q />\n", c.Path)
		}
	}
	b.WriteString("</context>\n\n")
	b.WriteString(prompt)
	return b.String()
}

// lines says which lines a range touches; one that ends before a line's first character does not touch that line.
func lines(r *api.Range) string {
	if r == nil {
		return ""
	}
	last := r.End.Line
	if r.End.Character == 0 && last > r.Start.Line {
		last--
	}
	if last == r.Start.Line {
		return fmt.Sprintf(" lines=\"%d\"", last+1)
	}
	return fmt.Sprintf(" lines=\"%d-%d\"", r.Start.Line+1, last+1)
}

func closed(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func severity(n int) string {
	switch n {
	case 2:
		return "warning"
	case 3:
		return "information"
	case 4:
		return "hint"
	}
	return "error"
}

// A note is a remark that waits for the next prompt of its session, or of any if SessionID is "".
type note struct {
	n         uint64
	SessionID string `json:"sessionId"`
	Text      string `json:"text"`
	Group     uint64 `json:"group,omitempty"` // the decision that it tells; 0: a person's own words
}

// addNote keeps a remark for the agent.
func (w *workspace) addNote(c *commit, session, text string) {
	w.keepNote(c, note{SessionID: session, Text: text})
}

func (w *workspace) keepNote(c *commit, add note) {
	for _, have := range w.notes {
		add.n = max(add.n, have.n)
	}
	add.n++
	w.notes = append(w.notes, add)
	c.ops = append(c.ops, sessions.PutNote{N: add.n, Data: wire.Encode(add)})
}

// takeNotes takes the remarks for a session's prompt.
func (w *workspace) takeNotes(c *commit, session string) []string {
	var taken, kept []note
	for _, n := range w.notes {
		if n.SessionID != "" && n.SessionID != session {
			kept = append(kept, n)
			continue
		}
		taken = append(taken, n)
		c.ops = append(c.ops, sessions.DropNote{N: n.n})
	}
	w.notes = kept
	return shortRejections(taken)
}

// dropNotes drops remarks that no prompt is to have any more.
func (w *workspace) dropNotes(c *commit, which func(note) bool) {
	w.notes = slices.DeleteFunc(w.notes, func(n note) bool {
		drop := which(n)
		if drop {
			c.ops = append(c.ops, sessions.DropNote{N: n.n})
		}
		return drop
	})
}

func (w *workspace) loadNotes() error {
	notes, err := w.d.store.Notes(w.root)
	if err != nil {
		return err
	}
	for _, rec := range notes {
		n := note{n: rec.N}
		if err := json.Unmarshal(rec.Data, &n); err != nil {
			w.d.damagedRecord(w.root, fmt.Sprint("note ", rec.N), err)
			w.d.store.Submit(w.root, []sessions.Op{sessions.DropNote{N: rec.N}}, nil)
			continue
		}
		w.notes = append(w.notes, n)
	}
	return nil
}

// rejectionsMax bounds, in bytes, what a prompt says of rejected changes.
const rejectionsMax = 4 << 10

// shortRejections returns a prompt's remarks, the rejections among them cut to rejectionsMax together.
func shortRejections(notes []note) (texts []string) {
	left, dropped := rejectionsMax-64, 0
	for _, n := range notes {
		if n.Group != 0 {
			if left -= len(n.Text) + len("- \n"); left < 0 {
				dropped++
				continue
			}
		}
		texts = append(texts, n.Text)
	}
	if dropped > 0 {
		texts = append(texts, fmt.Sprintf("the user rejected %d more of your changes", dropped))
	}
	return texts
}
