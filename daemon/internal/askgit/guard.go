package askgit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// ErrLeadsAway is returned for a repository if a part of it lies outside of the workspace and nobody has trusted that.
var ErrLeadsAway = errors.New("a part of the repository lies outside of the workspace")

// A Guard opens the repositories of a workspace.
//
// Git is given the repository's own folder as GIT_DIR, from which it reads HEAD and the index, and as GIT_COMMON_DIR,
// where it looks for configuration, attributes, hooks and alternates, a folder of ours. That one leads to the
// repository's objects and refs, and its configuration has only those of the repository's settings that say how files
// are stored. So whatever else stands in the repository's configuration, also what git will know in years, has no effect.
type Guard struct {
	Home string // the folder for our folders; nothing else is in it
	Root string // the workspace
	// Trust reports whether a claim of the repository at a place, relative to Root, counts; nil: none does.
	Trust func(at, claim string) bool
	// Slow, if not nil, is set if git's last listing of the workspace took too long.
	Slow *atomic.Bool
}

// A View is a repository's state when it was opened.
type View struct {
	Repository
	Common     string    // the folder that the repository shares with its other work trees
	Settings   []Setting // the repository's own configuration, without included files
	Counted    []Setting // settings that are data, or are trusted
	Alternates []string  // trusted folders of objects from which the repository borrows, directly or through others

	guard               *Guard
	exclude, attributes []byte
	apart               bool     // hide from git which folders of objects the repository names
	alone               bool     // hide everything of the repository but its objects from git
	more                []string // folders of objects where git looks, too
}

// Open reads the present state of a repository.
func (g *Guard) Open(ctx context.Context, r Repository) (*View, error) {
	v := &View{Repository: r, guard: g}
	var err error
	if v.Common, err = r.Common(); err != nil {
		return nil, err
	}
	var away []string
	for _, claim := range v.leadsAway() {
		if !v.trusts(claim) {
			away = append(away, claim)
		}
	}
	if len(away) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrLeadsAway, strings.Join(away, "; "))
	}
	if way := v.unblocked(); way != nil {
		return nil, way
	}
	if v.Settings, err = readConfig(ctx, r, v.Common, g.outside(r)); err != nil {
		return nil, err
	}
	if v.exclude, err = readRules(filepath.Join(v.Common, "info", "exclude")); err != nil {
		return nil, err
	}
	if v.attributes, err = readRules(filepath.Join(v.Common, "info", "attributes")); err != nil {
		return nil, err
	}
	for _, s := range v.Settings {
		if s.data() || s.claims() && v.trusts(s.claim()) {
			v.Counted = append(v.Counted, s)
		}
	}
	for _, dir := range alternates(v.Objects()) {
		if v.trusts(borrows(dir)) {
			v.Alternates = append(v.Alternates, dir)
		} else {
			v.apart = true
		}
	}
	return v, nil
}

// Alone returns a view for questions about contents by their ids. It answers as long as the objects exist, even if HEAD, the
// index, the configuration and the references to object folders have changed since.
func (v *View) Alone() *View {
	alone := *v
	alone.alone, alone.apart = true, true
	return &alone
}

// With returns a view that also finds the objects in other folders, such as those of a copy of the repository.
func (v *View) With(objects ...string) *View {
	with := *v
	with.more = objects
	return &with
}

// Basis returns a text that differs between views whose settings, rules or trusted claims differ.
func (v *View) Basis() (string, error) {
	dir, err := v.common(false)
	return filepath.Base(dir), err
}

// objectsHere returns an error if the objects lie outside of the workspace by now.
func (v *View) objectsHere() error {
	for _, claim := range v.leadsAway() {
		if (strings.HasPrefix(claim, ".git"+leadsTo) || strings.HasPrefix(claim, ".git/objects")) && !v.trusts(claim) {
			return fmt.Errorf("%w: %s", ErrLeadsAway, claim)
		}
	}
	return nil
}

// Made reports whether a file is one of our substitutes for the repository's files.
func (g *Guard) Made(name string) bool { return inside(g.Home, name) }

// InCopy returns the guard for a copy of a work tree. What counts in the work tree counts there too.
func (g *Guard) InCopy(work, root string) *Guard {
	var lent map[string]bool
	if repo, ok := Find(work); ok {
		if v, err := g.Open(context.Background(), repo); err == nil {
			lent = v.Lends()
		}
	}
	return &Guard{Home: g.Home, Root: root, Trust: func(_, claim string) bool { return lent[claim] }, Slow: g.Slow}
}

// Lends returns the claims that count in a copy of the repository that borrows its objects: the objects' place, and the
// claims that count here.
func (v *View) Lends() map[string]bool {
	lent := map[string]bool{borrows(v.Objects()): true}
	for _, dir := range v.Alternates {
		lent[borrows(dir)] = true
	}
	for _, s := range v.Counted {
		if s.claims() {
			lent[s.claim()] = true
		}
	}
	return lent
}

