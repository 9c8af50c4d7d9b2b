package daemon

import (
	"os"

	"cursord/daemon/api"
	"cursord/daemon/endpoint"
)

// Join takes a client's build and the absolute path of its program. An older daemon gives way to that program as soon as no
// turn runs or waits. If the program cannot replace it, the daemon stays.
func (d *Daemon) Join(b endpoint.Build, program string) api.Joined {
	j := api.Joined{Version: d.build.Version, PID: os.Getpid(), Replaced: "no"}
	if program == "" || !d.OlderThan(b) {
		return j
	}
	if err := endpoint.CheckSuccessor(program); err != nil {
		d.log.Error("a newer build cannot take over", "version", b.Version, "err", err)
		return j
	}
	d.mu.Lock()
	if d.successor == "" || b.NewerThan(d.successorBuild) {
		d.successor, d.successorBuild = program, b
	}
	d.mu.Unlock()
	if d.Stop(false) == nil {
		j.Replaced = "now"
	} else {
		j.Replaced = "later"
	}
	return j
}

// OlderThan reports whether a program of build b would replace the daemon.
func (d *Daemon) OlderThan(b endpoint.Build) bool { return b.NewerThan(d.build) }

// Successor returns the program that replaces this daemon when it has ended, or "".
func (d *Daemon) Successor() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.successor
}

// giveWay ends a daemon that has a successor and no turns.
func (d *Daemon) giveWay() {
	if d.Successor() != "" && d.Stop(false) == nil {
		d.log.Info("no turn runs any more: giving way to a newer build")
	}
}
