package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/view"
	"cursord/rpc"
	"cursord/sessions"
)

// Question returns the question about a part. It offers s only for a part that can be split.
func Question(splits, both bool) string {
	s := ""
	if splits {
		s = "s,"
	}
	if both {
		s += "t,"
	}
	return "Keep this hunk [y,n,a,d,j,k,g,/," + s + "e,u,c,p,q,?]? "
}

const Help = `  y  accept this hunk
  n  reject it: the old lines come back
  t  take the agent's lines in place of yours, where you have changed the same ones; y keeps both, n keeps yours
  a  accept it and all later hunks of the file
  d  reject it and all later hunks of the file
  s  split it: into its separate changes, then into old and new lines, then into single lines;
     a · marks changed lines that belong to other parts
  e  open the file at this hunk in your editor ($VISUAL or $EDITOR); what you change there is yours
  u  undo the latest decision of this review; again for the one before
  c  leave a comment for the agent's next prompt
  j  leave it undecided and go to the next hunk (also J)
  k  leave it undecided and go to the hunk before (also K)
  g  go to a hunk by its number in a list or its file (as a line: "g 5", "g main.go")
  /  go to the next hunk that matches a regular expression (as a line: "/todo")
  p  print this hunk again
  q  quit; undecided hunks stay pending
  ?  show this help`

// A review is a person's walk through the pending hunks of a workspace.
type review struct {
	client  *rpc.Client
	root    string
	paths   []string // the paths to review; empty: all
	in      *answerer
	out     io.Writer
	errOut  io.Writer
	palette term.Palette

	files []*reviewFile // with hunks that can be decided, in the order of their paths
	at    int           // index of the present file
	log   []reviewStep  // decisions, the latest last

	numbers map[string]int // the files' numbers, by path; see number
	sought  string         // the last regular expression searched for
	replace bool           // the present accept removes the person's lines where both have changed the same ones

	accepted, rejected, comments int
}

// errQuit is returned when the person quits.
var errQuit = errors.New("quit")

// run reviews until everything is decided, the person quits or ctx ends, and then prints a summary. Its error names paths
// that do not exist.
func (r *review) run(ctx context.Context) error {
	all, err := Pending(ctx, r.client, r.root)
	if err != nil {
		return err
	}
	var missing error
	if len(r.paths) > 0 {
		all, missing = SelectAll(r.errOut, all, r.root, r.paths)
	}
	outside := slices.IndexFunc(all, IsOutside) >= 0
	r.list(all)
	if outside {
		r.tell("What is outside of the workspace can only be looked at, with \"cursord diff\".")
	}
	if len(r.files) == 0 {
		if len(r.paths) == 0 {
			term.PrintFolded(r.out, fmt.Sprintf("nothing to review in %s\n", term.Clean(r.root)))
		}
		return missing
	}
	for err == nil {
		var p part
		var f *reviewFile
		if f, p, err = r.present(ctx); f == nil || err != nil {
			break
		}
		r.show(f, p)
		err = r.decided(ctx, f, p)
	}
	if errors.Is(err, errQuit) || errors.Is(err, io.EOF) {
		err = nil
	}
	r.summarize(ctx)
	return cmp.Or(err, missing)
}

// IsOutside reports whether the diff's file lies outside of the workspace. Such diffs can be shown but not decided.
func IsOutside(d *sessions.Diff) bool { return filepath.IsAbs(d.Path) }

// list replaces r.files by the files of all diffs, keeping places and splits of known files. The present file stays present;
// if it is gone, the next one becomes it.
func (r *review) list(all []*sessions.Diff) {
	present := ""
	if r.at < len(r.files) {
		present = r.files[r.at].diff.Path
	}
	var files []*reviewFile
	for _, d := range all {
		if IsOutside(d) || len(d.Hunks) == 0 {
			continue
		}
		if i, known := r.find(d.Path); known {
			r.files[i].setDiff(d, 0, 0)
			files = append(files, r.files[i])
		} else {
			files = append(files, &reviewFile{diff: d})
		}
	}
	slices.SortFunc(files, func(a, b *reviewFile) int { return strings.Compare(a.diff.Path, b.diff.Path) })
	for _, f := range files {
		r.number(f.diff.Path)
	}
	r.files = files
	r.at, _ = r.find(present)
}

