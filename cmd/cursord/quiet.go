package main

import (
	"fmt"
	"time"
)

// quietAfter is how long an agent may say nothing before people are told so.
const quietAfter = time.Minute

// waitsFor says for how many commands in the background a turn only waits.
func waitsFor(commands int) string {
	return "waiting for " + count(commands, "background command")
}

// quietFor says that nothing has come for so long; "" before it is of interest.
func quietFor(d time.Duration) string {
	if d < quietAfter {
		return ""
	}
	d = d.Truncate(time.Second)
	h, m, s := int(d/time.Hour), int(d/time.Minute)%60, int(d/time.Second)%60
	if h > 0 {
		return fmt.Sprintf("no output for %dh %dm", h, m)
	}
	return fmt.Sprintf("no output for %dm %ds", m, s)
}
