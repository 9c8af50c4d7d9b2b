package askgit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ErrTooLong is returned when git has not answered within a minute.
var ErrTooLong = errors.New("git took too long; a rule in a .gitignore or .gitattributes file may keep it busy")

// An InTheWay is the error for a FIFO, a device or the like in the place of a file that git reads: git would wait for it or
// read it without end.
type InTheWay struct{ Path string }

func (e *InTheWay) Error() string {
	return e.Path + " is in the way of git, because it is not a regular file; remove it"
}

const (
	longest = time.Minute            // the longest time that git may take
	calm    = 400 * time.Millisecond // time after which the cause of the delay is searched for in git's folder
	patient = time.Second            // time after that before the work tree is searched, which takes as long as git takes for a large one
	looked  = 200_000                // most entries of folders in that search
)

// Blocked reports whether an error means that the contents of the repository or its work tree keep git from its work.
func Blocked(err error) bool {
	var way *InTheWay
	return errors.As(err, &way) || errors.Is(err, ErrTooLong)
}

// watched runs git, and ends it if it takes too long or if something is found that it must be waiting for. Work trees are
// large and git is mostly fast, so the searches begin only after delays.
func (v *View) watched(ctx context.Context, dir, work string, run func(context.Context) ([]byte, error)) ([]byte, error) {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	found := make(chan error, 1)
	defer time.AfterFunc(calm, func() {
		if path := v.blocking(ctx, dir, work); path != "" {
			found <- &InTheWay{path}
			cancel()
		}
	}).Stop()
	out, err := run(ctx)
	if err == nil {
		return out, nil
	}
	select {
	case why := <-found:
		return nil, why
	default:
	}
	if whole.Err() == nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, ErrTooLong
	}
	return out, err
}

// odd reports whether a path, after its links, is something other than a file or a folder.
func odd(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular() && !info.IsDir()
}

// controls returns the paths of the files in git's folder that git reads for every question.
func (v *View) controls() (paths []string) {
	for _, name := range []string{"HEAD", "index", "info/sparse-checkout"} {
		paths = append(paths, filepath.Join(v.Dir, filepath.FromSlash(name)))
	}
	for _, name := range []string{"packed-refs", "shallow", "objects/info/alternates"} {
		paths = append(paths, filepath.Join(v.Common, filepath.FromSlash(name)))
	}
	return paths
}

// unblocked returns an error if one of git's own files is not a file.
func (v *View) unblocked() *InTheWay {
	for _, path := range v.controls() {
		if odd(path) {
			return &InTheWay{path}
		}
	}
	return nil
}

// blocking returns the path of something that keeps git from its work, or "". It takes its time before it reads the work tree.
func (v *View) blocking(ctx context.Context, dir, work string) (found string) {
	names := []string{"objects/pack"}
	if !v.alone {
		if way := v.unblocked(); way != nil {
			return way.Path
		}
		names = append(names, "refs", "objects/info")
	}
	for _, name := range names {
		if found = oddBelow(ctx, filepath.Join(v.Common, filepath.FromSlash(name)), func(string) bool { return true }); found != "" {
			return found
		}
	}
	rules := func(name string) bool { return strings.HasPrefix(name, ".git") }
	for at := filepath.Dir(dir); inside(work, at); at = filepath.Dir(at) { // the rules of the folders above count too
		for _, name := range []string{".gitignore", ".gitattributes"} {
			if path := filepath.Join(at, name); odd(path) {
				return path
			}
		}
	}
	select {
	case <-ctx.Done():
		return ""
	case <-time.After(patient):
	}
	return oddBelow(ctx, dir, rules)
}

// oddBelow returns a path below a folder that is neither a file nor a folder, among the names for which look is true; "" if
// there is none.
func oddBelow(ctx context.Context, dir string, look func(name string) bool) (found string) {
	entries := 0
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if entries++; entries > looked || ctx.Err() != nil {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil // this folder cannot be read
		case d.IsDir() && d.Name() == ".git" && path != dir:
			return fs.SkipDir
		case !d.IsDir() && !d.Type().IsRegular() && look(d.Name()) && odd(path):
			found = path
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// regular returns an error for an open file that is not a regular file, or is too large to read.
func regular(name string, info fs.FileInfo, most int64) error {
	switch {
	case !info.Mode().IsRegular():
		return &InTheWay{name}
	case info.Size() > most:
		return fmt.Errorf("%s is not a file of at most %d KiB", name, most>>10)
	}
	return nil
}
