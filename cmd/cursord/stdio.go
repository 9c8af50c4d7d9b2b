package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/serve"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/tracefile"
	"cursord/cmd/cursord/internal/version"
	"cursord/daemon"
	"cursord/daemon/config"
	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/join"
	"cursord/rpc/remote"
)

func stdioCommand() *cobra.Command {
	var standalone bool
	var trace, host, program string
	var paths []string
	c := &cobra.Command{
		Use:   "stdio",
		Short: "Speak the protocol on stdin and stdout, for editors",
		Long: `Speak the protocol on stdin and stdout, for editors: join the user's daemon, and start it if none runs. It ends when
stdin does; the daemon and its turns go on. When the daemon ends, it joins the next one and continues there.

With --host it joins the daemon of another machine: it runs "cursord stdio" there by ssh, with your ssh configuration
for that host. --map names folders that have other paths there; paths in messages are then changed in both directions,
and text is not. The settings ssh, remote_paths and remote_program do the same; CURSORD_SSH overrides ssh.`,
		Example: `  cursord stdio
  cursord stdio --host me@build --map /home/me/src=/srv/src`,
		Args: arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return tracefile.Run(trace, func(t *rpc.Tracer) error {
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
				h, err := findRemote(host, program, paths)
				if err != nil {
					return err
				}
				return statusError(joined(join.Run(c.Context(), both, both, h.Access(version.Own()))))
			})
		},
	}
	tracefile.AddFlag(c, &trace)
	c.Flags().BoolVar(&standalone, "standalone", false, "serve in this process, without the daemon and its socket")
	c.Flags().StringVar(&host, "host", "", "the machine whose daemon to join, as `[USER@]HOST` or a name of your ssh configuration")
	c.Flags().StringArrayVar(&paths, "map", nil, "a folder's path here and there, `HERE=THERE`; may be given more than once")
	c.Flags().StringVar(&program, "remote-program", "", "cursord on that machine, in its shell's words (default \"cursord\")")
	c.MarkFlagsMutuallyExclusive("standalone", "host")
	return c
}

// joinStdio connects in and out to the daemon until one of them ends, and returns the exit status.
func joinStdio(ctx context.Context, in io.Reader, out io.Writer) int {
	return joined(join.Run(ctx, in, out, join.Local(dialOptions())))
}

// joined returns the exit status of a connection that has ended.
func joined(ok bool) int {
	if !ok {
		return exitFailed
	}
	return exitOK
}

// findRemote returns the other machine, by the flags or else by the configuration.
func findRemote(host, program string, paths []string) (*remote.Host, error) {
	dirs, err := endpoint.FindDirs()
	if err != nil {
		return nil, err
	}
	settings, _, err := config.Load(dirs.Config)
	if err != nil {
		return nil, err
	}
	h := &remote.Host{Name: host, SSH: settings.SSH, Program: program, Asks: term.IsTerminal(os.Stderr)}
	if words := strings.Fields(os.Getenv("CURSORD_SSH")); len(words) > 0 {
		h.SSH = words
	}
	if h.Program == "" {
		h.Program = settings.RemoteProgram
	}
	if len(paths) == 0 {
		paths = settings.RemotePaths
	}
	h.Paths, err = remote.ParsePathMap(paths)
	return h, err
}

// serveStdio runs a daemon in this process for the one client on both. Its turns end with the connection.
func serveStdio(ctx context.Context, both io.ReadWriteCloser, errOut io.Writer) int {
	ctx, stop := serve.UntilSignal(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	serve.SaveMemory()
	d, log, err := openStandalone(errOut)
	if err != nil {
		fmt.Fprintf(errOut, "cursord: %v\n", err)
		join.RefuseAll(rpc.NewFrameReader(both, rpc.MaxMessage), both, err)
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
	settings, warnings, err := config.Load(dirs.Config)
	if err != nil {
		return nil, nil, err
	}
	if err := dirs.MakeState(); err != nil {
		return nil, nil, err
	}
	// Editors show text on stderr as an error.
	log := slog.New(slog.NewTextHandler(errOut, &slog.HandlerOptions{Level: max(settings.LogLevel, slog.LevelWarn)}))
	for _, w := range warnings {
		log.Warn("configuration", "warning", w)
	}
	settings.IdleExit = 0 // the editor ends this process
	reload := func(d *daemon.Daemon) {
		settings, _, err := config.Load(dirs.Config)
		if err != nil {
			log.Error("the configuration stays as it was", "err", err)
			return
		}
		if settings.IdleExit = 0; !d.Follows(settings) {
			d.Configure(settings)
		}
	}
	d, err := daemon.Open(daemon.Options{
		Version: version.Own(), Written: version.Written(), StateDir: dirs.State, Config: settings, Log: log, Reload: reload,
	})
	if err == nil {
		d.NoteConfiguration(warnings)
	}
	return d, log, err
}

// stdio is stdin and stdout as one connection.
type stdio struct {
	io.ReadCloser
	out io.WriteCloser
}

func (s stdio) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s stdio) Close() error                { return errors.Join(s.ReadCloser.Close(), s.out.Close()) }
