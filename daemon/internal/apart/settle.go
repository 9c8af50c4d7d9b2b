package apart

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/overlay"
)

// settle drops from the upper folder what the work tree holds as well, so that these paths show what people do there, and brings the work
// tree's repository. The turn that ends may have left processes that still write to the upper folder: nothing here leaves it through a link,
// nor waits for a file.
func (o *overlaid) settle(ctx context.Context) error {
	if err := o.settleFiles(ctx); err != nil {
		return err
	}
	return o.settleGit(ctx)
}

// settleFiles is settle without the repository. Each turn ends with it, because what is equal then may differ when people go on.
func (o *overlaid) settleFiles(ctx context.Context) error {
	upper, err := os.OpenRoot(o.in(upperName))
	if err != nil {
		return err
	}
	defer upper.Close()
	list, err := overlay.Changes(ctx, o.in(upperName))
	if err != nil {
		return err
	}
	before, err := o.recorded()
	if err != nil {
		return err
	}
	changed := false
	for _, c := range list {
		switch {
		case c.Kind == overlay.Replaced && !inGit(c.Path):
			err = overlay.Merge(upper, c.Path, o.lower(c.Path))
		case c.Kind == overlay.Removed && !inGit(c.Path) && o.news(ctx, c.Path, before):
			if err = upper.Remove(c.Path); err == nil {
				err = o.uncover(ctx, upper, c.Path, before)
			}
		default:
			continue
		}
		if changed = true; err != nil {
			return err
		}
	}
	if changed {
		if list, err = overlay.Changes(ctx, o.in(upperName)); err != nil {
			return err
		}
	}
	if err := o.drop(ctx, upper, list); err != nil {
		return err
	}
	return o.record(ctx, list, before)
}

// settleAt is settleFiles for one path, and for the folders on the way to it.
func (o *overlaid) settleAt(name string) error {
	upper, err := os.OpenRoot(o.in(upperName))
	if err != nil {
		return err
	}
	defer upper.Close()
	var list []overlay.Change
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		at = path.Join(at, part)
		kind, err := o.kindAt(upper, at)
		if err == nil && kind == overlay.Replaced && !inGit(at) {
			kind, err = overlay.Folder, overlay.Merge(upper, at, o.lower(at))
		}
		if err != nil {
			return err
		}
		if list = append(list, overlay.Change{Path: at, Kind: kind}); kind != overlay.Folder {
			break
		}
	}
	return o.drop(context.Background(), upper, list)
}

// kindAt returns what the upper folder holds at a path; "" if it holds nothing.
func (o *overlaid) kindAt(upper *os.Root, name string) (overlay.Kind, error) {
	info, err := upper.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case overlay.IsWhiteout(info):
		return overlay.Removed, nil
	case !info.IsDir():
		return overlay.Written, nil
	}
	if opaque, err := overlay.IsOpaque(o.upper(name)); err != nil || opaque {
		return overlay.Replaced, err
	}
	return overlay.Folder, nil
}

// drop removes those of the changes that the work tree has as well.
func (o *overlaid) drop(ctx context.Context, upper *os.Root, list []overlay.Change) error {
	for _, c := range slices.Backward(list) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if inGit(c.Path) {
			continue
		}
		drop := false
		switch c.Kind {
		case overlay.Removed:
			drop = !filestat.Of(o.lower(c.Path)).Exists()
		case overlay.Written:
			drop = same(upper, c.Path, o.lower(c.Path))
		case overlay.Folder: // an empty one goes
			drop = filestat.Of(o.lower(c.Path)).Mode.IsDir()
		}
		if !drop {
			continue
		}
		if err := upper.Remove(c.Path); err != nil && c.Kind != overlay.Folder && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// same reports whether a path of the upper folder and a full path hold the same file or link.
func same(upper *os.Root, name, full string) bool {
	is, err := upper.Lstat(name)
	other := lookFor(full)
	switch {
	case err != nil || other == nil || is.Mode() != other.Mode():
		return false
	case is.Mode()&fs.ModeSymlink != 0:
		one, err := upper.Readlink(name)
		two, err2 := os.Readlink(full)
		return err == nil && err2 == nil && one == two
	case !is.Mode().IsRegular() || is.Size() != other.Size():
		return false
	}
	one := openRegular(upper, name)
	if one == nil {
		return false
	}
	defer one.Close()
	two, err := os.OpenFile(full, os.O_RDONLY|filestat.NonBlocking, 0)
	if err != nil {
		return false
	}
	defer two.Close()
	var bufs [2][32 << 10]byte
	for {
		n, err := io.ReadFull(one, bufs[0][:])
		m, err2 := io.ReadFull(two, bufs[1][:])
		if !bytes.Equal(bufs[0][:n], bufs[1][:m]) {
			return false
		}
		if err != nil || err2 != nil {
			return ended(err) && ended(err2)
		}
	}
}

func ended(err error) bool { return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) }

