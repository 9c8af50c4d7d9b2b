package apart

import (
	"bytes"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/daemon/internal/snapshot"
	"cursord/daemon/overlay"
	"cursord/diffs"
)

// hiddenMost is how many files are listed that only ignore files of the agent's hide: an install makes thousands.
const hiddenMost = 50

func (o *overlaid) Changed(ctx context.Context) (list []string, hidden int, err error) {
	changes, err := overlay.Changes(ctx, o.in(upperName))
	if err != nil {
		return nil, 0, err
	}
	rules := false // the agent has changed some
	before, err := o.recorded()
	if err != nil {
		return nil, 0, err
	}
	below := func(dir string) {
		o.below(ctx, dir, func(name string, folder bool) {
			if !folder && !o.shows(name) && (before[name] || !before[dir]) {
				list = append(list, name)
			}
		})
	}
	for _, c := range changes {
		if inGit(c.Path) {
			continue
		}
		rules = rules || path.Base(c.Path) == ".gitignore"
		was := filestat.Of(o.lower(c.Path))
		switch {
		case c.Kind == overlay.Folder && was.Exists() && !was.Mode.IsDir():
			list = append(list, c.Path) // a folder in the place of a file
		case c.Kind == overlay.Folder:
		case was.Mode.IsDir(): // a folder is gone, or another is in its place
			below(c.Path)
			if c.Kind == overlay.Written {
				list = append(list, c.Path)
			}
		case c.Kind == overlay.Replaced && !was.Exists():
		default:
			list = append(list, c.Path)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	return o.listed(ctx, list, rules)
}

// A rule is whose ignore files hide a file.
type rule int

const (
	anybodys rule = iota + 1 // those of the work tree, or what nobody wants to review
	agents                   // only the agent's
)

// listed leaves out of a sorted list of files what git ignores, but lists some of the files that only the agent's rules hide; over is how
// many more there are of these. With rules, the agent may have changed ignore files.
func (o *overlaid) listed(ctx context.Context, list []string, rules bool) (_ []string, over int, err error) {
	byRepo := map[string][]string{} // by the repository's folder
	for _, name := range list {
		if o.barred(name) {
			continue // git would refuse to say anything about it
		}
		at := o.innermostRepository(name)
		byRepo[at] = append(byRepo[at], name)
	}
	hiddenBy := map[string]rule{}
	for at, names := range byRepo {
		if at == "" {
			for _, name := range names {
				if slices.Contains(strings.Split(name, "/"), "node_modules") {
					hiddenBy[name] = anybodys // no repository says so, but nobody reviews these
				}
			}
			continue
		}
		if err := o.ignored(ctx, at, names, rules, hiddenBy); err != nil {
			return nil, 0, err
		}
	}
	shown := 0
	list = slices.DeleteFunc(list, func(name string) bool {
		switch by := hiddenBy[name]; {
		case by == 0:
			return false
		case by == agents && shown < hiddenMost:
			shown++
			return false
		case by == agents:
			over++
		}
		return true
	})
	return list, over, nil
}

// ignored adds to hiddenBy which of the names in the repository at a folder of the work tree git ignores.
func (o *overlaid) ignored(ctx context.Context, at string, names []string, rules bool, hiddenBy map[string]rule) error {
	repo := git.Repository{Git: git.Tree{Dir: o.lower(at), Within: true, Guard: o.guard}}
	if at != "." {
		repo.At = at + "/"
	}
	hidden, err := repo.Hidden(ctx, names)
	if err != nil {
		// It says nothing about what lies in a submodule. One that is not checked out in the work tree may be in the agent's.
		links, other := repo.Git.Submodules(ctx)
		if other != nil {
			return err
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			return slices.ContainsFunc(links, func(link string) bool { return strings.HasPrefix(name, repo.At+link+"/") })
		})
		if hidden, err = repo.Hidden(ctx, names); err != nil {
			return err
		}
	}
	for name := range hidden {
		hiddenBy[name] = anybodys
	}
	if !rules {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return hidden[name] })
	byAgent, err := o.hiddenByAgent(ctx, repo, at, left)
	for name := range byAgent {
		hiddenBy[name] = agents
	}
	return err
}

// innermostRepository returns the folder of the work tree's innermost repository that has a path, "." for the workspace; "" if none has.
func (o *overlaid) innermostRepository(name string) string {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if filestat.Of(o.lower(dir + "/.git")).Exists() {
			return dir
		}
		if dir == "." {
			return ""
		}
	}
}

