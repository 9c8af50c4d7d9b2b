package whichagent

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cursord/agent/program"
	"cursord/daemon/api"
	"cursord/daemon/config"
)

const maxAskerPath = 64 << 10 // of a PATH, in bytes

// sane returns the part of a that counts: absolute folders of a PATH that is not too long, and a program that is a name or
// an absolute path.
func sane(a api.Asker) api.Asker {
	var dirs []string
	if len(a.Path) <= maxAskerPath && !strings.ContainsRune(a.Path, 0) {
		for _, dir := range filepath.SplitList(a.Path) {
			if filepath.IsAbs(dir) {
				dirs = append(dirs, dir)
			}
		}
	}
	program := ""
	if len(a.Agent) <= maxAskerPath && !strings.ContainsRune(a.Agent, 0) {
		program, _ = config.Executable(a.Agent) // a wrong one counts as none
	}
	return api.Asker{Path: strings.Join(dirs, string(os.PathListSeparator)), Agent: program}
}

// Asked takes what a client says about its environment. If no agent works, it reads the configuration again and looks for
// the agent again: there, and where the client would find one. It runs nothing.
func (a *Agent) Asked(c api.Asker) {
	if a.hasAgent() {
		return
	}
	a.looking.Lock()
	defer a.looking.Unlock()
	if a.hasAgent() {
		return
	}
	if c = sane(c); c != (api.Asker{}) {
		a.asker.Store(&c)
	}
	if a.Reload != nil {
		a.Reload()
	}
	if found, by, err := a.look(); err == nil && !found.Silent && !a.finder.Broken(found.Path) {
		a.Log.Info("found an agent", "program", found.Path, "by", by)
		a.Refresh()
	}
}

// hasAgent reports whether there is an agent that is not known to fail. A program that a client has named counts, even if it
// may be another program, until the next client comes, which may name a better one, or none.
func (a *Agent) hasAgent() bool {
	found, by, err := a.look()
	return err == nil && !found.Unsure && !a.finder.Broken(found.Path) && (by == byDaemon || found.Foreign(found.Version) == "")
}

// Where the agent was found: by the daemon itself, or with a client's environment.
const (
	byDaemon = "daemon"
	byClient = "client"
)

// A placing is a place, and which of the two named it.
type placing struct {
	program.Place
	by string
}

// places returns where to look for the agent: where the daemon itself would find it, then where the latest client that came
// while there was none would find it, if that differs.
func (a *Agent) places() []placing {
	settings := a.Settings()
	own := program.Place{Program: settings.Agent, By: settings.AgentBy, Path: os.Getenv("PATH"), Whose: "the daemon's"}
	list := []placing{{own, byDaemon}}
	asker := a.asker.Load()
	if asker == nil {
		return list
	}
	client := own
	switch {
	case asker.Agent != "":
		client.Program, client.By = asker.Agent, config.EnvAgent+" in a client's environment"
	case settings.Agent != settings.FileAgent: // the daemon's own CURSORD_AGENT is not the client's
		client.Program, client.By = settings.FileAgent, "the setting agent"
	}
	if asker.Path != "" && asker.Path != own.Path {
		client.Path, client.Whose = asker.Path, "a client's"
	}
	if client.Program != own.Program || client.Path != own.Path {
		list = append(list, placing{client, byClient})
	}
	return list
}

// look looks for the agent without running a program.
func (a *Agent) look() (program.Found, string, error) { return a.lookBy(a.finder.Look) }

// lookBy returns the first program in the agent's places that is not known to fail, else the first one, with all programs
// that were passed over. Its errors say for each place why there is none.
func (a *Agent) lookBy(find func(program.Place) (program.Found, error)) (found program.Found, by string, err error) {
	var others []program.NotTaken
	var missing []*program.NotFound
	for _, p := range a.places() {
		f, err := find(p.Place)
		for _, other := range f.NotTaken {
			if !slices.ContainsFunc(others, func(o program.NotTaken) bool { return o.Path == other.Path }) {
				others = append(others, other)
			}
		}
		if n := (*program.NotFound)(nil); errors.As(err, &n) {
			missing = append(missing, n)
			continue
		}
		if by == "" || a.finder.Broken(found.Path) && !a.finder.Broken(f.Path) {
			found, by = f, p.by
		}
	}
	found.NotTaken = others
	if by == "" {
		return found, "", noneOf(missing)
	}
	return found, by, nil
}

// noneOf joins the reasons why there is no agent in several places, each once. There must be at least one place.
func noneOf(missing []*program.NotFound) *program.NotFound {
	all := *missing[0]
	for _, n := range missing[1:] {
		same := strings.ReplaceAll(n.Why, "a client's PATH", "the daemon's PATH") == all.Why
		switch {
		case same && strings.HasSuffix(n.Why, " PATH"):
			all.Why += " or a client's"
		case !same:
			all.Why += "; " + n.Why
		}
		all.Named = all.Named || n.Named
		all.Silent = cmp.Or(all.Silent, n.Silent)
	}
	return &all
}
