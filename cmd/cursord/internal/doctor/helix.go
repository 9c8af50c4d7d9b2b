package doctor

import (
	"errors"
	"os/exec"
	"strings"

	"cursord/cmd/cursord/internal/install"
	"cursord/cmd/cursord/internal/term"
	"cursord/editors/helix"
)

const installs = `run "cursord editor install helix"`

// A helixDiagnosis holds the findings about Helix.
type helixDiagnosis struct {
	Program   string   `json:"program"`
	Version   string   `json:"version"`
	Config    string   `json:"config"`
	Languages []string `json:"languages"` // languages that have cursord as a server
	Notes     []string `json:"notes"`     // the user's settings that install would set otherwise

	known bool // Helix's configuration has cursord as a server
	asked bool
}

// lookAtHelix looks for Helix and for cursord in its configuration. It reports problems only if asked is set.
func (d *Diagnosis) lookAtHelix(asked bool) {
	problem := func(err error) {
		if asked {
			d.problem("helix", "", "%v", err)
		}
	}
	program, v, err := helix.Find("")
	if err != nil {
		if asked || !errors.Is(err, helix.ErrNotInstalled) {
			problem(err)
		}
		return
	}
	h := &helixDiagnosis{Program: program, Version: v.String(), Languages: []string{}, Notes: []string{}, asked: asked}
	d.Helix = h
	if h.Config, err = helix.Dir(); err != nil {
		problem(err)
		return
	}
	state, err := helix.Look(h.Config)
	if err != nil {
		problem(err)
		return
	}
	h.known, h.Languages = state.Command != "", append(h.Languages, state.Languages...)
	if !asked {
		return
	}
	if !v.Supported() {
		d.problem("helix", "update Helix", "this Helix is %s; cursord needs 25.01 or newer, and 25.07 for all of its keys", v)
		return
	}
	switch {
	case !h.known && len(h.Languages) > 0:
		d.problem("helix", installs, "languages.toml gives languages the server cursord, but does not say how to start it")
	case !h.known:
		d.problem("helix", installs, "Helix is not set up for cursord")
		return
	default:
		if _, err := exec.LookPath(state.Command); err != nil {
			d.problem("helix", installs+" with the cursord that Helix should start", "Helix would start %s, which cannot be found", state.Command)
		}
	}
	if len(state.NotFirst) > 0 {
		d.problem("helix", "put it first in languages.toml, so that what it offers comes first", "other servers go before cursord in %s", strings.Join(state.NotFirst, ", "))
	}
	d.compareHelix(program, v)
}

// compareHelix compares the configuration with the one that install would write for the installed Helix.
func (d *Diagnosis) compareHelix(program string, v helix.Version) {
	defaults, err := helix.DefaultsOf(program)
	if err != nil {
		d.problem("helix", "", "%v", err)
		return
	}
	own, err := install.OwnProgram()
	if err != nil {
		d.problem("helix", "", "%v", err)
		return
	}
	plan, err := helix.Install(d.Helix.Config, helix.Request{
		Version: d.Version, Helix: v, Defaults: defaults, Program: own, Languages: []string{},
	})
	if err != nil {
		d.problem("helix", "", "%v", err)
		return
	}
	d.Helix.Notes = append(d.Helix.Notes, plan.Notes...)
	for _, f := range plan.Files {
		d.problem("helix", installs+", which shows the difference", "%s in %s differs from what this cursord would write for Helix %s",
			f.Name, d.Helix.Config, v)
	}
}

func (h *helixDiagnosis) print(row func(name, value string)) {
	about := "not set up: \"cursord editor install helix\" does it"
	if h.known {
		about = "set up for " + strings.Join(h.Languages, ", ")
		if n := len(h.Languages); n > 12 {
			about = "set up for " + term.Count(n, "language")
		}
	}
	row("helix", h.Version+", "+h.Program+", "+about)
	if h.asked {
		row("helix in", h.Config)
		for _, note := range h.Notes {
			row("note", term.Clean(note))
		}
	}
}
