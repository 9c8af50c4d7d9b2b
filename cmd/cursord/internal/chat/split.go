package chat

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"cursord/cmd/cursord/internal/term"
)

// A multiplexer is a terminal program that can open panes beside each other in its window.
type multiplexer struct {
	name string
	env  string // a variable that it sets in its panes
	open func(dir string, command []string, getenv func(string) string) [][]string
}

// multiplexers lists the known ones. Terminals' own panes come last, because the others run inside terminals.
var multiplexers = []multiplexer{
	{"tmux", "TMUX", func(dir string, command []string, getenv func(string) string) [][]string {
		split := []string{"tmux", "split-window", "-h", "-d", "-c", dir}
		if pane := getenv("TMUX_PANE"); pane != "" {
			split = append(split, "-t", pane)
		}
		return [][]string{append(append(split, "--"), command...)}
	}},
	{"zellij", "ZELLIJ", func(dir string, command []string, _ func(string) string) [][]string {
		return [][]string{
			append([]string{"zellij", "run", "--direction", "right", "--close-on-exit", "--cwd", dir, "--"}, command...),
			{"zellij", "action", "focus-previous-pane"},
		}
	}},
	{"WezTerm", "WEZTERM_PANE", func(dir string, command []string, getenv func(string) string) [][]string {
		pane := getenv("WEZTERM_PANE")
		return [][]string{
			append([]string{"wezterm", "cli", "split-pane", "--right", "--pane-id", pane, "--cwd", dir, "--"}, command...),
			{"wezterm", "cli", "activate-pane", "--pane-id", pane},
		}
	}},
	{"kitty", "KITTY_WINDOW_ID", func(dir string, command []string, _ func(string) string) [][]string {
		return [][]string{append([]string{"kitten", "@", "launch", "--location=vsplit", "--keep-focus", "--cwd", dir}, command...)}
	}},
}

// errNoPanes says that there is no pane to split.
var errNoPanes = errors.New(`this is no pane of tmux, zellij, WezTerm or kitty: run "cursord chat" in a terminal beside this one`)

// Split opens a chat in a pane beside the present one, which keeps the keyboard. more holds further flags for the chat.
func Split(root, session string, more []string, getenv func(string) string) error {
	for _, m := range multiplexers {
		if getenv(m.env) == "" {
			continue
		}
		own, err := os.Executable()
		if err != nil {
			return err
		}
		command := append(paneEnv(getenv), own, "chat", "--workspace", root)
		if session != "" {
			command = append(command, "--session", session)
		}
		command = append(command, more...)
		for _, step := range m.open(root, command, getenv) {
			var said bytes.Buffer
			cmd := exec.Command(step[0], step[1:]...)
			cmd.Stderr = &said
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s opens no pane: %w", m.name, errors.Join(err, saidBy(&said)))
			}
		}
		return nil
	}
	return errNoPanes
}

func saidBy(b *bytes.Buffer) error {
	if s := strings.TrimSpace(b.String()); s != "" {
		return errors.New(term.Clean(term.Abridge(s, 300)))
	}
	return nil
}

// paneEnv returns the beginning of a command, "env NAME=VALUE…", that carries our variables about the daemon's place into
// the new pane. A new pane has the multiplexer's environment instead of ours.
func paneEnv(getenv func(string) string) (command []string) {
	names := []string{
		"CURSORD_SOCKET", "CURSORD_STATE_DIR", "CURSORD_CONFIG", "CURSORD_AGENT", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
	}
	for _, name := range names {
		if v := getenv(name); v != "" {
			command = append(command, name+"="+v)
		}
	}
	if len(command) > 0 {
		command = append([]string{"env"}, command...)
	}
	return command
}
