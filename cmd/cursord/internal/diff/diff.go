// Package diff is "cursord diff": it shows what is left to review, all or some, as text, a patch, counts or names.
package diff

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/review"
	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/diffs"
	"cursord/rpc"
	"cursord/sessions"
)

// A Listing is the command line of diff.
type Listing struct {
	Paths    []string // files, folders and patterns; empty: all
	Turn     string   // a turn's name: only hunks of that turn
	Stat     bool     // show counts by file
	NameOnly bool     // show only the files' names
	NUL      bool     // end each name with NUL, and quote none
	JSON     bool
	NoPager  bool
}

// Do shows the listing of a workspace and reports whether there was anything to show. The error names paths that do not
// exist.
func (l Listing) Do(ctx context.Context, n naming.Names, out, errOut io.Writer) (any bool, err error) {
	if n.Root, err = review.WorkspaceOf(ctx, n.Client, n.Root, n.Owner, l.Paths); err != nil {
		return false, err
	}
	turn := ""
	if l.Turn != "" {
		if turn, err = n.Turn(ctx, l.Turn); err != nil {
			return false, err
		}
	}
	list, err := n.Client.DiffList(ctx, rpc.DiffParams{Workspace: n.Root, TurnID: turn})
	if err != nil {
		return false, err
	}
	diffs, missing := list.Diffs, error(nil)
	if turn != "" {
		diffs = ofTurn(diffs, turn)
	}
	if len(l.Paths) > 0 {
		diffs, missing = review.SelectAll(errOut, diffs, n.Root, l.Paths)
	}
	if err := l.show(ctx, n, turn, diffs, out, errOut); err != nil {
		return false, err
	}
	return len(diffs) > 0, missing
}

func (l Listing) show(ctx context.Context, n naming.Names, turn string, diffs []*sessions.Diff, out, errOut io.Writer) error {
	switch {
	case l.JSON:
		return term.PrintJSON(out, rpc.DiffList{Diffs: diffs})
	case len(diffs) == 0:
		if len(l.Paths) == 0 {
			of := ""
			if turn != "" {
				of = " of turn " + term.Clean(turn)
			}
			fmt.Fprintf(errOut, "nothing%s to review in %s\n", of, term.Clean(n.Root))
		}
		return nil
	case l.NameOnly:
		for _, d := range diffs {
			if l.NUL {
				fmt.Fprint(out, d.Path, "\x00")
				continue
			}
			fmt.Fprintln(out, name(out, d.Path))
		}
		return nil
	case l.Stat:
		_, err := io.WriteString(out, stat(out, diffs))
		return err
	case term.IsTerminal(out):
		var text strings.Builder
		view.PrintDiffs(&text, term.PaletteOf(out), term.Columns(out), diffs)
		if l.NoPager {
			_, err := io.WriteString(out, text.String())
			return err
		}
		return term.Page(out, text.String())
	}
	printLeftOut(errOut, diffs, turn)
	printTaken(errOut, diffs, n.Root)
	if len(l.Paths) == 0 {
		return printPatch(ctx, n.Client, out, rpc.DiffParams{Workspace: n.Root, TurnID: turn})
	}
	for _, d := range diffs {
		err := printPatch(ctx, n.Client, out, rpc.DiffParams{Workspace: n.Root, Path: review.DiffFile(n.Root, d), TurnID: turn})
		if err != nil {
			return err
		}
	}
	return nil
}

// name returns a path, quoted as git does if a line could not hold it or could be taken for a quoted one, and harmless if out is a
// terminal.
func name(out io.Writer, path string) string {
	if strings.ContainsFunc(path, func(c rune) bool { return c < ' ' || c == 0x7f || c == '"' || c == '\\' }) {
		path = diffs.QuotePath(path)
	}
	if term.IsTerminal(out) {
		return term.Clean(path)
	}
	return path
}

// ofTurn returns diffs with only the hunks in which a turn had a part, counted anew.
func ofTurn(diffs []*sessions.Diff, turn string) []*sessions.Diff {
	list := []*sessions.Diff{}
	for _, d := range diffs {
		of := *d
		of.Added, of.Removed = 0, 0
		of.Hunks = slices.DeleteFunc(slices.Clone(d.Hunks), func(h sessions.Hunk) bool {
			return !slices.ContainsFunc(h.Sources, func(s sessions.Source) bool { return s.TurnID == turn })
		})
		for _, h := range of.Hunks {
			added, removed := lines(h)
			of.Added += added
			of.Removed += removed
		}
		if len(of.Hunks) > 0 {
			list = append(list, &of)
		}
	}
	return list
}