// Objects returns the folder of the repository's objects.
func (v *View) Objects() string { return filepath.Join(v.Common, "objects") }

func borrows(objects string) string { return "objects/info/alternates: " + objects }

// trusts reports whether a claim counts. A claim is a program, or a place elsewhere, that the repository names.
func (v *View) trusts(claim string) bool {
	at, err := filepath.Rel(v.guard.Root, v.Top)
	return err == nil && v.guard.Trust != nil && v.guard.Trust(filepath.ToSlash(at), claim)
}

// outside returns the folders where an agent may have put programs.
func (g *Guard) outside(r Repository) []string { return []string{g.Root, r.Top} }

const leadsTo = " leads to "

// IsPlace reports whether a claim is about the place of the repository, and not about other things that it uses.
func IsPlace(claim string) bool {
	return strings.Contains(claim, leadsTo) && strings.HasPrefix(claim, ".git")
}

// leadsAway returns the parts of the repository that lie outside of the workspace and of the repository's work tree.
func (v *View) leadsAway() (away []string) {
	within := []string{resolved(v.guard.Root), resolved(v.Top)}
	seen := map[string]bool{}
	look := func(name, path string) {
		if to := resolved(path); !insideAny(within, to) && !seen[to] {
			seen[to] = true
			away = append(away, name+leadsTo+to)
		}
	}
	look(".git", v.Dir)
	look(".git", v.Common)
	for _, dir := range []string{v.Common, v.Dir} {
		for _, name := range []string{
			"HEAD", "index", "config", "config.worktree", "info", "info/exclude", "info/attributes", "info/sparse-checkout", "refs", "packed-refs",
			"reftable", "objects", "objects/pack", "objects/info", "objects/info/alternates", "lfs", "lfs/objects",
		} {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
				look(".git/"+name, path)
			}
		}
	}
	return away
}

// resolved returns a path without links. For a link to nothing it returns the link's target.
func resolved(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	if to, err := os.Readlink(path); err == nil {
		return absolute(filepath.Dir(path), to)
	}
	return path
}

// alternatesDepth is the number of steps that git goes from one object store to the next.
const alternatesDepth = 5

// alternates returns the object stores from which a store borrows, directly or through others.
func alternates(objects string) (list []string) {
	var follow func(dir string, depth int)
	follow = func(dir string, depth int) {
		data, err := readFile(filepath.Join(dir, "info", "alternates"), linkBytes)
		if err != nil || depth > alternatesDepth {
			return
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if line == "" || line[0] == '#' || line[0] == '"' {
				continue
			}
			if to := absolute(dir, line); to != objects && !slices.Contains(list, to) {
				list = append(list, to)
				follow(to, depth+1)
			}
		}
	}
	follow(objects, 1)
	return list
}

// FormatAlternates returns the text of a file of alternates.
func FormatAlternates(dirs []string) string {
	var b strings.Builder
	for _, dir := range dirs {
		if strings.ContainsAny(dir, "\n\"") {
			dir = quoted(dir)
		}
		b.WriteString(dir + "\n")
	}
	return b.String()
}

func quoted(dir string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(dir) + `"`
}

// alternatesList returns the value of git's variable for folders of objects.
func alternatesList(dirs []string) string {
	var list []string
	for _, dir := range dirs {
		if strings.ContainsAny(dir, "\n\""+string(filepath.ListSeparator)) {
			dir = quoted(dir)
		}
		list = append(list, dir)
	}
	return strings.Join(list, string(filepath.ListSeparator))
}

// Run asks git about the repository and returns git's output. No filter runs.
func (v *View) Run(ctx context.Context, q Question, args ...string) ([]byte, error) {
	return v.run(ctx, q, false, args...)
}

func (v *View) run(ctx context.Context, q Question, filters bool, args ...string) ([]byte, error) {
	if v.alone {
		if err := v.objectsHere(); err != nil {
			return nil, err
		}
	}
	common, err := v.common(filters)
	if err != nil {
		return nil, err
	}
	c := command{dir: q.Dir, in: q.In, most: q.Most, said: q.Said, out: v.guard.outside(v.Repository), env: v.environment(common)}
	work := v.Top
	if q.Work != "" {
		work = q.Work
		c.out = append(c.out, work)
	}
	if c.dir == "" {
		c.dir = work
	}
	c.env = append(c.env, "GIT_WORK_TREE="+work)
	return v.watched(ctx, c.dir, work, func(ctx context.Context) ([]byte, error) {
		return c.git(ctx, append(slices.Clone(q.Args), args...)...)
	})
}

func (v *View) environment(common string) []string {
	dir := v.Dir
	if v.alone {
		dir = common
	}
	env := []string{"GIT_DIR=" + dir, "GIT_COMMON_DIR=" + common}
	if !v.apart {
		env = append(env, "GIT_OBJECT_DIRECTORY="+v.Objects())
	}
	if len(v.more) > 0 {
		env = append(env, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+alternatesList(v.more))
	}
	return env
}
