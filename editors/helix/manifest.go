package helix

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// manifestName is the file beside the configuration that lists the added parts.
const manifestName = ".cursord.json"

type manifest struct {
	Version string               `json:"version"`
	Chosen  bool                 `json:"chosen,omitempty"` // the user named the languages
	Files   map[string]fileEntry `json:"files"`
}

type fileEntry struct {
	Created bool    `json:"created,omitempty"` // the file did not exist before
	Pieces  []piece `json:"pieces"`
}

// open begins a plan for the configuration in dir.
func open(dir string) (*Plan, error) {
	p := &Plan{Dir: dir, was: &manifest{Files: map[string]fileEntry{}}}
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if err == nil {
		err = json.Unmarshal(data, p.was)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, manifestName), err)
	}
	p.manifest = &manifest{Version: p.was.Version, Chosen: p.was.Chosen, Files: maps.Clone(p.was.Files)}
	return p, nil
}

// Installed reports whether there is an installation that cursord knows of.
func (p *Plan) Installed() bool { return len(p.was.Files) > 0 }

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Files) == 0 && equal(p.was.Files, p.manifest.Files) }

// languages returns the languages to which an earlier installation added cursord.
func (p *Plan) languages() (names []string) {
	for _, piece := range p.was.Files[languagesFile].Pieces {
		if len(piece.Path) == 3 && piece.Path[0] == "language" && !slices.Contains(names, piece.Path[1]) {
			names = append(names, piece.Path[1])
		}
	}
	return names
}

// read returns the text of a file; "" if the file does not exist.
func read(name string) (text string, exists bool, err error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(data), err == nil, err
}

// Apply makes the planned changes, if the files have not changed since.
func (p *Plan) Apply() error {
	for _, f := range p.Files {
		now, exists, err := read(filepath.Join(p.Dir, f.Name))
		if err != nil {
			return err
		}
		if now != f.Old || exists == f.Created {
			return fmt.Errorf("%s has just been changed by somebody else; nothing was done: run this again", filepath.Join(p.Dir, f.Name))
		}
	}
	// The first manifest written has the old and the new parts: after an interruption, all of them are known to be
	// cursord's.
	both := &manifest{Version: p.manifest.Version, Chosen: p.manifest.Chosen, Files: maps.Clone(p.manifest.Files)}
	for name, entry := range p.was.Files {
		entry.Pieces = slices.Concat(entry.Pieces, both.Files[name].Pieces)
		both.Files[name] = entry
	}
	if err := both.write(p.Dir); err != nil {
		return err
	}
	for _, f := range p.Files {
		name := filepath.Join(p.Dir, f.Name)
		if f.Gone {
			if err := os.Remove(name); err != nil {
				return err
			}
			continue
		}
		if err := write(name, f.New); err != nil {
			return err
		}
	}
	if len(p.manifest.Files) == 0 {
		_ = os.Remove(filepath.Join(p.Dir, manifestName))
		_ = os.Remove(p.Dir) // it fails if the folder has other files
		return nil
	}
	return p.manifest.write(p.Dir)
}

func (m *manifest) write(dir string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return write(filepath.Join(dir, manifestName), string(data)+"\n")
}

// write replaces a file as a whole and makes its folder. For a link it replaces the file to which the link leads.
func write(name, text string) error {
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
