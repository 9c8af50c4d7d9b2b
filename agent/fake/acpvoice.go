package fake

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A voice says what the agent does, in the words of a mode.
type voice interface {
	play(d *directive, path string) error
	finish(wake func() (ended bool, err error)) error
	endShells() int
	exit() // the script ends the process
}

// An acpVoice is the voice of ACP mode.
type acpVoice struct {
	agent  *acpAgent
	shells *stream // only for its commands in the background
	calls  int
	reason string // why the turn ends; "": it is over
	exits  bool
}

func (v *acpVoice) endShells() int { return v.shells.endShells() }
func (v *acpVoice) exit()          { v.exits = true }

// finish ends the turn. This mode waits for no command in the background.
func (v *acpVoice) finish(func() (bool, error)) error { return nil }

func (v *acpVoice) play(d *directive, path string) error {
	v.tellAdded()
	switch d.Fake {
	case "think":
		v.chunks("agent_thought_chunk", d.Text)
	case "say":
		v.chunks("agent_message_chunk", d.Text)
	case "edit":
		return v.edit(d, path)
	case "shell":
		return v.shell(d)
	case "background":
		return v.background(d)
	case "question":
		v.question(d)
	case "plan":
		v.plan(d)
	case "todos":
		v.agent.ask("cursor/update_todos", sprintJSON(`{"toolCallId":%s,"todos":%s,"merge":false}`, v.id(), d.Params))
	case "request":
		answer, ok := v.agent.ask(d.Method, string(d.Params))
		said := string(answer.Result)
		if answer.Error != nil {
			said = string(answer.Error)
		}
		if ok {
			v.chunks("agent_message_chunk", d.Method+": "+said+"\n")
		}
	case "stop":
		v.reason = d.Text
	case "later":
		go v.agent.later(path, d)
	}
	return nil
}

// tellAdded repeats what was added to the turn since the last word.
func (v *acpVoice) tellAdded() {
	v.agent.mu.Lock()
	added := v.agent.added
	v.agent.added = nil
	v.agent.mu.Unlock()
	for _, text := range added {
		v.chunks("agent_message_chunk", "You added: "+text+"\n")
	}
}

