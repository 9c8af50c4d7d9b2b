package lsp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cursord/agent/plaintext"
	"cursord/daemon/paths"
	"cursord/editors/lsp/drafts"
	"cursord/editors/lsp/localfile"
	"cursord/editors/lsp/protocol"
	"cursord/rpc"
)

// A draft is a file in which the user writes a prompt or a comment. It is sent when it is saved.
type draft struct {
	workspace *workspace
	stamp     time.Time // the file's time at the latest look; zero if a change of it does not send the prompt
	watched   bool
	sent      string // the latest text that was sent
	sending   *prompt
}

const promptFile = "PROMPT.md"

// composeCommand opens the file for a prompt. It keeps a draft that is there.
func (s *Server) composeCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	file, err := s.stateFile(w, promptFile)
	if err != nil {
		return nil, s.shown(err)
	}
	uri := paths.URI(file)
	d := s.compose[file]
	if d == nil {
		d = &draft{}
		s.compose[file] = d
	}
	d.workspace = w
	if s.client.Completes {
		s.filesKnown(w) // for completion, which comes soon
	}
	old := ""
	if open := s.docs[uri]; open != nil {
		old = open.text.Content
	} else if b, err := os.ReadFile(file); err == nil {
		old = string(b)
	}
	text := s.template(w, t)
	if own, _ := drafts.Cut(old); !isBlank(own) && old != d.sent && t.Prompt == "" {
		text = strings.TrimRight(own, "\n") + "\n" + text
	} else {
		if t.Prompt == "" {
			t.Prompt = w.unsent
		}
		text = t.Prompt + "\n" + text
	}
	open := s.docs[uri]
	if open == nil {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, s.shown(err)
		}
		d.stamp = localfile.Changed(file)
		s.watchPrompt(file, d)
		s.open(uri, &protocol.Range{})
		return nil, nil
	}
	if open.text.Content == text {
		s.open(uri, &protocol.Range{})
		return nil, nil
	}
	e := s.newEdits()
	e.add(uri, protocol.TextEdit{Range: open.text.Span(0, len(open.text.Content), s.client.Encoding), NewText: text})
	s.apply("prompt", e.workspaceEdit(), func(failure string) {
		if failure != "" {
			s.show(levelWarning, "cursord: the prompt cannot be put into its open file: %s", failure)
		}
		s.open(uri, &protocol.Range{})
	})
	return nil, nil
}

// promptPoll is the time between looks at the file of a prompt.
const promptPoll = 500 * time.Millisecond

// watchPrompt sends a prompt when its file changes, for editors that report no saves of files outside of projects.
func (s *Server) watchPrompt(file string, d *draft) {
	if d.watched {
		return
	}
	d.watched = true
	changed := time.Time{}
	var look func()
	look = func() {
		info, err := os.Stat(file)
		switch {
		case s.docs[paths.URI(file)] != nil || d.stamp.IsZero():
			d.watched = false // the editor reports saves
			return
		case err != nil || info.ModTime().Equal(d.stamp):
		case !info.ModTime().Equal(changed): // the file may not be complete yet
			changed = info.ModTime()
		default:
			d.stamp = changed
			if b, err := os.ReadFile(file); err == nil {
				s.sendPrompt(file, d, string(b))
			}
		}
		s.after(promptPoll, look)
	}
	s.after(promptPoll, look)
}

