package agent

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
)

// maxNesting bounds how deep calls of sub-agents are followed.
const maxNesting = 8

// An outcome is what a call's result says, before the tool is known.
type outcome struct {
	state  CallState
	member string          // the name of the result's member that decides, or ""
	body   jsontext.Object // that member, or the whole result where it has none
	text   string          // a result or member that is a plain string
	err    string
	raw    jsontext.Value
}

// readOutcome finds the outcome by the name of a member of the result. Other members, such as a sandbox policy, may stand
// beside it.
func readOutcome(result jsontext.Value) outcome {
	out := outcome{state: CallCompleted, raw: result}
	if !result.IsObject() {
		out.text = result.Text()
		if result.IsArray() {
			out.text = contentText(result)
		}
		if is, ok := result.Bool(); ok && !is && !result.IsString() {
			out.state = CallFailed
		}
		return out
	}
	members := result.Object(nil)
	for _, name := range []string{"success", "complete", "stillRunning", "failure", "rejected", "permissionDenied",
		"writePermissionDenied", "readPermissionDenied", "error", "fileNotFound", "notFile", "fileBusy", "timeout", "spawnError"} {
		v := members.Get(name)
		if v == nil || name == "error" && v.IsString() && v.Text() == "" {
			continue
		}
		if is, ok := v.Bool(); ok && !is && name != "success" {
			continue // a flag that says that it is none
		}
		out.member = name
		if v.IsObject() {
			out.body = v.Object(nil)
		} else {
			out.body, out.text = members, v.Text()
		}
		out.state, out.err = memberState(name, v, out.body)
		if name == "success" && out.state == CallFailed {
			out.err = messageOf(members.Get("error"))
		}
		return out
	}
	out.body = members
	if flat(members) {
		return out
	}
	for _, f := range members {
		switch string(f.Key) {
		case "isBackground", "sandboxPolicy", "terminalsFolder", "pid":
			continue
		}
		if is, ok := f.Value.Bool(); f.Value.IsNull() || ok && !is {
			continue
		}
		out.member, out.state = string(f.Key), CallFailed
		out.err = fmt.Sprintf("the agent gave an unknown outcome: %s", f.Key)
		return out
	}
	return out
}

// flat reports whether a result has an output or an exit code of its own, without a member around it.
func flat(o jsontext.Object) bool {
	return o.Get("exitCode", "exit_code", "stdout", "stderr", "interleavedOutput", "output", "content", "text") != nil
}

// memberState says how a call ended whose result has this member, and in what words.
func memberState(name string, v jsontext.Value, body jsontext.Object) (CallState, string) {
	switch name {
	case "success":
		if is, ok := v.Bool(); ok && !is {
			return CallFailed, ""
		}
		return CallCompleted, ""
	case "complete", "stillRunning":
		return CallCompleted, ""
	case "rejected", "permissionDenied", "writePermissionDenied", "readPermissionDenied":
		reason := v.Text()
		if v.IsObject() {
			reason = body.Text("reason", "error", "clientVisibleError", "message")
		}
		if reason == "" {
			reason = "refused by policy"
		}
		return CallRejected, reason
	case "fileNotFound":
		return CallFailed, strings.TrimSpace("file not found " + body.Text("path"))
	case "notFile":
		return CallFailed, strings.TrimSpace("not a file " + body.Text("path"))
	case "fileBusy":
		return CallFailed, strings.TrimSpace("the file is in use " + body.Text("path"))
	case "timeout":
		if ms, ok := body.Get("timeoutMs").Int(); ok {
			return CallFailed, fmt.Sprintf("timed out after %d ms", ms)
		}
		return CallFailed, "timed out"
	case "failure":
		if signal := body.Get("signal").Name(); signal != "" && signal != "0" && body.Text("abortReason", "error", "message") == "" {
			return CallFailed, "ended by signal " + signal
		}
		return CallFailed, body.Text("abortReason", "error", "message")
	}
	message := v.Text()
	if v.IsObject() {
		message = body.Text("error", "errorMessage", "message", "clientVisibleError")
		if more := body.Text("modelVisibleError"); more != "" && more != message {
			message = strings.TrimPrefix(message+": "+more, ": ")
		}
		if message == "" {
			message = messageOf(v)
		}
	}
	if message == "" {
		message = "the agent gave no reason"
	}
	if strings.HasPrefix(strings.ToLower(message), "hook blocked") {
		return CallRejected, message
	}
	return CallFailed, message
}

