package endpoint

import (
	"fmt"
	"os"
)

// Windows allows 108 bytes including the final NUL.
const maxSocketPath = 107

// checkPrivate reports why a path is no folder. Who may use it is the business of its inherited access list: on
// Windows our folders are below the user's own profile.
func checkPrivate(dir string, _ os.FileMode, _ string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", dir)
	}
	return nil
}

// checkOwner leaves the owner to the folder's access list, like checkPrivate.
func checkOwner(string, os.FileInfo) error { return nil }

// tempDir is below the user's profile, so that it needs no name of the user.
func tempDir() string   { return os.TempDir() }
func uidSuffix() string { return "" }

const noFollow = 0
