// Package overlay shows a folder to some processes as it is with changes of their own, and keeps the folder as it is.
//
// Linux can lay one folder over another: reads go through to the lower one, and what is written, removed or renamed goes to the
// upper one. Mount does that in a user and a mount namespace of its own, which needs no privileges. Only processes that Enter
// starts there see the tree, at a path that may be that of the lower folder itself. The present process reaches the tree
// by Tree.Root, in which it may read and write.
//
// No process holds the namespace. A helper, which is the running program started anew, mounts and ends; what stays are three
// descriptors of this process, and the processes that were entered. With the last of these the mount is gone, however they end,
// and the upper folder has the changes (Changes lists them). The next Mount goes on from there.
//
// A command that was entered is in a PID namespace of its own: it sees no other processes, signals none, and all that it starts ends with
// it. Processes within have no capability, and no program that they run gives them one, not even one that root owns: root is another user
// there. In a user namespace of their own they have all capabilities, but only over what they make there.
//
// What the lower folder gets while it is mounted shows, as far as the upper folder has nothing there. But a name that was
// looked up before may show what it led to then: an absent file, or the one that another has replaced or that was removed.
// A process within that writes to the file writes to what shows, and not to what the lower folder has by then, as Tree.Root
// tells. The next Mount shows all. What is written to the upper folder other than through the mount is undefined; so write it while
// nothing is mounted. A folder of the lower one cannot be renamed (programs copy it then), and what belongs to
// another user or to another group than the primary one cannot be changed (Changeable).
package overlay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// ErrRefused is returned where the system lets nothing be mounted, with what it says.
var ErrRefused = errors.New("this system mounts no overlay")

// A Command is a process that has not been started.
type Command = exec.Cmd

// A Layout says what is mounted, by absolute paths without links.
type Layout struct {
	Lower string   // the folder that stays as it is; no other file system may be mounted in it
	Upper string   // gets the changes; not in Lower
	Work  string   // for the kernel alone: a folder of Upper's file system, empty at first
	At    string   // the folder at which processes within find the tree; it may be Lower
	Hide  []string // folders that are empty for processes within, except for Keep
	Keep  []string // folders below those of Hide that stay
}

func (l Layout) check() error {
	for _, p := range append([]string{l.Lower, l.Upper, l.Work, l.At}, slices.Concat(l.Hide, l.Keep)...) {
		if !filepath.IsAbs(p) || filepath.Clean(p) != p {
			return fmt.Errorf("%q: an absolute path without . and .. is needed", p)
		}
	}
	for _, p := range []string{l.Upper, l.Work} {
		if _, in := below(l.Lower, p); in {
			return fmt.Errorf("%s lies in %s, over which it would be mounted", p, l.Lower)
		}
	}
	for _, p := range l.Hide {
		if _, in := below(p, l.At); in {
			return fmt.Errorf("%s is to be hidden, and the tree would be in it, at %s", p, l.At)
		}
	}
	return nil
}

// below returns a path relative to a folder, or false if it does not lie in it. Both are clean.
func below(dir, p string) (string, bool) {
	if p == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
	return rest, ok
}

// A Kind says what an upper folder holds at a path.
type Kind string

// The kinds of changes.
const (
	Written  Kind = "written"  // a file, a link or whatever else is no folder
	Removed  Kind = "removed"  // what the lower folder has there does not show
	Folder   Kind = "folder"   // a folder in which more may have changed
	Replaced Kind = "replaced" // a folder that shows nothing of the lower one's
)

// A Change is a path at which the upper folder holds something.
type Change struct {
	Path string // relative, with slashes
	Kind Kind
}

// RemoveAll removes a folder with an upper or a work folder in it. The kernel leaves a folder there that lets nobody in.
func RemoveAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// Walk calls visit for all that is in a folder of root, folders before what is in them, and never leaves root, whatever anybody does there
// meanwhile. Paths are relative to root. It skips what is gone, and what lies deeper than people's folders do. It ends with the error
// of visit or of ctx.
func Walk(ctx context.Context, root *os.Root, dir string, visit func(path string, d fs.DirEntry) error) error {
	f, err := root.Open(dir + "/.") // a folder, and nothing that opening would wait for
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	list, err := f.ReadDir(-1)
	f.Close()
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, d := range list {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name := filepath.Join(dir, d.Name())
		if strings.Count(name, string(filepath.Separator)) >= deepest {
			continue
		}
		err := visit(filepath.ToSlash(name), d)
		if err == nil && d.IsDir() {
			err = Walk(ctx, root, name, visit)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// deepest is how many folders may be in each other. Each is opened from the top, so without an end deep ones take hours.
const deepest = 256

// A Survey says what of a folder matters before it becomes a lower one.
type Survey struct {
	Foreign  string   // a file or folder that cannot be changed (see Changeable); "" if there is none
	GitFiles []string // files, and links, by the name .git
}
