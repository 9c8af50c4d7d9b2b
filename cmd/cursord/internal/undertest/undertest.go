//go:build unix

// Package undertest is in the program only if it is built with the tag cursordtest. It injects faults, moves the clock
// ahead, records messages, holds answers back, and ends the process together with its test. Environment variables select these.
package undertest

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"cursord/cmd/cursord/internal/undertest/apart"
	"cursord/daemon"
)

// Variables of the environment.
const (
	Fault       = "CURSORD_FAULT"        // a file with a plan of faults in the steps of decisions
	CommitFault = "CURSORD_COMMIT_FAULT" // a file with a fault of the database's commits
	Ahead       = apart.Ahead
	Meter       = "CURSORD_METER"     // a file to which SIGUSR1 writes the process's use of memory
	GivesWay    = "CURSORD_GIVES_WAY" // a file: the daemon that removes it exits, as if another daemon had come first
	Life        = apart.Life
	Hold        = "CURSORD_HOLD"          // a file with methods: while it exists, "cursord stdio" holds back the answers to them
	Wires       = "CURSORD_TEST_WIRES"    // a folder to which processes record their messages
	WiresOf     = "CURSORD_TEST_WIRES_OF" // the commands that record
)

// Start starts what the environment asks for. It returns functions for the daemon's options and the fake agent; nil means
// none. It may add to os.Args.
func Start() (fault func(daemon.Step) error, ahead func(unix int64) time.Duration) {
	if plan := os.Getenv(Fault); plan != "" {
		fault = (&faults{plan: plan}).step
		signal.Ignore(syscall.SIGXFSZ)
	}
	if plan := os.Getenv(CommitFault); plan != "" {
		fault = commitFault(plan)
	}
	if path := os.Getenv(Meter); path != "" {
		go meters(path)
	}
	if place := os.Getenv(GivesWay); place != "" && len(os.Args) > 1 && os.Args[1] == "serve" && os.Remove(place) == nil {
		os.Exit(0)
	}
	apart.EndWithTest()
	recordWires()
	holdAnswers()
	return fault, apart.ClockAhead()
}
