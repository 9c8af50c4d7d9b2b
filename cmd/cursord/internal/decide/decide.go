// Package decide is "cursord accept" and "cursord reject". It finds the hunks that a person means, has the daemon decide
// them, and reports the result. It names the hunks that a reject left because they may be the person's own.
package decide

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// A Decision is a command line of accept or reject.
type Decision struct {
	Accept  bool
	Names   []string // hunks, and paths and patterns of files
	Files   []string // paths and patterns of files
	Turn    string   // a turn's name
	All     bool
	Lines   string // only these lines of a single hunk, in the form that Lines reads
	Rev     uint64 // only if the file has not changed since this revision; 0: whatever it is
	Comment string
	Replace bool // the person's lines go where these are changed, too
	JSON    bool
}

// ErrPartly is returned if hunks were named and some of them were left, if files were named and all of their hunks were left, or if a hunk
// could not be decided because of a conflict. Do has already printed why.
var ErrPartly = errors.New("some hunks were left")

var errReplace = misuse.Errorf("--replace goes with whole hunks that you name by their ids, which cursord diff shows")

func (d Decision) verb() string {
	if d.Accept {
		return "accept"
	}
	return "reject"
}

func (d Decision) done() string { return d.verb() + "ed" }

// Check returns an error if the command line makes no sense. It asks nobody.
func (d Decision) Check() error {
	given := 0
	for _, is := range []bool{len(d.Names) > 0 || len(d.Files) > 0, d.All, d.Turn != ""} {
		if is {
			given++
		}
	}
	switch hunks, files := d.apart(); {
	case d.Replace && (len(hunks) == 0 || len(files) > 0 || d.All || d.Turn != "" || d.Lines != ""):
		return errReplace
	case given == 0:
		if d.Lines != "" {
			return misuse.Errorf("--lines %s is of no hunk: name one", term.Clean(d.Lines))
		}
		return misuse.Errorf("give hunks or files, or --turn, or --all")
	case given > 1:
		return misuse.Errorf("hunks and files, --turn and --all exclude each other")
	}
	if hunks, files := d.apart(); d.Rev != 0 && (len(hunks)+len(files) == 0 || len(hunks) > 0 && len(files) > 0 || len(files) > 1) {
		return misuse.Errorf("--rev goes with hunks of one file, or with a single file")
	}
	if d.Lines == "" {
		return nil
	}
	if hunks, files := d.apart(); len(hunks) != 1 || len(files) > 0 {
		return misuse.Errorf("--lines goes with a single hunk")
	}
	_, err := Lines(d.Lines)
	return err
}

// Do makes the decision in a workspace and prints the result: to out, and the skipped hunks to errOut. It is an error if the
// turn of the decision has no pending hunk.
func (d Decision) Do(ctx context.Context, n naming.Names, out, errOut io.Writer) error {
	hunks, files := d.apart()
	root, err := review.WorkspaceOf(ctx, n.Client, n.Root, n.Owner, files)
	if err != nil {
		return err
	}
	if root != n.Root {
		n.Root, n.Known = root, nil // as with -w
	}
	params := rpc.DecideParams{Workspace: n.Root, All: d.All, Comment: d.Comment, Replace: d.Replace}
	var skipped []api.Skipped
	var before []*sessions.Diff // what there was to review; not known for an accept of all
	if d.All && d.Accept {
		if err := noRivals(ctx, n); err != nil {
			return err
		}
	} else {
		if before, err = review.Pending(ctx, n.Client, n.Root); err != nil {
			return err
		}
	}
	if d.Turn != "" {
		if params.TurnID, err = n.Turn(ctx, d.Turn); err != nil {
			return err
		}
	}
	var named []string // hunks by their ids
	if len(hunks)+len(files) > 0 {
		if named, err = naming.Hunks(hunks, before); err != nil {
			return err
		}
		if skipped, err = d.choose(n.Root, before, named, files, &params); err != nil {
			return err
		}
		if d.Rev != 0 && len(files) == 1 && params.Path == "" {
			return misuse.Errorf("--rev goes with a single file, and %s are more", term.Clean(files[0]))
		}
	}
	if d.Rev != 0 {
		params.Rev = &d.Rev
	}
	var decided api.Decided
	if params.Hunks == nil || len(*params.Hunks) > 0 {
		ended := term.Waits(errOut, d.verb()+"ing")
		err := n.Client.Call(ctx, "diff/"+d.verb(), params, &decided)
		if ended(); err != nil {
			return err
		}
	}
	if d.Turn != "" && decided.Applied == 0 && len(decided.Skipped) == 0 {
		left, _ := review.Pending(ctx, n.Client, n.Root)
		return noneOfTurn(params.TurnID, left)
	}
	decided.Diffs = append([]*sessions.Diff{}, decided.Diffs...) // [] in JSON, never null
	decided.Skipped = append(decided.Skipped, skipped...)
	if d.JSON {
		err = term.PrintJSON(out, decided)
	} else {
		left, _ := review.Pending(ctx, n.Client, n.Root) // without the list, only the count of what is left is missing
		d.tell(out, errOut, decided, before, left)
		fmt.Fprint(out, d.about(before, named, decided.Skipped, term.Columns(out)))
		if !d.Accept && decided.Applied > 0 {
			term.PrintFolded(errOut, d.nextPrompt(ctx, n, before, left))
		}
	}
	if d.Turn != "" {
		term.PrintFolded(errOut, d.sharedHunks(before, params.TurnID, decided.Skipped))
	}
	failed := slices.ContainsFunc(decided.Skipped, func(s api.Skipped) bool { return s.Kind == api.KindConflict })
	none := len(files) > 0 && decided.Applied == 0
	if err == nil && len(decided.Skipped) > 0 && (failed || none || len(hunks) > 0) {
		return ErrPartly
	}
	return err
}

