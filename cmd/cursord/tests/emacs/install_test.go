//go:build unix

package emacs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestEmacsInstalled installs the package as a person would: the next Emacs has its commands, menu and manual.
func TestEmacsInstalled(t *testing.T) {
	t.Parallel()
	eachEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Start()
		w.Put("../bin/emacs", "#!/bin/sh\nexec "+bin+" \"$@\"\n")
		require.NoError(t, os.Chmod(w.Path("../bin/emacs"), 0o755))
		path := "PATH=" + filepath.Join(w.Dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
		cmd := w.Command("editor", "install", "emacs")
		cmd.Env = append(cmd.Env, path)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "compiled by "+w.Path("../bin/emacs"))
		require.Contains(t, string(out), filepath.Join(w.Dir, ".emacs.d", "elpa", "cursord"))
		w.Put("../.emacs.d/init.el", `(keymap-global-set "C-c a" 'cursord-command-map) (cursord-mode)`)

		// An Emacs in batch mode reads no init file, so the test does the same by itself.
		cmd = exec.Command(bin, "--batch", "--eval", `(progn
			(setq user-init-file nil)
			(package-initialize)
			(load "~/.emacs.d/init.el" nil t)
			(princ (format "%s\n" (list (featurep 'cursord-workspace) (commandp 'cursord-ask) (commandp 'cursord-menu) (commandp (key-binding (kbd "C-c a D"))))))
			(require 'info)
			(princ (format "%s\n" (progn (info "(cursord)Chat") Info-current-node)))
			(menu-bar-mode -1)
			(require 'cursord-menu)
			(princ (format "%s\n" (file-name-extension (symbol-file 'cursord-menu))))
			(cursord-doctor)
			(princ (with-current-buffer "*cursord doctor*" (buffer-string))))`)
		cmd.Env, cmd.Dir = append(w.Env("LC_ALL=C.UTF-8"), path), w.Root
		out, err = cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "(nil t t t)\nChat\nelc\n")
		require.Regexp(t, `(?m)^✓ package       version \S+$`, string(out))
		require.Regexp(t, `(?m)^✓ keys          M-x cursord-ask is on C-c a SPC$`, string(out))
		require.Empty(t, strings.TrimSpace(strings.Split(string(out), "(nil")[0]), "it starts in silence")
	})
}

// TestEmacsIsCompiledByASecondInstallation installs the package where no Emacs is on PATH, and again where one is.
func TestEmacsIsCompiledByASecondInstallation(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		install := func(path string) string {
			cmd := w.Command("editor", "install", "emacs")
			cmd.Env = append(cmd.Env, "PATH="+path)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			return string(out)
		}
		w.Put("../none/keep", "")
		none := filepath.Join(w.Dir, "none")
		require.Contains(t, install(none), "not compiled: there is no emacs on PATH")
		require.Contains(t, install(none), "nothing to do")
		w.Put("../bin/emacs", "#!/bin/sh\nexec "+bin+" \"$@\"\n")
		require.NoError(t, os.Chmod(w.Path("../bin/emacs"), 0o755))
		path := filepath.Join(w.Dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
		out := install(path)
		require.Contains(t, out, "compiled by "+w.Path("../bin/emacs"))
		require.NotContains(t, out, "nothing to do")
		require.FileExists(t, filepath.Join(w.Dir, ".emacs.d", "elpa", "cursord", "cursord.elc"))
		require.Contains(t, install(path), "nothing to do")
	})
}

// readmeSnippets are README's pieces of an init file, in order.
func readmeSnippets(t *testing.T) (all []string) {
	t.Helper()
	readme, err := os.ReadFile(world.Top("editors", "emacs", "README.md"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("(?s)```elisp\n(.*?)```").FindAllSubmatch(readme, -1) {
		all = append(all, string(m[1]))
	}
	return all
}

// TestEmacsModeIsOnAtEachStart uses README's first snippet as init file: the mode is on after the first and the second start, and
// the keys run commands, the first time and with a prefix argument too.
func TestEmacsModeIsOnAtEachStart(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("../bin/emacs", "#!/bin/sh\nexec "+bin+" \"$@\"\n")
		require.NoError(t, os.Chmod(w.Path("../bin/emacs"), 0o755))
		cmd := w.Command("editor", "install", "emacs")
		cmd.Env = append(cmd.Env, "PATH="+filepath.Join(w.Dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		w.Put("../.emacs.d/init.el", readmeSnippets(t)[0])
		for range 2 {
			cmd := exec.Command(bin, "--batch", "--eval", `(progn
				(setq user-init-file nil)
				(package-activate-all)
				(load "~/.emacs.d/init.el" nil t)
				(fset 'cursord (lambda (&optional new) (interactive "P") (princ (format "new: %s\n" (and new t)))))
				(princ (format "%s %s\n" cursord-mode (key-binding (kbd "C-c a"))))
				(execute-kbd-macro (kbd "C-u C-c a c"))
				(execute-kbd-macro (kbd "C-c a c")))`)
			cmd.Env, cmd.Dir = w.Env("LC_ALL=C.UTF-8"), w.Root
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Regexp(t, `^t \S.*\nnew: t\nnew: nil\n`, string(out))
		}
	})
}

// TestEmacsFromRepository installs the package from a repository by use-package, as README and manual say: it compiles without
// warnings, and Emacs finds its manual.
func TestEmacsFromRepository(t *testing.T) {
	t.Parallel()
	anEmacs(t, func(t *testing.T, bin string) {
		w := world.New(t)
		from := filepath.Join(w.Dir, "repo")
		require.NoError(t, os.CopyFS(filepath.Join(from, "editors", "emacs"), os.DirFS(world.Top("editors", "emacs"))))
		for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "all"}} {
			out, err := exec.Command("git", append([]string{"-C", from}, args...)...).CombinedOutput()
			require.NoError(t, err, "%s", out)
		}
		w.Put("../init.el", strings.Replace(readmeSnippets(t)[1], "file:///path/to/cursord", "file://"+from, 1)+`
(require 'info)
(princ (format "%s %s %s\n" cursord-mode (commandp 'cursord-ask) (progn (info "(cursord)Chat") Info-current-node)))`)
		for range 2 {
			cmd := exec.Command(bin, "--batch", "--eval", "(progn (setq package-archives nil) (package-initialize))", "-l", w.Path("../init.el"))
			cmd.Env, cmd.Dir = w.Env("LC_ALL=C.UTF-8"), w.Root
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "t t Chat\n")
			require.NotRegexp(t, `(?i)error|emacs/\S*el:.*warning|[1-9][0-9]* failed`, string(out))
		}
	})
}