// hiddenByAgent returns which paths of a repository the ignore files hide as they are in the tree. Git reads them in a folder that has
// nothing else.
func (o *overlaid) hiddenByAgent(ctx context.Context, repo git.Repository, at string, names []string) (map[string]bool, error) {
	o.asking.Lock()
	defer o.asking.Unlock()
	top := o.in(rulesName)
	if err := os.RemoveAll(top); err != nil {
		return nil, err
	}
	defer os.RemoveAll(top)
	done := map[string]bool{}
	for _, name := range names {
		for dir := path.Dir(name); !done[dir]; dir = path.Dir(dir) {
			done[dir] = true
			file := path.Join(dir, ".gitignore")
			img := atomicfile.Read(o.Under(file), file)
			rel, err := filepath.Rel(filepath.FromSlash(at), filepath.FromSlash(dir))
			if err != nil || !filepath.IsLocal(rel) {
				break
			}
			if err := os.MkdirAll(filepath.Join(top, rel), 0o700); err != nil {
				return nil, err
			}
			if img.Unreadable == "" && img.Exists && img.Target == "" {
				if err := os.WriteFile(filepath.Join(top, rel, ".gitignore"), img.Data, 0o600); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	repo.Git.Rules = top
	return repo.Hidden(ctx, names)
}

// Base returns the work tree's content, if that has not changed since the last turn began. Otherwise the base is what git's index had then,
// with the changes that both have made of it, or the lines that both have: what each of them has added is kept.
func (o *overlaid) Base(ctx context.Context, path string) (diffs.Content, bool) {
	real := atomicfile.Read(o.root, path)
	if real.Unreadable != "" {
		return diffs.Content{}, false
	}
	if !real.Exists || o.shows(path) || !o.changedSince(path) {
		return real.Content, true
	}
	here := atomicfile.Read(o.Under(path), path)
	if here.Unreadable != "" || !here.Exists || here.Target != "" || real.Target != "" {
		return real.Content, true
	}
	base := real.Content
	if data, known := o.indexed(ctx, path); known {
		base.Data = changedInBoth(data, real.Data, here.Data)
	} else {
		base.Data = common(real.Data, here.Data)
	}
	return base, true
}

// common returns lines that both texts have, in their order: a base from which each of them has added the rest.
func common(a, b []byte) (both []byte) {
	lines, at := slices.Collect(bytes.Lines(a)), 0
	for _, e := range diffs.LineEdits(string(a), string(b)) {
		both, at = append(both, bytes.Join(lines[at:e.From], nil)...), e.To
	}
	return append(both, bytes.Join(lines[at:], nil)...)
}

// changedInBoth returns old with what both a and b have made of it: a person had changed the file before the turn.
func changedInBoth(old, a, b []byte) (base []byte) {
	lines := slices.Collect(bytes.Lines(old))
	kept := make([]bool, len(lines)) // by a or b
	for _, text := range [][]byte{a, b} {
		at := 0
		for _, e := range append(diffs.LineEdits(string(old), string(text)), diffs.LineEdit{From: len(lines)}) {
			for i := at; i < e.From; i++ {
				kept[i] = true
			}
			at = e.To
		}
	}
	at := 0
	add := func(to int, always bool) {
		for ; at < to; at++ {
			if always || kept[at] {
				base = append(base, lines[at]...)
			}
		}
	}
	for _, e := range diffs.LineEdits(string(old), string(common(a, b))) {
		add(e.From, true)
		add(e.To, false)
		base = append(base, e.Text...)
	}
	add(len(lines), true)
	return base
}

// indexed returns the content that git's index has of a path, if it had it when the last turn began.
func (o *overlaid) indexed(ctx context.Context, name string) ([]byte, bool) {
	at := o.innermostRepository(name)
	if at == "" || o.changedSince(path.Join(at, ".git/index")) {
		return nil, false
	}
	tree, rel := git.Tree{Dir: o.lower(at), Within: true, Guard: o.guard}, strings.TrimPrefix(name, strings.TrimPrefix(at+"/", "./"))
	out, err := tree.Run(ctx, nil, "ls-files", "-z", "--stage", "--", ":(literal)"+rel)
	fields := strings.Fields(string(out)) // the mode, the id, the stage, the path
	if err != nil || len(fields) < 3 || fields[2] != "0" {
		return nil, false
	}
	data, known := tree.Blobs(ctx, map[string]string{rel: fields[1]}, true)[rel]
	return data, known
}

func (o *overlaid) Shift() *snapshot.Shift {
	return &snapshot.Shift{Under: o.Under, Changed: o.Changed, Origin: o.origin}
}

// origin looks into the mounted tree: there a file that the agent has written to, or moved, has the number of the work tree's.
func (o *overlaid) origin(path string) uint64 {
	o.mu.Lock()
	t := o.mounted
	o.mu.Unlock()
	if t == nil {
		return 0
	}
	return filestat.Of(filepath.Join(t.Root(), filepath.FromSlash(path))).Ino
}
