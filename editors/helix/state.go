package helix

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"cursord/editors/settingsfile"
)

// A State is what a configuration says about cursord.
type State struct {
	Command   string   // by which Helix starts it; "" if it does not know of it
	Languages []string // the languages that have it
	NotFirst  []string // those of them that name other servers first
}

// Look reads the configuration in dir. It does not matter who wrote it.
func Look(dir string) (s State, err error) {
	name := filepath.Join(dir, languagesFile)
	text, _, err := settingsfile.Read(name)
	if err != nil {
		return s, err
	}
	var known bundled
	if _, err := toml.Decode(text, &known); err != nil {
		return s, fmt.Errorf("%s is not valid TOML: %w", name, explained(err))
	}
	s.Command = known.Servers[ServerName].Command
	d, err := parse(text)
	if err != nil {
		return s, fmt.Errorf("%s: %w", name, err)
	}
	for _, own := range d.ownLanguages() {
		if slices.Contains(s.Languages, own.name) {
			continue
		}
		_, list := d.language(own.name)
		if list == nil {
			continue
		}
		if at := d.serverAt(list.value); at >= 0 {
			s.Languages = append(s.Languages, own.name)
			if at > 0 {
				s.NotFirst = append(s.NotFirst, own.name)
			}
		}
	}
	return s, nil
}
