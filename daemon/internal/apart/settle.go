package apart

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/overlay"
)

// settle drops from the upper folder what the work tree holds as well, so that these paths show what people do there. Nothing is mounted
// meanwhile.
func (o *overlaid) settle(ctx context.Context) error {
	list, err := overlay.Changes(ctx, o.in(upperName))
	if err != nil {
		return err
	}
	merged := false
	for _, c := range list {
		if c.Kind == overlay.Replaced && !inGit(c.Path) {
			merged = true
			if err := overlay.Merge(o.upper(c.Path), o.lower(c.Path)); err != nil {
				return err
			}
		}
	}
	if merged {
		if list, err = overlay.Changes(ctx, o.in(upperName)); err != nil {
			return err
		}
	}
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
			drop = !o.there(c.Path)
		case overlay.Written:
			drop = same(o.upper(c.Path), o.lower(c.Path))
		case overlay.Folder: // an empty one goes
			drop = filestat.Of(o.lower(c.Path)).Mode.IsDir()
		}
		if !drop {
			continue
		}
		if err := os.Remove(o.upper(c.Path)); err != nil && c.Kind != overlay.Folder {
			return err
		}
	}
	return o.settleGit()
}

// there reports whether the work tree holds anything at a path, without links on the way.
func (o *overlaid) there(path string) bool {
	for at, c := range path {
		if c == '/' && !filestat.Of(o.lower(path[:at])).Mode.IsDir() {
			return false
		}
	}
	return filestat.Of(o.lower(path)).Exists()
}

// same reports whether two paths hold the same file or link.
func same(a, b string) bool {
	is, other := lookFor(a), lookFor(b)
	switch {
	case is == nil || other == nil || is.Mode() != other.Mode():
		return false
	case is.Mode()&fs.ModeSymlink != 0:
		one, err := os.Readlink(a)
		two, err2 := os.Readlink(b)
		return err == nil && err2 == nil && one == two
	case !is.Mode().IsRegular() || is.Size() != other.Size():
		return false
	}
	one, err := os.Open(a)
	if err != nil {
		return false
	}
	defer one.Close()
	two, err := os.OpenFile(b, os.O_RDONLY|filestat.NonBlocking, 0)
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

// settleGit brings the work tree's repository into the tree if its commits have changed since the last turn began, as in a copy: HEAD,
// the branches and the index are those of the work tree then. Commits that only the agent has made keep refs below refs/cursord/kept,
// and its own branches stay.
func (o *overlaid) settleGit() error {
	if info := lookFor(o.upper(".git")); info == nil || !info.IsDir() {
		return nil
	}
	for _, name := range []string{"index.lock", "HEAD.lock"} { // of an agent that was killed
		os.Remove(o.upper(".git/" + name))
	}
	if !o.committed() {
		return nil
	}
	ours, theirs := readRefs(o.upper(".git")), readRefs(o.lower(".git"))
	known := map[string]bool{}
	for _, oid := range theirs {
		known[oid] = true
	}
	for _, oid := range ours {
		if known[oid] {
			continue
		}
		if err := os.MkdirAll(o.upper(".git/refs/cursord/kept"), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(o.upper(".git/refs/cursord/kept/"+oid), []byte(oid+"\n"), 0o644); err != nil {
			return err
		}
	}
	drop := []string{"HEAD", "index", "packed-refs"}
	filepath.WalkDir(o.upper(".git/refs"), func(full string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(o.upper(".git"), full)
			name = filepath.ToSlash(name)
			info, _ := d.Info()
			if _, both := theirs[name]; both || info != nil && overlay.IsWhiteout(info) {
				drop = append(drop, name)
			}
		}
		return nil
	})
	for _, name := range drop {
		if err := os.Remove(o.upper(".git/" + name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
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

// readRefs returns the commits that the files of a folder of git name, by the names of refs.
func readRefs(dir string) map[string]string {
	refs := map[string]string{}
	packed, _ := os.ReadFile(filepath.Join(dir, "packed-refs"))
	for line := range strings.Lines(string(packed)) {
		if oid, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && isOID(oid) {
			refs[name] = oid
		}
	}
	read := func(name string) {
		if info := lookFor(filepath.Join(dir, name)); info == nil || !info.Mode().IsRegular() {
			return
		}
		text, _ := os.ReadFile(filepath.Join(dir, name))
		if oid := strings.TrimSpace(string(text)); isOID(oid) {
			refs[filepath.ToSlash(name)] = oid
		}
	}
	read("HEAD")
	filepath.WalkDir(filepath.Join(dir, "refs"), func(full string, d fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(dir, full); err == nil && d.Type().IsRegular() {
			read(name)
		}
		return nil
	})
	return refs
}

func isOID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
