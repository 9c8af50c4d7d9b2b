package acp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cursord/agent"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// A decoder turns the updates of one turn into events. It belongs to the goroutine of its process.
type decoder struct {
	dir   string
	apart bool      // the agent's files are not where this process sees them
	began time.Time // when the prompt was sent
	now   func() time.Time
	upTo  func() time.Time // a time by which all that the agent had written then was taken in; nil: now

	text     agent.Pieces
	thought  agent.Pieces
	said     strings.Builder // all text, at most maxSaid
	segment  string          // the beginning of the text since the last boundary
	message  string          // the id of the message that the text belongs to; "" if the agent gives none
	thinking bool
	failed   string // an error that the agent has said as text, unless something followed
	mode     string // the session's mode, if an update has changed it

	calls    map[string]*call // open ones
	order    []string         // their ids, oldest first
	ended    map[string]bool
	earlier  map[string]bool      // ids of calls of earlier turns, as far as they are known
	passed   map[string]*call     // ended ones whose end only the agent's next words have shown
	written  map[string]time.Time // the files of calls that were completed, and when they had been written last then
	quiet    time.Time            // since when no command has run, as file times have it
	todos    []agent.Todo
	plans    int
	nameless int               // calls without an id
	adopts   map[string]string // ids that the agent gives to calls which it has asked for without one, and those that these have here
	unknown  map[string]int
}

func newDecoder(dir string, now func() time.Time, apart bool) *decoder {
	return &decoder{dir: dir, apart: apart, began: now(), now: now, quiet: now().Add(-tick), calls: map[string]*call{}, ended: map[string]bool{}, passed: map[string]*call{},
		written: map[string]time.Time{}, adopts: map[string]string{}, unknown: map[string]int{}}
}

// lateUpdate is the name under which the log counts updates of calls whose turn has ended.
const lateUpdate = "acp/tool_call_update of an earlier turn"

// maxHad is how many ids of calls of ended turns are kept; if there are more, only those of the last turn are.
const maxHad = 10_000

// known returns the ids of the calls of this turn and of earlier ones.
func (d *decoder) known() map[string]bool {
	all := maps.Clone(d.ended)
	for id := range d.calls {
		all[id] = true
	}
	if len(all)+len(d.earlier) <= maxHad {
		maps.Copy(all, d.earlier)
	}
	return all
}

const (
	maxSaid    = 16 << 20 // bytes of text that an outcome has
	maxSegment = 4 << 10
)

// update decodes the update of a session/update notification. Every value is acceptable.
func (d *decoder) update(dst []agent.Event, u jsontext.Value) []agent.Event {
	switch kind := u.Get("sessionUpdate").Text(); kind {
	case "agent_message_chunk":
		return d.messageChunk(dst, u)
	case "agent_thought_chunk":
		text := d.thought.Join(u.Get("content").Get("text"))
		if text == "" {
			return dst
		}
		dst = d.goOn(dst)
		d.thinking = true
		return append(dst, agent.Thinking{Text: text})
	case "tool_call":
		return d.toolCall(dst, u, true)
	case "tool_call_update":
		return d.toolCall(dst, u, false)
	case "plan":
		return d.todoList(dst, u.Get("entries"), false)
	case "current_mode_update":
		d.mode = u.Object(nil).Text("currentModeId", "modeId")
		return dst
	case "user_message_chunk", "available_commands_update", "session_info_update", "config_option_update", "usage_update", "state_update":
		return dst // of the prompt, or of what only ACP's clients show
	default:
		return d.keep(dst, kind, u)
	}
}

// keep keeps what is not known.
func (d *decoder) keep(dst []agent.Event, kind string, u jsontext.Value) []agent.Event {
	if kind == "" {
		kind = "untyped"
	}
	kind = "acp/" + plaintext.Cut(kind, 100)
	d.unknown[kind]++
	return append(dst, agent.Unknown{Type: kind, Raw: u.Copy()})
}

