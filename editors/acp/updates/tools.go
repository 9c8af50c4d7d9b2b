package updates

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
	"cursord/editors/acp/protocol"
	"cursord/sessions"
)

// maxInput bounds the arguments of a call that a client gets, in bytes.
const maxInput = 16 << 10

// A tool is a call, as the client has it.
type tool struct {
	id        string // for the client
	status    string // "": the client does not know the call
	unseen    bool   // it had ended before the client came
	changes   bool   // the client has changes of files by the call
	refused   bool   // the client was told that it has failed, because it was not allowed; the agent has not ended it
	asked     bool   // the client was asked whether the call may begin, and knows no more of it
	title     string
	kind      string
	locations []protocol.Location
	sum       uint64 // of the content that the client has, or 0 for none; for todos, of the plan
}

func (t *tool) ended() bool { return t.status == protocol.Completed || t.status == protocol.Failed }

// kinds are ACP's names for the kinds of tools; those that are missing are "other".
var kinds = map[string]string{
	"read": "read", "lints": "read", "ls": "read", "write": "edit", "edit": "edit", "delete": "delete",
	"grep": "search", "glob": "search", "search": "search", "shell": "execute", "fetch": "fetch",
}

func kindOf(name string) string {
	if kind := kinds[name]; kind != "" {
		return kind
	}
	return "other"
}

// call tells the client what is new of a call. A call that has ended comes again with what it has changed in files.
func (s *Session) call(i *sessions.Item, known *tool, past bool) {
	t := i.Tool
	now := protocol.ToolCall{Update: "tool_call_update", ToolCallID: known.id, Status: statusOf(i)}
	if known.status == "" {
		now.Update = "tool_call"
	}
	first := known.status == "" || known.asked
	if first {
		known.asked, known.kind = false, kindOf(t.Name)
		now.Kind = known.kind
		if bytes.HasPrefix(t.Args, []byte("{")) && len(t.Args) <= maxInput {
			now.RawInput = visible(t.Args)
		}
	}
	content, line := s.changed(i, past), 0
	if len(i.Changes) > 0 && len(t.Paths) > 0 && i.Changes[0].Path == t.Paths[0] {
		line = changedLine(&i.Changes[0])
	}
	changed := first || now.Status != known.status
	if title := titleOf(t); first || title != known.title {
		now.Title, known.title, changed = title, title, true
	}
	if locations := s.locations(t, line); !slices.Equal(locations, known.locations) {
		now.Locations, known.locations, changed = locations, locations, true
	}
	if content = append(content, words(i)...); known.isNews(content) {
		now.Content, changed = append([]protocol.Content{}, content...), true
		if known.ended() { // all of the call: some editors forget one that has ended
			now.Title, now.Kind, now.Locations = known.title, known.kind, known.locations
		}
	}
	known.status, known.changes = now.Status, len(i.Changes) > 0
	known.refused = false
	if changed {
		s.emit(protocol.Encode(&now))
	}
}

// isNews reports whether the client lacks a content of the call, and notes that it gets it.
func (t *tool) isNews(content []protocol.Content) bool {
	sum := uint64(0)
	if len(content) > 0 {
		sum = sumOf(emptySum, string(protocol.Encode(content)))
	}
	news := sum != t.sum
	t.sum = sum
	return news
}

func titleOf(t *sessions.Tool) string { return Titled(cmp.Or(t.Title, t.RawName, t.Name), t.Command) }

// Titled returns a title as one line for people. One that is no more than the first line of a command has all lines, as far as there is room.
func Titled(title, command string) string {
	if bare := strings.TrimPrefix(title, "`"); strings.Contains(strings.TrimSpace(command), "\n") && bare == plaintext.OneLine("", command) {
		title = plaintext.OneLine("", plaintext.Joined(command))
	}
	return plaintext.Visible(title, "")
}

