package fake

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A scene has the members of directives that say what the agent does, not which lines it prints.
type scene struct {
	Command string `json:"command"`
	Ask     bool   `json:"ask"`     // the command needs somebody's approval
	Holds   bool   `json:"sandbox"` // a sandbox can hold it
	Group   bool   `json:"group"`   // a shell in the background makes a process group of its own
	Lost    bool   `json:"lost"`    // in ACP mode an edit that is never made
	Defies  string `json:"defies"`  // in ACP mode a call that is made although it is refused: "early" before the answer, "silently" after it, "openly" with words about it

	Options []string `json:"options"` // the answers to a question
}

// A stream says what the agent does in the words of a build.
type stream struct {
	run     *invocation
	out     *bufio.Writer
	began   time.Time
	request string
	all     strings.Builder // all text
	segment strings.Builder // text since the last call
	step    int             // calls of the model so far
	model   string          // the id of the latest
	calls   int             // of tools
	since   json.RawMessage // when the latest began
	shells  shells
}

func newStream(run *invocation, out *bufio.Writer) *stream {
	return &stream{run: run, out: out, began: run.now(), request: newUUID()}
}

// play carries out a directive that says what the agent does; path is that of the directive, absolute.
func (s *stream) play(d *directive, path string) error {
	switch d.Fake {
	case "begin":
		s.line(`{"type":"system","subtype":"init","apiKeySource":"login","cwd":%s,"session_id":%s,"model":"Fake","permissionMode":"default"}`,
			s.run.dir, s.run.session)
		s.line(`{"type":"user","message":{"role":"user","content":[{"type":"text","text":%s}]},"session_id":%s}`, s.run.prompt, s.run.session)
	case "think":
		if s.run.build.has(traitThinking) {
			for _, piece := range pieces(d.Text) {
				s.line(`{"type":"thinking","subtype":"delta","text":%s,"session_id":%s,"timestamp_ms":%s}`, piece, s.run.session, s.nowMS())
			}
			s.line(`{"type":"thinking","subtype":"completed","session_id":%s,"timestamp_ms":%s}`, s.run.session, s.nowMS())
		}
	case "say":
		s.segment.WriteString(d.Text)
		if s.run.partial {
			for _, piece := range pieces(d.Text) {
				s.line(assistantLine+`,"timestamp_ms":%s}`, piece, s.run.session, s.nowMS())
			}
		}
	case "edit":
		s.flush()
		return s.edit(d, path)
	case "shell":
		s.flush()
		return s.shell(d)
	case "background":
		s.flush()
		return s.background(d)
	case "question":
		s.flush()
		s.question(d)
	case "plan":
		s.flush()
		args := sprintJSON(`{"name":"A plan","plan":%s}`, d.Text)
		s.completed("createPlanToolCall", s.started("createPlanToolCall", args), args, `{"success":{"planUri":""}}`)
	case "todos":
		s.flush()
		args := sprintJSON(`{"todos":%s,"merge":false}`, d.Params)
		s.completed("updateTodosToolCall", s.started("updateTodosToolCall", args), args, `{"success":`+args+`}`)
	}
	return s.out.Flush()
}

