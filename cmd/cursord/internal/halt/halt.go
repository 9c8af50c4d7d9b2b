// Package halt ends the daemon: it asks it to, and kills one that does nothing any more.
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

// ErrNone says that there is no daemon to end.
var ErrNone = errors.New("no daemon is running")

// Unanswered reports whether an error of Ask says that a daemon does nothing any more.
func Unanswered(err error) bool {
	silent := (*dial.SilentError)(nil)
	return errors.As(err, &silent) || errors.Is(err, context.DeadlineExceeded)
}

// Ask has the daemon end, and waits for that. What the daemon says meanwhile of its troubles, such as what it cannot
// store, goes to out. Its error is ErrNone, a *dial.SilentError or the daemon's.
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
		case endpoint.NotListening(err): // it starts, or is about to end
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
	// A client that has initialized hears of troubles.
	err := client.Call(asking, "initialize", struct{}{}, nil)
	if refused := (*rpc.Error)(nil); err == nil || errors.As(err, &refused) {
		err = client.DaemonStop(asking, rpc.StopParams{Force: force})
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && endpoint.Serving(dirs.Socket):
		return &dial.SilentError{Advice: dial.Silent(dirs)}
	case err == nil || errors.Is(err, rpc.ErrClosed): // one that stops already may have no time to answer
		select { // so that all it says is there
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

// Kill ends a daemon that does nothing any more, and removes what it leaves.
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
		return nil // there is another one already
	}
	if err != nil {
		return err
	}
	return listener.Release()
}

// waitForEnd waits until the daemon with a process id has ended, and perhaps another one has come in its place.
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
