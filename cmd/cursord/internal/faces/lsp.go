package faces

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"syscall"

	"cursord/cmd/cursord/internal/export"
	"cursord/cmd/cursord/internal/glance"
	"cursord/cmd/cursord/internal/serve"
	"cursord/cmd/cursord/internal/version"
	"cursord/daemon/endpoint"
	"cursord/daemon/filelist"
	"cursord/editors/lsp"
	"cursord/editors/lsp/found"
	"cursord/rpc"
	"cursord/rpc/dial"
	"cursord/rpc/join"
)

// LSP serves a language client until it disconnects, and reports whether it has ended as clients do.
func LSP(ctx context.Context, both io.ReadWriter, errOut io.Writer, daemon dial.Options) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// Editors log stderr.
	log := slog.New(slog.NewTextHandler(errOut, &slog.HandlerOptions{Level: slog.LevelWarn}))
	dirs, err := endpoint.FindDirs()
	if err != nil {
		log.Error(err.Error())
		join.RefuseAll(rpc.NewFrameReader(both, rpc.MaxMessage), both, err)
		return false
	}
	return lsp.Serve(ctx, both, both, lsp.Options{
		Version: version.Own(), StateDir: dirs.State, Dial: func(onNotify func(string, json.RawMessage)) *rpc.Client {
			return join.Client(ctx, join.Local(daemon), onNotify)
		},
		Running: glance.Running, Folders: glance.Folders,
		Transcript: transcriptOf, Files: filelist.Named, Log: log,
		Greeted: func() { // before it, there is no session to end
			signalled, _ := serve.UntilSignal(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
			context.AfterFunc(signalled, cancel)
		},
	})
}

// transcriptOf returns a session as Markdown.
func transcriptOf(ctx context.Context, client *rpc.Client, session string) (t found.Transcript, err error) {
	t.Text, t.Lines, err = export.Chat(ctx, client, session)
	return t, err
}