// noneOfTurn returns the error for a turn without pending hunks. left is what the workspace has to review.
func noneOfTurn(turn string, left []*sessions.Diff) error {
	others := "nothing is left to review"
	switch hunks, _ := review.Count(left); {
	case hunks == 1:
		others = "1 hunk of another turn is"
	case hunks > 1:
		others = term.Count(hunks, "hunk") + " of other turns are"
	}
	return fmt.Errorf("nothing of turn %s is pending; %s", term.Clean(turn), others)
}

var hunkName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+(\.\d*)?$`) })

// apart separates the names into hunks and files.
func (d Decision) apart() (hunks, files []string) {
	for _, name := range d.Names {
		if hunkName().MatchString(name) {
			hunks = append(hunks, name)
		} else {
			files = append(files, name)
		}
	}
	return hunks, append(files, d.Files...)
}

// choose puts the named hunks and files into params as one decision, which one undo takes back: a single file as its path,
// everything else as hunks. diffs are what there is to review. It returns the hunks that are left out, by the daemon's rules for a
// path.
func (d Decision) choose(root string, diffs []*sessions.Diff, hunks, files []string, params *rpc.DecideParams) (left []api.Skipped, err error) {
	hunks = slices.Clone(hunks)
	if d.Lines != "" {
		if params.Lines, err = Lines(d.Lines); err != nil {
			return nil, err
		}
		if err := checkLines(d.Lines, params.Lines, hunks[0], diffs); err != nil {
			return nil, err
		}
	}
	var chosen []*sessions.Diff
	for _, file := range files {
		found, err := review.MustSelect(diffs, root, file)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !slices.Contains(chosen, f) {
				chosen = append(chosen, f)
			}
		}
	}
	if len(chosen) == 1 && len(hunks) == 0 {
		params.Path = review.DiffFile(root, chosen[0])
		return nil, nil
	}
	for _, f := range chosen {
		ids, skipped := d.hunksOf(f)
		left = append(left, skipped...)
		for _, id := range ids {
			if !slices.Contains(hunks, id) {
				hunks = append(hunks, id)
			}
		}
	}
	params.Hunks = &hunks
	return left, nil
}

// hunksOf returns the hunks of a file that can be decided, and those that are left out: hunks outside of the workspace,
// hunks without a known baseline, and hunks that may be the person's.
func (d Decision) hunksOf(f *sessions.Diff) (ids []string, left []api.Skipped) {
	yours := f.MaybeYours()
	for _, h := range f.Hunks {
		skip := api.Skipped{Path: f.Path, Hunk: h.ID}
		switch {
		case review.IsOutside(f):
			skip.Kind, skip.Message = api.KindOutsideWorkspace, "it is outside of the workspace and can only be looked at"
		case !d.Accept && f.Baseline == "unknown":
			skip.Kind, skip.Message = api.KindBaselineUnknown, "what it was is not known, so it can only be accepted"
		case !d.Accept && yours[h.ID]:
			skip.Kind = api.KindMaybeYours
		default:
			ids = append(ids, h.ID)
			continue
		}
		left = append(left, skip)
	}
	return ids, left
}
