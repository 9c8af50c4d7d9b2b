package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/diffs"
	"cursord/editors/helix"
)

// helixFlags are what the commands about Helix's configuration have in common.
type helixFlags struct {
	dir string
	yes bool
}

func (f *helixFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.dir, "dir", "", "the configuration's folder, if it is elsewhere: `DIR`")
	c.Flags().BoolVar(&f.yes, "yes", false, "do it without asking")
}

func (f *helixFlags) folder() (string, error) {
	if f.dir != "" {
		return filepath.Abs(f.dir)
	}
	return helix.Dir()
}

func installHelixCommand() *cobra.Command {
	var f helixFlags
	var program, defaults string
	var languages []string
	var noKeys bool
	c := &cobra.Command{
		Use:   "helix",
		Short: "Add cursord to Helix's languages.toml, and keys to its config.toml",
		Long: `Add cursord to Helix's languages.toml, and keys to its config.toml. It shows what would change and asks; without a
terminal and --yes it changes nothing. All else in these files stays as it is, to the byte.

cursord becomes the first language server of each of the languages, before those that Helix has for them by default or you
have given them. These are the languages for which a server is installed, Markdown and plain text; --languages names
others instead, and "--languages all" means all that Helix knows. Those that have it already keep it.

Run it again after an update of Helix: a list of servers in languages.toml replaces the default one.`,
		Example: `  cursord editor install helix
  cursord editor install helix --languages go,rust,markdown --yes`,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := f.folder()
			if err != nil {
				return err
			}
			r := helix.Request{
				Version: version(), Languages: languages, NoKeys: noKeys,
				Installed: func(program string) bool { _, err := exec.LookPath(program); return err == nil },
			}
			if len(languages) == 1 && languages[0] == "all" {
				r.All, r.Languages = true, nil
			}
			if program, r.Helix, err = helix.Find(program); err != nil {
				return err
			}
			if !r.Helix.Supported() {
				return fmt.Errorf("this Helix is %s; cursord needs 25.01 or newer, and 25.07 for all of its keys", r.Helix)
			}
			if r.Defaults, err = helixDefaults(program, defaults); err != nil {
				return err
			}
			if r.Program, err = ownProgram(); err != nil {
				return err
			}
			plan, err := helix.Install(dir, r)
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if plan.Empty() {
				printNotes(out, plan)
				fmt.Fprintf(out, "nothing to do: %s has all of it, for Helix %s\n", dir, r.Helix)
				return nil
			}
			if done, err := f.apply(c, plan); !done || err != nil {
				return err
			}
			fmt.Fprintf(out, `installed for %s of Helix %s in %s
Helix reads it when it starts. There "space i i" asks the agent, "space a" accepts or rejects what it changed, and
"space i" shows the other keys. "cursord doctor --helix" checks all of it.
`, term.Count(len(plan.Languages), "language"), r.Helix, dir)
			return nil
		},
	}
	f.add(c)
	c.Flags().StringSliceVar(&languages, "languages", nil, "the `LANGUAGES` by Helix's names, with commas between them; or all")
	c.Flags().BoolVar(&noKeys, "no-keys", false, "leave out the keys")
	c.Flags().StringVar(&program, "hx", "", "Helix's `PROGRAM` (default: hx or helix on PATH)")
	c.Flags().StringVar(&defaults, "defaults", "", "Helix's own languages.toml: `FILE` (default: the one in its program)")
	return c
}

func uninstallHelixCommand() *cobra.Command {
	var f helixFlags
	c := &cobra.Command{
		Use:   "helix",
		Short: "Take out of Helix's configuration what install has put there",
		Long: `Take out of Helix's configuration what install has put there, and nothing else: what you have changed of it since
stays, and is named. It shows what would change and asks; without a terminal and --yes it changes nothing.`,
		Args: takes(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := f.folder()
			if err != nil {
				return err
			}
			plan, err := helix.Uninstall(dir)
			if err != nil {
				return err
			}
			if plan.Empty() {
				fmt.Fprintf(c.OutOrStdout(), "nothing to do: %s has nothing of cursord\n", dir)
				return nil
			}
			if !plan.Installed() {
				fmt.Fprintf(c.OutOrStdout(), "no installation in %s is known; this is what names cursord there:\n", dir)
			}
			if done, err := f.apply(c, plan); !done || err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "removed from %s\n", dir)
			return nil
		},
	}
	f.add(c)
	return c
}

// apply shows a plan and carries it out if it is wanted.
func (f *helixFlags) apply(c *cobra.Command, plan *helix.Plan) (done bool, err error) {
	out := c.OutOrStdout()
	printPlan(out, plan)
	printNotes(out, plan)
	switch {
	case f.yes:
	case !term.IsTerminal(c.InOrStdin()) || !term.IsTerminal(out):
		fmt.Fprintln(out, "nothing was changed: run it with --yes to do so")
		return false, statusError(exitFailed)
	default:
		fmt.Fprint(out, "Change this? [y/N] ")
		answer, err := bufio.NewReader(c.InOrStdin()).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			fmt.Fprintln(out, "nothing was changed")
			return false, statusError(exitFailed)
		}
	}
	return true, plan.Apply()
}

// printPlan prints what is to change as a patch.
func printPlan(w io.Writer, plan *helix.Plan) {
	p := term.PaletteOf(w)
	for _, f := range plan.Files {
		kind, base, now := diffs.Modified, diffs.Content{Exists: true, Data: []byte(f.Old)}, diffs.Content{Exists: true, Data: []byte(f.New)}
		switch {
		case f.Created:
			kind, base = diffs.Created, diffs.Content{}
		case f.Gone:
			kind, now = diffs.Deleted, diffs.Content{}
		}
		review := diffs.New(base)
		review.Observe(now, &diffs.Source{})
		patch := diffs.Unified([]diffs.FilePatch{{Path: f.Name, Kind: kind, Hunks: review.Hunks()}})
		for line := range strings.Lines(string(patch)) {
			line = term.CleanText(strings.TrimSuffix(line, "\n"))
			switch {
			case strings.HasPrefix(line, "+"):
				line = p.Green(line)
			case strings.HasPrefix(line, "-"):
				line = p.Red(line)
			case strings.HasPrefix(line, "@@"):
				line = p.Cyan(line)
			}
			fmt.Fprintln(w, line)
		}
	}
}

func printNotes(w io.Writer, plan *helix.Plan) {
	for _, note := range plan.Notes {
		fmt.Fprintln(w, term.Clean(note))
	}
}

func helixDefaults(program, file string) (*helix.Defaults, error) {
	if file == "" {
		return helix.DefaultsOf(program)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	d, err := helix.ReadDefaults(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: it should be the languages.toml of Helix's sources", file, err)
	}
	return d, nil
}

// ownProgram returns by what other programs start this one: its name where that leads here, else its path.
func ownProgram() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if named, err := exec.LookPath("cursord"); err == nil && filepath.IsAbs(named) {
		a, err := os.Stat(named)
		b, err2 := os.Stat(path)
		if err == nil && err2 == nil && os.SameFile(a, b) {
			return "cursord", nil
		}
	}
	return path, nil
}
