package editors

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// emacsDir returns the folder of the package, among those that Emacs activates when it starts.
func emacsDir() (string, error) {
	home, err := os.UserHomeDir()
	if runtime.GOOS == "windows" && os.Getenv("APPDATA") != "" {
		home, err = os.Getenv("APPDATA"), nil
	}
	if err != nil {
		return "", err
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(config) {
		return "", errors.New("XDG_CONFIG_HOME is not an absolute path")
	}
	dir := filepath.Join(home, ".emacs.d")
	// Emacs looks there only where nothing is in its old places.
	if isThere(filepath.Join(config, "emacs")) && !isThere(dir) && !isThere(filepath.Join(home, ".emacs")) && !isThere(filepath.Join(home, ".emacs.el")) {
		dir = filepath.Join(config, "emacs")
	}
	return filepath.Join(dir, "elpa", "cursord"), nil
}

func isThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// addEmacsFiles adds what makes the Lisp files a package: what it is called, and which of its commands are loaded when they
// are first used.
func addEmacsFiles(files map[string][]byte) error {
	header := func(name string) (string, error) {
		m := regexp.MustCompile(`(?m)^;; ` + name + `: (.*)$`).FindSubmatch(files["cursord.el"])
		if m == nil {
			return "", fmt.Errorf("cursord.el has no header %q", name)
		}
		return string(m[1]), nil
	}
	version, err := header("Version")
	if err != nil {
		return err
	}
	requires, err := header("Package-Requires")
	if err != nil {
		return err
	}
	files["cursord-pkg.el"] = fmt.Appendf(nil, ";; -*- no-byte-compile: t; lexical-binding: nil -*-\n(define-package \"cursord\" %q \"Cursor's agent, with review hunk by hunk\" '%s)\n", version, requires)
	files["cursord-autoloads.el"] = emacsAutoloads(files)
	return nil
}

var (
	autoloadCookie = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^;;;###autoload(?: (\(.*\))|\n(\(.*))$`) })
	autoloadForm   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\((?:defun|define-minor-mode) (\S+)`) })
)

// emacsAutoloads is what Emacs itself would make of the files' cookies.
func emacsAutoloads(files map[string][]byte) []byte {
	var forms []string
	for name, text := range files {
		for _, m := range autoloadCookie().FindAllSubmatch(text, -1) {
			form := string(m[1])
			if def := autoloadForm().FindSubmatch(m[2]); def != nil {
				form = fmt.Sprintf("(autoload '%s %q nil t)", def[1], strings.TrimSuffix(name, ".el"))
			}
			forms = append(forms, form)
		}
	}
	slices.Sort(forms)
	return []byte(";;; cursord-autoloads.el  -*- no-byte-compile: t; lexical-binding: t -*-\n" +
		"(add-to-list 'load-path (directory-file-name (or (file-name-directory #$) (car load-path))))\n" +
		strings.Join(slices.Compact(forms), "\n") + "\n")
}
