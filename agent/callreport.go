package agent

import (
	"encoding/json"

	"cursord/agent/failure"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// A CallReport is what another protocol of the agent's than print mode's has said of a tool call so far.
type CallReport struct {
	ID      string
	RawName string // the agent's name of the tool, or one that stands for its kind; see ToolNamed
	Title   string // the agent's, for calls of which nothing else is known; or ""
	Args    json.RawMessage
	Paths   []string // beside those that Args has
}

// ToolNamed returns the Call.Name for a name of a tool, in any spelling that an agent is known to use.
func ToolNamed(raw string) string { return toolName(raw) }

// Call returns the call without an outcome. dir is the agent's working directory.
func (r *CallReport) Call(dir string) Call { return *r.call(&Decoder{dir: dir}) }

func (r *CallReport) call(d *Decoder) *Call {
	call := &Call{ID: r.ID}
	line := callLine{id: r.ID, raw: r.RawName}
	if len(r.Args) > 0 {
		line.args = jsontext.Value(r.Args)
	}
	d.learn(call, line)
	d.list(call, r.Paths)
	if len(r.Paths) > 0 {
		d.describe(call)
	}
	switch args := jsontext.Value(call.Args).Object(nil); {
	case r.Title == "":
	case len(call.Paths) == 0 && call.Command == "" && len(args) == 0:
		call.Title = plaintext.OneLine("", r.Title)
	case r.RawName == "unknown", call.Title == r.bareTitle(call) && toolName(r.Title) == "other":
		call.Title = plaintext.OneLine("", words(r.Title))
	}
	return call
}

// bareTitle is the title of a call of which nothing but its kind is known.
func (r *CallReport) bareTitle(call *Call) string {
	return toolNamed(call.Name).title(&Call{Name: call.Name, RawName: r.RawName}, nil, "", "")
}

// End returns the call's end. result is what the tool has returned, and may be nil. failed says that the agent calls it a failure.
// refused holds the words in which the call was not allowed; "" if it was. The changes of the end are those that a result reports.
func (r *CallReport) End(dir string, result json.RawMessage, failed bool, refused string) ToolEnd {
	d := &Decoder{dir: dir}
	call := r.call(d)
	out := readOutcome(jsontext.Value(result))
	switch {
	case refused != "":
		out.state, out.err = CallRejected, refused
	case failed && out.state == CallCompleted:
		out.state = CallFailed
	}
	call.Background = goesOn(call, out)
	d.conclude(call, out, 0)
	return ToolEnd{Call: *call, State: out.stateOf(call)}
}

// TodosOf reads a list of todos, each with an id, a content and a status in any of the agent's spellings.
func TodosOf(list json.RawMessage) []Todo {
	return todosOf(jsontext.Object{{Key: []byte("todos"), Value: jsontext.Value(list)}}, nil)
}

// A Tail keeps the last lines of a text, and the known complaints among the lines before them.
type Tail struct{ tail }

// Add adds a line.
func (t *Tail) Add(line string) { t.add(line) }

// RefusedOption returns the option that an agent's words say it does not know; "" if they say nothing of the kind.
func RefusedOption(said string) string {
	if m := unknownOption().FindStringSubmatch(plaintext.StripANSI(said)); m != nil {
		return optionName(m[1])
	}
	return ""
}

// Lacking returns the failure of a turn that needs an option which the build does not know.
func (r *Request) Lacking(option, detail string) *failure.Error { return r.lacking(option, detail) }

// StartError returns the failure of a turn whose program could not be started.
func (r *Request) StartError(err error) *failure.Error { return startError(*r, err) }
