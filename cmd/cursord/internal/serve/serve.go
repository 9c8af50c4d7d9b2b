// Package serve is a life of the daemon's process: its log, socket, database and signals, from the start to the end.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"cursord/cmd/cursord/internal/tracefile"
	"cursord/cmd/cursord/internal/version"
	"cursord/daemon"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/dial"
)

// Injected is what a program that is built for tests makes of the daemon; the zero value injects nothing.
type Injected struct {
	Options func(*daemon.Options)          // sets what only a program for tests can set; nil: nothing
	Ahead   func(unix int64) time.Duration // by how much the fake agent's clock is ahead; nil: by nothing
}

// Now returns the time; tests can move it.
func (i Injected) Now() time.Time {
	now := time.Now()
	if i.Ahead != nil {
		now = now.Add(i.Ahead(now.UnixNano()))
	}
	return now
}

// Foreground serves with its log on errOut, until a signal, a request to stop, or the idle time. trace is the file for all
// messages, or "".
func Foreground(ctx context.Context, errOut io.Writer, trace string, inject Injected) error {
	dirs, err := endpoint.FindDirs()
	if err != nil {
		return err
	}
	settings, warnings, err := config.Load(dirs.Config)
	if mend := config.Mend(dirs.Config, err); mend != "" {
		return fmt.Errorf("%w\n%s", err, mend)
	}
	if err != nil {
		return err
	}
	listener, err := inherit(ctx, dirs)
	if listener == nil && err == nil {
		listener, err = dirs.Listen()
	}
	if errors.Is(err, endpoint.ErrRunning) {
		return fmt.Errorf("%w (process %d): \"cursord stop\" ends it", err, endpoint.LockHolder(dirs.Socket))
	}
	if err != nil {
		return err
	}
	level := new(slog.LevelVar)
	log := slog.New(slog.NewTextHandler(errOut, &slog.HandlerOptions{Level: level}))
	return tracefile.Run(trace, func(t *rpc.Tracer) error {
		return serving{dirs: dirs, listener: listener, trace: t, config: settings, warnings: warnings, log: log, level: level, injected: inject}.run(ctx)
	})
}

// ErrLogged is returned by Background after it has written to the log why it failed.
var ErrLogged = errors.New("the daemon has ended: its log says why")

// Background runs the daemon that a client starts. It writes everything to the log; the client reads there why a start failed.
// It returns nil if another daemon serves.
func Background(ctx context.Context, inject Injected) error {
	dirs, err := endpoint.FindDirs()
	if err != nil {
		return err
	}
	if err := dirs.MakeState(); err != nil {
		return err
	}
	file, err := endpoint.OpenLog(dirs.Log())
	if err != nil {
		return err
	}
	defer file.Close()
	fail := func(err error) error {
		file.Logger(slog.LevelInfo).Error("the daemon ends", "err", err.Error())
		return ErrLogged
	}
	settings, warnings, err := config.Load(dirs.Config)
	if err != nil {
		return fail(err)
	}
	listener, err := inherit(ctx, dirs)
	if listener == nil && err == nil {
		listener, err = listenInTurn(ctx, dirs)
	}
	if err != nil {
		return fail(err)
	}
	if listener == nil {
		return nil
	}
	level := new(slog.LevelVar)
	s := serving{
		dirs: dirs, listener: listener, config: settings, warnings: warnings, log: file.Logger(level), level: level, reopen: file.Reopen,
		injected: inject,
	}
	if err := s.run(ctx); err != nil {
		return fail(err)
	}
	return nil
}

// inherit listens at the socket that this process was started with, if there is one. It first waits for the end of a daemon
// that is ending.
func inherit(ctx context.Context, dirs endpoint.Dirs) (*endpoint.Listener, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*dial.StartLimit)
	defer cancel()
	return dirs.Inherit(ctx)
}

// listenInTurn waits for the end of a daemon that is ending, then listens. It returns nil if another daemon serves.
func listenInTurn(ctx context.Context, dirs endpoint.Dirs) (*endpoint.Listener, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*dial.StartLimit)
	defer cancel()
	for {
		listener, err := dirs.Listen()
		if !errors.Is(err, endpoint.ErrRunning) {
			return listener, err
		}
		if conn, dialErr := endpoint.Dial(ctx, dirs.Socket); dialErr == nil {
			return nil, conn.Close()
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (process %d), and does not accept connections: end it with \"cursord stop --force\"", err, endpoint.LockHolder(dirs.Socket))
		case <-time.After(dial.StartPoll):
		}
	}
}

// A serving is one life of the daemon.
type serving struct {
	dirs     endpoint.Dirs
	listener *endpoint.Listener
	trace    *rpc.Tracer // nil: no trace
	config   config.Config
	warnings []string
	log      *slog.Logger
	level    *slog.LevelVar // of the logger
	reopen   func() error   // reopens the log file; nil without a file
	injected Injected
}

