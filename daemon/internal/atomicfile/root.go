package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// A Step is a point in a decision right before the disk changes; Name is the change's name. For "write", Data is the text to
// write into File.
type Step struct {
	Name string
	File *os.File
	Data []byte
}

// A Root is a folder in which decisions write. It is an os.Root for slash paths; each change to the disk is a Step.
type Root struct {
	root  *os.Root
	fault func(Step) error // called before each step, which fails with its error
}

// Open opens a folder. fault, if given, is called before each step of a change; if it returns an error, the step fails with
// it. Tests use it to stop there.
func Open(root string, fault func(Step) error) (Root, error) {
	r, err := os.OpenRoot(root)
	return Root{r, fault}, err
}

// Close closes the folder. Changes that are under way then fail.
func (t Root) Close() { _ = t.root.Close() }

func (t Root) at(step string) error { return t.step(Step{Name: step}) }

func (t Root) step(s Step) error {
	if t.fault == nil {
		return nil
	}
	return t.fault(s)
}

// Read returns the state of a path of the folder.
func (t Root) Read(name string) State { return readRooted(t.root, name) }

func (t Root) lstat(name string) (fs.FileInfo, error) { return t.root.Lstat(filepath.FromSlash(name)) }

// open opens a file for reading, and for changing everything but its content.
func (t Root) open(name string) (*os.File, error) {
	return t.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|filestat.NonBlocking, 0)
}

func (t Root) create(name string) (*os.File, error) {
	if err := t.at("create"); err != nil {
		return nil, err
	}
	return t.root.OpenFile(filepath.FromSlash(name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

func (t Root) write(f *os.File, data []byte) error {
	if err := t.step(Step{"write", f, data}); err != nil {
		return err
	}
	_, err := f.Write(data)
	return err
}

func (t Root) sync(f *os.File) error {
	if err := t.at("sync"); err != nil {
		return err
	}
	return f.Sync()
}

func (t Root) truncate(f *os.File, size int) error {
	if err := t.at("truncate"); err != nil {
		return err
	}
	return f.Truncate(int64(size))
}

func (t Root) setMode(f *os.File, mode fs.FileMode) error {
	if err := t.at("chmod"); err != nil {
		return err
	}
	return f.Chmod(mode)
}

func (t Root) symlink(target, name string) error {
	if err := t.at("symlink"); err != nil {
		return err
	}
	return t.root.Symlink(target, filepath.FromSlash(name))
}

// moveNew renames a file; it returns fs.ErrExist if there is something at the new name.
func (t Root) moveNew(old, name string) error {
	if err := t.at("rename"); err != nil {
		return err
	}
	err := t.inFolders(old, name, renameNew)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	// Linking does not overwrite either, but both names exist for a moment.
	if err := t.at("link"); err != nil {
		return err
	}
	if err := t.root.Link(filepath.FromSlash(old), filepath.FromSlash(name)); err != nil {
		return err
	}
	if err := t.remove(old); err != nil {
		return errors.Join(err, t.remove(name))
	}
	return nil
}

// exchange exchanges the files at two names of a folder, if the system can.
func (t Root) exchange(a, b string) error {
	if err := t.at("exchange"); err != nil {
		return err
	}
	return t.inFolders(a, b, func(dir *os.File, a string, _ *os.File, b string) error { return exchangeNames(dir, a, b) })
}

// inFolders calls do with two names and their folders, opened so that no link leads out of the root.
func (t Root) inFolders(a, b string, do func(*os.File, string, *os.File, string) error) error {
	from, err := t.root.Open(filepath.FromSlash(path.Dir(a)))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := t.root.Open(filepath.FromSlash(path.Dir(b)))
	if err != nil {
		return err
	}
	defer to.Close()
	return do(from, path.Base(a), to, path.Base(b))
}

func (t Root) rename(old, name string) error {
	if err := t.at("rename"); err != nil {
		return err
	}
	return t.root.Rename(filepath.FromSlash(old), filepath.FromSlash(name))
}

func (t Root) remove(name string) error {
	if err := t.at("remove"); err != nil {
		return err
	}
	return t.root.Remove(filepath.FromSlash(name))
}

// makeRoom makes the folders that a path needs. It removes an empty folder at the path itself.
func (t Root) makeRoom(name string) error {
	missing := t.MissingDirs(name)
	slices.Reverse(missing)
	if err := t.eachNear(missing, func(in *os.Root, dir string) error {
		err := t.at("mkdir")
		if err == nil {
			err = in.Mkdir(filepath.FromSlash(dir), 0o777)
		}
		if errors.Is(err, fs.ErrExist) {
			if info, err := in.Lstat(filepath.FromSlash(dir)); err == nil && info.Mode().IsRegular() {
				return ErrOccupied
			}
			return nil
		}
		return err
	}); err != nil {
		return err
	}
	if info, err := t.lstat(name); err == nil && info.IsDir() {
		if err := t.at("rmdir"); err != nil {
			return err
		}
		if t.root.Remove(filepath.FromSlash(name)) != nil {
			return ErrOccupied
		}
	}
	return nil
}

// MissingDirs lists the folders that a path needs and that do not exist, the innermost first. In the place of one there may
// be a file, or a link to another folder.
func (t Root) MissingDirs(name string) (dirs []string) {
	missing := ""
	eachFolder(t.root, name, func(dir string, info fs.FileInfo, err error) {
		if err == nil && !info.IsDir() || errors.Is(err, fs.ErrNotExist) || filestat.NotDirectory(err) {
			missing = dir
		}
	})
	if missing == "" {
		return nil
	}
	for dir := paths.Parent(name); dir != "." && len(dir) >= len(missing); dir = paths.Parent(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

// RemoveEmpty removes empty folders, given the innermost first, until it meets one that is not empty.
func (t Root) RemoveEmpty(dirs []string) {
	_ = t.eachNear(dirs, func(in *os.Root, dir string) error {
		info, err := in.Lstat(filepath.FromSlash(dir))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !info.IsDir():
			return ErrOccupied
		}
		if err := t.at("rmdir"); err != nil {
			return err
		}
		return in.Remove(filepath.FromSlash(dir))
	})
}

// eachNear calls do for folders until do fails; each folder lies in the next or the previous one. do gets a folder's name
// below a nearby folder, because a call from the root would walk the whole of a deep path.
func (t Root) eachNear(dirs []string, do func(in *os.Root, dir string) error) error {
	for some := range slices.Chunk(dirs, 64) {
		if err := t.eachBelow(paths.Parent(min(some[0], some[len(some)-1])), some, do); err != nil {
			return err
		}
	}
	return nil
}

func (t Root) eachBelow(base string, dirs []string, do func(in *os.Root, dir string) error) error {
	in := t.root
	if base != "." {
		near, err := in.OpenRoot(filepath.FromSlash(base))
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the folders above do not exist either
		} else if err != nil {
			return err
		}
		defer near.Close()
		in = near
	}
	for _, dir := range dirs {
		if err := do(in, strings.TrimPrefix(dir, base+"/")); err != nil {
			return err
		}
	}
	return nil
}

// syncDir makes changes of the names in a folder survive a crash of the machine, if the system can.
func (t Root) syncDir(dir string) {
	d, err := t.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return
	}
	defer d.Close()
	if t.at("sync folder") == nil {
		_ = syncFolder(d)
	}
}
