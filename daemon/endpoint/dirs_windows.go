package endpoint

import (
	"fmt"
	"os"
)

// Windows allows 108 bytes including the final NUL.
const maxSocketPath = 107

// checkPrivate returns an error unless a path is a folder. Its inherited access list says who may use it: on Windows our
// folders are below the user's profile.
func checkPrivate(dir string, _ os.FileMode, _ string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	return nil
}

// checkOwner returns nil: the folder's access list keeps others out, as in checkPrivate.
func checkOwner(string, os.FileInfo) error { return nil }

// tempDir is below the user's profile, so a name in it needs no user name.
func tempDir() string   { return os.TempDir() }
func uidSuffix() string { return "" }

const noFollow = 0
