package faces

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/user"
	"syscall"

	"cursord/cmd/cursord/internal/serve"
	"cursord/cmd/cursord/internal/version"
	"cursord/editors/acp"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/rpc/join"
)

// ACP serves a client of ACP until it disconnects, and reports whether it has ended as clients do.
func ACP(ctx context.Context, in io.Reader, out, errOut io.Writer, daemon dial.Options) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return acp.Serve(ctx, in, out, acp.Options{
		Version: version.Own(), Dial: func(onNotify func(string, json.RawMessage)) *rpc.Client {
			findHome()
			return join.Client(ctx, join.Local(daemon), onNotify)
		},
		Log: slog.New(slog.NewTextHandler(errOut, nil)),
		Greeted: func() {
			signalled, _ := serve.UntilSignal(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			context.AfterFunc(signalled, cancel)
		},
	})
}

// findHome gives this process, and the daemon that it starts, a home directory: some editors start agents with PATH alone.
func findHome() {
	if os.Getenv("HOME") != "" {
		return
	}
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		_ = os.Setenv("HOME", u.HomeDir) // it can fail only for a name or a value that no variable has
	}
}
