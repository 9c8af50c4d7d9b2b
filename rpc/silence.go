package rpc

import (
	"fmt"
	"time"
)

// silenceAfter is how long an agent may say nothing before people are told so.
const silenceAfter = time.Minute

// Silence says for people that nothing was told of a turn that runs for so long, such as "no output for 1m 20s"; "" before that is
// of interest. The daemon tells nothing of silence: who shows a turn counts from the last that it was told.
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
