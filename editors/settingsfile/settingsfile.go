// Package settingsfile reads and replaces a file of a person's settings, as a whole.
package settingsfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Read returns a file, and whether it is there.
func Read(name string) (text string, exists bool, err error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(data), err == nil, err
}

// Write replaces a file as a whole and makes its folder. For a link it replaces the file to which the link leads.
func Write(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	mode := fs.FileMode(0o666)
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	} else if link, err := os.Readlink(name); err == nil {
		return fmt.Errorf("%s is a link to %s, which is not there", name, link)
	}
	temp, err := os.OpenFile(name+".cursord-new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return fmt.Errorf("%w; where the configuration is not to be written, add what the difference shows by hand", err)
	}
	_, err = temp.WriteString(text)
	if err == nil {
		err = temp.Sync()
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}