func lines(h sessions.Hunk) (added, removed int) {
	for _, line := range h.Lines {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// stat returns a line for each file, with a bar scaled to the terminal, and the sums, as git does.
func stat(out io.Writer, diffs []*sessions.Diff) string {
	const barMost = 40
	p := term.PaletteOf(out)
	wide, most, added, removed := 0, 1, 0, 0
	for _, d := range diffs {
		wide = max(wide, term.Width(statName(out, d)))
		most = max(most, d.Added+d.Removed)
		added += d.Added
		removed += d.Removed
	}
	digits := len(fmt.Sprint(most))
	bar := barMost
	if room := term.Columns(out); room > 0 {
		wide = min(wide, max(room-digits-barMost/2-6, 10))
		bar = max(min(barMost, room-wide-digits-6), 1)
	}
	var b strings.Builder
	for _, d := range diffs {
		path := term.Fit(statName(out, d), wide)
		path += strings.Repeat(" ", max(wide-term.Width(path), 0))
		if d.Added+d.Removed == 0 {
			fmt.Fprintf(&b, " %s | %s\n", path, d.Kind)
			continue
		}
		plus, minus := d.Added, d.Removed
		if most > bar { // scaled so that any change has at least one sign
			plus, minus = (plus*(bar-1)+most-1)/most, (minus*(bar-1)+most-1)/most
		}
		fmt.Fprintf(&b, " %s | %*d %s%s\n", path, digits, d.Added+d.Removed,
			p.Green(strings.Repeat("+", plus)), p.Red(strings.Repeat("-", minus)))
	}
	fmt.Fprintf(&b, " %s changed, %s(+), %s(-)\n", term.Count(len(diffs), "file"), term.Count(added, "insertion"), term.Count(removed, "deletion"))
	return b.String()
}

// statName names a file as git's stat does. One that was renamed and then removed has only its old name.
func statName(out io.Writer, d *sessions.Diff) string {
	switch {
	case d.OldPath == "" || d.OldPath == d.Path:
		return name(out, d.Path)
	case d.Kind == sessions.DiffDeleted:
		return name(out, d.OldPath)
	}
	return name(out, d.OldPath) + " => " + name(out, d.Path)
}

// printLeftOut prints a line for each file that the patch leaves out, wholly or in part, with the reason and a remedy, and
// one about hunks that are not in the work tree.
func printLeftOut(w io.Writer, diffs []*sessions.Diff, turn string) {
	copied := 0
	for _, d := range diffs {
		name := term.Clean(d.Path)
		for _, h := range d.Hunks {
			if h.Isolated {
				copied++
			}
		}
		switch {
		case filepath.IsAbs(d.Path):
			fmt.Fprintf(w, "%s (%s) is not in the patch: it is outside of the workspace and can only be looked at, with: cursord diff --json\n", name, d.Kind)
		case d.Baseline == "unknown":
			fmt.Fprintf(w, "%s (%s) is not, or not wholly, in the patch: what it was is not known, so it cannot be rejected; accept it with: cursord accept --file %s\n",
				name, d.Kind, term.ShellWord(name))
		}
	}
	if copied > 0 {
		are, then := "are", "one turn's: cursord diff --turn TURN"
		if copied == 1 {
			are = "is"
		}
		if turn != "" {
			then = "cursord accept --turn " + turn + " brings them there"
		}
		fmt.Fprintf(w, "%s of sessions with copies %s in the patch, and not in the work tree: git apply -R does not take a patch with such hunks; %s\n", term.Count(copied, "hunk"), are, then)
	}
}

// printTaken prints a line for each file that cannot go back to where it was, because another file is there.
func printTaken(w io.Writer, list []*sessions.Diff, root string) {
	created := map[string]bool{}
	for _, d := range list {
		created[d.Path] = d.Kind == sessions.DiffCreated
	}
	for _, d := range list {
		whole := slices.ContainsFunc(d.Hunks, func(h sessions.Hunk) bool { return h.Kind == diffs.FileHunk && !h.Isolated })
		if d.OldPath == "" || d.OldPath == d.Path || created[d.OldPath] || !whole {
			continue
		}
		if _, err := os.Lstat(filepath.Join(root, d.OldPath)); err == nil {
			fmt.Fprintf(w, "%s was moved from %s, where another file is now: git apply -R does not take the patch; move that file away first\n",
				term.Clean(d.Path), term.Clean(d.OldPath))
		}
	}
}

func printPatch(ctx context.Context, client *rpc.Client, w io.Writer, params rpc.DiffParams) error {
	unified, err := client.DiffUnified(ctx, params)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, unified.Patch)
	return err
}
