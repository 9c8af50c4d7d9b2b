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
	if c == nil || c.Unknown && !d.AgentsRun() {
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
	if t, err := d.store.Turn(owner); err == nil {
		return t
	}
	t, err := d.store.LastTurn(owner)
	if err != nil {
		return nil
	}
	return t
}

// IsolationFor returns the isolation of a session that a caller makes: the asked one, or "" for that of the settings. It
// refuses one that is not as strict as that of the caller's own session.
func (d *Daemon) IsolationFor(c *api.Caller, asked string) (string, error) {
	return d.boundsOf(c).Isolation(asked)
}