const assistantLine = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%s}]},"session_id":%s`

// flush ends the text in front of a tool call: what was said in pieces is said again, and what was not is said now.
func (s *stream) flush() {
	s.step++
	s.model = newUUID()
	if s.run.build.has(traitNote) {
		s.model = fmt.Sprintf("%s-%d-fa4e", s.request, s.step)
	}
	text := s.segment.String()
	if text == "" {
		return
	}
	s.all.WriteString(text)
	s.segment.Reset()
	switch {
	case s.run.build.has(traitModelCalls):
		s.line(assistantLine+`,"model_call_id":%s,"timestamp_ms":%s}`, text, s.run.session, s.model, s.nowMS())
	default:
		s.line(assistantLine+`}`, text, s.run.session)
	}
}

// last says the text behind the last call.
func (s *stream) last() {
	if text := s.segment.String(); text != "" {
		s.all.WriteString(text)
		s.line(assistantLine+`}`, text, s.run.session)
	}
}

// result ends the run. What it says is all text, without anything between its parts; the format text has only the last.
func (s *stream) result() error {
	ms := rawNumber(s.run.now().Sub(s.began).Milliseconds())
	text := s.all.String()
	line := `{"type":"result","subtype":"success","duration_ms":%s,"duration_api_ms":%s,"is_error":false,"result":%s,"session_id":%s,"request_id":%s`
	if s.run.build.has(traitUsage) {
		line += `,"usage":{"inputTokens":1,"outputTokens":2,"cacheReadTokens":0,"cacheWriteTokens":0}`
	}
	line = sprintJSON(line+"}", ms, ms, text, s.run.session, s.request)
	if s.format() == "text" {
		line = s.segment.String()
	}
	s.segment.Reset()
	s.out.WriteString(line + "\n")
	return s.out.Flush()
}

func (s *stream) format() string {
	switch {
	case s.run.output != "":
		return s.run.output
	case s.run.build.chosen:
		return "text"
	}
	return "stream-json"
}

// edit writes a file and says so.
func (s *stream) edit(d *directive, path string) error {
	b := s.run.build
	args := sprintJSON(`{"path":%s}`, path)
	if b.has(traitNote) {
		args = sprintJSON(`{"path":%s,"streamContent":%s}`, path, d.Text)
	}
	id := s.started("editToolCall", args)
	if s.run.mode != "agent" {
		s.completed("editToolCall", id, "", sprintJSON(`{"rejected":{"path":%s,"reason":%s}}`, path, "tool not available in "+s.run.mode+" mode"))
		return s.out.Flush()
	}
	before, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	existed := err == nil
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(d.Text), 0o666); err != nil {
		return err
	}
	added, removed := lineCount(d.Text), max(1, lineCount(string(before))) // of a new file too an empty line is "removed"
	result := sprintJSON(`{"success":{"path":%s,"linesAdded":%s,"linesRemoved":%s,"diffString":%s`, path,
		rawNumber(int64(added)), rawNumber(int64(removed)), b.diffString(path, string(before), d.Text, existed))
	if len(before) > 0 {
		result += sprintJSON(`,"beforeFullFileContent":%s`, string(before))
	}
	if d.Text != "" {
		result += sprintJSON(`,"afterFullFileContent":%s`, d.Text)
	}
	note := `,"message":%s}}`
	if !b.has(traitNote) {
		note = `,"resultForModel":%s}}`
	}
	s.completed("editToolCall", id, args, result+sprintJSON(note, "Wrote contents to "+path))
	return s.out.Flush()
}

// diffString is the agent's own rendering of an edit: all old lines, then all new ones.
func (b build) diffString(path, before, after string, existed bool) string {
	minus, plus := "-", "+"
	if !b.has(traitNote) {
		minus, plus = "- ", "+ "
	}
	var lines []string
	if b.has(traitUnified) {
		from := "a/" + path
		if !existed {
			from = "/dev/null"
		}
		lines = append(lines, "--- "+from, "+++ b/"+path, fmt.Sprintf("@@ -1,%d +1,%d @@", max(1, lineCount(before)), lineCount(after)))
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(before, "\n"), "\n") {
		lines = append(lines, minus+line)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(after, "\n"), "\n") {
		lines = append(lines, plus+line)
	}
	return strings.Join(lines, "\n")
}

func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// shell runs a command, unless it needs an approval that nobody gives.
func (s *stream) shell(d *directive) error {
	b := s.run.build
	args := sprintJSON(`{"command":%s,"workingDirectory":"","timeout":30000}`, d.Command)
	if !b.has(traitNote) {
		args = sprintJSON(`{"command":%s,"workingDirectory":"","timeout":0}`, d.Command)
	}
	id := s.started("shellToolCall", args)
	switch {
	case s.run.mode != "agent":
		s.completed("shellToolCall", id, "", sprintJSON(`{"permissionDenied":{"command":%s,"workingDirectory":"","error":%s,"isReadonly":true}}`,
			d.Command, "Command blocked by permissions configuration"))
		return s.out.Flush()
	case !d.Ask, s.run.force, d.Holds && s.run.sandbox == "enabled" && b.has(traitSandbox):
	case s.run.review:
		return s.out.Flush()
	default:
		s.completed("shellToolCall", id, "", sprintJSON(`{"rejected":{"command":%s,"workingDirectory":%s,"reason":"","isReadonly":false}}`, d.Command, s.run.dir))
		return s.out.Flush()
	}
	if err := s.out.Flush(); err != nil {
		return err
	}
	began := s.run.now()
	cmd := s.command(d.Command)
	var heard heardOutput
	cmd.Stdout, cmd.Stderr = heard.to(&heard.stdout), heard.to(&heard.stderr)
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return fmt.Errorf("shell: %w", err)
	}
	code := cmd.ProcessState.ExitCode()
	outcome := "success"
	if code != 0 {
		outcome = "failure"
	}
	result := sprintJSON(`{%s:{"command":%s,"workingDirectory":%s,"exitCode":%s,"signal":"","stdout":%s,"stderr":%s,"executionTime":%s`,
		outcome, d.Command, s.run.dir, rawNumber(int64(code)), heard.stdout.String(), heard.stderr.String(),
		rawNumber(s.run.now().Sub(began).Milliseconds()))
	if b.has(traitNote) {
		result += sprintJSON(`,"interleavedOutput":%s`, heard.both.String())
	}
	s.completed("shellToolCall", id, args, result+"}"+s.besideShell(false)+"}")
	return s.out.Flush()
}

// besideShell is what stands beside the outcome of a shell call.
func (s *stream) besideShell(background bool) string {
	if !s.run.build.has(traitBackground) {
		return ""
	}
	return fmt.Sprintf(`,"isBackground":%v`, background)
}

func (s *stream) command(command string) *exec.Cmd {
	_ = awaitTick() // without a folder for temporary files, the change may count as unexplained
	cmd := exec.Command("sh", "-c", command)
	if runtime.GOOS == "windows" {
		cmd = exec.Command("cmd", "/c", command)
	}
	cmd.Dir = s.run.dir
	return cmd
}

// A heardOutput keeps a command's stdout and stderr, each and both together.
type heardOutput struct {
	mu                   sync.Mutex
	stdout, stderr, both bytes.Buffer
}

// to returns a writer to one of them.
func (h *heardOutput) to(one *bytes.Buffer) io.Writer { return heardWriter{h, one} }

type heardWriter struct {
	h   *heardOutput
	one *bytes.Buffer
}

// Write is io.Writer; it never fails.
func (w heardWriter) Write(b []byte) (int, error) {
	w.h.mu.Lock()
	defer w.h.mu.Unlock()
	w.h.both.Write(b)
	return w.one.Write(b)
}

// started announces a call and returns its id.
func (s *stream) started(key, args string) string {
	s.calls++
	id := fmt.Sprintf("tool_%s_%d", s.request[:8], s.calls)
	s.since = s.nowMS()
	s.call("started", id, fmt.Sprintf(`{%q:{"args":%s}`, key, args))
	return id
}

// completed gives a call's result. Calls that were refused come without args.
func (s *stream) completed(key, id, args, result string) {
	inner := `{"result":` + result + `}`
	if args != "" {
		inner = `{"args":` + args + `,"result":` + result + `}`
	}
	s.call("completed", id, fmt.Sprintf(`{%q:%s`, key, inner))
}

func (s *stream) call(subtype, id, call string) {
	b := s.run.build
	if b.has(traitSiblings) {
		call += sprintJSON(`,"hookAdditionalContexts":[],"toolCallId":%s,"startedAtMs":%s`, id, string(s.since))
		if subtype == "completed" {
			call += sprintJSON(`,"completedAtMs":%s`, string(s.nowMS()))
		}
	}
	line := sprintJSON(`{"type":"tool_call","subtype":%s,"call_id":%s,"tool_call":%s`, subtype, id, json.RawMessage(call+"}"))
	if b.has(traitModelCalls) {
		line += sprintJSON(`,"model_call_id":%s`, s.model)
	}
	if b.has(traitTimes) {
		line += sprintJSON(`,"timestamp_ms":%s`, s.nowMS())
	}
	s.print(line + sprintJSON(`,"session_id":%s}`, s.run.session))
}

// line prints a line of the stream, by a format for sprintJSON.
func (s *stream) line(format string, values ...any) { s.print(sprintJSON(format, values...)) }

// print prints a line of the stream, if what is printed has one.
func (s *stream) print(line string) {
	if s.format() == "stream-json" {
		s.out.WriteString(line + "\n")
		s.out.Flush() // its error stays, and comes with the next directive
	}
}

// sprintJSON puts values in JSON where a format has %s.
func sprintJSON(format string, values ...any) string {
	var b strings.Builder
	for _, v := range values {
		before, after, _ := strings.Cut(format, "%s")
		format = after
		b.WriteString(before)
		var value bytes.Buffer
		enc := json.NewEncoder(&value)
		enc.SetEscapeHTML(false)
		enc.Encode(v) // strings and JSON cannot fail
		b.Write(bytes.TrimSuffix(value.Bytes(), []byte("\n")))
	}
	b.WriteString(format)
	return b.String()
}

func (s *stream) nowMS() json.RawMessage { return rawNumber(s.run.now().UnixMilli()) }

func rawNumber(n int64) json.RawMessage { return json.RawMessage(strconv.FormatInt(n, 10)) }

// pieces cuts a text behind each space.
func pieces(text string) []string {
	cut := strings.SplitAfter(text, " ")
	if cut[len(cut)-1] == "" {
		cut = cut[:len(cut)-1]
	}
	return cut
}
