package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// Bounds of what is kept about background commands.
const (
	maxBehind  = 100
	maxCommand = 1 << 10 // bytes
)

// A behind is a command or a sub-agent that goes on after its call has ended.
type behind struct {
	call   string   // the call's id
	names  []string // other ids by which the agent may name it: of a shell, a process, a task or a sub-agent
	what   string   // the command, or what the sub-agent is to do
	nested bool     // it is a sub-agent: the agent waits for it without limit, and so does the run
	pid    int      // of the command's process; 0 where the agent does not say
}

// A stage is how far the agent has come, judged by its output.
type stage = int32

const (
	atWork    stage = iota
	inCall          // a tool call is open, or a sub-agent is at work in the background
	leftAlone       // the agent has finished speaking and waits only for background commands
)

// stage returns how far the agent has come.
//
// The agent has finished speaking once its last assistant message has come, which it writes when a turn of its model is
// over. That message is the only one that has neither a model call nor a time, with and without partial output: a piece has
// a time, and a message before tool calls has both. It is the last one only if no call is open, because the model may go on
// with the result of an open call.
func (d *Decoder) stage() stage {
	if len(d.open) > 0 || slices.ContainsFunc(d.behind, func(b behind) bool { return b.nested }) {
		return inCall
	}
	if d.final && (len(d.behind) > 0 || d.timedOut) {
		return leftAlone
	}
	return atWork
}

// commands lists the commands in the background whose end nobody has reported.
func (d *Decoder) commands() []string { return whats(d.shells()) }

// shells lists the same commands with what is known of them.
func (d *Decoder) shells() (list []behind) {
	for _, b := range d.behind {
		if !b.nested {
			list = append(list, b)
		}
	}
	return list
}

func whats(list []behind) (commands []string) {
	for _, b := range list {
		commands = append(commands, b.what)
	}
	return commands
}

// tellStage adds a Waiting event if the stage, or what the agent waits for, has changed.
func (d *Decoder) tellStage(dst []Event) []Event {
	if len(d.behind) == 0 && d.waiting == nil {
		return dst
	}
	var now []string
	if d.stage() == leftAlone {
		now = d.commands()
	}
	if slices.Equal(now, d.waiting) {
		return dst
	}
	d.waiting = now
	return append(dst, Waiting{Commands: now})
}

// noteFinal keeps whether the agent has finished speaking. This matters only while something runs in the background, and
// that begins with the end of a call.
func (d *Decoder) noteFinal(e *event) {
	if len(d.behind) == 0 && !d.timedOut && !d.afterFinal {
		return
	}
	switch e.typ {
	case "assistant":
		d.final = e.subtype != "delta" && e.get("timestamp_ms") == nil && e.get("model_call_id").Name() == "" && !hasCalls(e)
		d.afterFinal = false
	case "thinking", "user", "retry", "text", "tool_use":
		d.final, d.afterFinal = false, false
	case "tool_call":
		if e.subtype == "started" {
			d.final, d.afterFinal = false, false
		}
	case "system":
		if e.subtype == "task_notification" {
			d.final, d.afterFinal = false, d.final || d.afterFinal
		}
	}
}

// hasCalls reports whether an assistant message holds tool calls.
func hasCalls(e *event) bool {
	for block := range e.get("message").Get("content").Elements() {
		if kind := block.Get("type").Text(); kind == "tool_use" || kind == "tool_result" {
			return true
		}
	}
	return false
}

// goesOn reports whether what a call started still runs after the call's end. The agent says so beside the outcome, or
// inside of it for sub-agents. Older builds say it only in the arguments.
func goesOn(call *Call, out outcome) bool {
	if out.state == CallRejected || out.member == "spawnError" || out.member == "error" || call.Name != "shell" && call.Name != "task" {
		return false
	}
	for _, v := range []jsontext.Value{out.raw.Get("isBackground", "is_background"), out.body.Get("isBackground", "is_background")} {
		if is, ok := v.Bool(); ok {
			return is
		}
	}
	is, _ := jsontext.Value(call.Args).Get("isBackground", "is_background").Bool()
	return is && call.Name == "shell"
}

