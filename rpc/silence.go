package rpc

import (
	"fmt"
	"time"
)

// silenceAfter is how long an agent may be silent before a notice says so.
const silenceAfter = time.Minute

// Silence says for people how long a running turn has been silent, such as "no output for 1m 20s"; "" if that is not long.
// The daemon does not notify of silence: a client that shows a turn counts from the turn's last notification.
func Silence(d time.Duration) string {
	if d < silenceAfter {
		return ""
	}
	h, m, s := int(d/time.Hour), int(d/time.Minute)%60, int(d/time.Second)%60
	if h > 0 {
		return fmt.Sprintf("no output for %dh %dm", h, m)
	}
	return fmt.Sprintf("no output for %dm %ds", m, s)
}
