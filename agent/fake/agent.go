// Package fake stands in for cursor-agent, for tests and for trying cursord without an account: it plays a script, in the
// words of a build of the agent. It owns what is known of the differences between builds, which
// agent/testdata/README.md shows, and shares no code with package agent, so that neither can hide a mistake of the other.
package fake

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
)

// Help says how to use it, for people.
const Help = `Stand in for cursor-agent, for tests and for trying cursord without an account.

Set CURSORD_AGENT to a wrapper that runs it:

    #!/bin/sh
    exec cursord fake-agent "$@"

It answers --version, status, models, about and create-chat. For -p it reads the prompt (an argument, else
stdin to its end) and plays the script named by CURSORD_FAKE_SCRIPT, or a short one of its own. A
script's lines are printed as they are, whether or not they are JSON, save those that are directives:

    {"fake":"sleep","ms":N}                    pause
    {"fake":"write","path":P,"text":T}         write a file, making its folders ("mode":"0755", "base64":B)
    {"fake":"delete","path":P}                 remove a file or a folder
    {"fake":"mkdir","path":P}                  make a folder
    {"fake":"wait","path":P}                   wait until P exists
    {"fake":"exec","argv":[...]}               run a program, its output on stderr ("stdout":true: on stdout)
    {"fake":"stderr","text":T}                 print T on stderr
    {"fake":"raw","text":T}                    print T without a newline ("base64":B for any bytes)
    {"fake":"repeat","n":N,"lines":K}          play the next K lines (1 if absent) N times; {{i}} counts from 0
    {"fake":"script","path":P}                 play the script P, relative to this one, then go on
    {"fake":"ignore-signals"}                  ignore INT and TERM from now on
    {"fake":"exit","code":N}                   end here
    {"fake":"hang"}                            never end

These say what the agent does, and the lines come in the words of a build and of the options given:

    {"fake":"begin"}                           init, and the prompt
    {"fake":"think","text":T}                  reason
    {"fake":"say","text":T}                    say something: in pieces with --stream-partial-output
    {"fake":"edit","path":P,"text":T}          write a file by an edit call; refused in the modes ask and plan
    {"fake":"shell","command":C}               run a command ("ask":true: one that needs --force, "sandbox":true
                                               as well: or --sandbox enabled)
    {"fake":"background","command":C}          begin a command and go on ("group":true: in a group of its own)
    {"fake":"finish","lines":K}                the last message, the wait for background commands, the result; each
                                               command that ends has the next K lines (none if absent) played

    {"fake":"question","text":T,"options":[…]} ask a person to choose; print mode makes up the answer
    {"fake":"plan","text":T}                   propose a plan
    {"fake":"todos","params":[…]}              set the todos

An agent that has lost the chat of the session begins with another session_id. These take the place of begin and finish:

    {"type":"system","subtype":"init","session_id":"another","model":"m"}
    {"type":"result","subtype":"success","result":"T"}

As ` + "`cursor-agent acp`" + ` it serves ACP on stdin and stdout, and plays the script for each prompt: "ask" then asks
for permission, also of an edit, "defies":"early", "silently" or "openly" has it make a call that is refused all the same,
{"fake":"edit","lost":true,…} announces an edit that is never made,
{"fake":"request","method":M,"params":{…}} asks the client for M and says the answer,
{"fake":"stop","text":R} gives a reason for the turn's end, and {"fake":"later","path":P,"text":T} says T once P
exists, also when the turn has ended; with "method":M,"params":{…} in place of the text it sends that request, or the
update {…} if M is session/update. With CURSORD_FAKE_ACP=underscore Cursor's own methods
begin with _cursor/, as in some builds; with "version2" it speaks another version of ACP, with "forgets" it cannot load sessions. A file "updates" in the folder of a session, below
CURSOR_CONFIG_DIR or ~/.cursor, is what session/load replays.

In all lines {{cwd}}, {{session}}, {{prompt}}, {{model}}, {{mode}}, {{now_ms}} and {{now_ns}} are
replaced, escaped where they stand inside a JSON string. Relative paths are relative to the workspace.

--build BUILD as the first argument, or CURSORD_FAKE_BUILD, makes it behave like a build of the agent, such as
2026.09.28: in the options it knows, in what it refuses, in its words and its ends. If CURSORD_FAKE_BUILD has a
slash it names a file with one build a line, of which the first is installed; a run that may update the program
goes on to the next. Without a build it knows what the newest does, and checks neither trust nor the model.

CURSORD_FAKE_STATUS=logged-out makes it refuse as an agent without an account does, and expired as one whose
login has run out. CURSORD_FAKE_MODELS=none takes all models from it, and CURSORD_FAKE_SANDBOX=unavailable the
sandbox. Each -p run adds a line {"args","cwd","session","prompt"} to the file CURSORD_FAKE_LOG.`

