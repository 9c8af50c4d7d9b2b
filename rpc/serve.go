package rpc

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"cursord/daemon"
	"cursord/daemon/api"
)

// Serve serves the native protocol on each connection that l accepts, until ctx ends; l must accept only peers that may
// connect. Then it sends what waits, closes l and the connections, and returns when all have ended. It returns nil, or the
// error of l that ended it earlier.
func Serve(ctx context.Context, l net.Listener, d *daemon.Daemon, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()

	var conns sync.WaitGroup
	defer conns.Wait()
	defer cancel()
	pause := time.Duration(0)
	for {
		c, err := l.Accept()
		if err == nil {
			pause = 0
			conns.Go(func() { serveConn(ctx, c, d, callerOf(d, c), log) })
			continue
		}
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		// Most likely there are no file descriptors left; connections that end free some.
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		log.Warn("accept", "err", err, "pause", pause)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// ServeConn serves the native protocol on one connection, until that ends or ctx does. It closes rwc.
func ServeConn(ctx context.Context, rwc io.ReadWriteCloser, d *daemon.Daemon, log *slog.Logger) {
	serveConn(ctx, rwc, d, nil, log)
}

// serveConn is ServeConn for a connection that caller, an agent's process, has made; nil: a person's process has.
func serveConn(ctx context.Context, rwc io.ReadWriteCloser, d *daemon.Daemon, caller *api.Caller, log *slog.Logger) {
	left := d.ClientJoined()
	defer left()
	serveTable(ctx, rwc, func(box *outbox) table {
		f := newFace(d, box)
		t := f.table()
		if caller != nil {
			f.caller, f.countsAsAgent = caller, countsAsAgent(*caller, d.AgentsRun)
			t = t.forAgent(*caller, f.countsAsAgent, log)
		}
		return t
	}, log)
}

// serveTable serves the table that newTable returns for the connection's outbox, until the connection or ctx ends.
func serveTable(ctx context.Context, rwc io.ReadWriteCloser, newTable func(*outbox) table, log *slog.Logger) {
	s := newStream(rwc, MaxMessage, FramingUnknown, ctx.Done())
	t := newTable(s.box)
	d := newDispatcher(t, log)
	d.trace.send = func(m []byte) { _ = s.box.send(m) } // an error says that the connection has ended
	readerEnded := make(chan struct{})
	s.ended = func() {
		d.drain()
		close(readerEnded)
	}
	conn := jsonrpc2.NewConn(context.Background(), s, d, s.options()...)
	select {
	case <-conn.DisconnectNotify():
	case <-ctx.Done():
		d.drain()
	}
	// An error means that the connection is closed already.
	_ = conn.Close()
	select {
	case <-readerEnded:
		d.running.Wait()
	case <-time.After(time.Second):
		// Closing a file does not end a blocked read of it, for example of the standard input at the end of a process.
	}
	<-s.closed
	if s.box.gaveUp() {
		log.Info("a client was disconnected: it does not read its answers", "client", t.name(), "bytes", s.box.most)
	}
}
