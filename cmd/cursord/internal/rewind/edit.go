package rewind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// An Edit is the last prompt of a session, which a person changes to send it anew: Open, Check, and End when the new turn has begun or
// was refused.
type Edit struct {
	// Given is what the person has given beside the prompt, but for files. An unchanged prompt is sent only if Given differs from the old turn, or if
	// Files is set.
	Given *rpc.TurnStartParams
	Files bool // files or images are given

	Turn *sessions.Turn // set by Open: the turn to take back
	Text string         // set by Open: the new prompt

	file string // holds Text until the new turn has begun
}

// ErrUnchanged says that there is nothing to send: the person left the prompt as it was, or emptied it.
var ErrUnchanged = errors.New("the prompt is unchanged or empty")

// Open has the person edit the last prompt of a session with $VISUAL or $EDITOR, without which it needs a terminal. It is api.KindBusy while
// a turn of the session runs or waits. The error is ErrUnchanged if nothing is to be sent.
func (e *Edit) Open(ctx context.Context, client *rpc.Client, session string, in io.Reader, out, errOut io.Writer) (err error) {
	if e.Turn, err = last(ctx, client, session); err != nil {
		return err
	}
	if !term.IsTerminal(in) && os.Getenv("VISUAL") == "" && os.Getenv("EDITOR") == "" {
		return &rpc.Error{
			Message: "there is no terminal for an editor",
			Data:    rpc.ErrorData{Hint: "set VISUAL or EDITOR to one that needs none, or take the turn back with: cursord rewind --turn " + e.Turn.ID + " " + session},
		}
	}
	e.Text, err = e.typed(in, out, errOut)
	if err != nil || e.Text == "" || e.Text == strings.TrimSpace(e.Turn.Prompt) && !e.Files && !differs(e.Given, e.Turn) {
		_ = os.Remove(e.file)
		e.file = ""
		if err == nil {
			err = ErrUnchanged
		}
	}
	return err
}

// differs reports whether the flags of a new turn ask for something else than the old turn had.
func differs(p *rpc.TurnStartParams, t *sessions.Turn) bool {
	other := func(dir string) bool { return !slices.Contains(t.AddDirs, dir) }
	return p.Force && !t.Force || p.Mode != nil && *p.Mode != t.Mode ||
		p.Model != nil && (t.Model == nil || *p.Model != *t.Model) || p.Approvals != "" && (p.Approvals == "deny") != (t.Approvals == "deny") ||
		p.Sandbox != nil && *p.Sandbox != t.Sandbox || p.AutoReview != nil && *p.AutoReview != t.AutoReview ||
		p.AddDirs != nil && slices.ContainsFunc(*p.AddDirs, other)
}

