// Package editors has the editors' plugins, and puts them where the editors find them.
//
// An installed plugin is a folder with a manifest of what was written there. By it, nothing is overwritten or removed that
// somebody else has put there or has changed.
//
// nvim: rpc.lua has the connection, workspace.lua the map from id to object that its notifications keep, docs.lua what ties
// buffers to files, follow.lua how they follow the disk, report.lua their reports to the daemon, review/ marks, decisions
// and lists, review/await.lua the commands that wait for marks, transcript.lua the chat's buffer. emacs likewise:
// cursord-connection.el has one queue for all that comes, in the order of the wire, which a timer empties in slices;
// cursord-workspace.el the map and the one hook that views listen to; cursord-files.el what ties buffers to files,
// cursord-disk.el how they follow the disk, in slices if they are large; cursord-await.el how commands wait for marks;
// cursord-transcript.el and cursord-blocks.el the chat. Tests that drive real ones: cmd/cursord/tests/nvim and tests/emacs;
// what batch can show of Emacs is in Lisp, emacs/test, and run by tests/emacs/ert_test.go.
package editors

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed nvim/plugin nvim/lua nvim/ftplugin nvim/syntax nvim/doc emacs/*.el emacs/*.info emacs/dir
var plugins embed.FS

// Names lists the editors that there are plugins for.
var Names = []string{"nvim", "emacs"}

// manifestName is the file that lists the installed files.
const manifestName = ".cursord.json"

type manifest struct {
	Version string            `json:"version"`
	Files   map[string]string `json:"files"` // hashes by path, with slashes
}

// A Report lists the changes that were made to a plugin's folder.
type Report struct {
	Dir     string
	Before  string   // the version that was there; "" if none was
	Written []string // files, relative to Dir
	Removed []string
	Kept    []string // not removed, because somebody has changed them
	Gone    bool     // Dir itself was removed
}

// A ForeignError says which files are in the way of an installation.
type ForeignError struct {
	Dir   string
	Files []string
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s has files that cursord did not write, or that were changed since: %s", e.Dir, strings.Join(e.Files, ", "))
}

// Install puts the plugin of an editor into dir, over an older or newer version of itself. What it would overwrite of
// somebody else's is a ForeignError, and then nothing has happened, unless force is set.
func Install(editor, dir, version string, force bool) (Report, error) {
	report := Report{Dir: dir}
	files, err := contents(editor)
	if err != nil {
		return report, err
	}
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return report, fmt.Errorf("%s is not a folder, perhaps a link to a plugin under development; it was left alone", dir)
	}
	old, err := readManifest(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return report, err
	}
	report.Before = old.Version
	now := manifest{Version: version, Files: map[string]string{}}
	foreign := &ForeignError{Dir: dir}
	for _, name := range sortedKeys(files) {
		now.Files[name] = hash(files[name])
		have, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			report.Written = append(report.Written, name)
		case err != nil:
			return report, err
		case hash(have) == now.Files[name]:
		case hash(have) == old.Files[name] || force:
			report.Written = append(report.Written, name)
		default:
			foreign.Files = append(foreign.Files, name)
		}
	}
	if foreign.Files != nil {
		report.Written = nil
		return report, foreign
	}
	// The manifest comes first: should this be interrupted, all that was written is still known to be ours.
	both := manifest{Version: old.Version, Files: maps.Clone(now.Files)}
	for name, h := range old.Files {
		if _, ok := both.Files[name]; !ok {
			both.Files[name] = h
		}
	}
	if len(report.Written) > 0 || old.Version != version || len(both.Files) > len(now.Files) {
		if err := writeManifest(dir, both); err != nil {
			return report, err
		}
	}
	for _, name := range report.Written {
		// What Emacs has compiled goes first, or Emacs would load it instead.
		if err := removeCompiled(dir, name); err != nil {
			return report, err
		}
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), files[name]); err != nil {
			return report, err
		}
	}
	for _, name := range sortedKeys(old.Files) {
		if _, ok := now.Files[name]; !ok {
			if err := report.remove(name, old.Files[name]); err != nil {
				return report, err
			}
		}
	}
	if len(report.Written)+len(report.Removed)+len(report.Kept) > 0 || old.Version != version {
		return report, writeManifest(dir, now)
	}
	return report, nil
}

// Uninstall removes what Install wrote and nobody has changed, and the folders that are then empty.
func Uninstall(dir string) (Report, error) {
	report := Report{Dir: dir}
	old, err := readManifest(dir)
	if err != nil {
		return report, err
	}
	report.Before = old.Version
	for _, name := range sortedKeys(old.Files) {
		if err := report.remove(name, old.Files[name]); err != nil {
			return report, err
		}
	}
	if err := os.Remove(filepath.Join(dir, manifestName)); err != nil {
		return report, err
	}
	report.Gone = os.Remove(dir) == nil // it fails where something else is in it
	return report, nil
}

// remove removes a file that is still as it was written, and the folders that are empty without it.
func (r *Report) remove(name, want string) error {
	file := filepath.Join(r.Dir, filepath.FromSlash(name))
	have, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case hash(have) != want:
		r.Kept = append(r.Kept, name)
		return nil
	}
	if err := errors.Join(removeCompiled(r.Dir, name), os.Remove(file)); err != nil {
		return err
	}
	r.Removed = append(r.Removed, name)
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if os.Remove(filepath.Join(r.Dir, filepath.FromSlash(dir))) != nil {
			break
		}
	}
	return nil
}

// removeCompiled removes what Emacs has made of a file.
func removeCompiled(dir, name string) error {
	if !strings.HasSuffix(name, ".el") {
		return nil
	}
	err := os.Remove(filepath.Join(dir, filepath.FromSlash(name)+"c"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Unknown is the error for the name of an editor that cursord does not know, or whose extension is not in this program.
func Unknown(editor string) error {
	if editor == "vscode" || editor == "code" || editor == "vscodium" {
		return errors.New(`the extension of Visual Studio Code is not in this program, but a file of its own
  a release has it as cursord-VERSION.vsix, and in a clone of cursord's sources this makes it:
    make editors && .ci/vscode package 0.9.0 cursord.vsix
  then: code --install-extension cursord.vsix`)
	}
	return fmt.Errorf("unknown editor %q (choose %s, helix or zed)", editor, strings.Join(Names, ", "))
}

// contents returns the files of a plugin as they are to be installed, by path.
func contents(editor string) (map[string][]byte, error) {
	if !slices.Contains(Names, editor) {
		return nil, Unknown(editor)
	}
	files := map[string][]byte{}
	root, err := fs.Sub(plugins, editor)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(root, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	switch editor {
	case "nvim":
		files["doc/tags"] = helpTags(files)
	case "emacs":
		err = addEmacsFiles(files)
	}
	return files, err
}

func readManifest(dir string) (m manifest, err error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: %w", filepath.Join(dir, manifestName), err)
	}
	for name := range m.Files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return m, fmt.Errorf("%s names %q, which is not in its folder", filepath.Join(dir, manifestName), name)
		}
	}
	return m, nil
}

func writeManifest(dir string, m manifest) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, manifestName), append(data, '\n'))
}

// writeFile puts a file in place as a whole, with its folders.
func writeFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	temp := name + ".new"
	if err := os.WriteFile(temp, data, 0o666); err != nil {
		return err
	}
	return os.Rename(temp, name)
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
