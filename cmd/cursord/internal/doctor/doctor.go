// Package doctor reports what is installed, where cursord's files are and what is wrong, with a fix for each problem. It
// asks the daemon, because the daemon's environment decides, and looks by itself only for differences in ours. It changes
// nothing.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/version"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/endpoint"
	"cursord/daemon/whichagent"
	"cursord/rpc"
)

// A Diagnosis holds the findings of doctor.
type Diagnosis struct {
	Version  string           `json:"version"`
	Platform string           `json:"platform"`
	Daemon   *api.Status      `json:"daemon"`             // null if the daemon cannot be reached
	Agent    *api.AgentStatus `json:"agent"`              // likewise
	Own      *whichagent.Own  `json:"ownAgent,omitempty"` // if it differs from the daemon's
	Socket   string           `json:"socket"`
	Database string           `json:"database"`
	Log      string           `json:"log"`
	Config   string           `json:"config"`
	Helix    *helixDiagnosis  `json:"helix,omitempty"` // if Helix is installed
	Problems []string         `json:"problems"`

	Forgotten int `json:"forgotten,omitempty"` // damaged objects that this call has removed

	absent string    // a note behind the configuration's path if there is no such file
	found  []finding // the problems, as people see them
}

// A finding is a problem: the row that it concerns, the sentence, and the fix; "" if only the person can find one.
type finding struct{ row, what, fix string }

func (d *Diagnosis) problem(row, fix, format string, args ...any) {
	f := finding{row, fmt.Sprintf(format, args...), fix}
	d.found = append(d.found, f)
	if fix != "" {
		fix = ": " + fix
	}
	d.Problems = append(d.Problems, f.what+fix)
}

// mark returns "✗" if a row has a problem, else "✓".
func (d *Diagnosis) mark(row string) string {
	if slices.ContainsFunc(d.found, func(f finding) bool { return f.row == row }) {
		return "✗"
	}
	return "✓"
}

// Options say where to look, and how.
type Options struct {
	Version string // this program's
	Helix   bool   // compare Helix's configuration with what this program would install
	Connect func(context.Context) (*rpc.Client, error)
	Status  func(context.Context, *rpc.Client) (api.Status, error) // must return in bounded time
	Root    func(context.Context, *rpc.Client) (string, error)     // the workspace whose hooks are listed
}

// Diagnose looks at everything. A failed look is a problem in the result, never an error.
func Diagnose(ctx context.Context, o Options) *Diagnosis {
	d := diagnose(ctx, o)
	d.lookAtHelix(o.Helix)
	return d
}

func diagnose(ctx context.Context, o Options) *Diagnosis {
	d := &Diagnosis{Version: o.Version, Platform: runtime.GOOS + "/" + runtime.GOARCH, Problems: []string{}}
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		d.problem("config", "", "%v", err)
		return d
	}
	d.Socket, d.Database, d.Log, d.Config = dirs.Socket, dirs.Database(), dirs.Log(), dirs.Config
	if _, err := os.Stat(dirs.Config); errors.Is(err, fs.ErrNotExist) {
		d.absent = " (not there: all settings have their defaults)"
	}
	settings, warnings, err := config.Load(dirs.Config)
	d.reportConfig(dirs.Config, warnings, err)
	d.askDaemon(ctx, o, config.Mend(dirs.Config, err) != "")
	if err == nil {
		d.compareOptions(&settings)
		d.findPrograms(&settings)
	}
	if d.Agent != nil && d.Agent.Path != "" && err == nil { // without an agent of its own, the daemon has already looked in our environment
		d.findOwn(ctx, &settings)
	}
	return d
}

// reportConfig reports the warnings and the error of config.Load for the file at path.
func (d *Diagnosis) reportConfig(path string, warnings []string, err error) {
	var wrong config.Mistakes
	if errors.As(err, &wrong) {
		for _, m := range wrong {
			d.problem("config", config.Mend(path, config.Mistakes{m}), "%s", m.Text)
		}
	} else if err != nil {
		d.problem("config", config.Mend(path, err), "%v", err)
	}
	for _, w := range warnings {
		d.problem("config", `correct or remove the key with "cursord config edit"`, "%s", w)
	}
}