// leave notes what an ended call leaves running. Where an earlier end of the same call left something running and this one
// says that it has ended, leave returns those calls.
func (d *Decoder) leave(call *Call, out outcome) (ended []string) {
	known := slices.IndexFunc(d.behind, func(b behind) bool { return b.call == call.ID })
	if !call.Background {
		switch {
		case known >= 0:
			d.behind = slices.Delete(d.behind, known, known+1)
			ended = []string{call.ID}
		case call.RawName == "await" && out.member == "complete":
			ended = d.endedBehind(jsontext.Value(call.Args).Object(nil))
			d.final = false
		default:
			d.final = false
		}
		return ended
	}
	d.final = false
	b := behind{call: call.ID, what: plaintext.Cut(call.Command, maxCommand), nested: call.Name == "task"}
	if b.what == "" {
		b.what = call.Title
	}
	for _, o := range []jsontext.Object{out.body, out.raw.Object(nil)} {
		for _, key := range behindKeys {
			if name := o.Get(key).Name(); name != "" && len(name) < maxName && !slices.Contains(b.names, name) {
				b.names = append(b.names, name)
			}
		}
		if pid, ok := o.Get("pid").Int(); ok && pid > 0 && pid < 1<<31 && !b.nested {
			b.pid = int(pid)
		}
	}
	b.what = strings.Clone(b.what)
	if known >= 0 {
		d.behind[known] = b
	} else if len(d.behind) < maxBehind {
		d.behind = append(d.behind, b)
	}
	return nil
}

// behindKeys are the members under which a notification may name what runs in the background. No public source shows a
// notification's members; these are those of the calls that start such commands and wait for them.
var behindKeys = []string{
	"shellId", "shell_id", "taskId", "task_id", "agentId", "agent_id", "callId", "call_id", "toolCallId", "tool_call_id",
	"tool_use_id", "pid", "id",
}

const maxName = 200 // bytes of an id

// endedBehind drops the commands that an object names as ended. An object that names none of them, or does not say that one
// has ended, drops nothing: the agent also names a command when it has printed something.
func (d *Decoder) endedBehind(o jsontext.Object) (calls []string) {
	var named []string
	for _, key := range behindKeys {
		if name := o.Get(key).Name(); name != "" {
			named = append(named, name)
		}
	}
	i := slices.IndexFunc(d.behind, func(b behind) bool {
		return slices.ContainsFunc(named, func(name string) bool { return name == b.call || slices.Contains(b.names, name) })
	})
	if i < 0 {
		return nil
	}
	calls = []string{d.behind[i].call}
	d.behind = slices.Delete(d.behind, i, i+1)
	return calls
}

// notified decodes a notification: something in the background has ended, or has printed what the agent waits for. The agent
// then begins another turn of its model.
func (d *Decoder) notified(dst []Event, e *event) []Event {
	if d.thinking {
		dst = append(dst, ThinkingEnd{})
	}
	dst = d.called(dst)
	if said := messageParts(e); over(said) {
		for _, o := range said {
			if ended := d.endedBehind(o); ended != nil {
				dst = append(dst, BackgroundEnded{ended})
				break
			}
		}
	}
	return append(dst, TextEnd{}, Notice{Text: notification(e)})
}

// messageParts returns the objects of a notification that may hold its words, the outer ones first.
func messageParts(e *event) []jsontext.Object {
	list := []jsontext.Object{e.top, e.payload}
	for _, key := range []string{"task", "notification", "shell", "data", "message"} {
		if v := e.get(key); v.IsObject() {
			list = append(list, v.Object(nil))
		}
	}
	return list
}

func firstText(list []jsontext.Object, keys ...string) string {
	for _, o := range list {
		if s := o.Text(keys...); s != "" {
			return s
		}
	}
	return ""
}

