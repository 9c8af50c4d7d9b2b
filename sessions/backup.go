package sessions

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// BackupSuffix ends the name of the file that Backup fills until the copy is complete.
const BackupSuffix = ".partial"

// Backup writes a copy of the database as it is at one moment to a new file at path, readable for this user alone. Reads and
// writes go on meanwhile. The file appears only once it is complete and on disk. If there is a file at path already, Backup
// keeps it and returns fs.ErrExist, unless replace is set. Open takes the copy as it takes the original.
func (s *Store) Backup(ctx context.Context, path string, replace bool) error {
	s.copying.Lock()
	defer s.copying.Unlock()
	switch there, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !replace:
		return &fs.PathError{Op: "backup", Path: path, Err: fs.ErrExist}
	case !there.Mode().IsRegular():
		return &fs.PathError{Op: "backup", Path: path, Err: errors.New("not a regular file")}
	default:
		if own, err := os.Stat(s.path); err != nil || os.SameFile(own, there) {
			return errors.Join(&fs.PathError{Op: "backup", Path: path, Err: errors.New("the database itself")}, err)
		}
	}
	if err := s.copyRoom(filepath.Dir(path)); err != nil {
		return err
	}
	partial := path + BackupSuffix
	f, err := os.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err // perhaps another backup to this path is under way
	}
	err = f.Close()
	if err == nil {
		err = s.backupInto(ctx, partial)
	}
	if err == nil && replace {
		err = os.Rename(partial, path)
	} else if err == nil {
		err = moveNew(partial, path)
	}
	if err == nil {
		return syncDir(filepath.Dir(path))
	}
	if rest := os.Remove(partial); !errors.Is(rest, fs.ErrNotExist) {
		err = errors.Join(err, rest)
	}
	if isNoSpace(err) {
		err = errors.Join(ErrNoSpace, err)
	}
	return err
}

// moveNew renames a file, and fails if the new name is taken.
func moveNew(from, to string) error {
	err := os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if _, there := os.Lstat(to); !errors.Is(there, fs.ErrNotExist) {
		return &fs.PathError{Op: "backup", Path: to, Err: fs.ErrExist}
	}
	return os.Rename(from, to) // a file system without hard links
}

func (s *Store) backupInto(ctx context.Context, path string) (err error) {
	to, err := openBolt(path, s.o.LockTimeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	err = s.view(func(tx *bolt.Tx) error {
		return s.copyTx(func() error { return s.mayCopy(ctx) }, to, tx)
	})
	if err != nil {
		return err
	}
	to.NoFreelistSync = false // the mark of a file that was closed cleanly
	return to.Update(func(*bolt.Tx) error { return nil })
}
