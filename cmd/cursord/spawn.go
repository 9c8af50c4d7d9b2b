package main

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

	"cursord/daemon"
	"cursord/daemon/endpoint"
	"cursord/rpc"
)

const (
	startLimit = 10 * time.Second // for a daemon to listen, or to accept again
	startPoll  = 10 * time.Millisecond
)

// newClient returns a client of the user's daemon, which it starts if none runs, and which gives way to us if it is of
// an older build; see rpc.NewClient for onNotify.
func newClient(ctx context.Context, onNotify func(method string, params json.RawMessage)) (*rpc.Client, error) {
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
	own := ownBuild()
	for deadline := time.Now().Add(startLimit); ; {
		conn, err := connect(ctx, dirs)
		if err != nil && isElsewhere() {
			continue
		}
		if err != nil {
			return nil, err
		}
		client := rpc.NewClient(conn, onNotify)
		var joined daemon.Joined
		err = callInTime(ctx, dirs, client, "daemon/join", own, &joined)
		if why := conn.failed(err); why != nil {
			client.Close()
			if isElsewhere() {
				continue
			}
			return nil, why
		}
		// A daemon that is about to end may take connections that it never reads.
		again := errors.Is(err, rpc.ErrClosed) && time.Now().Before(deadline)
		if joined.Replaced == "now" {
			<-client.Done()
			again, own.Program = true, ""
		}
		if !again {
			if silent := (*silentError)(nil); errors.As(err, &silent) {
				client.Close()
				return nil, err
			}
			if joined.AgentEnv == daemon.EnvClient {
				// A daemon that does not take it says so at the turn.
				_ = callInTime(ctx, dirs, client, "agent/environment", ownEnvironment(), nil)
			}
			return client, nil // other errors are those of a daemon that does not know the request
		}
		if err := client.Close(); err != nil {
			return nil, err
		}
		time.Sleep(startPoll)
	}
}

// A silentError is returned where a daemon that is there does not answer.
type silentError struct{ advice string }

func (e *silentError) Error() string { return e.advice }

// callInTime makes a request that a daemon answers at once unless it hangs, and then tells the user so.
func callInTime(ctx context.Context, dirs endpoint.Dirs, client *rpc.Client, method string, params, result any) error {
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
		case <-time.After(silentLimit):
		}
		if time.Since(since) > silentLimit+silentLimit/2 { // somebody had stopped us
			continue
		}
		if waited += silentLimit; !endpoint.Serving(dirs.Socket) && waited < 3*startLimit {
			continue
		}
		if waited >= muteLimit {
			cancel()
			<-answered
			return &silentError{silentDaemon(dirs)}
		}
		if !said {
			said = true
			fmt.Fprintf(os.Stderr, "cursord: waiting: %s\n", silentDaemon(dirs))
		}
	}
}

// connect connects to the user's daemon and starts it if none runs. Of several clients that start one at a time, one
// wins; the others connect to its daemon.
func connect(ctx context.Context, dirs endpoint.Dirs) (*daemonConn, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	var child *starting
	var ended <-chan error
	var pause time.Duration // before another is started
	for {
		conn, err := endpoint.Dial(ctx, dirs.Socket)
		switch {
		case err == nil:
			return &daemonConn{conn.(*net.UnixConn), child}, nil
		case ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded):
			return nil, startTimeout(dirs, child != nil)
		case endpoint.Backlogged(err):
		case !endpoint.NotListening(err):
			return nil, fmt.Errorf("cannot reach the daemon: %w", err)
		case child == nil:
			time.Sleep(pause)
			pause = 2*pause + startPoll
			if child, err = start(dirs); err != nil {
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
		case <-time.After(startPoll):
		}
	}
}

func startTimeout(dirs endpoint.Dirs, started bool) error {
	if started {
		return fmt.Errorf("the daemon did not start within %v: see its log, %s", startLimit, dirs.Log())
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
func start(dirs endpoint.Dirs) (*starting, error) {
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
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "serve", "--detached")
	cmd.Dir = dirs.State // not ours: it may be on a disk that is to be unmounted
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = detached()
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

// A daemonConn is a connection to a daemon, which may be one that we have started.
type daemonConn struct {
	*net.UnixConn
	child *starting // nil if we have started none
}

// failed returns why the daemon that we have started could not serve, if that is why the connection has ended with err,
// before its first answer. A daemon listens before it has opened its database.
func (c *daemonConn) failed(err error) error {
	if c.child == nil || !errors.Is(err, errEnded) && !errors.Is(err, rpc.ErrClosed) {
		return nil
	}
	select {
	case err := <-c.child.ended:
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == exitFailed {
			return c.child.didNotStart(err)
		}
	case <-time.After(silentLimit): // it was another one's end
	}
	return nil
}

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
