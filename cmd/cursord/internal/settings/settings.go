// Package settings is "cursord config": it shows and changes the configuration file, and makes a running daemon reload it.
package settings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/config/similar"
	"cursord/daemon/endpoint"
	"cursord/rpc"
)

// A File is the user's configuration file.
type File struct {
	Path    string
	Socket  string // of the daemon that reads the file
	Connect func(context.Context) (*rpc.Client, error)
	JSON    bool
}

// Find returns the configuration file that the daemon reads.
func Find(connect func(context.Context) (*rpc.Client, error), asJSON bool) (*File, error) {
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		return nil, err
	}
	return &File{Path: dirs.Config, Socket: dirs.Socket, Connect: connect, JSON: asJSON}, nil
}

// load reads the file. The keys of wrong have their defaults in the Config.
func (f *File) load() (c config.Config, warnings []string, wrong config.Mistakes, err error) {
	c, warnings, err = config.Load(f.Path)
	if errors.As(err, &wrong) {
		err = nil
	}
	return c, warnings, wrong, f.withHint(err)
}

// mendable returns the error for wrong values, with a hint; nil if there are none.
func (f *File) mendable(wrong config.Mistakes) error {
	if wrong == nil {
		return nil
	}
	return f.withHint(wrong)
}

// withHint returns err with how to mend the file.
func (f *File) withHint(err error) error {
	mend := config.Mend(f.Path, err)
	if mend == "" {
		return err
	}
	return &rpc.Error{Message: err.Error(), Data: rpc.ErrorData{Hint: "the daemon follows no such file: " + mend}}
}

// List prints every key with its value and what it is for. Wrong values are an error after the list.
func (f *File) List(out io.Writer) error {
	c, warnings, wrong, err := f.load()
	if err != nil {
		return err
	}
	def := config.Default()
	values := map[string]string{}
	rows := [][]string{{"KEY", "VALUE", "", "FOR"}}
	for _, key := range config.Keys() {
		value, _ := c.Text(key)
		usual, _ := def.Text(key)
		note := ""
		switch {
		case wrong.Of(key):
			note = "wrong in the file"
		case value != usual:
			note = "set"
		}
		values[key] = value
		rows = append(rows, []string{key, term.Clean(value), note, config.Means(key)})
	}
	if f.JSON {
		if err := term.PrintJSON(out, struct {
			Path     string            `json:"path"`
			Settings map[string]string `json:"settings"` // each value in TOML
		}{f.Path, values}); err != nil {
			return err
		}
		return f.mendable(wrong)
	}
	fmt.Fprintln(out, term.Clean(f.Path))
	term.Table(out, rows, 3, 1)
	for _, w := range warnings {
		fmt.Fprintln(out, term.Clean(w))
	}
	return f.mendable(wrong)
}

// Get prints the value of a key: a text without its quotes, anything else in TOML. A wrong value
// of the key is an error.
func (f *File) Get(out io.Writer, key string) error {
	c, _, wrong, err := f.load()
	if err != nil {
		return err
	}
	for _, m := range wrong {
		if m.Key == key {
			return f.mendable(config.Mistakes{m})
		}
	}
	value, ok := c.Text(key)
	if !ok {
		return unknown(key)
	}
	if f.JSON {
		return term.PrintJSON(out, struct {
			Key   string `json:"key"`
			Value string `json:"value"` // in TOML
		}{key, value})
	}
	fmt.Fprintln(out, term.Clean(config.Bare(value)))
	return nil
}

func unknown(key string) error {
	hint := similar.DidYouMean(key, config.Keys())
	if hint == "" {
		hint = `; "cursord config" lists all keys`
	}
	return misuse.Errorf("unknown key %q%s", term.Clean(key), hint)
}

// Set changes the value of a key in the file and makes a running daemon reload it.
func (f *File) Set(ctx context.Context, out, errOut io.Writer, key, value string) error {
	data, err := f.read()
	if err != nil {
		return err
	}
	edited, err := config.Set(f.Path, data, key, value)
	if errors.As(err, new(*config.KeyError)) {
		return unknown(key)
	}
	if _, _, broken := config.Parse(f.Path, data); err != nil && broken != nil && !errors.As(broken, new(config.Mistakes)) {
		return f.withHint(err)
	}
	if err != nil {
		return misuse.Errorf("%v", err)
	}
	if err := f.write(edited); err != nil {
		return err
	}
	c, _, err := config.Parse(f.Path, edited)
	if err != nil && !errors.As(err, new(config.Mistakes)) {
		return err
	}
	now, _ := c.Text(key)
	if f.JSON {
		err = f.reload(ctx, out, errOut, map[string]string{"key": key, "value": now})
	} else {
		fmt.Fprintf(out, "%s = %s\n", key, term.Clean(now))
		err = f.reload(ctx, io.Discard, errOut, nil)
	}
	if err == nil && key == "model" {
		f.checkModel(ctx, errOut, config.Bare(now))
	}
	return err
}