// typed returns what the person has made of the prompt, without white space around it.
func (e *Edit) typed(in io.Reader, out, errOut io.Writer) (string, error) {
	f, err := os.CreateTemp("", "cursord-prompt-*.md")
	if err != nil {
		return "", err
	}
	e.file = f.Name()
	_, err = f.WriteString(strings.TrimRight(e.Turn.Prompt, "\n") + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	editor := review.UserEditor(os.Getenv)
	cmd := term.UserCommand(editor, review.EditorArgs(editor, e.file, 0)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errOut
	if !term.IsTerminal(out) { // it is for the answer, not for the editor's screen
		cmd.Stdout = errOut
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w; nothing was sent", editor, err)
	}
	raw, err := os.ReadFile(e.file)
	switch {
	case err != nil:
		return "", err
	case !utf8.Valid(raw) || strings.ContainsRune(string(raw), 0):
		return "", errors.New("the prompt is not text in UTF-8 any more; nothing was sent")
	}
	return strings.TrimSpace(string(raw)), nil
}

// last returns the last turn of a session in which nothing runs or waits.
func last(ctx context.Context, client *rpc.Client, session string) (*sessions.Turn, error) {
	active, err := client.TurnList(ctx, rpc.TurnListParams{SessionID: session, Active: true, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(active.Turns) > 0 {
		return nil, busy(active.Turns[0])
	}
	list, err := client.TurnList(ctx, rpc.TurnListParams{SessionID: session, Limit: 100})
	if err != nil {
		return nil, err
	}
	list.Turns = slices.DeleteFunc(list.Turns, func(t *sessions.Turn) bool { return t.Check }) // they go with the prompt before them
	switch {
	case len(list.Turns) == 0:
		return nil, &rpc.Error{
			Message: "the session has no prompt yet", Data: rpc.ErrorData{Hint: "begin with: cursord run --session " + session + " …"},
		}
	case !list.Turns[0].Status.Final(): // begun meanwhile
		return nil, busy(list.Turns[0])
	}
	return list.Turns[0], nil
}

func busy(t *sessions.Turn) error {
	return &rpc.Error{
		Message: "a turn of this session runs or waits, so that its last prompt cannot be edited",
		Data: rpc.ErrorData{
			Kind: api.KindBusy, Hint: fmt.Sprintf("wait for its end with: cursord wait %s, or end it with: cursord cancel %[1]s", term.Clean(t.ID)),
		},
	}
}

// Context returns what went with the old prompt and goes with the new one: images unless new ones are given, files and selections unless
// new files are. It names to errOut what goes along, and what cannot.
func (e *Edit) Context(given []rpc.Context, errOut io.Writer) (with []rpc.Context) {
	isGiven := func(kind string) bool {
		return slices.ContainsFunc(given, func(c rpc.Context) bool { return c.Kind == kind })
	}
	var names []string
	for _, c := range e.Turn.Context {
		name := term.Clean(cmp.Or(c.Path, c.Title, c.Kind))
		if c.Range != nil {
			name += fmt.Sprintf(":%d-%d", c.Range.Start.Line+1, max(c.Range.End.Line, c.Range.Start.Line+1))
		}
		one, kept := rpc.AgainOne(&c)
		switch {
		case (c.Kind == "file" || c.Kind == "selection") && isGiven("file"):
			continue
		case !kept:
			fmt.Fprintf(errOut, "without %s, which was too long to be kept\n", name)
			continue
		}
		names, with = append(names, name), append(with, one)
	}
	if len(names) > 0 {
		fmt.Fprintf(errOut, "again with %s\n", strings.Join(names, ", "))
	}
	if isGiven("image") {
		return with
	}
	for _, path := range e.Turn.Images {
		if _, err := os.Stat(path); err != nil {
			fmt.Fprintf(errOut, "without the image %s, which is not there any more\n", term.Clean(path))
			continue
		}
		with = append(with, rpc.Context{Kind: "image", Path: &path})
	}
	return with
}

// Check returns an error if a turn began after Open: it would be taken back too.
func (e *Edit) Check(ctx context.Context, client *rpc.Client) error {
	now, err := last(ctx, client, e.Turn.SessionID)
	if err == nil && now.ID != e.Turn.ID {
		err = &rpc.Error{Message: "another turn of the session has begun meanwhile; nothing was taken back", Data: rpc.ErrorData{Kind: api.KindBusy}}
	}
	return err
}

// TookBack says what the start of the new turn has taken back, and what it left.
func (e *Edit) TookBack(done api.Rewound, errOut io.Writer) (lines []string) {
	text := fmt.Sprintf("took back %s and %s\n", turns(done), changes(done)) + left(done.Skipped)
	return strings.Split(strings.TrimRight(term.Fold(text, term.Columns(errOut)), "\n"), "\n")
}

// End removes the person's text where the turn has begun with it, and otherwise says to errOut where it is.
func (e *Edit) End(begun bool, errOut io.Writer) {
	switch {
	case e.file == "":
	case begun:
		_ = os.Remove(e.file)
	default:
		fmt.Fprintf(errOut, "cursord: your prompt is in %s; send it with: cursord run --session %s - <%s\n",
			term.Clean(e.file), term.Clean(e.Turn.SessionID), term.ShellWord(e.file))
	}
}
