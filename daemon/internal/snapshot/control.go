package snapshot

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/daemon/paths"
)

// Bounds of the search in git's folders.
const (
	controlMost  = 2000
	controlDepth = 6 // of nested submodules, and of the folders in their names
)

// A controlList lists the files in git's folders that can name programs, lead elsewhere or hide files. What an agent's
// command changes in them is reviewed like any other file. Files that git itself writes all the time are not among them.
type controlList struct {
	root  string
	names []string
}

// controlFiles lists the control files of a workspace's repositories.
func controlFiles(root string, repos []git.Repository) []string {
	l := controlList{root: root}
	l.repository(".git")
	for _, r := range repos {
		if r.At != "" {
			l.repository(r.At + ".git")
		}
	}
	return l.names
}

func (l *controlList) full(name string) string {
	return filepath.Join(l.root, filepath.FromSlash(name))
}

// repository lists the control files of the repository at name.
func (l *controlList) repository(name string) {
	if filestat.Of(l.full(name)).Mode.IsDir() {
		l.folder(name, 0)
	} else {
		l.add(name) // the file that says where the repository is
	}
}

// folder lists the control files in one of git's folders.
func (l *controlList) folder(dir string, depth int) {
	for _, name := range []string{"config", "config.worktree", "commondir", "info/attributes", "info/exclude", "objects/info/alternates"} {
		l.add(path.Join(dir, name))
	}
	for _, name := range []string{"objects", "objects/pack", "objects/info", "refs", "info", "hooks", "worktrees", "modules"} {
		l.add(path.Join(dir, name)) // listed only if it is a link
	}
	for _, hook := range l.entries(path.Join(dir, "hooks")) {
		if !strings.HasSuffix(hook, ".sample") {
			l.add(path.Join(dir, "hooks", hook))
		}
	}
	for _, tree := range l.entries(path.Join(dir, "worktrees")) {
		for _, name := range []string{"gitdir", "commondir", "config.worktree"} {
			l.add(path.Join(dir, "worktrees", tree, name))
		}
	}
	l.modules(path.Join(dir, "modules"), depth+1)
}

// modules lists the control files of submodules, whose names may have slashes.
func (l *controlList) modules(dir string, depth int) {
	for _, name := range l.entries(dir) {
		at := path.Join(dir, name)
		switch {
		case depth > controlDepth || len(l.names) >= controlMost || !filestat.Of(l.full(at)).Mode.IsDir():
		case filestat.Of(l.full(path.Join(at, "HEAD"))).Exists():
			l.folder(at, depth)
		default:
			l.modules(at, depth+1)
		}
	}
}

// entries returns the names in a folder, unless a link leads to it.
func (l *controlList) entries(dir string) (names []string) {
	if !filestat.Of(l.full(dir)).Mode.IsDir() {
		return nil
	}
	list, _ := os.ReadDir(l.full(dir))
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func (l *controlList) add(name string) {
	st := filestat.Of(l.full(name))
	if len(l.names) < controlMost && st.Exists() && !st.Mode.IsDir() {
		l.names = append(l.names, name)
	}
}

// control adds the control files of git's folders to files.
func (s *Snapshot) control(files []git.Listed, repos []git.Repository) []git.Listed {
	if s.isolated {
		return files // the repository is a copy of ours, and is removed with the tree
	}
	for _, name := range controlFiles(s.root, repos) {
		files = append(files, git.Listed{Path: name})
	}
	return files
}

// outsideMost bounds the size of the control files outside of the workspace that are kept for a turn, in bytes.
const outsideMost = 1 << 20

// OutsideControl reads the control files of the root's repository that lie outside of the workspace: those of a linked work
// tree, and those of a repository of which the workspace is a folder.
func OutsideControl(root string) map[string]atomicfile.State {
	repo, ok := askgit.Find(root)
	if !ok {
		return nil
	}
	common, err := repo.Common()
	if _, in := paths.Within(root, common); in || err != nil {
		return nil
	}
	l := controlList{root: common}
	l.folder(".", 0)
	held := map[string]atomicfile.State{}
	for _, name := range l.names {
		full := l.full(name)
		if filestat.Of(full).Size <= outsideMost {
			held[full] = atomicfile.Read(root, full)
		}
	}
	return held
}

// ChangedOutside returns the control files outside of a root that differ from what [OutsideControl] has found before, as they are now.
func ChangedOutside(root string, before map[string]atomicfile.State) map[string]atomicfile.State {
	now, changed := OutsideControl(root), map[string]atomicfile.State{}
	for name, img := range now {
		if !img.Same(before[name]) {
			changed[name] = img
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			changed[name] = atomicfile.State{}
		}
	}
	return changed
}