// exitUsage is the exit status of a stand-in that was set up wrongly.
const exitUsage = 2

const (
	// Version is the build that it says it is, where none was chosen.
	Version  = "2026.10.01-fa4e000"
	status   = "\n \x1b[32m✓\x1b[0m Logged in as fake@example.com\n\n"
	noStatus = "\nNot logged in\n\n"
	models   = "\x1b[1mAvailable models\x1b[0m\n\n" +
		"\x1b[36mauto\x1b[0m - Auto \x1b[2m(current, default)\x1b[0m\n" +
		"\x1b[36mfake-large\x1b[0m - Fake Large\n" +
		"\x1b[36mfake-small\x1b[0m - Fake\u200b Small\n\n" +
		"\x1b[2mTip: use --model <id> to switch.\x1b[0m\n"
	noModels = "No models available for this account.\n"
	noAuth   = "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.\n"
)

// Main is the stand-in's main: it takes the arguments of cursor-agent, reads stdin, writes to stdout and stderr, and returns
// the exit status. now is the clock that its words go by.
func Main(args []string, now func() time.Time) int {
	build, args, err := buildOf(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitUsage
	}
	run, err := parseArgs(build, args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	run.now = now
	command := ""
	if !run.print && len(run.words) > 0 {
		command = run.words[0]
	}
	switch {
	case run.version:
		fmt.Println(build.version)
	case run.models, command == "models":
		return run.listModels()
	case command == "status", command == "whoami":
		run.status()
	case command == "about":
		return run.about()
	case command == "create-chat":
		fmt.Println(newUUID())
	case command == "acp" && build.has(traitACP):
		return run.acp(args)
	case command == "ls" && build.chosen:
		fmt.Fprintln(os.Stderr, "fake-agent: ls lets a person choose among chats, which needs a terminal")
		return 1
	default:
		return run.turn(args)
	}
	return 0
}

// hasAccount says whether what reaches the server gets an answer. A login that has run out still has a token.
func hasAccount() bool {
	state := os.Getenv("CURSORD_FAKE_STATUS")
	return state != "logged-out" && state != "expired"
}

func (r *invocation) listModels() int {
	switch {
	case !hasAccount() && (r.build.chosen || os.Getenv("CURSORD_FAKE_STATUS") == "expired"):
		fmt.Fprint(os.Stderr, noAuth)
		return 1
	case os.Getenv("CURSORD_FAKE_MODELS") == "none":
		fmt.Print(noModels)
	default:
		fmt.Print(models)
	}
	return 0
}

// status says whether there is a token. It asks no server and always succeeds.
func (r *invocation) status() {
	there := os.Getenv("CURSORD_FAKE_STATUS") != "logged-out"
	switch {
	case r.format == "json" && there:
		fmt.Println(`{"isAuthenticated":true,"userInfo":{"email":"fake@example.com"}}`)
	case r.format == "json":
		fmt.Println(`{"isAuthenticated":false}`)
	case there:
		fmt.Print(status)
	default:
		fmt.Print(noStatus)
	}
}

func (r *invocation) about() int {
	email := any("fake@example.com")
	if !hasAccount() {
		email = nil
	}
	if r.format != "json" {
		fmt.Printf("CLI Version  %s\nUser Email   %v\n", r.build.version, email)
		return 0
	}
	line, err := json.Marshal(struct {
		Version string `json:"cliVersion"`
		Email   any    `json:"userEmail"`
	}{r.build.version, email})
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake-agent:", err)
		return 1
	}
	fmt.Println(string(line))
	return 0
}