func (d *decoder) messageChunk(dst []agent.Event, u jsontext.Value) []agent.Event {
	content := u.Get("content")
	var text string
	switch content.Get("type").Text() {
	case "text", "":
		if v := content.Get("text"); v.IsString() {
			text = d.text.Join(v)
		}
	case "resource_link":
		text = content.Get("uri").Text()
	default:
		text = "\n" + blockText(content) + "\n"
	}
	if text == "" {
		return dst
	}
	if id := u.Get("messageId").Text(); id != d.message {
		if d.message != "" && id != "" {
			dst = append(dst, agent.TextEnd{})
			d.segment = ""
		}
		d.message = strings.Clone(id)
	}
	dst = d.endThought(dst)
	if d.segment == "" && retryable(text) {
		d.failed = plaintext.Cut(strings.TrimSpace(text), maxSegment)
		return append(dst, agent.Failure{Message: d.failed})
	}
	dst = d.goOn(dst)
	d.failed = ""
	if len(d.segment) < maxSegment {
		d.segment += plaintext.Cut(text, maxSegment)
	}
	if d.said.Len()+len(text) <= maxSaid {
		d.said.WriteString(text)
	}
	return append(dst, agent.Text{Text: text})
}

// retryable reports whether a text is an error of the agent's connection, which it writes as if it were an answer.
func retryable(text string) bool {
	text = strings.TrimSpace(text)
	text = strings.TrimPrefix(text, "Error: ")
	return strings.HasPrefix(text, "RetriableError:") || strings.HasPrefix(text, "ConnectError: [")
}

// lastError returns the error with which the agent's text ends, instead of an answer; "" for none.
func (d *decoder) lastError() string {
	if d.failed == "" && retryable(d.segment) {
		return strings.TrimSpace(d.segment)
	}
	return d.failed
}

func (d *decoder) endThought(dst []agent.Event) []agent.Event {
	if !d.thinking {
		return dst
	}
	d.thinking, d.thought = false, agent.Pieces{}
	return append(dst, agent.ThinkingEnd{})
}

// boundary ends the text in front of a call.
func (d *decoder) boundary(dst []agent.Event) []agent.Event {
	d.segment, d.text, d.failed = "", agent.Pieces{}, ""
	return d.endThought(dst)
}

// todoList tells a list of todos as a call of its own, if it has changed. merge says that it has only the entries that changed.
func (d *decoder) todoList(dst []agent.Event, list jsontext.Value, merge bool) []agent.Event {
	if !list.IsArray() {
		return dst
	}
	todos := agent.TodosOf(list.Copy())
	if merge {
		todos = merged(d.todos, todos)
	}
	if slices.Equal(todos, d.todos) {
		return dst
	}
	d.todos = todos
	d.plans++
	args, err := json.Marshal(struct {
		Todos []todoArg `json:"todos"`
	}{todoArgs(todos)})
	if err != nil {
		return dst
	}
	report := agent.CallReport{ID: fmt.Sprintf("todos-%d", d.plans), RawName: "updateTodos", Args: args}
	dst = append(d.boundary(dst), agent.ToolStart{Call: report.Call(d.dir)})
	return append(dst, report.End(d.dir, json.RawMessage(`{"success":{}}`), false, ""))
}

type todoArg struct {
	ID      string `json:"id,omitempty"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

func todoArgs(todos []agent.Todo) []todoArg {
	args := make([]todoArg, len(todos))
	for i, t := range todos {
		args[i] = todoArg(t)
	}
	return args
}

// merged returns the old list with the new entries in place of those with the same id, or behind them.
func merged(old, now []agent.Todo) []agent.Todo {
	list := slices.Clone(old)
	for _, t := range now {
		if i := slices.IndexFunc(list, func(have agent.Todo) bool { return have.ID == t.ID && t.ID != "" }); i >= 0 {
			if t.Content == "" {
				t.Content = list[i].Content
			}
			list[i] = t
		} else {
			list = append(list, t)
		}
	}
	return list
}
