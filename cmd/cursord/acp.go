package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/user"
	"syscall"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/serve"
	"cursord/cmd/cursord/internal/tracefile"
	"cursord/cmd/cursord/internal/version"
	"cursord/editors/acp"
	"cursord/rpc"
)

func acpCommand() *cobra.Command {
	var trace string
	c := &cobra.Command{
		Use:   "acp",
		Short: "Be an agent for editors that speak ACP, on stdin and stdout",
		Long: `Be an agent on stdin and stdout for editors that speak the Agent Client Protocol: Zed, CodeCompanion and avante in
Neovim, agent-shell in Emacs, JetBrains' IDEs, acpx and others. It joins the user's daemon, starts it if none runs, and joins
the next one when that ends. It ends when stdin does; turns go on, and session/load brings them back.

In a prompt /review shows what is left to review, /accept and /reject decide about it, /undo takes a decision back,
/rewind takes the last turns back, /recap asks the last prompt again in a fresh chat, and /sessions lists the sessions of the folder.`,
		Args: arguments.Takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return tracefile.Run(trace, func(t *rpc.Tracer) error {
				if t == nil {
					return statusError(serveACP(c.Context(), os.Stdin, os.Stdout, os.Stderr))
				}
				both := t.Conn(stdio{os.Stdin, os.Stdout})
				defer both.Close()
				return statusError(serveACP(c.Context(), both, both, os.Stderr))
			})
		},
	}
	tracefile.AddFlag(c, &trace)
	return c
}

// serveACP serves a client of ACP until it disconnects.
func serveACP(ctx context.Context, in io.Reader, out, errOut io.Writer) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ok := acp.Serve(ctx, in, out, acp.Options{
		Version: version.Own(), Dial: func() io.ReadWriteCloser {
			findHome()
			return inProcess(ctx)
		},
		Log: slog.New(slog.NewTextHandler(errOut, nil)),
		Greeted: func() {
			signalled, _ := serve.UntilSignal(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			context.AfterFunc(signalled, cancel)
		},
	})
	if !ok {
		return exitFailed
	}
	return exitOK
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
