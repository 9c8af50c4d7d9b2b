package origins

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/commits"
	"cursord/daemon/internal/git"
	"cursord/diffs"
	"cursord/sessions"
)

// A Workspace is what a Teller asks of a workspace.
type Workspace interface {
	// Tree asks git about its folder.
	Tree() git.Tree
	// Why returns where lines of a file come from: those from from to to (exclusive), or all for to < 0.
	Why(path string, from, to int) (Text, error)
	// Answer returns what is known of the lines that a commit adds.
	Answer(ctx context.Context, c commits.Commit) (Answer, error)
}

// A Text is a text of a file with what is known of its lines.
type Text struct {
	Path string // below the folder; absolute for a file outside
	Text string
	Known
}

// A Teller tells where lines of a workspace's files and commits come from. What the workspace does not know of a commit, others may: those of the
// repository's other work trees, and any that has kept an answer for the commit.
type Teller struct {
	Store *sessions.Store
	Root  string
	Own   Workspace
	Open  func(root string) (w Workspace, release func(), err error)

	turns  map[string]*sessions.Turn // nil: gone
	beside []string                  // the workspaces of the repository's other work trees
	looked bool                      // for them
}

// File returns where lines of a file come from, as Workspace.Why does. forgotten says that a history of the file was dropped.
func (t *Teller) File(ctx context.Context, path string, from, to int) (lines []api.WhyLine, forgotten bool, err error) {
	found, err := t.Own.Why(path, from, to)
	if err != nil {
		return nil, false, err
	}
	return t.lines(Moved(found.Lines, t.brought(ctx, found), false)), found.Forgotten, nil
}

// Bounds of the search for lines that commits of other work trees have brought.
const (
	broughtTime = 3 * time.Second
	mostAsked   = 8  // commits about which the other workspaces are asked that have not looked at them
	mostBeside  = 16 // other work trees
)

// brought returns what the workspaces of other work trees know of those lines of a text of which nothing is known.
func (t *Teller) brought(ctx context.Context, found Text) (all []diffs.Origin) {
	var ranges [][2]int
	for _, o := range found.Lines {
		if o.Source == nil {
			ranges = append(ranges, [2]int{o.From, o.To})
		}
	}
	if len(ranges) == 0 || filepath.IsAbs(found.Path) || len(t.others()) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, broughtTime)
	defer cancel()
	blamed, err := t.Own.Tree().Blame(ctx, found.Path, found.Text, ranges)
	if err != nil {
		return nil // git does not know the file, or takes too long
	}
	answers, asked := map[string][]Answer{}, 0
	for _, b := range blamed {
		of, had := answers[b.Commit]
		if !had {
			more := 0
			of, more = t.answers(ctx, b.Commit, asked < mostAsked)
			answers[b.Commit], asked = of, asked+more
		}
		lines := []diffs.Origin{{From: b.From, To: b.To}}
		for _, answer := range of {
			known := Cut(answer[b.Path].Lines, b.Line, b.Line+b.To-b.From)
			for i := range known {
				known[i].From += b.From - b.Line
				known[i].To += b.From - b.Line
			}
			lines = Moved(lines, known, false)
		}
		all = append(all, lines...)
	}
	slices.SortFunc(all, func(a, b diffs.Origin) int { return cmp.Compare(a.From, b.From) })
	return all
}

// others returns the workspaces of the repository's other work trees.
func (t *Teller) others() []string {
	if t.looked {
		return t.beside
	}
	t.looked = true
	common := func(root string) string {
		repo, ok := askgit.Find(root)
		if !ok {
			return ""
		}
		dir, err := repo.Common()
		if err != nil {
			return ""
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return real
		}
		return dir
	}
	own := common(t.Root)
	spaces, err := t.Store.Workspaces()
	if own == "" || err != nil {
		return nil
	}
	for _, w := range spaces {
		if w.Root != t.Root && !w.Forgotten && len(t.beside) < mostBeside && common(w.Root) == own {
			t.beside = append(t.beside, w.Root)
		}
	}
	return t.beside
}

