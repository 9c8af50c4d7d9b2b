package agent

import (
	"strings"

	"cursord/agent/jsontext"
)

// A Decoder turns the lines of one run into events. It has no list of dialects: it looks for each field in every place where
// a known description of the stream has it. It does no I/O and accepts every input. Only one goroutine may use it. Its zero
// value is not usable; see NewDecoder.
type Decoder struct {
	dir   string // from init
	heard bool   // a JSON object has come

	said     said // without what was withdrawn
	streamed bool // some of the text since the mark came in pieces

	half        half // of the text
	thoughtHalf half // of the reasoning

	thought  []byte // reasoning since the last tool call
	thinking bool   // a block of reasoning is open

	open   map[string]openCall // by id
	closed map[string]uint64   // by id: the hash of the line that ended the latest call of that id
	madeUp int                 // ids made up so far

	steps *Usage // summed over step_finish events; a result's usage supersedes it

	top, payload jsontext.Object // scratch for the event at hand
	last         pattern
	cut          cutLine // lines of an event that is not complete yet

	behind     []behind // in the order in which they began
	final      bool     // the agent has finished speaking, if nothing is open; see stage
	afterFinal bool     // it had finished speaking, and since then only notifications have come
	timedOut   bool     // the agent has ended its background commands
	waiting    []string // the commands of the last Waiting event
}

// NewDecoder returns a Decoder for one run.
func NewDecoder() *Decoder {
	return &Decoder{said: said{keep: maxKept}, open: map[string]openCall{}, closed: map[string]uint64{}}
}

// Text returns all text of the agent so far, without repetitions; of more than 16 MiB the first part.
func (d *Decoder) Text() string { return d.said.text() }

// An event is one JSON object of the stream: fields are looked up in it and then in its payload.
type event struct {
	raw          jsontext.Value
	top, payload jsontext.Object
	typ, subtype string
}

func (e *event) get(keys ...string) jsontext.Value {
	if v := e.top.Get(keys...); v != nil {
		return v
	}
	return e.payload.Get(keys...)
}

func (e *event) string(keys ...string) jsontext.Value {
	if v := e.top.Quoted(keys...); v != nil {
		return v
	}
	return e.payload.Quoted(keys...)
}

func (e *event) text(keys ...string) string {
	if s := e.top.Text(keys...); s != "" {
		return s
	}
	return e.payload.Text(keys...)
}

func (d *Decoder) event(dst []Event, raw jsontext.Value) []Event {
	return d.tellStage(d.meaning(dst, raw))
}

func (d *Decoder) meaning(dst []Event, raw jsontext.Value) []Event {
	d.heard = true
	d.top = raw.Object(d.top[:0])
	d.payload = d.top.Get("payload").Object(d.payload[:0])
	e := &event{raw: raw, top: d.top, payload: d.payload}
	e.typ, e.subtype = eventType(word(e.get("type")), e.get("subtype").Text())
	d.noteFinal(e)

	switch e.typ {
	case "assistant":
		return d.assistant(dst, e)
	case "thinking":
		return d.think(dst, e)
	case "tool_call":
		switch e.subtype {
		case "started":
			return d.toolStart(dst, callOf(e))
		case "completed":
			return d.toolEnd(dst, callOf(e), raw)
		}
	case "tool_use":
		return d.toolStart(dst, callOf(e))
	case "tool_result":
		return d.toolEnd(dst, callOf(e), raw)
	case "system":
		switch {
		case e.subtype == "init", e.subtype == "" && e.get("session_id") != nil:
			return d.init(dst, e)
		case e.subtype == "error":
			return append(dst, Failure{Message: errorText(e, "message", "error", "detail", "result")})
		case e.subtype == "task_notification":
			return d.notified(dst, e)
		case e.subtype == "background_shell_timeout":
			return d.outOfTime(dst, e)
		}
	case "user":
		return dst
	case "result":
		return d.result(dst, e)
	case "error":
		return append(dst, Failure{Message: errorText(e, "message", "error", "detail", "result")})
	case "retry":
		if resume, ok := e.get("is_resume").Bool(); e.subtype == "starting" && ok && !resume && d.said.since() > 0 {
			d.said.withdraw()
			d.streamed, d.half = false, 0
			return append(dst, Withdraw{})
		}
	case "raw":
		if data := e.get("data"); data.IsString() {
			return d.unreadable(dst, data.Text())
		}
	case "text":
		if text := jsontext.Value(e.get("part")).Get("text"); text.IsString() {
			return d.piece(dst, text, e.get("timestamp_ms") != nil)
		}
		if text := e.get("text"); text.IsString() {
			return d.piece(dst, text, e.get("timestamp_ms") != nil)
		}
	case "step_finish":
		d.step(e)
		return dst
	}
	return append(dst, Unknown{Type: unknownType(e), Raw: raw.Copy()})
}

// eventType returns a type in its usual spelling, and the subtype that some builds write as a part of the type.
func eventType(typ, subtype string) (string, string) {
	if strings.Contains(typ, "-") {
		typ = strings.ReplaceAll(typ, "-", "_")
	}
	if i := strings.LastIndexAny(typ, "_:"); i > 0 {
		switch suffix := typ[i+1:]; suffix {
		case "started", "completed", "delta", "init", "success", "error":
			if typ = typ[:i]; subtype == "" {
				subtype = suffix
			}
		}
	}
	return typ, subtype
}

func unknownType(e *event) string {
	switch {
	case e.typ == "":
		return "untyped"
	case e.subtype == "":
		return e.typ
	}
	return e.typ + "/" + e.subtype
}

func (d *Decoder) init(dst []Event, e *event) []Event {
	in := Init{SessionID: e.text("session_id"), Dir: e.text("cwd", "workspace"), Model: e.text("model")}
	if in.Dir != "" {
		d.dir = in.Dir
	}
	return append(dst, in)
}

// errorText returns the first text among the keys; each may hold a string or an object with a message.
func errorText(e *event, keys ...string) string {
	for _, key := range keys {
		if s := messageOf(e.get(key)); s != "" {
			return s
		}
	}
	return "the agent reported an error without a reason"
}

// messageOf returns the message of an error that is a string or an object.
func messageOf(v jsontext.Value) string {
	if v.IsObject() {
		o := v.Object(nil)
		if s := o.Text("message", "error", "detail"); s != "" {
			return s
		}
		if inner := o.Get("error", "data"); inner.IsObject() {
			return inner.Object(nil).Text("message", "detail")
		}
	}
	return v.Text()
}