// later says something, or has a message of its own, once there is a file, also between turns. The file goes when that is said, or answered.
func (a *acpAgent) later(path string, d *directive) {
	defer os.Remove(path)
	for {
		if _, err := os.Lstat(path); err == nil {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	switch d.Method {
	case "":
		a.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%s}}`, d.Text)
	case "session/update":
		a.update("%s", d.Params)
	default:
		a.ask(d.Method, string(d.Params))
	}
}

func (v *acpVoice) chunks(kind, text string) {
	for _, piece := range pieces(text) {
		v.agent.update(`{"sessionUpdate":%s,"content":{"type":"text","text":%s}}`, kind, piece)
	}
}

// id returns the id of the next call. Ids begin anew with each turn, and have a newline in the middle.
func (v *acpVoice) id() string {
	v.calls++
	return fmt.Sprintf("call_fa4e\nfc_%d", v.calls)
}

// begin announces a call with an empty input, which comes a little later.
func (v *acpVoice) begin(title, kind, input, locations string) (id string) {
	id = v.id()
	v.agent.update(`{"sessionUpdate":"tool_call","toolCallId":%s,"title":%s,"kind":%s,"status":"pending","rawInput":{}}`, id, title, kind)
	v.agent.update(`{"sessionUpdate":"tool_call_update","toolCallId":%s,"rawInput":%s,"locations":%s}`, id, json.RawMessage(input), json.RawMessage(locations))
	return id
}

func (v *acpVoice) status(id, status, more string) {
	v.agent.update(`{"sessionUpdate":"tool_call_update","toolCallId":%s,"status":%s`+more+`}`, id, status)
}

// allowed asks for permission.
func (v *acpVoice) allowed(id, title, kind, input string) bool {
	answer, ok := v.agent.ask("session/request_permission", sprintJSON(
		`{"sessionId":%s,"toolCall":{"toolCallId":%s,"title":%s,"kind":%s,"status":"pending","rawInput":%s},"options":[`+
			`{"optionId":"allow-once","name":"Allow once","kind":"allow_once"},{"optionId":"allow-always","name":"Allow always","kind":"allow_always"},`+
			`{"optionId":"reject-once","name":"Reject","kind":"reject_once"}]}`,
		v.agent.run.session, id, title, kind, json.RawMessage(input)))
	var given struct {
		Outcome struct{ Outcome, OptionID string }
	}
	_ = json.Unmarshal(answer.Result, &given) // what is not understood is a no
	return ok && given.Outcome.Outcome == "selected" && strings.HasPrefix(given.Outcome.OptionID, "allow")
}

func (v *acpVoice) edit(d *directive, path string) error {
	input := sprintJSON(`{"path":%s}`, path)
	id := v.begin("Edit File", "edit", input, sprintJSON(`[{"path":%s}]`, path))
	if v.agent.run.mode != "agent" {
		v.status(id, "failed", sprintJSON(`,"content":[{"type":"content","content":{"type":"text","text":%s}}]`, "tool not available in "+v.agent.run.mode+" mode"))
		return nil
	}
	write := func() error {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(d.Text), 0o666)
	}
	if d.Defies == "early" {
		if err := write(); err != nil {
			return err
		}
	}
	if d.Ask && !v.agent.run.force && !v.allowed(id, "Edit File", "edit", input) && d.Defies != "openly" {
		var err error
		if d.Defies == "silently" {
			time.Sleep(50 * time.Millisecond) // by the file system's clock, too, it is after the answer
			err = write()
		}
		v.status(id, "completed", "")
		return err
	}
	v.status(id, "in_progress", "")
	if !d.Lost {
		if err := write(); err != nil {
			return err
		}
	}
	if !v.agent.run.build.has(traitOpenEdits) && !d.Lost {
		v.status(id, "completed", sprintJSON(`,"content":[{"type":"diff","path":%s,"oldText":null,"newText":%s}]`, path, d.Text))
	}
	return nil
}

func (v *acpVoice) shell(d *directive) error {
	input := sprintJSON(`{"command":%s}`, d.Command)
	id := v.begin("Terminal", "execute", input, "[]")
	run := v.agent.run
	switch {
	case run.mode != "agent" && !d.Ask:
		v.status(id, "failed", sprintJSON(`,"content":[{"type":"content","content":{"type":"text","text":%s}}]`, "Command blocked by permissions configuration"))
		return nil
	case !d.Ask, run.force, d.Holds && run.sandbox == "enabled" && run.build.has(traitSandbox):
	default:
		if d.Defies == "early" {
			v.shells.command(d.Command).Run()
		}
		if v.allowed(id, "`"+d.Command+"`", "execute", input) || d.Defies == "openly" {
			break
		}
		if d.Defies == "silently" {
			v.shells.command(d.Command).Run()
		}
		v.status(id, "completed", "")
		return nil
	}
	v.status(id, "in_progress", "")
	cmd := v.shells.command(d.Command)
	var heard heardOutput
	cmd.Stdout, cmd.Stderr = heard.to(&heard.stdout), heard.to(&heard.stderr)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("shell: %w", err)
	}
	over := make(chan struct{})
	go func() {
		select {
		case <-v.agent.player.stop:
			cmd.Process.Kill()
		case <-over:
		}
	}()
	cmd.Wait()
	close(over)
	code := cmd.ProcessState.ExitCode()
	v.status(id, "completed", sprintJSON(`,"rawOutput":{"exitCode":%s,"stdout":%s,"stderr":%s}`, rawNumber(int64(code)), heard.stdout.String(), heard.stderr.String()))
	return nil
}

// background begins a command that outlives its call.
func (v *acpVoice) background(d *directive) error {
	id := v.begin("Terminal", "execute", sprintJSON(`{"command":%s}`, d.Command), "[]")
	v.status(id, "in_progress", "")
	sh := &shell{command: d.Command, call: id, cmd: v.shells.command(d.Command), group: d.Group}
	if d.Group {
		sh.cmd.SysProcAttr = ownGroup()
	}
	if err := v.shells.shells.start(sh); err != nil {
		return fmt.Errorf("background: %w", err)
	}
	v.status(id, "completed", `,"rawOutput":{"exitCode":0,"stdout":"","stderr":""}`)
	return nil
}

// question asks a person to choose, and says what was chosen.
func (v *acpVoice) question(d *directive) {
	var options []string
	for i, label := range d.Options {
		options = append(options, sprintJSON(`{"id":%s,"label":%s}`, fmt.Sprintf("o%d", i+1), label))
	}
	answer, ok := v.agent.ask("cursor/ask_question", sprintJSON(`{"toolCallId":%s,"questions":[{"id":"q1","prompt":%s,"options":[`+
		strings.Join(options, ",")+`],"allowMultiple":false}]}`, v.id(), d.Text))
	if ok {
		v.chunks("agent_message_chunk", "Answer: "+d.chosen(answer.Result)+"\n")
	}
}

// chosen is the answer to a question in a person's words: the label of the option, the text, or the JSON if it is no answer.
func (d *directive) chosen(result []byte) string {
	var given struct {
		Outcome struct {
			Outcome string
			Answers []struct {
				QuestionID        string
				SelectedOptionIDs []string
			}
		}
	}
	if json.Unmarshal(result, &given) != nil || given.Outcome.Outcome != "answered" || len(given.Outcome.Answers) != 1 ||
		given.Outcome.Answers[0].QuestionID != "q1" || len(given.Outcome.Answers[0].SelectedOptionIDs) != 1 {
		return string(result)
	}
	id := given.Outcome.Answers[0].SelectedOptionIDs[0]
	for i, label := range d.Options {
		if id == fmt.Sprintf("o%d", i+1) {
			return label
		}
	}
	return id
}

// plan has a person decide about a plan, and says what was decided.
func (v *acpVoice) plan(d *directive) {
	answer, ok := v.agent.ask("cursor/create_plan", sprintJSON(`{"toolCallId":%s,"name":"A plan","plan":%s,"todos":[]}`, v.id(), d.Text))
	if ok {
		v.chunks("agent_message_chunk", "Plan: "+string(answer.Result)+"\n")
	}
}
