package fake

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// An acpAgent is the stand-in in ACP mode: it reads requests from stdin and plays the script for each prompt.
type acpAgent struct {
	run    *invocation
	args   []string
	stdout *os.File
	player *player
	voice  *acpVoice

	writing sync.Mutex
	out     *bufio.Writer // guarded by writing

	mu      sync.Mutex
	waiting map[string]chan acpMessage // guarded by mu; requests of ours, by id
	sent    int                        // guarded by mu
	prompts []json.RawMessage          // guarded by mu; ids of the prompts of the running turn
	added   []string                   // guarded by mu; what has been added to it
	stop    chan struct{}              // guarded by mu; closed when the running turn is cancelled
	stopped bool                       // guarded by mu
	running sync.WaitGroup
}

// An acpMessage is a line from the client.
type acpMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		SessionID  string            `json:"sessionId"`
		Cwd        string            `json:"cwd"`
		MCPServers []json.RawMessage `json:"mcpServers"`
		ModeID     string            `json:"modeId"`
		Prompt     []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// acp serves a client until stdin ends.
func (r *invocation) acp(args []string) int {
	r.trust = true // nobody has reported that this mode asks
	if stdout, stderr, code := r.refuses(); stdout+stderr != "" && code != 0 {
		fmt.Fprint(os.Stderr, stdout, stderr)
		return code
	}
	a := &acpAgent{run: r, args: args, stdout: os.Stdout, out: bufio.NewWriterSize(os.Stdout, 1<<16), waiting: map[string]chan acpMessage{}}
	ends := make(chan os.Signal, 2)
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM)
	go func() {
		code := 143
		if <-ends == os.Interrupt {
			code = 130
		}
		a.endShells()
		os.Exit(code)
	}()
	defer a.endShells()
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		var m acpMessage
		if len(line) > 0 && json.Unmarshal(line, &m) == nil {
			a.take(m)
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(os.Stderr, "fake-agent:", err)
			}
			return 0
		}
	}
}

func (a *acpAgent) endShells() {
	a.mu.Lock()
	voice := a.voice
	a.mu.Unlock()
	if voice != nil {
		voice.endShells()
	}
}

// write sends a line, with JSON values where format has %s.
func (a *acpAgent) write(format string, values ...any) {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.out.WriteString(sprintJSON(format, values...) + "\n")
	a.out.Flush() // a client that has gone is noticed at the end of stdin
}

func (a *acpAgent) fail(id json.RawMessage, code int64, message string) {
	a.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":%s}}`, id, rawNumber(code), message)
}

