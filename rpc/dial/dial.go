// Package dial finds the user's daemon, starts it if none runs, and connects to it. It says why a daemon did not start, and what to do about one
// that does not answer. Connect gives a program a client. Package join uses this package for a connection that goes on with the next daemon.
package dial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/endpoint"
	"cursord/rpc"
)

const (
	// StartLimit is how long a daemon may take to listen, or to accept connections again.
	StartLimit = 10 * time.Second
	// StartPoll is the pause between two attempts to connect.
	StartPoll = 10 * time.Millisecond
	// SilentLimit is how long a daemon may owe an answer before Waiting is called.
	SilentLimit = 3 * time.Second
	// MuteLimit is how long a daemon may owe an answer before callers give up.
	MuteLimit = 10 * time.Second
)

// Options say who connects, and how. The zero value suits every program but cursord itself.
type Options struct {
	// Program is the cursord to start if no daemon runs; "": the one on PATH.
	Program string
	// If the caller is Program itself, Version is its build, and Written is when its file was last changed: a daemon of an
	// older build then gives way to Program. With "", no daemon gives way.
	Version string
	Written time.Time
	// OnNotify gets the notifications, as in rpc.NewClient; it may be nil.
	OnNotify func(method string, params json.RawMessage)
	// Joined gets the daemon's answer to daemon/join; it may be nil.
	Joined *api.Joined
	// Waiting, if not nil, is called once with advice about a daemon that does not answer; Connect goes on waiting.
	Waiting func(advice string)
}

// JoinParams returns the parameters of daemon/join for the caller.
func (o *Options) JoinParams() rpc.JoinParams {
	p := rpc.JoinParams{Environment: &rpc.ClientEnvironment{Path: os.Getenv("PATH"), Agent: os.Getenv("CURSORD_AGENT")}}
	if o.Version != "" {
		p.Version, p.Written, p.Program = o.Version, o.Written.UnixNano(), o.Program
	}
	return p
}

// Environment returns the parameters of agent/environment, for a daemon whose agents get their clients' environment.
func Environment() rpc.EnvironmentParams { return rpc.EnvironmentParams{Variables: os.Environ()} }

// Connect returns a client of the user's daemon, which it starts if none runs. CURSORD_SOCKET, CURSORD_STATE_DIR and the XDG
// variables say where the daemon is. It returns a *SilentError if a daemon runs but does not answer.
func Connect(ctx context.Context, o Options) (*rpc.Client, error) {
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return nil, err
	}
	// isElsewhere finds the daemon again and reports whether it is at another place now: if two daemons start at once in different
	// environments, only one gets the database.
	isElsewhere := func() bool {
		now, err := endpoint.FindDaemon()
		moved := err == nil && now.Socket != dirs.Socket
		if moved {
			dirs = now
		}
		return moved
	}
	own := o.JoinParams()
	for deadline := time.Now().Add(StartLimit); ; {
		conn, err := Dial(ctx, dirs, o.Program)
		if err != nil && isElsewhere() {
			continue
		}
		if err != nil {
			return nil, err
		}
		client := rpc.NewClient(conn, o.OnNotify)
		var joined api.Joined
		err = CallInTime(ctx, dirs, client, o.Waiting, "daemon/join", own, &joined)
		if errors.Is(err, rpc.ErrClosed) {
			if why := conn.StartError(); why != nil {
				client.Close()
				if isElsewhere() {
					continue
				}
				return nil, why
			}
		}
		// A daemon that is about to end may accept connections and never read them.
		again := errors.Is(err, rpc.ErrClosed) && time.Now().Before(deadline)
		if joined.Replaced == "now" {
			<-client.Done()
			again, own.Program = true, ""
		}
		if !again {
			if silent := (*SilentError)(nil); errors.As(err, &silent) {
				client.Close()
				return nil, err
			}
			if o.Joined != nil {
				*o.Joined = joined
			}
			if joined.AgentEnv == config.EnvClient {
				// If the daemon does not accept it, a turn's error says so.
				_ = CallInTime(ctx, dirs, client, o.Waiting, "agent/environment", Environment(), nil)
			}
			return client, nil // any other error means that the daemon does not know the request
		}
		if err := client.Close(); err != nil {
			return nil, err
		}
		time.Sleep(StartPoll)
	}
}

// A SilentError is returned if a daemon runs but does not answer. Advice says what to do.
type SilentError struct{ Advice string }

func (e *SilentError) Error() string { return e.Advice }

// Silent says what to do about a daemon that does not answer.
func Silent(dirs endpoint.Dirs) string {
	return fmt.Sprintf("the daemon (process %d) does not answer: \"cursord stop --force\" ends it, and the next client starts another", endpoint.LockHolder(dirs.Socket))
}

// CallInTime is client.Call for a request that the daemon of dirs answers at once unless it hangs. After SilentLimit it
// calls waiting, which may be nil, once with advice. After MuteLimit it returns a *SilentError. For a daemon that is still starting, it does neither
// within three times StartLimit.
func CallInTime(ctx context.Context, dirs endpoint.Dirs, client *rpc.Client, waiting func(advice string), method string, params, result any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- client.Call(ctx, method, params, result) }()
	said := false
	for waited := time.Duration(0); ; {
		since := time.Now()
		select {
		case err := <-answered:
			return err
		case <-time.After(SilentLimit):
		}
		if time.Since(since) > SilentLimit+SilentLimit/2 { // this process was suspended
			continue
		}
		if waited += SilentLimit; !endpoint.Serving(dirs.Socket) && waited < 3*StartLimit {
			continue
		}
		if waited >= MuteLimit {
			cancel()
			<-answered
			return &SilentError{Silent(dirs)}
		}
		if !said && waiting != nil {
			said = true
			waiting(Silent(dirs))
		}
	}
}