// Unset removes a key from the file, so that its default holds, and makes a running daemon reload it. The key may be one that
// this version does not know.
func (f *File) Unset(ctx context.Context, out, errOut io.Writer, key string) error {
	data, err := f.read()
	if err != nil {
		return err
	}
	edited, there, err := config.Unset(f.Path, data, key)
	usual := config.Default()
	value, known := usual.Text(key)
	switch {
	case err != nil:
		return f.withHint(err)
	case !there && !known:
		return unknown(key)
	case there:
		if err := f.write(edited); err != nil {
			return err
		}
	}
	switch {
	case f.JSON:
		return f.reload(ctx, out, errOut, map[string]string{"key": key, "value": value})
	case !there:
		fmt.Fprintf(out, "%s was not set: it is %s\n", key, term.Clean(value))
	case known:
		fmt.Fprintf(out, "%s = %s, the default\n", key, term.Clean(value))
	default:
		fmt.Fprintf(out, "removed %s, which is no setting\n", term.Clean(key))
	}
	return f.reload(ctx, io.Discard, errOut, nil)
}

// checkModel warns of a model that the agent does not list. It says nothing if no daemon runs, or if the list does not come
// in time.
func (f *File) checkModel(ctx context.Context, errOut io.Writer, model string) {
	const patience = 10 * time.Second
	if model == "auto" || !endpoint.Running(f.Socket) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client, err := f.Connect(ctx)
	if err != nil {
		return
	}
	defer client.Close()
	list, err := client.AgentModels(ctx)
	if err == nil && len(list.Models) > 0 {
		fmt.Fprint(errOut, modelWarning(model, list.Models))
	}
}

// modelWarning returns a line about a model that is not among the agent's; "" if it is.
func modelWarning(model string, models []api.Model) string {
	var ids []string
	for _, m := range models {
		ids = append(ids, m.ID)
	}
	if slices.Contains(ids, model) {
		return ""
	}
	return fmt.Sprintf("cursord: the agent lists no model %q%s (cursord models lists them)\n", term.Clean(model), similar.DidYouMean(model, ids))
}

// Edit opens the file in the person's editor, and then makes a running daemon reload it. A file with mistakes is not
// reloaded.
func (f *File) Edit(ctx context.Context, in io.Reader, out, errOut io.Writer) error {
	before, err := f.read()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return err
	}
	editor := review.UserEditor(os.Getenv)
	cmd := term.UserCommand(editor, review.EditorArgs(editor, f.Path, 1)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errOut
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", editor, err)
	}
	after, err := f.read()
	switch {
	case err != nil:
		return err
	case bytes.Equal(before, after):
		fmt.Fprintln(errOut, "nothing was changed")
		return nil
	}
	if _, _, err := config.Parse(f.Path, after); err != nil {
		return f.withHint(err)
	}
	return f.reload(ctx, out, errOut, nil)
}

// Reload makes a running daemon reload the file.
func (f *File) Reload(ctx context.Context, out, errOut io.Writer) error {
	return f.reload(ctx, out, errOut, nil)
}

// reload makes a running daemon, if there is one, reload the file, and prints the result. with is added to the JSON.
func (f *File) reload(ctx context.Context, out, errOut io.Writer, with map[string]string) error {
	var r api.Reloaded
	running := endpoint.Running(f.Socket)
	if running {
		client, err := f.Connect(ctx)
		if err != nil {
			return err
		}
		defer client.Close()
		if r, err = client.DaemonReload(ctx); err != nil {
			return err
		}
	} else {
		_, warnings, wrong, err := f.load()
		if err != nil {
			return err
		}
		if err := f.mendable(wrong); err != nil {
			return err
		}
		r = api.Reloaded{Path: f.Path, Warnings: append([]string{}, warnings...)}
	}
	if f.JSON {
		return term.PrintJSON(out, struct {
			api.Reloaded
			Running bool              `json:"running"` // a daemon runs and has reloaded the file
			Set     map[string]string `json:"set,omitempty"`
		}{r, running, with})
	}
	if running {
		fmt.Fprintf(out, "the daemon follows %s: turns that begin now use it\n", term.Clean(r.Path))
	} else {
		fmt.Fprintf(out, "no daemon runs; the next one reads %s\n", term.Clean(r.Path))
	}
	for _, w := range r.Warnings {
		fmt.Fprintln(errOut, "cursord: "+term.Clean(w))
	}
	if len(r.AtStart) > 0 {
		fmt.Fprintf(errOut, "cursord: these hold from the daemon's next start on (cursord stop): %s\n", term.Clean(strings.Join(r.AtStart, ", ")))
	}
	return nil
}

// read returns the content of the file; nil if the file does not exist.
func (f *File) read() ([]byte, error) {
	data, err := endpoint.ReadConfig(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// write replaces the file atomically. If it is a symlink, its target is replaced.
func (f *File) write(data []byte) error {
	path, mode := f.Path, fs.FileMode(0o600)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	t, err := os.CreateTemp(filepath.Dir(path), ".config-*.toml")
	if err != nil {
		return err
	}
	_, err = t.Write(data)
	err = errors.Join(err, t.Chmod(mode), t.Sync(), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}
