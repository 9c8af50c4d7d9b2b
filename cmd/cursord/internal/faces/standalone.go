package faces

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"

	"cursord/cmd/cursord/internal/serve"
	"cursord/cmd/cursord/internal/version"
	"cursord/daemon"
	"cursord/daemon/config"
	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/join"
)

// Standalone runs a daemon in this process for the one client on both. Its turns end with the connection. It
// returns false if the daemon could not start, or not end, and has then said why.
func Standalone(ctx context.Context, both io.ReadWriteCloser, errOut io.Writer) bool {
	ctx, stop := serve.UntilSignal(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	serve.SaveMemory()
	d, log, err := openStandalone(errOut)
	if err != nil {
		fmt.Fprintf(errOut, "cursord: %v\n", err)
		join.RefuseAll(rpc.NewFrameReader(both, rpc.MaxMessage), both, err)
		return false
	}
	rpc.ServeConn(ctx, both, d, log)
	if err := d.Close(); err != nil {
		fmt.Fprintf(errOut, "cursord: %v\n", err)
		return false
	}
	return true
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