// refuses returns what the agent says instead of beginning a turn, in the order in which it looks, and its exit status.
func (r *invocation) refuses() (stdout, stderr string, code int) {
	switch {
	case !hasAccount():
		return "", noAuth, 1
	case !r.build.chosen:
		return "", "", 0
	case os.Getenv("CURSORD_FAKE_MODELS") == "none":
		return noModels, "", 0
	case r.build.has(traitTrust) && !r.trust && !r.force:
		return "", "⚠ Workspace Trust Required\n\n  " + r.dir + "\n\nPass --trust, --yolo, or -f if you trust this directory.\n", 1
	case r.build.has(traitSandbox) && r.sandbox == "enabled" && os.Getenv("CURSORD_FAKE_SANDBOX") == "unavailable":
		return "", "Error: Sandbox mode is enabled but not available on this system.\n", 1
	case !strings.Contains(models, "\x1b[36m"+r.model+"\x1b"):
		return "", "Cannot use this model: " + r.model + ". Available models: auto, fake-large, fake-small\n", 1
	}
	return "", "", 0
}

// turn plays a script for one prompt.
func (r *invocation) turn(args []string) int {
	if stdout, stderr, code := r.refuses(); stdout+stderr != "" {
		fmt.Print(stdout)
		fmt.Fprint(os.Stderr, stderr)
		return code
	}
	player := newPlayer(r, os.Stdout, os.Stderr)
	defer player.voice.endShells()
	ends := make(chan os.Signal, 2)
	signal.Notify(ends, os.Interrupt) // before a script can ask to ignore it
	if r.build.chosen {
		signal.Notify(ends, syscall.SIGTERM)
	}
	go func() {
		code := 143
		if <-ends == os.Interrupt {
			fmt.Fprintln(os.Stderr, "Aborting operation...")
			code = 130
		}
		r.ending.Store(true)
		player.voice.endShells()
		os.Exit(code)
	}()
	if err := r.readPrompt(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	if err := r.log(args); err != nil {
		fmt.Fprintln(os.Stderr, "fake-agent:", err)
		return exitUsage
	}
	var code int
	var err error
	if script := os.Getenv("CURSORD_FAKE_SCRIPT"); script != "" {
		code, err = player.playFile(script)
	} else {
		code, err = player.playBuiltin()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake-agent:", err)
		return exitUsage
	}
	return code
}

// readPrompt takes the prompt from the command line, else from stdin as far as it goes.
func (r *invocation) readPrompt(stdin *os.File) error {
	if len(r.words) > 0 {
		r.prompt = strings.Join(r.words, " ")
		return nil
	}
	if isatty.IsTerminal(stdin.Fd()) {
		return nil
	}
	b, err := io.ReadAll(stdin)
	r.prompt = string(b)
	return err
}

// log adds the run to the file CURSORD_FAKE_LOG, in one write so that parallel runs do not mix.
func (r *invocation) log(args []string) error {
	path := os.Getenv("CURSORD_FAKE_LOG")
	if path == "" {
		return nil
	}
	line, err := json.Marshal(struct {
		Args    []string `json:"args"`
		Cwd     string   `json:"cwd"`
		Session string   `json:"session"`
		Prompt  string   `json:"prompt"`
	}{args, r.dir, r.session, r.prompt})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// newUUID returns a random (version 4) UUID.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}
