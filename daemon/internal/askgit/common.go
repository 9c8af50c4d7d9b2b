package askgit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// emptyName is the name of an empty folder in each of our folders: filters run there.
const emptyName = "empty"

// common returns the folder for GIT_COMMON_DIR. The folder never changes, because its name is a hash of its contents.
func (v *View) common(filters bool) (string, error) {
	config := v.config()
	attributes := string(v.attributes)
	if !filters {
		// A line here overrides all other attributes.
		attributes = strings.TrimSuffix(attributes, "\n") + "\n* -filter\n"
	}
	alternates := FormatAlternates(v.Alternates)
	sum := sha256.Sum256([]byte(strings.Join([]string{v.Common, config, string(v.exclude), attributes, alternates, fmt.Sprint(v.apart, v.alone)}, "\x00")))
	home := v.guard.Home
	dir := filepath.Join(home, hex.EncodeToString(sum[:16]))
	if _, err := os.Lstat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return "", err
	}
	made, err := os.MkdirTemp(home, "new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(made)
	err = v.fill(made, map[string]string{
		"config": config, "info/exclude": string(v.exclude), "info/attributes": attributes, "objects/info/alternates": alternates,
	})
	if err != nil {
		return "", err
	}
	if err := os.Rename(made, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, there := os.Lstat(dir); there != nil {
			return "", err
		}
	}
	return dir, nil
}

// config returns the part of the configuration that git reads.
func (v *View) config() string {
	version := "0"
	var list []Setting
	for _, s := range v.Counted {
		if s.extension() {
			version = "1"
		}
		if !strings.HasPrefix(s.Key, "filter.") {
			list = append(list, s)
		}
	}
	// Git LFS installs its hooks whenever it runs.
	list = append(list, Setting{Key: "core.hookspath", Value: os.DevNull})
	return "[core]\n\trepositoryformatversion = " + version + "\n\tbare = false\n" + FormatConfig(list)
}

func (v *View) fill(dir string, files map[string]string) error {
	for _, sub := range []string{"info", "objects/info", emptyName} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(sub)), 0o700); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	names := []string{"refs", "packed-refs", "reftable", "shallow"}
	if v.alone {
		if err := os.Mkdir(filepath.Join(dir, "refs"), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600); err != nil {
			return err
		}
		names = nil
	}
	if v.apart { // its objects, without the files in their info folder
		names = append(names, "objects/pack")
		for i := range 256 {
			names = append(names, fmt.Sprintf("objects/%02x", i))
		}
	}
	for i, name := range names {
		name = filepath.FromSlash(name)
		err := os.Symlink(filepath.Join(v.Common, name), filepath.Join(dir, name))
		if err != nil && i == 0 && !v.apart {
			return os.MkdirAll(filepath.Join(dir, "refs"), 0o700) // without links, git knows no refs
		}
		if err != nil {
			return err
		}
	}
	return nil
}
