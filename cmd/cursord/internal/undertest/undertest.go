//go:build unix

// Package undertest is what the program has in it while tests run it, and at no other time: faults that it meets, a clock
// that is ahead, records of its messages, an end that comes with its test's. A program built with the tag cursordtest
// has it, and the environment says which of it is wanted.
package undertest

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"cursord/daemon"
)

// Variables of the environment.
const (
	Fault       = "CURSORD_FAULT"         // a file that plans faults in the steps of decisions
	CommitFault = "CURSORD_COMMIT_FAULT"  // a file that says how commits of the database fare
	Ahead       = "CURSORD_AHEAD"         // a file that says how far the clock is ahead
	Meter       = "CURSORD_METER"         // a file for what the process uses, which is written at SIGUSR1
	GivesWay    = "CURSORD_GIVES_WAY"     // a file: the daemon that removes it ends, as for another that came first
	Life        = "CURSORD_TEST_LIFE"     // a named pipe: when nobody holds it open, the process ends
	Wires       = "CURSORD_TEST_WIRES"    // a folder in which processes record their messages
	WiresOf     = "CURSORD_TEST_WIRES_OF" // the commands that do
)

// Start does what the environment asks for, and returns what the daemon's options and the fake agent are to have; nil is
// nothing. It may add to os.Args.
func Start() (fault func(daemon.Step) error, ahead func(unix int64) time.Duration) {
	if plan := os.Getenv(Fault); plan != "" {
		fault = (&faults{plan: plan}).step
		signal.Ignore(syscall.SIGXFSZ)
	}
	if plan := os.Getenv(CommitFault); plan != "" {
		fault = commitFault(plan)
	}
	if path := os.Getenv(Ahead); path != "" {
		ahead = aheadBy(path)
	}
	if path := os.Getenv(Meter); path != "" {
		go meters(path)
	}
	if place := os.Getenv(GivesWay); place != "" && len(os.Args) > 1 && os.Args[1] == "serve" && os.Remove(place) == nil {
		os.Exit(0)
	}
	if pipe := os.Getenv(Life); pipe != "" {
		go endWith(pipe)
	}
	recordWires()
	return fault, ahead
}