// find returns a file's index by its path, or the index at which it would be inserted.
func (r *review) find(path string) (int, bool) {
	return slices.BinarySearchFunc(r.files, path, func(f *reviewFile, path string) int {
		return strings.Compare(f.diff.Path, path)
	})
}

// setDiff stores the present diff of a file. The file's steps from (included) to to (excluded) are known to be gone.
func (r *review) setDiff(d *sessions.Diff, from, to int) {
	i, known := r.find(d.Path)
	switch pending := len(d.Hunks) > 0; {
	case known && pending:
		r.files[i].setDiff(d, from, to)
	case known:
		r.files = slices.Delete(r.files, i, i+1)
		switch {
		case r.at > i:
			r.at--
		case r.at == i && i < len(r.files):
			r.files[i].at = 0
		}
	case pending && !IsOutside(d):
		r.files = slices.Insert(r.files, i, &reviewFile{diff: d})
		if r.at >= i && len(r.files) > 1 {
			r.at++
		}
	}
}

// look reads the present diff of a file. It is nil if nothing is pending there.
func (r *review) look(ctx context.Context, path string) (*sessions.Diff, error) {
	// First by path, which is cheap even if much is pending. That does not find a symlink, because the daemon resolves the
	// path.
	for _, params := range []rpc.DiffParams{{Workspace: r.root, Path: path}, {Workspace: r.root}} {
		list, err := r.client.DiffList(ctx, params)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(list.Diffs, func(d *sessions.Diff) bool { return d.Path == path }); i >= 0 {
			return list.Diffs[i], nil
		}
	}
	return nil, nil
}

// refresh reads a file's present diff and returns the file; nil if nothing is pending there.
func (r *review) refresh(ctx context.Context, path string) (*reviewFile, error) {
	d, err := r.look(ctx, path)
	if err != nil {
		return nil, err
	}
	if d == nil {
		d = &sessions.Diff{Path: path}
	}
	r.setDiff(d, 0, 0)
	i, known := r.find(path)
	if !known {
		return nil, nil
	}
	return r.files[i], nil
}

// present returns the next undecided part, and goes on at the first one after the last. The file is nil when all is decided.
func (r *review) present(ctx context.Context) (*reviewFile, part, error) {
	for {
		if r.at >= len(r.files) {
			if more, err := r.again(ctx); err != nil || !more {
				return nil, part{}, err
			}
		}
		f, err := r.refresh(ctx, r.files[r.at].diff.Path)
		if err != nil {
			return nil, part{}, err
		}
		if f == nil {
			continue
		}
		if p, _, _, ok := f.present(); ok {
			return f, p, nil
		}
		if r.at++; r.at < len(r.files) {
			r.files[r.at].at = 0
		}
	}
}

// again starts over at the first file, with the hunks that are left and those that are new.
func (r *review) again(ctx context.Context) (more bool, err error) {
	left := len(r.files) > 0
	all, err := Pending(ctx, r.client, r.root)
	if err != nil {
		return false, err
	}
	r.list(r.chosen(all))
	if r.at = 0; len(r.files) == 0 {
		return false, nil
	}
	r.files[0].at = 0
	if left {
		r.tell("That was the last one. These are left undecided:")
	} else {
		r.tell("More has come meanwhile:")
	}
	return true, nil
}

// chosen returns the diffs that are to be reviewed.
func (r *review) chosen(all []*sessions.Diff) []*sessions.Diff {
	if len(r.paths) == 0 {
		return all
	}
	chosen, _ := SelectAll(io.Discard, all, r.root, r.paths)
	return chosen
}

// tell prints a message to the person.
func (r *review) tell(text string) {
	term.PrintFolded(r.out, r.palette.Yellow(term.Clean(text))+"\n")
}

// fail prints why the daemon refused a request. Any other error is returned and ends the review.
func (r *review) fail(err error) error {
	var answer *rpc.Error
	if !errors.As(err, &answer) {
		return err
	}
	r.tell(answer.Message)
	if answer.Data.Hint != "" {
		r.tell("  " + answer.Data.Hint)
	}
	return nil
}

func (r *review) show(f *reviewFile, p part) {
	_, i, of, _ := f.present()
	term.PrintFolded(r.out, fmt.Sprintf("\n%s, hunk %d of %d%s\n", view.DiffTitle(r.palette, f.diff), i+1, of, r.ofFiles(f.diff.Path)))
	io.WriteString(r.out, p.show(r.palette, term.Columns(r.out)))
}

