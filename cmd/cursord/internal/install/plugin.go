// Package install installs and removes editors' plugins and the configuration that Helix needs, and reports the changes.
// Packages editors and editors/helix decide which files may be overwritten or removed.
package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/cmd/cursord/internal/version"
	"cursord/editors"
)

// Plugin installs an editor's plugin, of a version of cursord, in dir; "" is the folder where the editor looks for plugins.
// With force it overwrites files that cursord did not write, or that somebody has changed. With asJSON, out gets a
// pluginChange.
func Plugin(ctx context.Context, out io.Writer, editor, dir, version string, force, asJSON bool) error {
	dir, err := pluginDir(editor, dir)
	if err != nil {
		return err
	}
	report, err := editors.Install(editor, dir, version, force)
	if foreign := (*editors.ForeignError)(nil); errors.As(err, &foreign) {
		return fmt.Errorf("%w\n  nothing was done; move them away, or overwrite them with --force", err)
	}
	if err != nil {
		return err
	}
	result := out
	if asJSON {
		out = io.Discard
	}
	compile := editor == "emacs" && (len(report.Written) > 0 || uncompiled(dir))
	if !compile || len(report.Written) > 0 {
		printInstalled(out, report, version)
	}
	if compile {
		compileLisp(ctx, out, dir)
	}
	if report.Before == "" {
		printFirstSteps(out, editor, dir)
	}
	if asJSON {
		return term.PrintJSON(result, changeOf(editor, version, report))
	}
	return nil
}

// A pluginChange describes an installation or removal, for programs.
type pluginChange struct {
	Editor  string   `json:"editor"`
	Dir     string   `json:"dir"`
	Version string   `json:"version"` // that is there now; "": none
	Before  string   `json:"before"`  // the version before
	Written []string `json:"written"` // files in the folder
	Removed []string `json:"removed"`
	Kept    []string `json:"kept"` // files that stay because somebody has changed them
}

func changeOf(editor, version string, r editors.Report) pluginChange {
	list := func(files []string) []string { return append([]string{}, files...) }
	return pluginChange{editor, r.Dir, version, r.Before, list(r.Written), list(r.Removed), list(r.Kept)}
}

// RemovePlugin removes the files that Plugin has written, except for changed ones.
func RemovePlugin(out io.Writer, editor, dir string, asJSON bool) error {
	dir, err := pluginDir(editor, dir)
	if err != nil {
		return err
	}
	report, err := editors.Uninstall(dir)
	if asJSON && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		report.Dir = dir
		return term.PrintJSON(out, changeOf(editor, "", report))
	}
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(out, "nothing to do: cursord has installed no plugin in %s\n", dir)
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "removed %s from %s\n", term.Count(len(report.Removed), "file"), dir)
	printKept(out, report)
	if !report.Gone {
		fmt.Fprintf(out, "the folder stays: there are files in it that cursord did not write\n")
	}
	return nil
}

func pluginDir(editor, given string) (string, error) {
	usual, err := editors.Dir(editor)
	if err != nil || given == "" {
		return usual, err
	}
	return filepath.Abs(given)
}

// uncompiled reports whether an earlier installation could not compile the package, and there is an Emacs on PATH now.
func uncompiled(dir string) bool {
	_, err := exec.LookPath("emacs")
	_, missing := os.Stat(filepath.Join(dir, "cursord.elc"))
	return err == nil && errors.Is(missing, fs.ErrNotExist)
}

// compileLisp compiles the package with the Emacs on PATH. The package works without that, but more slowly.
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

func printInstalled(out io.Writer, r editors.Report, own string) {
	if len(r.Written) == 0 && len(r.Removed) == 0 && r.Before == own {
		fmt.Fprintf(out, "nothing to do: %s is up to date (cursord %s)\n", r.Dir, version.ForPeople(r.Before))
		return
	}
	switch {
	case r.Before == "":
		fmt.Fprintf(out, "installed in %s: cursord %s\n", r.Dir, version.ForPeople(own))
	default:
		fmt.Fprintf(out, "changed in %s: cursord %s, which was %s\n", r.Dir, version.ForPeople(own), version.ForPeople(r.Before))
	}
	fmt.Fprintf(out, "wrote %s, removed %s\n", term.Count(len(r.Written), "file"), term.Count(len(r.Removed), "file"))
	printKept(out, r)
}

// printFirstSteps prints what to do after a first installation.
func printFirstSteps(out io.Writer, editor, dir string) {
	if editor == "emacs" {
		fmt.Fprint(out, `
Emacs finds it when it starts: try "M-x cursord-ask" and "C-h R cursord". Nothing is bound; for example, in your init file:
  (keymap-global-set "C-c a" 'cursord-command-map)
  (cursord-mode)  ; marks hunks, and shows the state in mode lines
`)
		return
	}
	fmt.Fprintf(out, `
Neovim loads it when it starts: try ":Cursord ask" and ":help cursord". lazy.nvim ignores such packages; give it the folder:
  { dir = %q, lazy = false }
`, dir)
}

func printKept(out io.Writer, r editors.Report) {
	for _, name := range r.Kept {
		fmt.Fprintf(out, "kept %s: it was changed since it was installed\n", name)
	}
}
