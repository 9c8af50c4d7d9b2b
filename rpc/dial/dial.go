// Package dial finds the user's daemon, starts it if none runs, and connects to it. It owns the process that it has started
// until that listens, and what is said where a daemon does not come or does not answer. A program gets a client by Connect;
// package join builds on it what goes on with the next daemon when one ends.
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
	// StartLimit is how long a daemon may take to listen, or to accept again.
	StartLimit = 10 * time.Second
	// StartPoll is the pause between two looks whether it does.
	StartPoll = 10 * time.Millisecond
	// SilentLimit is how long a daemon may owe an answer before Waiting is called.
	SilentLimit = 3 * time.Second
	// MuteLimit is how long it may before nothing waits for it any more.
	MuteLimit = 10 * time.Second
)

// Options say who connects, and how. The zero value suits any program that is not cursord itself.
type Options struct {
	// Program is the cursord that is started where no daemon runs; "": the one on PATH.
	Program string
	// Version says which build Program is, and Written when its file was last changed, where the caller is that very
	// program: a daemon of an older build then gives way to it. With "" none does.
	Version string
	Written time.Time
	// OnNotify gets notifications, as with rpc.NewClient; it may be nil.
	OnNotify func(method string, params json.RawMessage)
	// Joined gets what the daemon said when the client joined; it may be nil.
	Joined *api.Joined
	// Waiting, if any, is called once with what to do about a daemon that does not answer; Connect goes on waiting.
	Waiting func(advice string)
}

// JoinParams are what daemon/join says of the caller.
func (o *Options) JoinParams() rpc.JoinParams {
	p := rpc.JoinParams{Environment: &rpc.ClientEnvironment{Path: os.Getenv("PATH"), Agent: os.Getenv("CURSORD_AGENT")}}
	if o.Version != "" {
		p.Version, p.Written, p.Program = o.Version, o.Written.UnixNano(), o.Program
	}
	return p
}

// Environment is what agent/environment tells a daemon whose agents get the environment of their clients.
func Environment() rpc.EnvironmentParams { return rpc.EnvironmentParams{Variables: os.Environ()} }

// Connect returns a client of the user's daemon, which it starts if none runs. CURSORD_SOCKET, CURSORD_STATE_DIR and the
// XDG variables say where that is. The error is a *SilentError where a daemon is there and does not answer.
func Connect(ctx context.Context, o Options) (*rpc.Client, error) {
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return nil, err
	}
	// Of two that start in different environments at a time, one has the database.
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
		// A daemon that is about to end may take connections that it never reads.
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
				// A daemon that does not take it says so at the turn.
				_ = CallInTime(ctx, dirs, client, o.Waiting, "agent/environment", Environment(), nil)
			}
			return client, nil // other errors are those of a daemon that does not know the request
		}
		if err := client.Close(); err != nil {
			return nil, err
		}
		time.Sleep(StartPoll)
	}
}

// A SilentError is returned where a daemon that is there does not answer. Advice says what to do.
type SilentError struct{ Advice string }

func (e *SilentError) Error() string { return e.Advice }

// Silent says what to do about a daemon that does not answer.
func Silent(dirs endpoint.Dirs) string {
	return fmt.Sprintf("the daemon (process %d) does not answer: \"cursord stop --force\" ends it, and the next client starts another", endpoint.LockHolder(dirs.Socket))
}

// CallInTime is client.Call of a request that the daemon of dirs answers at once unless it hangs. After SilentLimit waiting is
// called once with what to do about that; it may be nil. After MuteLimit the error is a *SilentError.
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
		if time.Since(since) > SilentLimit+SilentLimit/2 { // somebody had stopped us
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

// Dial connects to the daemon of dirs, and has program start it if none runs; "" is the cursord on PATH. Of several clients that start one at a time, one
// wins; the others connect to its daemon.
func Dial(ctx context.Context, dirs endpoint.Dirs, program string) (*Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, StartLimit)
	defer cancel()
	var child *starting
	var ended <-chan error
	var pause time.Duration // before another is started
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
				return nil, child.didNotStart(err)
			}
			child, ended = nil, nil // it left the place to another one, which may have ended since
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

// A starting daemon is a process that will listen, or end.
type starting struct {
	log   string
	from  int64      // where its part of the log begins
	ended chan error // gets one value when the process ends
}

// start starts a daemon in the background: in a session of its own, so that it outlives us and our terminal, with our
// environment, its output going to the log.
func start(dirs endpoint.Dirs, program string) (*starting, error) {
	if err := dirs.MakeState(); err != nil {
		return nil, err
	}
	log, err := endpoint.OpenRegular(dirs.Log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%w: make it possible, or name another folder with CURSORD_STATE_DIR", err)
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
	cmd.Dir = dirs.State // not ours: it may be on a disk that is to be unmounted
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = Detached()
	keepFiles()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &starting{log: dirs.Log(), from: from, ended: make(chan error, 1)}
	go func() { s.ended <- cmd.Wait() }()
	return s, nil
}

func (s *starting) didNotStart(err error) error {
	return fmt.Errorf("the daemon did not start: %s (its log is %s)", s.lastWords(err), s.log)
}

// A Conn is a connection to a daemon, which may be one that Dial has started.
type Conn struct {
	*net.UnixConn
	child *starting // nil if we have started none
}

// StartError is for connections that have ended before the daemon's first answer. It returns why the daemon that Dial has
// started could not serve, and nil where that is not why. A daemon listens before it has opened its database.
func (c *Conn) StartError() error {
	if c.child == nil {
		return nil
	}
	select {
	case err := <-c.child.ended:
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == exitFailed {
			return c.child.didNotStart(err)
		}
	case <-time.After(SilentLimit): // it was another one's end
	}
	return nil
}

// exitFailed is the exit status of a daemon that could not serve, and has logged why.
const exitFailed = 1

// lastWords returns what the process, which ended with err, logged last.
func (s *starting) lastWords(err error) string {
	f, openErr := endpoint.OpenRegular(s.log, os.O_RDONLY, 0)
	if openErr != nil {
		return err.Error()
	}
	defer f.Close()
	const enough = 64 << 10
	b, readErr := io.ReadAll(io.NewSectionReader(f, s.from, enough))
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
