package program

import (
	"os"
	"strings"
)

// Environment returns base (nil: this process's environment) without the variables that are meant for this process alone,
// and without an empty API key, which the agent would report as a wrong one.
func Environment(base []string) []string {
	if base == nil {
		base = os.Environ()
	}
	var env []string
	for _, kv := range base {
		key, val, _ := strings.Cut(kv, "=")
		switch key {
		case "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID":
			continue
		case "CURSOR_API_KEY":
			if val == "" {
				continue
			}
		}
		env = append(env, kv)
	}
	return env
}