// visible returns JSON whose strings show the characters that a terminal would take for its own. The ends of lines and tabs stay.
func visible(raw json.RawMessage) json.RawMessage {
	out, from := json.RawMessage(nil), 0
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			i++
			continue
		}
		end := jsontext.StringEnd(raw, i)
		if end < 0 {
			return raw
		}
		text := jsontext.Value(raw[i:end]).Text()
		lines := strings.Split(text, "\r\n")
		for n, line := range lines {
			lines[n] = plaintext.Visible(line, "\n\t")
		}
		if shown := strings.Join(lines, "\r\n"); shown != text {
			out = jsontext.AppendQuoted(append(out, raw[from:i]...), shown)
			from = end
		}
		i = end
	}
	if from == 0 {
		return raw
	}
	return append(out, raw[from:]...)
}

func statusOf(i *sessions.Item) string {
	switch i.Status {
	case sessions.ItemRunning:
		if i.Waits || i.Kind == sessions.ItemPlan || i.Tool.Name == "question" { // these two are over once they are answered
			return protocol.Pending
		}
		return protocol.InProgress
	case sessions.ItemCompleted:
		return protocol.Completed
	}
	return protocol.Failed // the words say whether it was rejected or cancelled
}

// words returns what a call said: its plan, its output, and why it failed.
func words(i *sessions.Item) (all []protocol.Content) {
	t := i.Tool
	if i.Text != "" {
		all = append(all, protocol.TextContent(i.Text))
	}
	if t.Command != "" && t.Command != t.Title {
		all = append(all, protocol.TextContent(protocol.Fenced("sh", plaintext.Visible(t.Command, "\n\t"))))
	}
	if t.Output != "" && strings.TrimSpace(t.Output) != strings.TrimSpace(t.Error) { // the driver acp has both
		all = append(all, protocol.TextContent(protocol.Fenced("", plaintext.StripANSI(outputOf(t)))))
	}
	switch {
	case t.Error != "":
		all = append(all, protocol.TextContent(t.Error))
	case i.Status == sessions.ItemCancelled:
		all = append(all, protocol.TextContent("The turn ended before this call did."))
	case i.Status == sessions.ItemRejected:
		all = append(all, protocol.TextContent("This was not allowed."))
	}
	return all
}

// locations returns the places that a call is about; line is where it changes the first one, from 1, or 0.
func (s *Session) locations(t *sessions.Tool, line int) (all []protocol.Location) {
	for n, path := range t.Paths {
		at := protocol.Location{Path: s.Absolute(path)}
		if n == 0 {
			at.Line = line
		}
		all = append(all, at)
	}
	return all
}

// Absolute returns the path of a file as the editor spells it.
func (s *Session) Absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.root, filepath.FromSlash(path))
}

// plan tells the client the agent's own list of what is to do. ACP has no cancelled entries, so these are left out.
func (s *Session) plan(known *tool, todos []sessions.Todo) {
	if todos == nil {
		return
	}
	p := protocol.Plan{Update: "plan", Entries: []protocol.PlanEntry{}}
	for _, t := range todos {
		switch t.Status {
		case "cancelled":
			continue
		case protocol.InProgress, protocol.Completed:
		default:
			t.Status = protocol.Pending
		}
		p.Entries = append(p.Entries, protocol.PlanEntry{Content: t.Content, Priority: "medium", Status: t.Status})
	}
	encoded := protocol.Encode(p)
	if sum := sumOf(emptySum, string(encoded)); sum != known.sum {
		known.sum = sum
		s.emit(encoded)
	}
}

// outputOf returns the output of a call; where the middle of it is missing, it says so between two lines.
func outputOf(t *sessions.Tool) string {
	if !t.OutputTruncated {
		return t.Output
	}
	head := plaintext.Cut(t.Output, len(t.Output)/2) // as much of the beginning is kept as of the end
	tail := t.Output[len(head):]
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	return strings.TrimSuffix(head, "\n") + "\n… (the middle is not shown)\n" + tail
}
