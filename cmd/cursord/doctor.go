package main

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/endpoint"
)

func doctorCommand() *cobra.Command {
	var p place
	var asJSON, helix, forget bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Show what is installed, where things are and what is wrong",
		Long: `Show what is installed, where things are and what is wrong, with what to do about it. The exit status is 1 if
something is wrong.

It lists the hooks by which cursor-agent runs programs in the workspace. What those that run after edits change, in
lines that the turn wrote, is listed for review as a part of the turn.

Damage that was found in the database, and set aside, is a problem until you say with --forget-damaged that you know of
it: what was set aside is then dropped.

It also names the variables of PATH and CURSOR_* that the daemon has otherwise than you, and not their values: agents run
in the daemon's environment, unless the configuration says agent_env = "client". Where you would find another cursor-agent
than the daemon, by your PATH or CURSORD_AGENT, both are shown. Other programs called agent that are on PATH, and were not
taken for cursor-agent, are listed.

With --helix it also compares Helix's languages.toml and config.toml with what "cursord editor install helix" would
write for the Helix that is installed.`,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			var forgotten int
			if forget {
				var err error
				if forgotten, err = forgetDamaged(c.Context()); err != nil {
					return err
				}
			}
			d := diagnose(c.Context(), &p)
			d.Forgotten = forgotten
			d.lookAtHelix(helix)
			if asJSON {
				if err := term.PrintJSON(c.OutOrStdout(), d); err != nil {
					return err
				}
			} else {
				d.print(c.OutOrStdout())
			}
			if len(d.Problems) > 0 {
				return statusError(exitFailed)
			}
			return nil
		},
	}
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	c.Flags().BoolVar(&forget, "forget-damaged", false, "forget what was damaged in the database and set aside")
	c.Flags().BoolVar(&helix, "helix", false, "look at Helix's configuration, too")
	return c
}

// A diagnosis is what doctor finds.
type diagnosis struct {
	Version  string           `json:"version"`
	Platform string           `json:"platform"`
	Daemon   *api.Status      `json:"daemon"`             // null where it cannot be reached
	Agent    *api.AgentStatus `json:"agent"`              // likewise
	Own      *daemon.OwnAgent `json:"ownAgent,omitempty"` // where it is not the daemon's
	Socket   string           `json:"socket"`
	Database string           `json:"database"`
	Log      string           `json:"log"`
	Config   string           `json:"config"`
	Helix    *helixDiagnosis  `json:"helix,omitempty"` // where there is one
	Problems []string         `json:"problems"`

	Forgotten int `json:"forgotten,omitempty"` // damaged objects, at this call
}

// forgetDamaged has the daemon drop what was damaged and set aside, and returns how much that was.
func forgetDamaged(ctx context.Context) (int, error) {
	client, err := newClient(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	result, err := client.DaemonForgetDamaged(ctx)
	return result.Forgotten, err
}

func (d *diagnosis) problem(format string, args ...any) {
	d.Problems = append(d.Problems, fmt.Sprintf(format, args...))
}

func diagnose(ctx context.Context, p *place) *diagnosis {
	d := &diagnosis{Version: version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Problems: []string{}}
	dirs, err := endpoint.FindDaemon()
	if err != nil {
		d.problem("%v", err)
		return d
	}
	d.Socket, d.Database, d.Log, d.Config = dirs.Socket, dirs.Database(), dirs.Log(), dirs.Config
	settings, warnings, err := config.Load(dirs.Config)
	if err != nil {
		d.problem("%v", err)
	}
	for _, w := range warnings {
		d.problem("%s", w)
	}
	d.askDaemon(ctx, p)
	if err == nil {
		d.compareOptions(&settings)
	}
	if d.Agent != nil && d.Agent.Path != "" && err == nil { // where the daemon has none, it has looked where we would
		d.findOwn(ctx, &settings)
	}
	return d
}

// askDaemon asks the daemon rather than looking itself: what counts is what the daemon finds in its environment.
func (d *diagnosis) askDaemon(ctx context.Context, p *place) {
	client, err := newClient(ctx, nil)
	if err != nil {
		d.problem("%v", err)
		return
	}
	defer client.Close()
	s, err := askStatus(ctx, client)
	if err != nil {
		d.problem("the daemon does not tell its status: %v", err)
		return
	}
	d.Daemon = &s
	if s.Version != d.Version {
		d.problem(`the daemon that runs is of version %s: "cursord stop" lets the next client start this one`, s.Version)
	}
	if s.Storage.Trouble != "" {
		d.problem("the database takes no changes: %s", s.Storage.Trouble)
	}
	root, err := p.find(ctx, client)
	if err != nil {
		d.problem("%v", err)
	}
	if n := s.Storage.Damaged; n > 0 {
		d.problem("%s in the database set aside, everything else is served: check the disk's health, and "+
			"have it forgotten with \"cursord doctor --forget-damaged\"", term.Count(n, "damaged object"))
	}
	d.askAgent(ctx, client, root)
}

// hookLines describes hooks, a line for each.
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

func (d *diagnosis) print(w io.Writer) {
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-9s %s\n", name, value)
		}
	}
	row("cursord", d.Version+" ("+d.Platform+")")
	if d.Daemon != nil {
		row("daemon", fmt.Sprintf("%s, process %d", d.Daemon.Version, d.Daemon.PID))
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
		d.Helix.print(w, row)
	}
	if d.Forgotten > 0 {
		fmt.Fprintf(w, "\nforgotten: %s in the database, which had been set aside\n", term.Count(d.Forgotten, "damaged object"))
	}
	for _, p := range d.Problems {
		fmt.Fprintf(w, "\nproblem: %s\n", p)
	}
	if len(d.Problems) == 0 {
		fmt.Fprintln(w, "\nall is well")
	}
}
