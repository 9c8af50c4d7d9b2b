package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"cursord/daemon"
	"cursord/daemon/endpoint"
	"cursord/rpc"
)

func stdioCommand() *cobra.Command {
	var standalone bool
	var trace, host, program string
	var paths []string
	c := &cobra.Command{
		Use:   "stdio",
		Short: "Speak the protocol on stdin and stdout, for editors",
		Long: `Speak the protocol on stdin and stdout, for editors: join the user's daemon, starting it if none runs.
It ends when its stdin does; the daemon and its turns go on. When the daemon ends, it joins the next one and goes on
there.

With --host the daemon is another machine's: "cursord stdio" runs there by ssh, with all that your ssh configuration says
of that host. Folders that have other paths there are told by --map: paths in messages are changed both ways, text is
not. The configuration has the keys ssh, remote_paths and remote_program for that; CURSORD_SSH goes before ssh.`,
		Example: `  cursord stdio
  cursord stdio --host me@build --map /home/me/src=/srv/src`,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return traced(trace, func(t *rpc.Tracer) error {
				both := io.ReadWriteCloser(stdio{os.Stdin, os.Stdout})
				if t != nil {
					both = t.Conn(both)
					defer both.Close()
				}
				if standalone {
					return statusError(serveStdio(c.Context(), both, os.Stderr))
				}
				if host == "" {
					return statusError(joinStdio(c.Context(), both, both))
				}
				r, err := findRemote(host, program, paths)
				if err != nil {
					return err
				}
				return statusError(join(c.Context(), both, both, r.access()))
			})
		},
	}
	addTraceFlag(c, &trace)
	c.Flags().BoolVar(&standalone, "standalone", false, "serve in this process, without the daemon and its socket")
	c.Flags().StringVar(&host, "host", "", "the machine whose daemon to join, as `[USER@]HOST` or a name of your ssh configuration")
	c.Flags().StringArrayVar(&paths, "map", nil, "a folder's path here and there, `HERE=THERE`; may be given more than once")
	c.Flags().StringVar(&program, "remote-program", "", "cursord on that machine, as its shell takes it (default \"cursord\")")
	c.MarkFlagsMutuallyExclusive("standalone", "host")
	return c
}

// joinStdio joins in and out to the daemon and returns the exit status.
func joinStdio(ctx context.Context, in io.Reader, out io.Writer) int {
	return join(ctx, in, out, localAccess())
}

// localAccess leads to the user's daemon on this machine, which it starts if none runs.
func localAccess() access {
	replaced := false
	var dirs endpoint.Dirs // where the last daemon was
	return access{
		dial: func(ctx context.Context) (_ io.ReadWriteCloser, err error) {
			if dirs, err = endpoint.FindDaemon(); err != nil {
				return nil, err
			}
			return connect(ctx, dirs)
		},
		hello: func() (string, json.RawMessage) {
			p := ownBuild()
			if replaced {
				p.Program = "" // once is enough: what is at that path may be another program by now
			}
			replaced = true
			raw, err := json.Marshal(p)
			if err != nil {
				panic(err) // strings and a number
			}
			return "daemon/join", raw
		},
		environment: ownEnvironment,
		silent:      func() string { return silentDaemon(dirs) },
		hint:        doctorHint,
		stopped: func() bool {
			if !endpoint.Stopped(dirs.Socket) {
				return false
			}
			now, err := endpoint.FindDaemon()
			return err == nil && (now.Socket == dirs.Socket || !endpoint.Running(now.Socket))
		},
		starting: func() bool { return !endpoint.Serving(dirs.Socket) },
	}
}

// silentDaemon says what to do about a daemon that does not answer.
func silentDaemon(dirs endpoint.Dirs) string {
	return fmt.Sprintf("the daemon (process %d) does not answer: \"cursord stop --force\" ends it, and the next client starts another", endpoint.LockHolder(dirs.Socket))
}

// serveStdio serves on both in this process until it ends; the turns end with it.
func serveStdio(ctx context.Context, both io.ReadWriteCloser, errOut io.Writer) int {
	ctx, stop := untilSignal(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	saveMemory()
	d, log, err := openStandalone(errOut)
	if err != nil {
		fmt.Fprintf(errOut, "cursord: %v\n", err)
		refuseAll(rpc.NewFrameReader(both, rpc.MaxMessage), both, err)
		return exitFailed
	}
	rpc.ServeConn(ctx, both, d, log)
	if err := d.Close(); err != nil {
		fmt.Fprintf(errOut, "cursord: %v\n", err)
		return exitFailed
	}
	return exitOK
}

func openStandalone(errOut io.Writer) (*daemon.Daemon, *slog.Logger, error) {
	dirs, err := endpoint.FindDirs()
	if err != nil {
		return nil, nil, err
	}
	config, warnings, err := daemon.LoadConfig(dirs.Config)
	if err != nil {
		return nil, nil, err
	}
	if err := dirs.MakeState(); err != nil {
		return nil, nil, err
	}
	// Editors show what comes on stderr as trouble.
	log := slog.New(slog.NewTextHandler(errOut, &slog.HandlerOptions{Level: max(config.LogLevel, slog.LevelWarn)}))
	for _, w := range warnings {
		log.Warn("configuration", "warning", w)
	}
	config.IdleExit = 0 // it is for the editor to end us
	reload := func(d *daemon.Daemon) {
		config, _, err := daemon.LoadConfig(dirs.Config)
		if err != nil {
			log.Error("the configuration stays as it was", "err", err)
			return
		}
		if config.IdleExit = 0; !d.Follows(config) {
			d.Configure(config)
		}
	}
	d, err := daemon.Open(daemon.Options{
		Version: version(), Written: ownWritten(), StateDir: dirs.State, Config: config, Log: log, Reload: reload,
	})
	return d, log, err
}

// stdio is stdin and stdout as one connection.
type stdio struct {
	io.ReadCloser
	out io.WriteCloser
}

func (s stdio) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s stdio) Close() error                { return errors.Join(s.ReadCloser.Close(), s.out.Close()) }
