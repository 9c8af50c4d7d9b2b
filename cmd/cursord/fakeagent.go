package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
)

const fakeAgentHelp = `Stand in for cursor-agent, for tests and for trying cursord without an account.

Set CURSORD_AGENT to a wrapper that runs it:

    #!/bin/sh
    exec cursord fake-agent "$@"

It answers --version, status, models and create-chat. For -p it reads the prompt (an argument, else
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

In all lines {{cwd}}, {{session}}, {{prompt}}, {{model}}, {{mode}}, {{now_ms}} and {{now_ns}} are
replaced, escaped where they stand inside a JSON string. Relative paths are relative to the workspace.

CURSORD_FAKE_STATUS=logged-out makes it refuse as an agent without an account does. Each -p run adds
a line {"args","cwd","session","prompt"} to the file CURSORD_FAKE_LOG.`

func fakeAgentCommand() *cobra.Command {
	return &cobra.Command{
		Use:                "fake-agent [ARGUMENTS OF cursor-agent]",
		Short:              "Stand in for cursor-agent in tests",
		Long:               fakeAgentHelp,
		DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"--help"}) {
				return c.Help()
			}
			return statusError(fakeAgent(args))
		},
	}
}

const (
	fakeVersion  = "2026.10.01-fa4e000"
	fakeStatus   = "\n \x1b[32m✓\x1b[0m Logged in as fake@example.com\n\n"
	fakeNoStatus = "\nNot logged in\n\n"
	fakeModels   = "\x1b[1mAvailable models\x1b[0m\n\n" +
		"\x1b[36mauto\x1b[0m - Auto \x1b[2m(current, default)\x1b[0m\n" +
		"\x1b[36mfake-large\x1b[0m - Fake Large\n" +
		"\x1b[36mfake-small\x1b[0m - Fake\u200b Small\n\n" +
		"\x1b[2mTip: use --model <id> to switch.\x1b[0m\n"
	fakeNoAuth = "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.\n"
)

// A fakeRun is the agent's command line, understood.
type fakeRun struct {
	words   []string // what is no flag
	print   bool
	version bool
	models  bool
	dir     string // absolute
	session string
	model   string
	mode    string
	prompt  string
}

// fakeAgent is the stand-in's main; it returns the exit status.
func fakeAgent(args []string) int {
	run, err := parseFakeArgs(args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	loggedOut := os.Getenv("CURSORD_FAKE_STATUS") == "logged-out"
	command := ""
	if !run.print && len(run.words) > 0 {
		command = run.words[0]
	}
	switch {
	case run.version:
		fmt.Println(fakeVersion)
	case run.models, command == "models":
		fmt.Print(fakeModels)
	case command == "status", command == "whoami":
		if loggedOut {
			fmt.Print(fakeNoStatus)
		} else {
			fmt.Print(fakeStatus)
		}
	case command == "create-chat":
		fmt.Println(newUUID())
	case loggedOut:
		fmt.Fprint(os.Stderr, fakeNoAuth)
		return 1
	default:
		return run.turn(args)
	}
	return 0
}

// turn plays a script for one prompt.
func (r *fakeRun) turn(args []string) int {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt) // before a script can ask to ignore it
	go func() {
		<-interrupted
		fmt.Fprintln(os.Stderr, "Aborting operation...")
		os.Exit(130)
	}()
	if err := r.readPrompt(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	if err := r.log(args); err != nil {
		fmt.Fprintln(os.Stderr, "fake-agent:", err)
		return exitUsage
	}
	player := newFakePlayer(r, os.Stdout, os.Stderr)
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

// parseFakeArgs understands the flags that the real agent documents, and refuses others as it does.
func parseFakeArgs(args []string) (*fakeRun, error) {
	r := &fakeRun{model: "auto", mode: "agent"}
	workspace := ""
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			r.words = append(r.words, args...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			r.words = append(r.words, arg)
			continue
		}
		name, value, given := strings.Cut(arg, "=")
		take := func() error {
			if given {
				return nil
			}
			if len(args) == 0 {
				return fmt.Errorf("error: option '%s' argument missing", name)
			}
			value, args = args[0], args[1:]
			return nil
		}
		var err error
		switch name {
		case "-p", "--print":
			r.print = true
		case "-v", "--version":
			r.version = true
		case "--list-models":
			r.models = true
		case "-f", "--force", "--yolo", "--trust", "--stream-partial-output", "--approve-mcps", "--auto-review",
			"--disable-auto-update", "--disable-project-configs", "--browser", "--continue":
		case "--plan":
			r.mode = "plan"
		case "--mode":
			if err = take(); err == nil && value != "plan" && value != "ask" {
				err = fmt.Errorf("error: option '--mode <mode>' argument '%s' is invalid. allowed choices are plan, ask", value)
			}
			r.mode = value
		case "--model":
			err = take()
			r.model = value
		case "--workspace":
			err = take()
			workspace = value
		case "--resume":
			// Its value may be left out.
			if !given && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
				value, args = args[0], args[1:]
			}
			r.session = value
		case "--output-format", "--sandbox", "--add-dir", "--plugin-dir", "--api-key", "-H", "--header", "-e", "--endpoint":
			err = take()
		default:
			err = fmt.Errorf("error: unknown option '%s'", name)
		}
		if err != nil {
			return nil, err
		}
	}
	if r.session == "" {
		r.session = newUUID()
	}
	dir, err := filepath.Abs(workspace)
	if err != nil {
		return nil, fmt.Errorf("Error: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("Error: Workspace directory does not exist: %s", workspace)
	}
	r.dir = dir
	return r, nil
}

// readPrompt takes the prompt from the command line, else from stdin as far as it goes.
func (r *fakeRun) readPrompt(stdin *os.File) error {
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
func (r *fakeRun) log(args []string) error {
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
