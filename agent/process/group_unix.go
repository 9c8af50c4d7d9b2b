//go:build unix

package process

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A group is a process group; its number is its leader's.
type group struct{ leader int }

func newGroup(leader *os.Process) group { return group{leader.Pid} }

func (g group) interrupt() { unix.Kill(-g.leader, unix.SIGINT) }
func (g group) terminate() { unix.Kill(-g.leader, unix.SIGTERM) }
func (g group) kill()      { unix.Kill(-g.leader, unix.SIGKILL) }
func (g group) close()     {}

// await returns when a killed group is gone or only waits to be reaped, at the latest after the limit.
func (g group) await(limit time.Duration) {
	for pause := time.Millisecond; limit > 0 && unix.Kill(-g.leader, 0) == nil && !ended(g.leader); pause *= 2 {
		pause = min(pause, 20*time.Millisecond, limit)
		time.Sleep(pause)
		limit -= pause
	}
}

// ExitOf returns how a process ended, after a wait for it.
func ExitOf(state *os.ProcessState) Exit {
	status, ok := state.Sys().(interface {
		Signaled() bool
		Signal() unix.Signal
	})
	if ok && status.Signaled() {
		sig := status.Signal()
		return Exit{Code: 128 + int(sig), Signal: unix.SignalName(sig)}
	}
	return Exit{Code: state.ExitCode()}
}