// over reports whether a notification says that a command has ended.
func over(said []jsontext.Object) bool {
	switch strings.ToLower(firstText(said, "status", "state", "reason", "event")) {
	case "completed", "complete", "done", "finished", "success", "succeeded", "failed", "failure", "error", "exited", "exit", "ended",
		"stopped", "killed", "aborted", "cancelled", "canceled", "timeout", "timed_out":
		return true
	}
	for _, o := range said {
		if _, ok := o.Get("exitCode", "exit_code").Int(); ok {
			return true
		}
	}
	return false
}

// notification returns a notification as one sentence for people: its own words, and how the command ended if they do not
// say it.
func notification(e *event) string {
	said := messageParts(e)
	text := firstText(said, "summary", "message", "text", "content", "description", "title", "command", "output", "result", "error")
	if text == "" {
		for _, o := range said {
			if text = contentText(o.Get("content", "message")); text != "" {
				break
			}
		}
	}
	if text == "" {
		var parts []string
		for _, o := range said {
			for _, f := range o {
				switch string(f.Key) {
				case "type", "subtype", "session_id", "timestamp_ms", "uuid", "payload":
					continue
				}
				if v := f.Value.Name(); v != "" {
					parts = append(parts, string(f.Key)+" "+v)
				}
			}
		}
		text = strings.Join(parts, ", ")
	}
	var how []string
	if status := firstText(said, "status", "state"); status != "" && !strings.Contains(strings.ToLower(text), strings.ToLower(status)) {
		how = append(how, status)
	}
	for _, o := range said {
		if code, ok := o.Get("exitCode", "exit_code").Int(); ok && !(exitCode().MatchString(text) && strings.Contains(text, strconv.FormatInt(int64(code), 10))) {
			how = append(how, fmt.Sprintf("exit code %d", code))
			break
		}
	}
	if len(how) > 0 {
		text = strings.TrimSpace(text + " (" + strings.Join(how, ", ") + ")")
	}
	text = plaintext.Cut(strings.TrimSpace(text), maxCommand)
	if text == "" {
		return "A background command has ended or has new output, and the agent continues."
	}
	return "From the background: " + text
}

// exitCode matches a text that already says how a command exited.
var exitCode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\bexit(ed)? ?(code|status|with)\b`) })

// outOfTime decodes that the agent has ended its background commands because they took longer than its limit.
func (d *Decoder) outOfTime(dst []Event, e *event) []Event {
	d.timedOut = true
	list := d.commands()
	text, which := "The agent has ended what it had in the background", named(list)
	if n, ok := e.get("aborted_count", "abortedCount").Int(); ok && n >= 0 {
		text = fmt.Sprintf("The agent has ended %s", plaintext.Count(int(min(n, 1<<30)), "background command"))
		switch {
		case n == 0:
			which = ""
		case int(n) < len(list): // it does not say which of them had ended before
			which = ", of these" + which
		}
	}
	if ms, ok := e.get("timeout_ms", "timeoutMs").Int(); ok && ms > 0 {
		text += fmt.Sprintf(" that still ran %v after it had finished", time.Duration(min(ms, 1<<40))*time.Millisecond)
	}
	var ended []string
	d.behind = slices.DeleteFunc(d.behind, func(b behind) bool {
		if !b.nested {
			ended = append(ended, b.call)
		}
		return !b.nested
	})
	if ended != nil {
		dst = append(dst, BackgroundEnded{ended})
	}
	return append(dst, Notice{Text: text + which + "." + hintWait})
}

// hintWait says how to keep such commands.
const hintWait = ` The setting background = "wait" has turns wait for such commands.`

// named returns a list of commands for people, after the words that introduce it; "" for no commands.
func named(commands []string) string {
	const most = 10
	if len(commands) == 0 {
		return ""
	}
	shown := make([]string, 0, most)
	for _, c := range commands[:min(len(commands), most)] {
		shown = append(shown, plaintext.OneLine("", c))
	}
	list := ": " + strings.Join(shown, "; ")
	if more := len(commands) - len(shown); more > 0 {
		list += fmt.Sprintf("; and %d more", more)
	}
	return list
}
