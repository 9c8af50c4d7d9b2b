// Package halt ends the daemon: it asks the daemon to stop, or kills it if it does not respond any more.
package halt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/dial"
)

// Limit is how long a daemon may take to end its turns and itself.
const Limit = 30 * time.Second

// ErrNone says that no daemon is running.
var ErrNone = errors.New("no daemon is running")

// Unanswered reports whether an error of Ask means that the daemon does not respond.
func Unanswered(err error) bool {
	silent := (*dial.SilentError)(nil)
	return errors.As(err, &silent) || errors.Is(err, context.DeadlineExceeded)
}

// Ask asks the daemon to stop and waits for its end. Meanwhile it prints the daemon's error messages, such as that something
// cannot be stored, to out. The error is ErrNone, a *dial.SilentError or an error of the daemon.
func Ask(ctx context.Context, dirs endpoint.Dirs, pid int, force bool, out io.Writer) error {
	silent := &dial.SilentError{Advice: fmt.Sprintf("the daemon (process %d) does not end: \"cursord stop --force\" ends it; its log is %s", pid, dirs.Log())}
	var conn net.Conn
	for since := time.Now(); ; {
		var err error
		conn, err = endpoint.Dial(ctx, dirs.Socket)
		if err == nil {
			break
		}
		switch {
		case endpoint.NotListening(err) && !endpoint.Running(dirs.Socket):
			return ErrNone
		case endpoint.NotListening(err): // it is starting or ending
		case !endpoint.Backlogged(err):
			return fmt.Errorf("cannot reach the daemon: %w", err)
		}
		if time.Since(since) > dial.SilentLimit {
			return silent
		}
		time.Sleep(dial.StartPoll)
	}
	client := rpc.NewClient(conn, func(method string, params json.RawMessage) {
		var m rpc.LogMessage
		if method == "log/message" && json.Unmarshal(params, &m) == nil && m.Level == "error" {
			fmt.Fprintf(out, "cursord: %s\n", term.Clean(m.Message))
		}
	})
	defer client.Close()
	asking, cancel := context.WithTimeout(ctx, dial.SilentLimit)
	defer cancel()
	// The daemon sends its error messages only after initialize.
	err := client.Call(asking, "initialize", struct{}{}, nil)
	if refused := (*rpc.Error)(nil); err == nil || errors.As(err, &refused) {
		err = client.DaemonStop(asking, rpc.StopParams{Force: force})
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && endpoint.Serving(dirs.Socket):
		return &dial.SilentError{Advice: dial.Silent(dirs)}
	case err == nil || errors.Is(err, rpc.ErrClosed): // a daemon that is ending may have no time to answer
		select { // until all messages of the daemon are printed
		case <-client.Done():
		case <-ctx.Done():
		}
		err = waitForEnd(ctx, dirs.Socket, pid)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return silent
	}
	return err
}

// Kill kills a daemon that does not respond, and removes its socket.
func Kill(ctx context.Context, dirs endpoint.Dirs, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, dial.SilentLimit)
	defer cancel()
	if err := endpoint.KillDaemon(dirs.Socket, pid); err != nil {
		return fmt.Errorf("the daemon cannot be killed: %w", err)
	}
	if err := waitForEnd(ctx, dirs.Socket, pid); err != nil {
		return fmt.Errorf("the daemon (process %d) was killed and has not ended yet", pid)
	}
	listener, err := dirs.Listen()
	if errors.Is(err, endpoint.ErrRunning) {
		return nil // another daemon has started
	}
	if err != nil {
		return err
	}
	if err := listener.MarkStopped(); err != nil {
		return err
	}
	return listener.Release()
}

// waitForEnd waits until the daemon with this process id has ended, even if another one has started since.
func waitForEnd(ctx context.Context, socket string, pid int) error {
	for endpoint.Running(socket) && endpoint.LockHolder(socket) == pid {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(dial.StartPoll):
		}
	}
	return nil
}