// inGit reports whether a path is git's folder or lies in it.
func inGit(path string) bool { return strings.Contains("/"+path+"/", "/.git/") }

// openRegular opens a regular file of root for reading; nil if there is none. It does not wait for the other end of a FIFO.
func openRegular(root *os.Root, name string) *os.File {
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := root.OpenFile(name, os.O_RDONLY|filestat.NonBlocking, 0)
	if err != nil {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil
	}
	return f
}

// Names in a repository.
const (
	refsName = ".git/refs"
	keptName = ".git/refs/cursord/kept" // refs to commits that only the agent has made
)

// settleGit brings the work tree's repository into the tree if its commits have changed since the last turn began, as in a copy: HEAD,
// the branches and the index are those of the work tree then. Commits that only the agent has made keep refs below refs/cursord/kept,
// and its own branches stay.
func (o *overlaid) settleGit(ctx context.Context) error {
	upper, err := os.OpenRoot(o.in(upperName))
	if err != nil {
		return err
	}
	defer upper.Close()
	if info, err := upper.Lstat(".git"); err != nil || !info.IsDir() {
		return nil
	}
	for _, name := range []string{"index.lock", "HEAD.lock"} { // of an agent that was killed
		upper.Remove(".git/" + name)
	}
	if !o.committed() {
		return nil
	}
	lower, err := os.OpenRoot(o.root)
	if err != nil {
		return err
	}
	defer lower.Close()
	ours, theirs := readRefs(ctx, upper), readRefs(ctx, lower)
	known := map[string]bool{}
	for _, oid := range theirs {
		known[oid] = true
	}
	for _, oid := range ours {
		if known[oid] {
			continue
		}
		if err := keep(upper, oid); err != nil {
			return err
		}
	}
	drop := []string{".git/HEAD", ".git/index", ".git/packed-refs"}
	overlay.Walk(ctx, upper, refsName, func(name string, d fs.DirEntry) error {
		if d.IsDir() {
			return nil
		}
		info, err := upper.Lstat(name)
		if _, both := theirs[name]; both || err == nil && overlay.IsWhiteout(info) {
			drop = append(drop, name)
		}
		return nil
	})
	for _, name := range drop {
		if err := upper.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return ctx.Err()
}

// keep makes a ref to a commit below refs/cursord/kept. What is no folder on the way there, or no file, gives way: the agent has no use
// for it.
func keep(upper *os.Root, oid string) error {
	for _, dir := range []string{refsName, ".git/refs/cursord", keptName} {
		if info, err := upper.Lstat(dir); err == nil && !info.IsDir() {
			if err := upper.Remove(dir); err != nil {
				return err
			}
		}
		if err := upper.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	name := keptName + "/" + oid
	if err := upper.RemoveAll(name); err != nil {
		return err
	}
	f, err := upper.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(oid + "\n")
	return errors.Join(err, f.Close())
}

// committed reports whether refs of the work tree's repository may have changed since the last turn began.
func (o *overlaid) committed() bool {
	for _, name := range []string{"HEAD", "packed-refs"} {
		if filestat.Of(o.lower(".git/"+name)).Exists() && o.changedSince(".git/"+name) {
			return true
		}
	}
	changed := false
	filepath.WalkDir(o.lower(".git/refs"), func(full string, d fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(o.root, full); err == nil && o.changedSince(filepath.ToSlash(name)) {
			changed = true
			return fs.SkipAll
		}
		return nil
	})
	return changed
}

// How much of a file that names commits is read.
const (
	packedMost = 64 << 20
	refMost    = 1 << 10
)

// readRefs returns the commits that the files of root's repository name, by the paths of refs in root.
func readRefs(ctx context.Context, root *os.Root) map[string]string {
	refs := map[string]string{}
	if f := openRegular(root, ".git/packed-refs"); f != nil {
		lines := bufio.NewScanner(io.LimitReader(f, packedMost))
		for lines.Scan() {
			if oid, name, ok := strings.Cut(strings.TrimSpace(lines.Text()), " "); ok && isOID(oid) {
				refs[".git/"+name] = oid
			}
		}
		f.Close()
	}
	read := func(name string) {
		f := openRegular(root, name)
		if f == nil {
			return
		}
		defer f.Close()
		text, _ := io.ReadAll(io.LimitReader(f, refMost))
		if oid := strings.TrimSpace(string(text)); isOID(oid) {
			refs[name] = oid
		}
	}
	read(".git/HEAD")
	overlay.Walk(ctx, root, refsName, func(name string, d fs.DirEntry) error {
		if d.Type().IsRegular() {
			read(name)
		}
		return nil
	})
	return refs
}

func isOID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