// template returns the part below a prompt: its settings, as lines that the user can change.
func (s *Server) template(w *workspace, t *target) string {
	var b strings.Builder
	b.WriteString("\n" + drafts.Prompt)
	if t.Session == "" {
		t.Session = s.nextSession(w)
	}
	if one := w.sessions[t.Session]; one != nil && !t.New {
		fmt.Fprintf(&b, "# session: %s (%s)\n", one.ID, plaintext.FirstLine(one.Title, 60))
	} else {
		b.WriteString("# session: new\n")
	}
	for i, c := range s.contextOf(w, t) {
		line := *c.Path
		if c.Range != nil {
			line += drafts.LinesOf(c.Range)
		}
		fmt.Fprintf(&b, "# file: %s\n", line)
		if i == 0 && c.Kind == "selection" {
			quoted := strings.Split(strings.TrimRight(*c.Text, "\n"), "\n")
			for _, q := range quoted[:min(len(quoted), maxQuoted)] {
				fmt.Fprintf(&b, "#     %s\n", strings.TrimRight(q, "\r"))
			}
		}
	}
	return b.String()
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// savedPrompt sends a prompt if the saved document is its file; else it returns false.
func (s *Server) savedPrompt(doc *document) bool {
	w := s.stateFolder(doc.uri)
	file, err := paths.Local(doc.uri)
	if name := filepath.Base(file); w == nil || err != nil || name != promptFile && name != commentFile {
		return false
	}
	d := s.compose[file]
	if d == nil {
		d = &draft{workspace: w}
		s.compose[file] = d
	}
	s.sendPrompt(file, d, doc.text.Content)
	return true
}

// maxQuoted bounds the lines of a selection or hunk that are quoted below a prompt.
const maxQuoted = 20

// sendPrompt sends the prompt, or the comment, in a file.
func (s *Server) sendPrompt(file string, d *draft, text string) {
	if filepath.Base(file) == commentFile {
		s.sendComment(d, text)
		return
	}
	own, lines := drafts.Cut(text)
	switch {
	case isBlank(own):
		s.show(levelInfo, "cursord: the prompt is empty: nothing sent")
		return
	case text == d.sent:
		s.show(levelInfo, "cursord: this prompt was sent already")
		return
	}
	t := &target{Prompt: strings.TrimSpace(own)}
	context := s.mentioned(d.workspace, own, s.promptContext(d.workspace, t, lines))
	p := s.newPrompt(d.workspace, t, context)
	d.sent, d.sending, d.stamp = text, p, time.Time{}
	_, _ = s.start(p) // start shows errors
}

// promptContext reads the settings of a prompt: it changes t and returns the files to send along.
func (s *Server) promptContext(w *workspace, t *target, lines []string) (list []rpc.Context) {
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "session":
			id, _, _ := strings.Cut(value, " ")
			if id == "new" {
				t.New, t.Session = true, ""
			} else if w.sessions[id] != nil {
				t.Session = id
			}
		case "mode":
			t.Mode = value
		case "model":
			t.Model = value
		case "image":
			if value != "" {
				list = append(list, rpc.Context{Kind: "image", Path: &value})
			}
		case "file":
			if value != "" {
				list = append(list, s.fileContext(w, value))
			}
		}
	}
	return list
}

// fileContext reads "a.go", "a.go:3" and "a.go:3-9".
func (s *Server) fileContext(w *workspace, name string) rpc.Context {
	name, from, to := drafts.Lines(name)
	c := rpc.Context{Kind: "file", Path: &name}
	if from == 0 {
		return c
	}
	c.Range = &protocol.Range{Start: protocol.Position{Line: from - 1}, End: protocol.Position{Line: from - 1}}
	if to == from {
		return c
	}
	c.Range.End.Line = to // the end of a range is exclusive
	if d := s.docAt(w, name); d != nil {
		t := d.text
		part := t.Content[t.LineStart(from-1):t.LineStart(to)]
		c.Kind, c.Text = "selection", &part
	}
	return c
}

// closedPrompt empties the file of a prompt that was sent when the editor closes it.
func (s *Server) closedPrompt(doc *document) {
	file, err := paths.Local(doc.uri)
	if err != nil {
		return
	}
	if d := s.compose[file]; d != nil && d.sending == nil && d.sent == doc.text.Content && d.sent != "" {
		s.blank(file, d)
	}
}

// blank empties the file of a prompt, unless the file has changed since the prompt was sent.
func (s *Server) blank(file string, d *draft) {
	if b, err := os.ReadFile(file); err == nil && localfile.SameText(d.sent, string(b)) {
		if err := os.WriteFile(file, nil, 0o600); err == nil {
			d.sent = ""
		}
	}
}

// sent handles that a prompt became a turn.
func (s *Server) sent(p *prompt) {
	for file, d := range s.compose {
		if d.sending == p {
			d.sending = nil
			if s.docs[paths.URI(file)] == nil {
				s.blank(file, d)
			}
		}
	}
}

// keep keeps a prompt that did not become a turn: saving its file sends it again.
func (s *Server) keep(p *prompt) {
	p.workspace.unsent = p.params.Prompt
	for file, d := range s.compose {
		if d.sending == p {
			d.sending, d.sent, d.stamp = nil, "", localfile.Changed(file)
			s.watchPrompt(file, d)
		}
	}
}
