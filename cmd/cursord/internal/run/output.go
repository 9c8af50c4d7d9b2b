package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/pages"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/rpc"
	"cursord/sessions"
)

// A Format is the format of the answer.
type Format string

const (
	Text   Format = "text"        // the agent's text as it comes
	JSON   Format = "json"        // one Outcome, at the end
	Stream Format = "stream-json" // the turn's notifications as they come, one a line
)

// CheckFormat returns the format for the flags' values.
func CheckFormat(name string, asJSON bool) (Format, error) {
	f := Format(name)
	switch {
	case name == "" && asJSON:
		return Stream, nil
	case name == "":
		return Text, nil
	case !slices.Contains([]Format{Text, JSON, Stream}, f):
		return "", fmt.Errorf("--output-format is %q; it must be text, json or stream-json", name)
	case asJSON && f != Stream:
		return "", fmt.Errorf("--json is --output-format stream-json: it excludes --output-format %s", name)
	}
	return f, nil
}

// Follow returns a follower that writes the answer to out and everything else to errOut; quiet leaves out the latter.
func Follow(turn string, f Format, out, errOut io.Writer, quiet bool) *view.Follower {
	switch {
	case f == Stream:
		return view.NewFollower(turn, nil, out)
	case f == JSON:
		return view.NewFollower(turn, nil, nil)
	case quiet:
		errOut = io.Discard
	}
	return view.NewFollower(turn, view.NewScreen(out, errOut), nil)
}

// PrintText prints the agent's text of a turn that has ended, as Follow does in the format Text.
func PrintText(ctx context.Context, client *rpc.Client, out io.Writer, turn *sessions.Turn) error {
	items, err := pages.Items(ctx, client, turn)
	if err != nil {
		return err
	}
	show := view.NewScreen(out, io.Discard)
	for _, item := range items {
		show.Item(item)
	}
	show.End()
	return nil
}

// An Outcome is a turn that has ended, for programs.
type Outcome struct {
	Result     *string             `json:"result"`  // the agent's text; null: the turn ended before it
	Session    string              `json:"session"` // its id
	Turn       string              `json:"turn"`    // its id
	Status     sessions.TurnStatus `json:"status"`
	Error      *sessions.TurnError `json:"error"`
	Usage      *sessions.Usage     `json:"usage"`
	DurationMS int64               `json:"durationMs"`
	Pending    *Pending            `json:"pending"` // null: the daemon did not answer
}

// PrintBegun prints the id of a turn that has begun; as JSON with its session.
func PrintBegun(w io.Writer, turn *sessions.Turn, f Format) error {
	if f == Text {
		_, err := fmt.Fprintln(w, term.Clean(turn.ID))
		return err
	}
	return term.PrintJSON(w, struct {
		Session string              `json:"session"`
		Turn    string              `json:"turn"`
		Status  sessions.TurnStatus `json:"status"`
	}{turn.SessionID, turn.ID, turn.Status})
}

// A Pending counts the pending hunks after a turn.
type Pending struct {
	Hunks int `json:"hunks"` // hunks of this turn
	All   int `json:"all"`   // hunks of the workspace
	Files int `json:"files"` // files with these hunks
}

// PendingAfter counts the pending hunks after a turn; nil if the daemon does not answer.
func PendingAfter(ctx context.Context, client *rpc.Client, turn *sessions.Turn) *Pending {
	list, err := client.DiffList(ctx, rpc.DiffParams{Workspace: turn.Workspace})
	if err != nil {
		return nil // the turn has ended nevertheless
	}
	p := &Pending{}
	for _, d := range list.Diffs {
		if len(d.Hunks) > 0 {
			p.Files++
		}
		p.All += len(d.Hunks)
		for _, h := range d.Hunks {
			if slices.ContainsFunc(h.Sources, func(s sessions.Source) bool { return s.TurnID == turn.ID }) {
				p.Hunks++
			}
		}
	}
	return p
}

// PrintOutcome prints a turn that has ended as one object.
func PrintOutcome(w io.Writer, turn *sessions.Turn, p *Pending) error {
	o := Outcome{
		Result: turn.Result, Session: turn.SessionID, Turn: turn.ID, Status: turn.Status, Error: turn.Error, Usage: turn.Usage, Pending: p,
	}
	if turn.StartedAt != nil && turn.EndedAt != nil {
		o.DurationMS = max(turn.EndedAt.Sub(turn.StartedAt.Time).Milliseconds(), 0)
	}
	return term.PrintJSON(w, o)
}

// SayEnd prints a turn's session, end and usage, and the number of pending hunks. here is the workspace of the current
// folder, in which cursord diff needs no -w; "" if unknown.
func SayEnd(w io.Writer, turn *sessions.Turn, p *Pending, here string) {
	term.PrintFolded(w, term.PaletteOf(w).Dim("session "+term.Clean(turn.SessionID)+" · "+view.TurnEnd(turn))+"\n")
	if p == nil || p.Hunks == 0 {
		return
	}
	how := fmt.Sprintf("%s in %s to review", term.Count(p.Hunks, "hunk"), term.Count(p.Files, "file"))
	if p.All != p.Hunks {
		how = fmt.Sprintf("%s from this turn, %d in all, in %s to review", term.Count(p.Hunks, "hunk"), p.All, term.Count(p.Files, "file"))
	}
	where := ""
	if turn.Workspace != here {
		where = " -w " + term.ShellWord(turn.Workspace)
	}
	term.PrintFolded(w, fmt.Sprintf("%s: cursord diff%s\n", how, where))
}

// PrintError prints the error of a turn of which no end is known, as one object on one line. It prints nothing if a signal has
// ended the command.
func PrintError(w io.Writer, err error) {
	if errors.As(err, new(term.SignalError)) {
		return
	}
	e := sessions.TurnError{Message: err.Error()}
	if answer := (*rpc.Error)(nil); errors.As(err, &answer) {
		e.Kind, e.Hint = string(answer.Data.Kind), answer.Data.Hint
	} else if errors.As(err, new(*misuse.Error)) {
		e.Kind = "usage"
	}
	_ = json.NewEncoder(w).Encode(struct {
		Error sessions.TurnError `json:"error"`
	}{e})
}

// A File takes the answer instead of stdout. Its old content stays until the turn has begun.
type File struct {
	f     *os.File
	made  bool // this command made the file
	begun bool
	err   error // the error of the first failed write
}

// OpenFile opens a file for writing. An error comes before the turn starts.
func OpenFile(path string) (*File, error) {
	made := true
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		made = false
		f, err = os.OpenFile(path, os.O_WRONLY, 0)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, misuse.Errorf("-o: the folder of %s is not there", term.Clean(path))
	}
	if err != nil {
		return nil, misuse.Errorf("-o: %v", err)
	}
	return &File{f: f, made: made}, nil
}

// Write replaces the old content at its first call, and then appends.
func (f *File) Write(b []byte) (int, error) {
	n, err := 0, f.begin()
	if err == nil {
		n, err = f.f.Write(b)
	}
	f.err = cmp.Or(f.err, err)
	return n, err
}

func (f *File) begin() error {
	if f.begun {
		return nil
	}
	f.begun = true
	if info, err := f.f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil // a pipe or a device
	}
	return f.f.Truncate(0)
}

// Close closes the file and returns the error of the first failed write. If the turn has not begun, the file is as it was
// before.
func (f *File) Close(turnBegun bool) error {
	err := f.err
	switch {
	case turnBegun:
		err = cmp.Or(err, f.begin())
	case f.made:
		defer os.Remove(f.f.Name())
	}
	return errors.Join(err, f.f.Close())
}
