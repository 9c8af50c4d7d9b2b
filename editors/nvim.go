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

// Dir returns the folder from which an editor loads the plugin at its start.
func Dir(editor string) (string, error) {
	switch editor {
	case "nvim":
		return nvimDir()
	case "emacs":
		return emacsDir()
	}
	_, err := contents(editor)
	return "", err
}

func nvimDir() (string, error) {
	app := os.Getenv("NVIM_APPNAME")
	if app == "" {
		app = "nvim"
	}
	data := os.Getenv("XDG_DATA_HOME")
	if data == "" && runtime.GOOS == "windows" {
		data = os.Getenv("LOCALAPPDATA")
	}
	if runtime.GOOS == "windows" {
		app += "-data"
	}
	if data == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		data = filepath.Join(home, ".local", "share")
	}
	if !filepath.IsAbs(data) {
		return "", errors.New("XDG_DATA_HOME is not an absolute path")
	}
	return filepath.Join(data, app, "site", "pack", "cursord", "start", "cursord.nvim"), nil
}

var helpTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\*([^*\s|]+)\*(?:\s|$)`) })

// helpTags is what ":helptags" would write.
func helpTags(files map[string][]byte) []byte {
	var tags []string
	for name, text := range files {
		if file, ok := strings.CutPrefix(name, "doc/"); ok && strings.HasSuffix(file, ".txt") {
			for _, m := range helpTag().FindAllStringSubmatch(string(text), -1) {
				tags = append(tags, fmt.Sprintf("%s\t%s\t/*%s*\n", m[1], file, m[1]))
			}
		}
	}
	slices.Sort(tags)
	return []byte(strings.Join(tags, ""))
}
