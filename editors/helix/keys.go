package helix

import (
	"fmt"
	"strings"
)

// A Version is a version of Helix: year, month and patch.
type Version struct{ Year, Month, Patch int }

func (v Version) String() string {
	s := fmt.Sprintf("%02d.%02d", v.Year, v.Month)
	if v.Patch > 0 {
		s += fmt.Sprintf(".%d", v.Patch)
	}
	return s
}

// ParseVersion reads the output of "hx --version".
func ParseVersion(said string) (v Version, err error) {
	for _, word := range strings.Fields(said) {
		if n, _ := fmt.Sscanf(word, "%d.%d.%d", &v.Year, &v.Month, &v.Patch); n >= 2 {
			return v, nil
		}
	}
	return v, fmt.Errorf("no version of Helix is in %q", strings.TrimSpace(said))
}

func (v Version) atLeast(year, month int) bool {
	return v.Year > year || v.Year == year && v.Month >= month
}

// Supported reports whether this Helix has the settings for diagnostics that cursord adds; older ones refuse them.
func (v Version) Supported() bool { return v.atLeast(25, 1) }

// passesArguments reports whether keys can give arguments to a server's commands.
func (v Version) passesArguments() bool { return v.atLeast(25, 7) }

// joinsDefinitions reports whether "goto definition" asks all servers of a file. An older Helix asks the first one that has the feature,
// which would take it from the user's own servers.
func (v Version) joinsDefinitions() bool { return v.atLeast(25, 7) }

type setting struct {
	path  []string
	value string
}

// settings returns the settings of config.toml: how diagnostics and progress are shown, and the keys.
func settings(r Request) []setting {
	all := []setting{
		{[]string{"editor", "end-of-line-diagnostics"}, `"hint"`},
		{[]string{"editor", "lsp", "display-progress-messages"}, "true"},
		{[]string{"editor", "inline-diagnostics", "cursor-line"}, `"hint"`},
	}
	if r.NoKeys {
		return all
	}
	for _, k := range keys(r) {
		all = append(all, setting{[]string{"keys", "normal", "space", "i", k.key}, "'" + k.command + "'"})
	}
	return all
}

type key struct{ key, command string }

// keys returns the keys behind "space i".
func keys(r Request) []key {
	const command = ":lsp-workspace-command cursord."
	here := ""
	all := []key{{"i", command + "compose"}}
	if r.Helix.passesArguments() {
		here = ` {"path":"%{file_path_absolute}","line":%{cursor_line}}`
		all = []key{
			{"i", "@" + command + `ask ""<left>`},
			{"y", command + "accept" + here},
			{"minus", command + "reject" + here},
		}
	}
	return append(all,
		key{"c", command + "compose" + here},
		key{"n", command + "next" + here},
		key{"p", command + "prev" + here},
		key{"m", command + "rejectComment" + here},
		key{"u", command + "undo"},
		key{"U", command + "redo"},
		key{"Y", command + "acceptAll"},
		key{"N", command + "rejectAll"},
		key{"x", command + "cancel"},
		key{"v", command + "diff"},
		key{"r", command + "resume"},
		key{"R", command + "recap"},
		key{"s", command + "new"},
		key{"a", command + "allow"},
		key{"d", command + "deny"},
		key{"o", command + "transcript"},
		key{"t", ":sh " + shellWord(r.Program) + " chat --split"},
	)
}

// shellWord returns s as one word of a shell. The configuration's string cannot have single quotes.
func shellWord(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:@%,") == "" {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s) + `"`
}
