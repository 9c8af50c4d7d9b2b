package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// Bounds of what is kept of what goes on in the background.
const (
	maxBehind  = 100
	maxCommand = 1 << 10 // bytes
)

// A behind is a command or a sub-agent that goes on after its call has ended.
type behind struct {
	call   string   // the call's id
	names  []string // what else the agent may call it: the ids of a shell, a process, a task or a sub-agent
	what   string   // the command, or what the sub-agent is to do
	nested bool     // a sub-agent: the agent waits for it without limit, and so do we
	pid    int      // of the command's process; 0 where the agent does not tell
}

// A stage is how far the agent is, as far as what it says tells.
type stage = int32

const (
	atWork    stage = iota
	inCall          // a tool call is open, or a sub-agent is at work in the background
	leftAlone       // all is said, and only commands in the background keep the agent
)

// stage returns how far the agent is.
//
// All is said once the last assistant message has come: the one that the agent writes when a turn of its model is over. With
// partial output and without, it alone has neither a model call nor a time: a piece has a time, and the message in front of
// tool calls has both. That was all if no call is open: while one is, its result may make the model go on.
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

// tellStage adds a Waiting event where the stage, or what is waited for, has changed.
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

// noteFinal keeps whether all is said, at an event. It matters only with something in the background, and that begins with
// the end of a call, with which nothing is said to the end.
func (d *Decoder) noteFinal(e *event) {
	if len(d.behind) == 0 && !d.timedOut && !d.told {
		return
	}
	switch e.typ {
	case "assistant":
		d.final = e.subtype != "delta" && e.get("timestamp_ms") == nil && e.get("model_call_id").Name() == "" && !hasCalls(e)
		d.told = false
	case "thinking", "user", "retry", "text", "tool_use":
		d.final, d.told = false, false
	case "tool_call":
		if e.subtype == "started" {
			d.final, d.told = false, false
		}
	case "system":
		if e.subtype == "task_notification" {
			d.final, d.told = false, d.final || d.told
		}
	}
}

// hasCalls reports whether an assistant message has blocks of tools.
func hasCalls(e *event) bool {
	for block := range e.get("message").Get("content").Elements() {
		if kind := block.Get("type").Text(); kind == "tool_use" || kind == "tool_result" {
			return true
		}
	}
	return false
}

// goesOn reports whether what a call began goes on after its end. The agent says so beside the outcome, or for sub-agents
// inside of it; older builds say only in the arguments that it was meant to.
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

// leave notes what a call that has ended leaves running, or that what an earlier end of the call left has ended. It returns the
// calls of which that holds, if any.
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

// behindKeys are where the agent may name what runs in the background. No public source shows the members of a
// notification; these are those of the calls that make and await it.
var behindKeys = []string{
	"shellId", "shell_id", "taskId", "task_id", "agentId", "agent_id", "callId", "call_id", "toolCallId", "tool_call_id",
	"tool_use_id", "pid", "id",
}

const maxName = 200 // bytes of an id

// endedBehind drops what the members of an object name and say to have ended. What names nothing that is known, or does not
// say that it is over, ends nothing: a command may be named because it has printed something.
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

// notified decodes that something in the background has ended, or has printed what the agent waits for. The agent begins
// another turn of its model with it.
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

// messageParts returns the objects that a notification may say something in, the outer ones first.
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

// over reports whether a notification says that what it tells of has ended.
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

// notification says for people what the agent heard of a command: its own words, with how it ended where they do not say it.
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
		if code, ok := o.Get("exitCode", "exit_code").Int(); ok && !(exitCode.MatchString(text) && strings.Contains(text, strconv.FormatInt(int64(code), 10))) {
			how = append(how, fmt.Sprintf("exit code %d", code))
			break
		}
	}
	if len(how) > 0 {
		text = strings.TrimSpace(text + " (" + strings.Join(how, ", ") + ")")
	}
	text = plaintext.Cut(strings.TrimSpace(text), maxCommand)
	if text == "" {
		return "Something in the background has ended, or has something to say, and the agent goes on."
	}
	return "From the background: " + text
}

// exitCode matches a text that says how a command has exited, in words of its own.
var exitCode = regexp.MustCompile(`(?i)\bexit(ed)? ?(code|status|with)\b`)

// outOfTime decodes that the agent has ended what was in the background, because that took longer than it was to wait.
func (d *Decoder) outOfTime(dst []Event, e *event) []Event {
	d.timedOut = true
	list := d.commands()
	text, which := "The agent has ended what it had in the background", named(list)
	if n, ok := e.get("aborted_count", "abortedCount").Int(); ok && n >= 0 {
		text = fmt.Sprintf("The agent has ended %s", counted(int(min(n, 1<<30)), "background command"))
		switch {
		case n == 0:
			which = ""
		case int(n) < len(list): // it does not say which had ended before
			which = ", of these" + which
		}
	}
	if ms, ok := e.get("timeout_ms", "timeoutMs").Int(); ok && ms > 0 {
		text += fmt.Sprintf(" that still ran %v after its last word", time.Duration(min(ms, 1<<40))*time.Millisecond)
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

// hintWait says how such commands are kept.
const hintWait = ` The setting background = "wait" has turns wait for such commands.`

// named lists commands for people, behind what says of them; "" for none.
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

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
