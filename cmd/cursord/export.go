package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

func exportCommand() *cobra.Command {
	var p place
	var format, file string
	c := &cobra.Command{
		Use:   "export SESSION",
		Short: "Write all of a session, nothing cut, as Markdown or lines of JSON",
		Long: `Write all of a session, nothing cut: as Markdown, for people, or as lines of JSON (ndjson), which "cursord import" takes
on this machine or another.

` + namesHelp,
		Example: `  cursord export 01J9ZK4T6Q >session.md
  cursord export 01J9ZK4T6Q --format ndjson -o session.ndjson`,
		Args: func(c *cobra.Command, args []string) error {
			if format != "markdown" && format != "ndjson" {
				return fmt.Errorf("--format is %q; it must be markdown or ndjson", format)
			}
			return takes(1, 1)(c, args)
		},
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
			session, err := p.session(c.Context(), client, args[0])
			if err != nil {
				return err
			}
			if file == "" || file == "-" {
				return export(c.Context(), client, session, format, c.OutOrStdout())
			}
			return intoNewFile(file, func(w io.Writer) error { return export(c.Context(), client, session, format, w) })
		}),
	}
	p.addFlag(c)
	c.Flags().StringVar(&format, "format", "markdown", "the `FORMAT`: markdown or ndjson")
	c.Flags().StringVarP(&file, "output", "o", "", "the new `FILE` to write to (default: stdout)")
	return c
}

// intoNewFile has write fill a new file, which only this user may read, and which is gone again when that fails.
func intoNewFile(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: choose another name, or remove it", path)
	}
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// export writes a session part by part.
func export(ctx context.Context, client *rpc.Client, session, format string, out io.Writer) error {
	w := bufio.NewWriter(out)
	var write exporter = &view.Markdown{W: w, Tamed: term.IsTerminal(out)}
	if format == "ndjson" {
		write = newJSONLines(w)
	}
	params := rpc.SessionExportParams{SessionID: session}
	for {
		part, err := client.SessionExport(ctx, params)
		if err != nil {
			return err
		}
		if part.Session != nil {
			write.Session(part.Session)
		}
		for _, p := range part.Parts {
			if p.Turn != nil {
				write.Turn(p.Turn)
			} else if p.Item != nil {
				write.Item(p.Item)
			}
		}
		if err := w.Flush(); err != nil { // the first error of any write
			return err
		}
		if params.Cursor = part.NextCursor; params.Cursor == "" {
			write.End()
			return w.Flush()
		}
	}
}

// An exporter writes a session in some form. Errors stay in what it writes to.
type exporter interface {
	Session(*sessions.Session)
	Turn(*sessions.Turn)
	Item(*sessions.Item)
	End()
}

// jsonLines writes what daemon.ImportSession reads.
type jsonLines struct {
	e   *json.Encoder
	has api.ExportEnd
}

func newJSONLines(w io.Writer) *jsonLines {
	e := json.NewEncoder(term.PlainWriter{W: w})
	e.SetEscapeHTML(false)
	return &jsonLines{e: e}
}

func (j *jsonLines) Session(s *sessions.Session) {
	_ = j.e.Encode(api.ExportHeader{Cursord: "session", Version: 1})
	_ = j.e.Encode(api.ExportLine{Session: s})
}

func (j *jsonLines) Turn(t *sessions.Turn) {
	j.has.Turns++
	_ = j.e.Encode(api.ExportLine{ExportPart: api.ExportPart{Turn: t}})
}

func (j *jsonLines) Item(it *sessions.Item) {
	j.has.Items++
	_ = j.e.Encode(api.ExportLine{ExportPart: api.ExportPart{Item: it}})
}

func (j *jsonLines) End() { _ = j.e.Encode(api.ExportLine{End: &j.has}) }
