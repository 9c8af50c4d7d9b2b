package agent

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"

	"cursord/agent/jsontext"
)

// callSeed is the seed of the hashes of ended calls.
var callSeed = maphash.MakeSeed()

// A callLine is what one line says of a tool call.
type callLine struct {
	id     string         // "" where the line names none
	raw    string         // the tool's own name, or ""
	args   jsontext.Value // an object, a string, or nil
	result jsontext.Value
	failed bool // the line itself says so
	said   time.Time
}

// callOf finds a call's parts in an event or in a block of a message.
func callOf(e *event) callLine {
	t := e.get("tool_call", "toolCall").Object(nil)
	if t == nil {
		t = e.top
		if e.payload != nil {
			t = append(append(jsontext.Object(nil), e.top...), e.payload...)
		}
	}
	c := toolParts(t)
	if id := e.get("call_id").Name(); id != "" {
		c.id = id
	} else if c.id == "" {
		c.id = e.get("tool_call_id", "tool_id").Name()
	}
	if c.raw == "" {
		c.raw = e.text("tool_name")
	}
	if c.args == nil {
		c.args = e.get("parameters", "input")
	}
	if c.result == nil {
		c.result = e.get("result", "output")
	}
	c.failed, _ = e.get("is_error").Bool()
	if ms, ok := e.get("timestamp_ms").Int(); ok && ms > 0 {
		c.said = time.UnixMilli(ms)
	}
	return c
}

// toolParts finds a call's parts in an object that names its tool by a key such as "readToolCall", possibly after other
// keys, or that has one of the forms without such a key.
func toolParts(t jsontext.Object) callLine {
	c := callLine{id: t.Get("toolCallId", "tool_call_id", "id", "tool_id").Name()}
	var tool jsontext.Object
	for _, f := range t {
		if name, ok := bytes.CutSuffix(f.Key, []byte("ToolCall")); ok && len(name) > 0 && f.Value.IsObject() {
			c.raw, tool = string(name), f.Value.Object(nil)
			break
		}
	}
	function := t.Get("function").Object(nil)
	if c.raw == "" {
		c.raw = t.Text("tool_name")
	}
	if c.raw == "" {
		c.raw = function.Text("name")
	}
	if c.raw == "" {
		c.raw = t.Text("name")
	}
	if c.args = tool.Get("args"); c.args == nil {
		c.args = t.Get("parameters", "args", "input")
	}
	if c.args == nil {
		c.args = function.Get("arguments")
	}
	if c.args == nil {
		c.args = tool.Without("args", "name", "result", "toolCallId")
	}
	if c.result = tool.Get("result"); c.result == nil {
		c.result = t.Get("result", "output", "content")
	}
	if c.id == "" {
		c.id = c.args.Get("toolCallId").Name()
	}
	return c
}

// toolStart opens a call. A second start of an open call only adds to it.
func (d *Decoder) toolStart(dst []Event, line callLine) []Event {
	if open, ok := d.open[line.id]; ok && line.id != "" {
		call := open.call(line.id)
		d.learn(call, line)
		d.keep(call)
		return dst
	}
	call := &Call{ID: line.id}
	if call.ID == "" {
		call.ID = d.makeID()
	}
	delete(d.closed, call.ID)
	d.learn(call, line)
	d.keep(call)
	dst = d.called(dst)
	return append(dst, ToolStart{*call, line.said})
}

// An openCall is what is kept of a call until its end, which repeats all of it. It is small because a turn may have very
// many.
type openCall struct {
	raw   string
	args  json.RawMessage
	paths []string
}

func (d *Decoder) keep(call *Call) { d.open[call.ID] = openCall{call.RawName, call.Args, call.Paths} }

func (o openCall) call(id string) *Call {
	return &Call{ID: id, RawName: o.raw, Args: o.args, Paths: o.paths}
}

// openTitles lists the open calls for people.
func (d *Decoder) openTitles() (list []string) {
	for id, open := range d.open {
		call := open.call(id)
		d.learn(call, callLine{})
		list = append(list, call.Title)
		if len(list) == maxBehind {
			break
		}
	}
	slices.Sort(list)
	return list
}

// toolEnd closes a call, also one that was never opened.
func (d *Decoder) toolEnd(dst []Event, line callLine, raw jsontext.Value) []Event {
	var call *Call
	if line.id == "" {
		call = d.onlyOpen(line.raw)
	} else if open, ok := d.open[line.id]; ok {
		call = open.call(line.id)
	}
	hash := maphash.Bytes(callSeed, raw)
	if call == nil {
		if last, ok := d.closed[line.id]; ok && last == hash {
			return dst
		}
		if call = (&Call{ID: line.id}); call.ID == "" {
			call.ID = d.makeID()
		}
		dst = d.called(dst)
	}
	d.learn(call, line)
	delete(d.open, call.ID)
	d.closed[call.ID] = hash

	out := readOutcome(line.result)
	if line.failed && out.state == CallCompleted {
		out.state = CallFailed
	}
	call.Background = goesOn(call, out)
	d.conclude(call, out, 0)
	ended := d.leave(call, out)
	if dst = append(dst, ToolEnd{Call: *call, State: out.stateOf(call), Said: line.said}); ended != nil {
		dst = append(dst, BackgroundEnded{ended})
	}
	return dst
}

// called sets the boundary that a call makes in the agent's text.
func (d *Decoder) called(dst []Event) []Event {
	dst = d.settle(dst)
	d.boundary()
	d.thought, d.thinking, d.thoughtHalf = d.thought[:0], false, 0
	return dst
}

// onlyOpen returns the open call of a tool if there is exactly one; raw "" stands for any tool.
func (d *Decoder) onlyOpen(raw string) *Call {
	var found *Call
	for id, open := range d.open {
		if raw == "" || open.raw == raw {
			if found != nil {
				return nil
			}
			found = open.call(id)
		}
	}
	return found
}

func (d *Decoder) makeID() string {
	for {
		d.madeUp++
		id := "call-" + strconv.Itoa(d.madeUp)
		if _, taken := d.open[id]; !taken {
			return id
		}
	}
}

// learn adds a line's name and arguments to a call.
func (d *Decoder) learn(call *Call, line callLine) {
	if strings.TrimSpace(line.raw) != "" {
		call.RawName = line.raw
	} else if call.RawName == "" {
		call.RawName = "unknown"
	}
	call.Name = toolName(call.RawName)
	call.Args = mergeArgs(call.Args, argsObject(line.args))
	d.describe(call)
}