// decided asks about a part until there is something new to show.
func (r *review) decided(ctx context.Context, f *reviewFile, p part) error {
	for {
		answer, err := r.in.ask(ctx, term.Fold(r.palette.Bold(Question(p.splits(), p.hunk.BothChanged())), term.Columns(r.out)))
		if err != nil {
			return err
		}
		again, err := r.heed(ctx, f, p, answer)
		if err != nil || !again {
			return err
		}
	}
}

// heed carries out an answer. again reports whether to ask about the same part again.
func (r *review) heed(ctx context.Context, f *reviewFile, p part, answer string) (again bool, err error) {
	comment, hasComment := strings.CutPrefix(answer, "c ") // the form in which a line comments
	where, goes := strings.CutPrefix(answer, "g ")
	sought, searches := strings.CutPrefix(answer, "/")
	switch {
	case answer == "y", answer == "n":
		return r.decide(ctx, f, p, answer == "y", false)
	case answer == "t" && !p.hunk.BothChanged():
		r.tell("You have not changed these lines.")
		return true, nil
	case answer == "t":
		r.replace = true
		defer func() { r.replace = false }()
		return r.decide(ctx, f, p, true, false)
	case answer == "a", answer == "d":
		return r.decide(ctx, f, p, answer == "a", true)
	case answer == "s":
		if !f.split(p) {
			r.tell("This cannot be split.")
			return true, nil
		}
		return false, nil
	case answer == "e":
		return r.edit(f, p), nil
	case answer == "u":
		return r.undo(ctx)
	case answer == "c":
		return true, r.comment(ctx, p, "")
	case hasComment:
		return true, r.comment(ctx, p, comment)
	case answer == "j", answer == "J":
		return !r.next(f, p), nil
	case answer == "k", answer == "K":
		return !r.previous(p), nil
	case answer == "g":
		return r.jump(ctx, p, "")
	case goes:
		return r.jump(ctx, p, where)
	case answer == "/":
		return r.search(ctx, p, "")
	case searches:
		return r.search(ctx, p, sought)
	case answer == "p":
		return false, nil // the next question comes below the hunk
	case answer == "q":
		return false, errQuit
	case answer == "?":
		term.PrintFolded(r.out, Help+"\n")
		return false, nil
	case answer == "":
		return true, nil
	}
	r.tell(fmt.Sprintf("%q is no answer here; ? shows which are.", term.Abridge(answer, 20)))
	return true, nil
}

// comment sends a remark about a part's hunk to the daemon, for the agent. If text is empty, it asks for one.
func (r *review) comment(ctx context.Context, p part, text string) error {
	if text = strings.TrimSpace(text); text == "" {
		var err error
		text, err = r.in.line(ctx, "Comment: ")
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	if text == "" {
		r.tell("No comment.")
		return nil
	}
	err := r.client.Call(ctx, "diff/comment", rpc.CommentParams{Workspace: r.root, Hunk: p.hunk.ID, Text: text}, nil)
	if err != nil {
		return r.fail(err)
	}
	r.comments++
	whose := "its session"
	if len(p.hunk.Sources) > 0 {
		whose = "session " + p.hunk.Sources[len(p.hunk.Sources)-1].SessionID
	}
	r.tell("The agent gets this with the next prompt of " + whose + ".")
	return nil
}

// summarize prints what was decided and what is left.
func (r *review) summarize(ctx context.Context) {
	var done []string
	if r.accepted > 0 {
		done = append(done, fmt.Sprintf("accepted %d", r.accepted))
	}
	if r.rejected > 0 {
		done = append(done, fmt.Sprintf("rejected %d", r.rejected))
	}
	if len(done) == 0 {
		done = append(done, "nothing decided")
	}
	if r.comments > 0 {
		done = append(done, term.Count(r.comments, "comment"))
	}
	if all, err := Pending(ctx, r.client, r.root); err == nil {
		r.list(r.chosen(all)) // on an error, the last known files are counted
	}
	var left []*sessions.Diff
	for _, f := range r.files {
		left = append(left, f.diff)
	}
	fmt.Fprintf(r.out, "\n%s; %s\n", strings.Join(done, ", "), Left(left))
}
