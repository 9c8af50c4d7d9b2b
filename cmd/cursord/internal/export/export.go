// Package export writes a whole session, uncut, part by part as the daemon sends it.
package export

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// IntoNewFile creates a file that only this user may read, and fills it by write. If write fails, the file is removed.
func IntoNewFile(path string, write func(io.Writer) error) error {
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

// Session writes a session part by part. format is markdown, ndjson, or chat, which is Markdown with a line for each tool
// call.
func Session(ctx context.Context, client *rpc.Client, session, format string, out io.Writer) error {
	w := bufio.NewWriter(out)
	if format == "ndjson" {
		return send(ctx, client, session, w, NewJSONLines(w))
	}
	return send(ctx, client, session, w, &view.Markdown{W: w, Tamed: term.IsTerminal(out), Brief: format == "chat"})
}

// Chat returns a session in the format chat, and the lines, from 0, at which its turns and items begin, by id.
func Chat(ctx context.Context, client *rpc.Client, session string) (text string, lines map[string]int, err error) {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	lines = map[string]int{}
	err = send(ctx, client, session, w, &view.Markdown{W: w, Brief: true, Lines: lines})
	return b.String(), lines, err
}

// send has a session written to w.
func send(ctx context.Context, client *rpc.Client, session string, w *bufio.Writer, write exporter) error {
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
			switch {
			case p.Turn != nil:
				write.Turn(p.Turn)
			case p.Item != nil:
				write.Item(p.Item)
			case p.Written != nil:
				write.Written(p.Written)
			case p.Told != nil:
				write.Told(p.Told)
			}
		}
		if err := w.Flush(); err != nil { // the first error of all writes
			return err
		}
		if params.Cursor = part.NextCursor; params.Cursor == "" {
			write.End()
			return w.Flush()
		}
	}
}

// An exporter writes a session in some format. Its errors show in the writer that it writes to.
type exporter interface {
	Session(*sessions.Session)
	Turn(*sessions.Turn)
	Item(*sessions.Item)
	Written(*api.WrittenFile)
	Told(*api.Told)
	End()
}

// JSONLines writes a session as lines of JSON, which daemon.ImportSession reads.
type JSONLines struct {
	e   *json.Encoder
	has api.ExportEnd
}

// NewJSONLines returns a JSONLines that writes to w.
func NewJSONLines(w io.Writer) *JSONLines {
	e := json.NewEncoder(term.PlainWriter{W: w})
	e.SetEscapeHTML(false)
	return &JSONLines{e: e}
}

func (j *JSONLines) Session(s *sessions.Session) {
	_ = j.e.Encode(api.ExportHeader{Cursord: "session", Version: 1})
	_ = j.e.Encode(api.ExportLine{Session: s})
}

func (j *JSONLines) Turn(t *sessions.Turn) {
	j.has.Turns++
	_ = j.e.Encode(api.ExportLine{ExportPart: api.ExportPart{Turn: t}})
}

func (j *JSONLines) Item(it *sessions.Item) {
	j.has.Items++
	_ = j.e.Encode(api.ExportLine{ExportPart: api.ExportPart{Item: it}})
}

func (j *JSONLines) Written(file *api.WrittenFile) {
	_ = j.e.Encode(api.ExportLine{ExportPart: api.ExportPart{Written: file}})
}

func (j *JSONLines) Told(told *api.Told) {
	_ = j.e.Encode(api.ExportLine{ExportPart: api.ExportPart{Told: told}})
}

func (j *JSONLines) End() { _ = j.e.Encode(api.ExportLine{End: &j.has}) }

// Spool copies r into a temporary file, which the caller removes.
func Spool(r io.Reader) (path string, err error) {
	f, err := os.CreateTemp("", "cursord-import-*.ndjson")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}
