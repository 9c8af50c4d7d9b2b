package commits

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/diffs"
)

// A Log knows which commits have come into a work tree since a turn began that the turn has not made: by a merge, a pull, a checkout, a
// reset, a rebase or a cherry-pick. It reads what git notes of HEAD. And it knows what earlier commits and stashes have written in files that
// the turn changes (versions.go). One goroutine uses it.
type Log struct {
	tree    git.Tree
	dir     string // of the repository; "" if there is none
	common  string // what its work trees have in common
	heads   reflog // of HEAD
	began   time.Time
	made    map[string]bool // commits of the turn
	noted   map[string]bool // all commits that HEAD has had since the turn began
	found   []other         // the newest first
	stashes []string        // from before the turn
	seen    map[string]uint64
	git     bool // a command of the turn names git
	slow    bool // git has taken too long to tell versions
}

// An other is a commit that the turn has not made. If git has made it of such a commit, parent is what it was made upon, where lines of the turn
// may be.
type other struct{ id, parent string }

// mostFound bounds the commits that a Log knows.
const mostFound = 16

// Begin returns a Log for a turn that begins now.
func Begin(root string, guard *askgit.Guard) *Log {
	repo, _ := askgit.Find(root)
	l := &Log{
		tree: git.Tree{Dir: root, Guard: guard}, dir: repo.Dir, began: time.Now(), made: map[string]bool{}, noted: map[string]bool{},
		seen: map[string]uint64{},
	}
	if common, err := repo.Common(); l.dir != "" && err == nil {
		l.common = common
		l.stashes = l.stashed()
	}
	l.heads = reflog{name: l.file("logs/HEAD")}
	l.heads.at = l.heads.size()
	return l
}

// Ran takes note of a command that the turn has begun; "" for a call of another kind. Texts asks git for earlier versions only if a command
// of the turn names git, or has moved HEAD.
func (l *Log) Ran(command string) { l.git = l.git || strings.Contains(command, "git") }

// Began returns when the turn began, in ms since 1970.
func (l *Log) Began() int64 { return l.began.UnixMilli() }

func (l *Log) file(name string) string { return filepath.Join(l.dir, filepath.FromSlash(name)) }

// look returns the commits that have come since the last look and those that are being merged, or, with all, all since the turn began. Where
// nothing has changed, it does not ask git.
func (l *Log) look(ctx context.Context, all bool) (found []other, err error) {
	if l.dir == "" {
		return nil, nil
	}
	news := l.heads.read()
	for _, n := range news {
		l.noted[n.id] = true
		if n.made() {
			l.made[n.id] = true
		}
	}
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"} {
		kind := map[string]string{"CHERRY_PICK_HEAD": "cherry-pick", "REBASE_HEAD": "rebase"}[name]
		if info, err := os.Lstat(l.file(name)); err == nil && info.Mode().IsRegular() && info.Size() < 1<<10 {
			ids, _ := filestat.ReadRegular(l.file(name))
			for _, id := range strings.Fields(string(ids)) {
				news = append(news, noted{id, kind})
			}
		}
	}
	var come []other
	if news = news[:min(len(news), mostLog>>7)]; len(news) > 0 {
		if come, err = l.others(ctx, news); err != nil {
			return nil, err
		}
	}
	older := slices.DeleteFunc(l.found, func(o other) bool { return slices.Contains(come, o) })
	l.found = append(slices.Clone(come), older...)
	l.found = l.found[:min(len(l.found), mostFound)]
	if all {
		return l.found, nil
	}
	return come[:min(len(come), mostFound)], nil
}

// others returns those commits, each once, that the turn has not made, and of its merges what they have merged.
func (l *Log) others(ctx context.Context, news []noted) (come []other, err error) {
	args := []string{"log", "--no-walk=unsorted", "--no-show-signature", "--format=%H %at %P"}
	for _, n := range news {
		args = append(args, n.id)
	}
	out, err := l.tree.Run(ctx, nil, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	type info struct {
		written time.Time
		parents []string
	}
	known := map[string]info{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 1 {
			at, _ := strconv.ParseInt(f[1], 10, 64)
			known[f[0]] = info{time.Unix(at, 0), f[2:]}
		}
	}
	add := func(o other) {
		if !l.made[o.id] && !slices.Contains(come, o) {
			come = append(come, o)
		}
	}
	for _, n := range news {
		of := known[n.id]
		switch {
		case l.made[n.id]:
			for _, id := range of.parents[min(1, len(of.parents)):] {
				add(other{id: id})
			}
		case !n.repeats():
			add(other{id: n.id})
		case of.written.Unix() < l.began.Unix() && len(of.parents) > 0:
			add(other{n.id, of.parents[0]})
		}
	}
	return come, nil
}

// lookTime bounds the questions to git of a look.
const lookTime = 5 * time.Second

// Texts returns, by path, versions of files that commands of the turn may have brought: those from before the turn, the oldest first, and
// those in the commits that have come since the last look and that are being merged, or, with all, in all since the turn began. If
// there may be any, it asks for the files that commands have changed.
func (l *Log) Texts(all bool, changed func() []Changed) (map[string][]diffs.Version, error) {
	if l.dir == "" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	come, err := l.look(ctx, all)
	byGit := l.git || len(l.noted) > 0
	if err != nil || len(come) == 0 && !byGit {
		return nil, err
	}
	files := changed()
	var texts map[string][]diffs.Version
	if byGit {
		texts = l.versions(all, files)
	}
	if len(come) == 0 {
		return texts, nil
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	later, err := l.texts(ctx, come, paths)
	for path, list := range later {
		if texts == nil {
			texts = map[string][]diffs.Version{}
		}
		texts[path] = append(texts[path], list...)
	}
	return texts, err
}

// texts returns the texts that files have in commits, by path: each text once.
func (l *Log) texts(ctx context.Context, come []other, paths []string) (map[string][]diffs.Version, error) {
	all, seen := map[string][]diffs.Version{}, map[[3]string]bool{}
	for _, o := range come {
		blobs, err := l.tree.Held(ctx, o.id, paths)
		if err != nil {
			return nil, err
		}
		was := map[string]string{}
		if o.parent != "" {
			if was, err = l.tree.Held(ctx, o.parent, paths); err != nil {
				return nil, err
			}
		}
		for path, blob := range blobs {
			key := [3]string{path, blob, was[path]}
			if seen[key] || blob == was[path] {
				delete(blobs, path)
				delete(was, path)
			}
			seen[key] = true
		}
		earlier := l.tree.Blobs(ctx, was, true)
		for path, text := range l.tree.Blobs(ctx, blobs, true) {
			if utf8.Valid(text) {
				all[path] = append(all[path], diffs.Version{Commit: o.id, Text: string(text), Was: string(earlier[path])})
			}
		}
	}
	return all, nil
}