// Dial connects to the daemon of dirs; if none runs, it starts program ("": the cursord on PATH). If several clients each start
// a daemon at once, one daemon stays, and all connect to it.
func Dial(ctx context.Context, dirs endpoint.Dirs, program string) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, StartLimit)
	defer cancel()
	var child *process
	var ended <-chan error
	var pause time.Duration // before the next daemon is started
	for {
		conn, err := endpoint.Dial(ctx, dirs.Socket)
		switch {
		case err == nil:
			return &Conn{conn.(*net.UnixConn), child}, nil
		case ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded):
			return nil, startTimeout(dirs, child != nil)
		case endpoint.Backlogged(err):
		case !endpoint.NotListening(err):
			return nil, fmt.Errorf("cannot reach the daemon: %w", err)
		case child == nil:
			time.Sleep(pause)
			pause = 2*pause + StartPoll
			if child, err = start(dirs, program); err != nil {
				return nil, fmt.Errorf("cannot start the daemon: %w", err)
			}
			ended = child.ended
		}
		select {
		case err := <-ended:
			if err != nil {
				return nil, child.startError(err)
			}
			child, ended = nil, nil // it found another daemon, which may have ended since
		case <-ctx.Done():
			return nil, startTimeout(dirs, child != nil)
		case <-time.After(StartPoll):
		}
	}
}

func startTimeout(dirs endpoint.Dirs, started bool) error {
	if started {
		return fmt.Errorf("the daemon did not start within %v: see its log, %s", StartLimit, dirs.Log())
	}
	return fmt.Errorf("the daemon (process %d) does not accept connections: \"cursord stop --force\" ends it; its log is %s", endpoint.LockHolder(dirs.Socket), dirs.Log())
}

// A process is that of a daemon which Dial has started.
type process struct {
	config  string // the file of its settings
	log     string
	logFrom int64      // where its part of the log begins
	ended   chan error // gets one value, when the process ends
}

// start starts a daemon in the background, with our environment and with its output going to the log. It gets a session of
// its own, so that it outlives this process and its terminal.
func start(dirs endpoint.Dirs, program string) (*process, error) {
	if err := dirs.MakeState(); err != nil {
		return nil, err
	}
	log, err := endpoint.OpenRegular(dirs.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: allow it, or choose another folder with CURSORD_STATE_DIR", err)
	}
	defer log.Close()
	from, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if program == "" {
		if program, err = exec.LookPath("cursord"); err != nil {
			return nil, fmt.Errorf("%w: install cursord, or add its folder to PATH", err)
		}
	}
	cmd := exec.Command(program, "serve", "--detached")
	cmd.Dir = dirs.State // not our directory, which may be on a disk that is to be unmounted
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = Detached()
	closeFilesOnExec()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{config: dirs.Config, log: dirs.Log(), logFrom: from, ended: make(chan error, 1)}
	go func() { p.ended <- cmd.Wait() }()
	return p, nil
}

// startError says why the process, which ended with err, could not serve. An error about wrong settings wraps config.Mistakes and says
// how to mend them.
func (p *process) startError(err error) error {
	if _, _, wrong := config.Load(p.config); wrong != nil {
		if mend := config.Mend(p.config, wrong); mend != "" {
			return fmt.Errorf("the daemon did not start: %w\n%s", wrong, mend)
		}
	}
	return fmt.Errorf("the daemon did not start: %s (its log is %s)", p.lastWords(err), p.log)
}

// A Conn is a connection to a daemon; Dial may have started that daemon.
type Conn struct {
	*net.UnixConn
	child *process // the daemon that Dial has started, or nil
}

// StartError is for a connection that has ended before the daemon's first answer. It returns why the daemon that Dial has
// started could not serve; nil if that was not the reason. It may differ from Dial's error, because a daemon listens before
// it has opened its database.
func (c *Conn) StartError() error {
	if c.child == nil {
		return nil
	}
	select {
	case err := <-c.child.ended:
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == exitFailed {
			return c.child.startError(err)
		}
	case <-time.After(SilentLimit): // our process lives, so the connection was to another daemon
	}
	return nil
}

// exitFailed is the exit status of a daemon that could not serve and has logged the reason.
const exitFailed = 1

// lastWords returns what the process logged last, or the text of err, with which it ended.
func (p *process) lastWords(err error) string {
	f, openErr := endpoint.OpenRegular(p.log, os.O_RDONLY, 0)
	if openErr != nil {
		return err.Error()
	}
	defer f.Close()
	const enough = 64 << 10
	b, readErr := io.ReadAll(io.NewSectionReader(f, p.logFrom, enough))
	if readErr != nil {
		return err.Error()
	}
	b = bytes.TrimSpace(b)
	line := b[bytes.LastIndexByte(b, '\n')+1:]
	var entry struct {
		Err string `json:"err"`
	}
	switch {
	case json.Unmarshal(line, &entry) == nil && entry.Err != "":
		return entry.Err
	case len(line) == 0:
		return err.Error()
	}
	return string(line)
}
