package rpc

import (
	"fmt"
	"time"
)

// silenceAfter is how long an agent may say nothing before people should know.
const silenceAfter = time.Minute

// Silence says for people that nothing came of a running turn for so long, such as "no output for 1m 20s"; "" before that is
// of interest. The daemon sends nothing about silence: who shows a turn counts from the last notification of it.
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