// run serves clients until a signal, a request to stop, or the idle time. At the end it closes in this order: turns,
// connections, database, socket, lock.
func (s serving) run(ctx context.Context) (err error) {
	dirs, listener, log := s.dirs, s.listener, s.log
	dirs.Socket = listener.Path() // an older build may have used another socket
	defer func() { err = errors.Join(err, listener.Release()) }()
	SaveMemory()
	ctx, stop := UntilSignal(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The daemon ignores the end of its terminal.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	s.level.Set(s.config.LogLevel)
	if err := dirs.MakeState(); err != nil {
		return err
	}
	for _, w := range s.warnings {
		log.Warn("configuration", "warning", w)
	}
	options := daemon.Options{
		Version: version.Own(), Written: version.Written(), StateDir: dirs.State, Socket: dirs.Socket, Config: s.config, Log: log,
		Reload: s.reloadIfOther(), Reread: s.reload,
	}
	if s.injected.Options != nil {
		s.injected.Options(&options)
	}
	d, err := daemon.Open(options)
	if err != nil {
		return err
	}
	d.NoteConfiguration(s.warnings)
	if err := dirs.NoteSocket(); err != nil {
		log.Warn("clients in other environments may not find the daemon", "err", err)
	}
	if err := listener.MarkServing(); err != nil {
		return errors.Join(err, d.Close())
	}
	log.Info("serving", "version", version.Own(), "pid", os.Getpid(), "socket", dirs.Socket, "database", dirs.Database())

	connections, closeConnections := context.WithCancel(context.Background())
	defer closeConnections()
	served := make(chan error, 1)
	traced := net.Listener(listener)
	if s.trace != nil {
		traced = s.trace.Listener(traced)
	}
	go func() { served <- rpc.Serve(connections, traced, d, log) }()
	ended, successor := false, ""
	defer s.takeHangups(hangups, d)()
	select {
	case <-ctx.Done():
		log.Info("stopping: a signal")
	case <-d.Stopping():
		if successor = d.Successor(); successor == "" {
			log.Info("stopping: asked to")
			if err := listener.MarkStopped(); err != nil {
				log.Warn("clients may start another daemon", "err", err)
			}
		} else if err := listener.Keep(); err != nil {
			log.Warn("stopping: a newer build is there, whose clients have to wait", "program", successor, "err", err)
			successor = ""
		} else {
			log.Info("stopping: a newer build takes over", "program", successor)
		}
	case err = <-served:
		ended = true
		log.Error("stopping: nobody can connect any more", "err", err)
	}
	d.EndTurns()
	closeConnections()
	if !ended {
		err = <-served
	}
	err = errors.Join(err, d.Close())
	log.Info("stopped")
	if successor != "" {
		log.Error("the newer build has not taken over: starting this one again", "err", listener.Replace(successor))
		own, ownErr := os.Executable()
		if ownErr == nil {
			ownErr = listener.Replace(own)
		}
		log.Error("the next client starts a daemon", "err", ownErr)
	}
	return err
}

// takeHangups reloads the configuration and reopens the log file at each SIGHUP. The returned function ends that.
func (s serving) takeHangups(hangups <-chan os.Signal, d *daemon.Daemon) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-quit:
				return
			case <-hangups:
			}
			if s.reopen != nil {
				if err := s.reopen(); err != nil {
					s.log.Error("a hangup: the log could not be opened anew", "err", err)
				}
			}
			if _, err := s.reload(d); err != nil {
				continue // the log names the error
			}
			s.log.Info("a hangup: read the configuration again")
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// reload reads the configuration again. A configuration with an error changes nothing, and the log names the error.
func (s serving) reload(d *daemon.Daemon) (api.Reloaded, error) {
	settings, warnings, err := config.Load(s.dirs.Config)
	if err != nil {
		s.log.Error("the configuration stays as it was", "err", err)
		e := api.Errorf(api.KindInvalid, "%v", err)
		e.Hint = strings.TrimSuffix("the daemon goes on with the settings that it had; "+config.Mend(s.dirs.Config, err), "; ")
		return api.Reloaded{}, e
	}
	stay := s.follow(d, settings, warnings)
	return api.Reloaded{Path: s.dirs.Config, Warnings: append([]string{}, warnings...), AtStart: stay}, nil
}

// reloadIfOther returns a function that reads the configuration again if the file has changed. The daemon calls it often
// while it has no agent, so each message is logged only once.
func (s serving) reloadIfOther() func(*daemon.Daemon) {
	last := ""
	return func(d *daemon.Daemon) {
		settings, warnings, err := config.Load(s.dirs.Config)
		switch {
		case err != nil && err.Error() != last:
			last = err.Error()
			s.log.Error("there is no agent: the configuration stays as it was", "err", err)
		case err == nil && !d.Follows(settings):
			s.follow(d, settings, warnings)
			s.log.Info("there was no agent: read the configuration again")
		}
	}
}

// follow applies another configuration. It returns the keys that need a restart.
func (s serving) follow(d *daemon.Daemon, settings config.Config, warnings []string) []string {
	for _, w := range warnings {
		s.log.Warn("configuration", "warning", w)
	}
	d.NoteConfiguration(warnings)
	stay := d.Configure(settings)
	for _, key := range stay {
		s.log.Warn("configuration: this holds from the next start on", "key", key)
	}
	s.level.Set(settings.LogLevel)
	return stay
}

// SaveMemory makes garbage collection more frequent above this many bytes, because the process is mostly idle. The limit is
// soft, and GOMEMLIMIT overrides it.
func SaveMemory() {
	const limit = 64 << 20
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

// UntilSignal returns a context that the given signals cancel. A second signal ends the process at once.
func UntilSignal(ctx context.Context, signals ...os.Signal) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
