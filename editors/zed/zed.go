// Package zed adds cursord to a user's Zed settings, and takes it out again.
//
// The settings are JSON with comments, which a person keeps. So the text is edited: what is added is put where it belongs, and everything
// else stays byte for byte. Where that cannot be done safely, the error has the lines to add by hand. jsonc.go finds the places.
package zed

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Name is cursord's name among Zed's external agents.
const Name = "cursord"

const section = "agent_servers"

// Dir returns the folder of the user's settings.
func Dir() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) && runtime.GOOS == "linux" {
		return filepath.Join(dir, "zed"), nil
	}
	if runtime.GOOS == "windows" {
		dir, err := os.UserConfigDir()
		return filepath.Join(dir, "Zed"), err
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".config", "zed"), err // on macOS, too
}

// ErrTheirs is returned where the settings have an agent of that name which is not as Install writes it.
var ErrTheirs = errors.New("the settings have an agent \"" + Name + "\" of yours, which stays as it is")

// entry is cursord as an external agent; program is the command that starts it.
func entry(program string) string {
	command, err := json.Marshal(program)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return fmt.Sprintf(`{ "type": "custom", "command": %s, "args": ["acp"] }`, command)
}

// Install returns the settings with cursord as an external agent; the same text if they have it. "" are settings that there are not.
func Install(text, program string) (string, error) {
	member := fmt.Sprintf("%q: %s", Name, entry(program))
	if strings.TrimSpace(text) == "" {
		return text + "{\n  \"" + section + "\": {\n    " + member + "\n  }\n}\n", nil
	}
	root, err := parse(text)
	if err != nil {
		return "", byHand(err, member)
	}
	out := ""
	switch servers := root.member(section); {
	case servers == nil:
		out = root.insert(text, fmt.Sprintf("%q: {\n    %s\n  }", section, member), "  ")
	case servers.kind != '{':
		return "", byHand(fmt.Errorf("%q is no object", section), member)
	case servers.member(Name) == nil:
		out = servers.insert(text, member, "    ")
	case !isOurs(text, servers.member(Name)):
		return text, ErrTheirs
	case sameJSON(servers.member(Name).text(text), entry(program)):
		return text, nil
	default: // of another program, or of an earlier version
		own := servers.member(Name)
		out = text[:own.start] + entry(program) + text[own.end:]
	}
	now, err := parse(out)
	if err != nil || now.member(section).member(Name) == nil {
		return "", byHand(errors.New("its text cannot be changed safely"), member)
	}
	return out, nil
}

// Uninstall returns the settings without what Install has added; the same text if there is nothing.
func Uninstall(text string) (string, error) {
	if strings.TrimSpace(text) == "" {
		return text, nil
	}
	root, err := parse(text)
	if err != nil {
		return "", fmt.Errorf("%w; remove %q from %q by hand", err, Name, section)
	}
	servers := root.member(section)
	if servers == nil || servers.kind != '{' || servers.member(Name) == nil {
		return text, nil
	}
	if !isOurs(text, servers.member(Name)) {
		return text, ErrTheirs
	}
	if len(servers.members) == 1 && !strings.Contains(servers.text(text), "/") {
		return root.remove(text, section), nil
	}
	return servers.remove(text, Name), nil
}

func byHand(err error, member string) error {
	return fmt.Errorf("%w\n  nothing was changed; add this to %q by hand:\n\n  %s", err, section, member)
}

// isOurs reports whether an agent is one that Install has written: some program that is started with the argument acp alone.
func isOurs(text string, v *value) bool {
	var is map[string]any
	if json.Unmarshal([]byte(v.text(text)), &is) != nil || len(is) != 3 || is["type"] != "custom" {
		return false
	}
	args, _ := is["args"].([]any)
	_, named := is["command"].(string)
	return named && len(args) == 1 && args[0] == "acp"
}

func sameJSON(a, b string) bool {
	var x, y map[string]any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}