// findPrograms reports programs of the configuration that are not there.
func (d *Diagnosis) findPrograms(settings *config.Config) {
	for _, c := range []struct {
		key  string
		line []string
	}{{"on_turn_end", settings.OnTurnEnd}, {"on_approval", settings.OnApproval}} {
		if len(c.line) == 0 {
			continue
		}
		if _, err := exec.LookPath(c.line[0]); err != nil {
			where := "on PATH"
			if filepath.IsAbs(c.line[0]) {
				where = "as a program"
			}
			d.problem("config", fmt.Sprintf("install it, or name another with: cursord config set %s '[…]'", c.key),
				"%s runs %s, which is not found %s", c.key, term.Clean(c.line[0]), where)
		}
	}
}

// askDaemon asks the daemon for its status and its agent, because the daemon's environment decides. wrongConfig says that the
// configuration keeps a daemon from starting.
func (d *Diagnosis) askDaemon(ctx context.Context, o Options, wrongConfig bool) {
	client, err := o.Connect(ctx)
	switch {
	case err != nil && wrongConfig:
		d.problem("daemon", "mend the configuration; the next command starts the daemon", "the daemon did not start, because the configuration is wrong")
		return
	case err != nil:
		d.problem("daemon", `look for the reason with "cursord logs"`, "%v", err)
		return
	}
	defer client.Close()
	s, err := o.Status(ctx, client)
	if err != nil {
		d.problem("daemon", "", "the daemon does not report its status: %v", err)
		return
	}
	d.Daemon = &s
	if s.Version != d.Version {
		d.problem("daemon", `run "cursord stop"; the next client starts this version`, "the running daemon has version %s", version.ForPeople(s.Version))
	}
	if s.Storage.Trouble != "" {
		d.problem("database", "see that its disk has room and that you may write there; the daemon tries again by itself", "the database takes no changes: %s", s.Storage.Trouble)
	}
	root, err := o.Root(ctx, client)
	if err != nil {
		d.problem("hooks", "", "%v", err)
	}
	if n := s.Storage.Damaged; n > 0 {
		d.problem("database", `check the disk's health, and forget it with "cursord doctor --forget-damaged"`,
			"%s in the database set aside, everything else is served", term.Count(n, "damaged object"))
	}
	d.askAgent(ctx, client, root)
}

// hookLines describes each hook in a line.
func hookLines(hooks []api.AgentHook) (lines []string) {
	for _, h := range hooks {
		switch {
		case h.Problem != "":
			lines = append(lines, term.Clean(h.File)+": cannot be read")
		default:
			event := term.Clean(term.Abridge(h.Event, 40))
			if h.AfterEdit {
				event += " (after edits)"
			}
			lines = append(lines, fmt.Sprintf("%s: %s: %s", term.Clean(h.File), event, term.Clean(term.Abridge(h.Command, 60))))
		}
	}
	if lines == nil {
		return []string{"none run programs"}
	}
	return lines
}

// Print writes the findings for people.
func (d *Diagnosis) Print(out io.Writer) {
	w := new(strings.Builder)
	defer func() { term.PrintFolded(out, w.String()) }()
	row := func(name, value string) {
		if value == "" {
			return
		}
		mark := " "
		if d.absent != "" && name == "config" {
			value += d.absent // and no mark: there is nothing that could be right
		} else if slices.Contains([]string{"cursord", "daemon", "agent", "hooks", "database", "config", "helix"}, name) {
			mark = d.mark(name)
		}
		fmt.Fprintf(w, "%s %-9s %s\n", mark, name, value)
	}
	row("cursord", version.ForPeople(d.Version)+" ("+d.Platform+")")
	if d.Daemon != nil {
		row("daemon", fmt.Sprintf("%s, process %d", version.ForPeople(d.Daemon.Version), d.Daemon.PID))
	} else {
		row("daemon", "cannot be reached")
	}
	if a := d.Agent; a != nil {
		agentRows(a, d.Own, row)
	}
	row("socket", d.Socket)
	row("database", d.Database)
	row("log", d.Log)
	row("config", d.Config)
	if d.Helix != nil {
		d.Helix.print(row)
	}
	if d.Forgotten > 0 {
		fmt.Fprintf(w, "\nforgotten: %s in the database, which had been set aside\n", term.Count(d.Forgotten, "damaged object"))
	}
	for _, f := range d.found {
		fmt.Fprintf(w, "\n✗ problem: %s\n", f.what)
		if f.fix != "" {
			fmt.Fprintf(w, "  fix: %s\n", f.fix)
		}
	}
	if len(d.found) == 0 {
		fmt.Fprintln(w, "\n✓ all is well")
	}
}