func (a *acpAgent) take(m acpMessage) {
	switch m.Method {
	case "":
		a.mu.Lock()
		reply := a.waiting[string(m.ID)]
		delete(a.waiting, string(m.ID))
		a.mu.Unlock()
		if reply != nil {
			reply <- m
		}
	case "initialize":
		list := ""
		if a.run.build.has(traitSessionList) {
			list = `,"sessionCapabilities":{"list":{}}`
		}
		version, loads := "1", "true"
		switch os.Getenv("CURSORD_FAKE_ACP") {
		case "version2":
			version = "2"
		case "forgets":
			loads = "false"
		}
		a.write(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":`+version+`,"agentCapabilities":{"loadSession":`+loads+`,"mcpCapabilities":{"http":true,"sse":true},`+
			`"promptCapabilities":{"image":true,"audio":false,"embeddedContext":false}`+list+`},"authMethods":[{"id":"cursor_login","name":"Cursor Login"}]}}`, m.ID)
	case "authenticate":
		a.write(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
	case "session/new", "session/load":
		if m.Method == "session/load" && strings.HasPrefix(os.Getenv("CURSORD_FAKE_ACP"), "forgets") {
			a.fail(m.ID, -32601, "Method not found: "+m.Method)
			return
		}
		a.open(m)
	case "session/set_mode":
		if m.Params.ModeID != "agent" && m.Params.ModeID != "ask" && m.Params.ModeID != "plan" {
			a.fail(m.ID, -32602, "Unknown mode "+m.Params.ModeID)
			return
		}
		a.run.mode = m.Params.ModeID
		a.write(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
	case "session/prompt":
		a.prompt(m)
	case "session/cancel":
		a.cancel()
	default:
		if len(m.ID) > 0 {
			a.fail(m.ID, -32601, "Method not found: "+m.Method)
		}
	}
}

const acpModes = `"modes":{"currentModeId":"agent","availableModes":[{"id":"agent","name":"Agent"},{"id":"plan","name":"Plan"},{"id":"ask","name":"Ask"}]}`

// open begins a session, or replays one and goes on with it.
func (a *acpAgent) open(m acpMessage) {
	switch {
	case !filepath.IsAbs(m.Params.Cwd):
		a.fail(m.ID, -32602, "cwd must be an absolute path")
	case m.Params.MCPServers == nil:
		a.fail(m.ID, -32602, "mcpServers is required")
	case !hasAccount():
		a.fail(m.ID, -32000, "Authentication required")
	case m.Method == "session/new":
		a.run.session, a.run.dir, a.run.mode = newUUID(), m.Params.Cwd, "agent"
		if err := os.MkdirAll(a.chat(a.run.session), 0o700); err != nil {
			a.fail(m.ID, -32603, err.Error())
			return
		}
		a.write(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":%s,`+acpModes+`}}`, m.ID, a.run.session)
		a.update(`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"simplify","description":"---"}]}`)
	default:
		data, err := os.ReadFile(filepath.Join(a.chat(m.Params.SessionID), "updates"))
		if info, statErr := os.Stat(a.chat(m.Params.SessionID)); statErr != nil || !info.IsDir() || err != nil && !os.IsNotExist(err) {
			a.fail(m.ID, -32602, `Session "`+m.Params.SessionID+`" not found`)
			return
		}
		a.run.session, a.run.dir, a.run.mode = m.Params.SessionID, m.Params.Cwd, "agent"
		for line := range strings.Lines(string(data)) {
			a.write(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":%s}}`, a.run.session, json.RawMessage(strings.TrimSpace(line)))
		}
		a.write(`{"jsonrpc":"2.0","id":%s,"result":{`+acpModes+`}}`, m.ID)
	}
}

// chat is the folder of a session. It is not where print mode keeps its chats.
func (a *acpAgent) chat(session string) string {
	config := os.Getenv("CURSOR_CONFIG_DIR")
	if config == "" {
		home, _ := os.UserHomeDir()
		config = filepath.Join(home, ".cursor")
	}
	return filepath.Join(config, "acp-sessions", filepath.Base(session))
}

// update sends an update and keeps it for a replay.
func (a *acpAgent) update(format string, values ...any) {
	update := json.RawMessage(sprintJSON(format, values...))
	if f, err := os.OpenFile(filepath.Join(a.chat(a.run.session), "updates"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		f.Write(append(append([]byte(nil), update...), '\n'))
		f.Close()
	}
	a.write(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":%s}}`, a.run.session, update)
}

// prompt begins a turn. During one it adds to it, or cancels it first, as the build does.
func (a *acpAgent) prompt(m acpMessage) {
	var text strings.Builder
	for _, block := range m.Params.Prompt {
		text.WriteString(block.Text)
	}
	if m.Params.SessionID != a.run.session || a.run.session == "" {
		a.fail(m.ID, -32602, `Session "`+m.Params.SessionID+`" not found`)
		return
	}
	a.mu.Lock()
	if len(a.prompts) > 0 && a.run.build.has(traitSteers) {
		a.prompts = append(a.prompts, m.ID)
		a.added = append(a.added, text.String())
		a.mu.Unlock()
		return
	}
	a.mu.Unlock()
	a.cancel()
	a.running.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.prompts, a.added, a.stop, a.stopped = []json.RawMessage{m.ID}, nil, make(chan struct{}), false
	a.run.prompt = text.String()
	a.player = newPlayer(a.run, a.stdout, os.Stderr)
	a.player.stop = a.stop
	before := a.voice
	a.voice = &acpVoice{agent: a, shells: newStream(a.run, a.player.out)}
	if before != nil { // what runs in the background is the process's
		a.voice.shells = before.shells
	}
	a.player.voice = a.voice
	a.running.Go(a.turn)
}

// cancel ends the running turn, in builds that can.
func (a *acpAgent) cancel() {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case len(a.prompts) == 0 || a.stopped:
	case !a.run.build.has(traitCancel):
		a.fail(json.RawMessage("null"), -32601, `"Method not found": session/cancel`)
	default:
		a.stopped = true
		close(a.stop)
		for id, reply := range a.waiting {
			delete(a.waiting, id)
			close(reply)
		}
	}
}

// turn plays the script and answers the prompts.
func (a *acpAgent) turn() {
	if err := a.run.log(a.args); err != nil {
		fmt.Fprintln(os.Stderr, "fake-agent:", err)
	}
	a.update(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":%s}}`, a.run.prompt)
	var code int
	var err error
	if script := os.Getenv("CURSORD_FAKE_SCRIPT"); script != "" {
		code, err = a.player.playFile(script)
	} else {
		code, err = a.player.playScript([]byte(builtinScenes), "")
	}
	reason := a.voice.reason
	if reason == "" {
		reason = "end_turn"
	}
	a.mu.Lock()
	prompts, stopped := a.prompts, a.stopped
	a.prompts = nil
	a.mu.Unlock()
	switch {
	case stopped:
		reason = "cancelled"
	case err != nil:
		fmt.Fprintln(os.Stderr, "fake-agent:", err)
		a.endShells()
		os.Exit(exitUsage)
	case a.voice.exits:
		a.endShells()
		os.Exit(code)
	}
	for _, id := range prompts {
		a.write(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":%s}}`, id, reason)
	}
}

// ask sends a request and waits for its answer; ok is false if the turn was cancelled meanwhile.
func (a *acpAgent) ask(method, params string) (answer acpMessage, ok bool) {
	reply := make(chan acpMessage, 1)
	a.mu.Lock()
	id := fmt.Sprint(a.sent)
	a.sent++
	a.waiting[id] = reply
	a.mu.Unlock()
	if os.Getenv("CURSORD_FAKE_ACP") == "underscore" && strings.HasPrefix(method, "cursor/") {
		method = "_" + method
	}
	a.write(`{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, json.RawMessage(id), method, json.RawMessage(params))
	answer, ok = <-reply
	return answer, ok
}