// stateOf is the outcome's state corrected by the tool's own output: an exit code, an error of an MCP server.
func (out outcome) stateOf(call *Call) CallState {
	if out.state != CallCompleted {
		return out.state
	}
	if call.ExitCode != nil && *call.ExitCode != 0 {
		return CallFailed
	}
	for _, key := range []string{"isError", "is_error", "aborted"} {
		if is, _ := out.body.Get(key).Bool(); is {
			return CallFailed
		}
	}
	return CallCompleted
}

// conclude fills in what a call's outcome says.
func (d *Decoder) conclude(call *Call, out outcome, depth int) {
	call.Result = json.RawMessage(wrap(out.raw, "output").Copy())
	if call.Name != "mcp" {
		d.addPaths(call, out.body)
	}
	code, ok := out.body.Get("exitCode", "exit_code").Int()
	if !ok {
		code, ok = out.raw.Get("exitCode", "exit_code").Int()
	}
	if ok {
		n := int(code)
		call.ExitCode = &n
	}
	if out.state == CallCompleted || out.state == CallFailed {
		call.Output = output(call, out)
	}
	state := out.stateOf(call)
	call.Error = out.err
	if state == CallFailed && call.Error == "" {
		switch {
		case call.ExitCode != nil && *call.ExitCode != 0:
			call.Error = fmt.Sprintf("exit code %d", *call.ExitCode)
		case call.Output != "":
			call.Error = plaintext.OneLine("", call.Output)
		default:
			call.Error = "the agent gave no reason"
		}
	}
	var within []FileChange // a sub-agent's
	if call.Name == "task" && depth < maxNesting {
		for inner := range nestedCalls(out.body.Get("conversationSteps"), depth+1) {
			within = append(within, inner.Changes...)
			call.Denials = append(call.Denials, inner.Denials...)
		}
	}
	if state == CallCompleted {
		call.Todos = todosOf(out.body, call.Todos)
		call.Changes = append(changes(call, out), within...)
		changed := make([]string, len(call.Changes))
		for i, c := range call.Changes {
			changed[i] = c.Path
		}
		d.list(call, changed)
	}
	d.retitle(call)
	if state == CallRejected {
		call.Denials = append(call.Denials, denialOf(call, out))
	}
}

// retitle makes the title again if the result named the file that the arguments did not.
func (d *Decoder) retitle(call *Call) {
	if len(call.Paths) > 0 {
		call.Title = d.title(call, jsontext.Value(call.Args).Object(nil))
	}
}

// changes lists the files that a call wrote or deleted.
func changes(call *Call, out outcome) []FileChange {
	args, body := jsontext.Value(call.Args).Object(nil), out.body
	if call.RawName == "applyAgentDiff" {
		return appliedChanges(body)
	}
	path := body.Text("path")
	if path == "" && len(call.Paths) > 0 {
		path = call.Paths[0]
	}
	if path == "" || WritesOf(call.Name) != WritesNamed {
		return nil
	}
	if Removes(call.Name) {
		return []FileChange{{Path: path, Deleted: true, Before: content(body.Get("prevContent", "beforeFullFileContent"))}}
	}
	after := body.Get("afterFullFileContent", "fileContentAfterWrite")
	if after == nil {
		after = args.Get(toolNamed(call.Name).text...)
	}
	return []FileChange{{Path: path, Before: content(body.Get("beforeFullFileContent")), After: content(after)}}
}

func appliedChanges(body jsontext.Object) []FileChange {
	var list []FileChange
	for v := range body.Get("appliedChanges").Elements() {
		c := v.Object(nil)
		if c.Text("path") == "" || c.Text("error") != "" {
			continue
		}
		change := FileChange{Path: c.Text("path"), Before: content(c.Get("beforeContent"))}
		if kind := strings.ToLower(c.Get("changeType").Name()); strings.Contains(kind, "delete") {
			change.Deleted = true
		} else {
			change.After = content(c.Get("afterContent"))
		}
		list = append(list, change)
	}
	return list
}

// nestedCalls yields the calls of a sub-agent, with their outcomes: they have no events of their own.
func nestedCalls(steps jsontext.Value, depth int) iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		for step := range steps.Elements() {
			t := step.Get("toolCall", "tool_call").Object(nil)
			if t == nil {
				continue
			}
			line := toolParts(t)
			if line.result == nil {
				continue
			}
			var d Decoder
			call := &Call{}
			d.learn(call, line)
			d.conclude(call, readOutcome(line.result), depth)
			if !yield(call) {
				return
			}
		}
	}
}

// content returns a string of the stream, also an empty one; nil if there is none.
func content(v jsontext.Value) *string {
	if !v.IsString() {
		return nil
	}
	s := v.Text()
	return &s
}
