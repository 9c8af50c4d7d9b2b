package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/term"
	"cursord/editors"
)

func editorCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "editor",
		Short: "Install or remove an editor's plugin, or its configuration",
		Long: `Install or remove an editor's plugin, which is a part of this program: plugin and program always fit. Run it again
after an update. Helix has no plugins: what is installed is its configuration, for "cursord lsp".`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(editorInstallCommand(), editorUninstallCommand())
	return c
}

func editorInstallCommand() *cobra.Command {
	var dir string
	var force bool
	c := &cobra.Command{
		Use:       "install " + strings.Join(editors.Names, "|") + "|helix",
		Short:     "Put the plugin where the editor loads it at its start",
		Args:      takes(1, 1),
		ValidArgs: editors.Names,
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := pluginDir(args[0], dir)
			if err != nil {
				return err
			}
			report, err := editors.Install(args[0], dir, version(), force)
			if foreign := (*editors.ForeignError)(nil); errors.As(err, &foreign) {
				return fmt.Errorf("%w\n  nothing was done; move them away, or overwrite them with --force", err)
			}
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			printInstalled(out, report)
			if args[0] == "emacs" && len(report.Written) > 0 {
				compileLisp(c.Context(), out, dir)
			}
			if report.Before == "" {
				printFirstSteps(out, args[0], dir)
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "the plugin's folder, if it is to be elsewhere")
	c.Flags().BoolVar(&force, "force", false, "overwrite files that cursord did not write or that were changed")
	c.AddCommand(installHelixCommand())
	return c
}

func editorUninstallCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:       "uninstall " + strings.Join(editors.Names, "|") + "|helix",
		Short:     "Remove what install has written",
		Args:      takes(1, 1),
		ValidArgs: editors.Names,
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := pluginDir(args[0], dir)
			if err != nil {
				return err
			}
			report, err := editors.Uninstall(dir)
			if errors.Is(err, fs.ErrNotExist) {
				fmt.Fprintf(c.OutOrStdout(), "nothing to do: cursord has installed no plugin in %s\n", dir)
				return nil
			}
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			fmt.Fprintf(out, "removed %s from %s\n", term.Count(len(report.Removed), "file"), dir)
			printKept(out, report)
			if !report.Gone {
				fmt.Fprintf(out, "the folder stays: there are files in it that cursord did not write\n")
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "the plugin's folder, if it is elsewhere")
	c.AddCommand(uninstallHelixCommand())
	return c
}

func pluginDir(editor, given string) (string, error) {
	usual, err := editors.Dir(editor)
	if err != nil || given == "" {
		return usual, err
	}
	return filepath.Abs(given)
}

// compileLisp has the Emacs on PATH compile the package, which is faster then and works all the same without it.
func compileLisp(ctx context.Context, out io.Writer, dir string) {
	const later = "M-x package-recompile RET cursord compiles it"
	files, err := filepath.Glob(filepath.Join(dir, "cursord*.el"))
	if err != nil {
		return
	}
	emacs, err := exec.LookPath("emacs")
	if err != nil {
		fmt.Fprintf(out, "not compiled: there is no emacs on PATH; %s\n", later)
		return
	}
	said, err := exec.CommandContext(ctx, emacs, append([]string{"-Q", "--batch", "-L", dir, "-f", "batch-byte-compile"}, files...)...).CombinedOutput()
	if err != nil {
		fmt.Fprintf(out, "not compiled: %v: %s; %s\n", err, strings.TrimSpace(string(said)), later)
		return
	}
	fmt.Fprintf(out, "compiled by %s\n", emacs)
}

func printInstalled(out io.Writer, r editors.Report) {
	if len(r.Written) == 0 && len(r.Removed) == 0 && r.Before == version() {
		fmt.Fprintf(out, "nothing to do: %s is up to date (%s)\n", r.Dir, r.Before)
		return
	}
	switch {
	case r.Before == "":
		fmt.Fprintf(out, "installed version %s in %s\n", version(), r.Dir)
	default:
		fmt.Fprintf(out, "changed version %s to %s in %s\n", r.Before, version(), r.Dir)
	}
	fmt.Fprintf(out, "wrote %s, removed %s\n", term.Count(len(r.Written), "file"), term.Count(len(r.Removed), "file"))
	printKept(out, r)
}

// printFirstSteps says what to do after a first installation.
func printFirstSteps(out io.Writer, editor, dir string) {
	if editor == "emacs" {
		fmt.Fprint(out, `
Emacs finds it when it starts: try "M-x cursord-ask" and "C-h R cursord". Nothing is bound; for example, in your init file:
  (keymap-global-set "C-c a" 'cursord-command-map)
`)
		return
	}
	fmt.Fprintf(out, `
Neovim loads it when it starts: try ":Cursord ask" and ":help cursord". lazy.nvim ignores such packages; give it the folder:
  { dir = %q, cmd = "Cursord" }
`, dir)
}

func printKept(out io.Writer, r editors.Report) {
	for _, name := range r.Kept {
		fmt.Fprintf(out, "kept %s: it was changed since it was installed\n", name)
	}
}