// answers returns what other workspaces know of a commit. With ask, it asks those of the repository's other work trees which have kept no answer, and
// returns how many these were.
func (t *Teller) answers(ctx context.Context, commit string, ask bool) (all []Answer, asked int) {
	stored, _ := t.Store.Answer(commit) // without them, less is known
	delete(stored, t.Root)
	for _, root := range slices.Sorted(maps.Keys(stored)) {
		if answer, err := decode(stored[root]); err == nil {
			all = append(all, answer)
		}
	}
	for _, root := range t.others() {
		if stored[root] != nil || !ask {
			continue
		}
		asked++
		if answer, err := t.ask(ctx, root, commit); err == nil {
			all = append(all, answer)
		}
	}
	return all, asked
}

func (t *Teller) ask(ctx context.Context, root, commit string) (Answer, error) {
	w, release, err := t.Open(root)
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := commits.Read(ctx, w.Tree(), commit, false)
	if err != nil {
		return nil, err
	}
	return w.Answer(ctx, c)
}

// Commit returns where the lines come from that a commit adds; rev and amend are as for commits.Read.
func (t *Teller) Commit(ctx context.Context, rev string, amend bool) (out api.CommitWhy, err error) {
	c, err := commits.Read(ctx, t.Own.Tree(), rev, amend)
	if err != nil {
		return out, err
	}
	known, err := t.Own.Answer(ctx, c)
	if err != nil {
		return out, err
	}
	all := []Answer{known}
	if c.Made {
		others, _ := t.answers(ctx, c.ID, true)
		all = append(all, others...)
	}
	out = api.CommitWhy{Commit: c.ID, Files: []api.CommitFile{}, Trailers: []string{}}
	models, doubts := map[string]int{}, map[string]doubt{}
	for _, f := range c.Files {
		var origins []diffs.Origin
		forgotten := false
		for i, answer := range all {
			of := answer[c.Dir+f.Path]
			if i == 0 {
				origins = within(f.Lines, of.Lines)
			} else {
				origins = Moved(origins, of.Lines, false)
			}
			forgotten = forgotten || of.Forgotten
		}
		lines := t.lines(origins)
		for _, l := range lines {
			if l.Source != nil {
				model, is := t.model(l.Source.TurnID), doubtOf(l.Source)
				if models[model] > 0 {
					is = min(is, doubts[model])
				}
				models[model], doubts[model] = models[model]+l.To-l.From, is
			}
		}
		out.Files = append(out.Files, api.CommitFile{Path: f.Path, Lines: lines, Forgotten: forgotten})
	}
	for _, model := range slices.SortedFunc(maps.Keys(models), func(a, b string) int { return cmp.Or(models[b]-models[a], cmp.Compare(a, b)) }) {
		out.Trailers = append(out.Trailers, "Assisted-by: cursor-agent"+model+doubts[model].remark())
	}
	return out, nil
}

// A doubt says how far it is from certain that an agent wrote lines.
type doubt int

const (
	certain    doubt = iota
	byText           // a guess by the text
	maybeYours       // no call of the agent explains the lines for certain
)

func doubtOf(s *api.WhySource) doubt {
	switch {
	case s.MaybeYours:
		return maybeYours
	case s.ByText:
		return byText
	}
	return certain
}

// remark marks the trailer of a model of whose lines the most certain ones are so far from certain.
func (d doubt) remark() string {
	return map[doubt]string{byText: " (a guess by the text)", maybeYours: " (may be a person's)"}[d]
}

// within returns the origins of ranges of lines of which some are known.
func within(ranges []api.LineRange, known []diffs.Origin) (all []diffs.Origin) {
	for _, r := range ranges {
		at := r.From
		for _, o := range Cut(known, r.From, r.To) {
			if at < o.From {
				all = append(all, diffs.Origin{From: at, To: o.From})
			}
			all, at = append(all, o), o.To
		}
		if at < r.To {
			all = append(all, diffs.Origin{From: at, To: r.To})
		}
	}
	return all
}
