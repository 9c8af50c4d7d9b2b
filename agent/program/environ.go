package program

import (
	"os"
	"strings"
)

// environment returns base, or for nil this process's environment, less what is meant for it alone, and less an empty API key, which
// the agent takes for a wrong one.
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
