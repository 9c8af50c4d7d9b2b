package process

import (
	"cmp"
	"fmt"
)

// An Exit is how a process ended.
type Exit struct {
	Code   int    // as a shell counts, 128+n for a signal; -1 if unknown
	Signal string // the name of the signal that ended it, or ""
}

// signals are the signals that end a program, by number, as far as systems agree on the numbers.
var signals = map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 8: "SIGFPE", 9: "SIGKILL",
	11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM"}

// Killer returns the name of the signal that ended a process, or after which the process exited with a shell's code for it;
// "" for none.
func (x Exit) Killer() string { return cmp.Or(x.Signal, signals[x.Code-128]) }

func (x Exit) String() string {
	if x.Signal != "" {
		return "signal " + x.Signal
	}
	if name := signals[x.Code-128]; name != "" {
		return fmt.Sprintf("exit code %d, %s", x.Code, name)
	}
	return fmt.Sprintf("exit code %d", x.Code)
}
