package daemon

import (
	"net"
	"strings"

	"cursord/agent/process"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/endpoint"
	"cursord/daemon/internal/ofagent"
	"cursord/daemon/internal/survivors"
	"cursord/sessions"
)

// This file is what an agent's own processes may ask of the daemon.

// CallerOf returns who made a connection; nil: a person's process, as far as the system says.
func (d *Daemon) CallerOf(conn net.Conn) *api.Caller {
	peer := endpoint.PeerOf(conn)
	defer peer.Close()
	if peer.PID == 0 {
		return nil // no descendant of this process has an id that it does not see
	}
	o := process.OriginOf(peer.PID, storeMark(d.store), survivors.Variable)
	_, owner, _ := strings.Cut(o.Value, d.store.Epoch()+"/")
	switch {
	case peer.Ended(), o.Unknown: // what was read may be another process's
		return &api.Caller{PID: peer.PID, Unknown: true}
	case o.Marked:
		return &api.Caller{PID: peer.PID, Owner: owner}
	}
	return nil
}

// AgentsRun reports whether a process of an agent runs. It takes some milliseconds.
func (d *Daemon) AgentsRun() bool { return len(process.Survivors(storeMark(d.store))) > 0 }

// boundsOf returns what a caller may ask for; nil: anything.
func (d *Daemon) boundsOf(c *api.Caller) *ofagent.Bounds {
	if c == nil {
		return nil
	}
	if turn := d.turnOf(c.Owner); turn != nil {
		if s, err := d.store.Session(turn.SessionID); err == nil {
			return &ofagent.Bounds{Turn: turn, Isolated: s.Isolation == config.IsolationCopy}
		}
	}
	return &ofagent.Bounds{Isolated: true} // whoever hides its turn may belong to any
}

// turnOf returns the turn of an agent's process, by the id in its mark, see survivors.Owner; nil if there is none.
func (d *Daemon) turnOf(owner string) *sessions.Turn {
	if owner == "" {
		return nil
	}
	if list, _, err := d.store.Turns(owner, "", 0); err == nil { // not the other way round: clients choose the ids of turns
		for _, t := range list {
			if t.StartedAt != nil { // those that are queued may do more
				return t
			}
		}
		return nil
	}
	t, err := d.store.Turn(owner)
	if err != nil {
		return nil
	}
	return t
}

// agentsEnvironment returns the environment for a turn that a process of another turn's agent starts: that of the other, which
// a person has given; nil if that is not known any more.
func (d *Daemon) agentsEnvironment(of *sessions.Turn) (env []string) {
	if of == nil || !d.WantsEnvironment() {
		return nil
	}
	w, err := d.workspaceAt(of.Workspace)
	if err != nil {
		return nil
	}
	defer w.release()
	_ = w.call(func() { // it fails at the daemon's end
		if t := w.turns[of.ID]; t != nil {
			env = t.env
		}
	})
	return env
}

// PlaceFor returns the isolation and the driver of a session that a caller makes: the asked ones, or "" for those of the
// settings. It refuses an isolation that is not as strict as that of the caller's own session, and another driver.
func (d *Daemon) PlaceFor(c *api.Caller, isolation, driver string) (in, by string, err error) {
	b := d.boundsOf(c)
	if in, err = b.Isolation(isolation); err == nil {
		by, err = b.Driver(driver)
	}
	return in, by, err
}
