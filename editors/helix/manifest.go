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

	"cursord/editors/settingsfile"
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

// Apply makes the planned changes, if the files have not changed since.
func (p *Plan) Apply() error {
	for _, f := range p.Files {
		now, exists, err := settingsfile.Read(filepath.Join(p.Dir, f.Name))
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
		if err := settingsfile.Write(name, f.New); err != nil {
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
	return settingsfile.Write(filepath.Join(dir, manifestName), string(data)+"\n")
}
