package daemon

import (
	"reflect"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/config"
)

// settings returns the present configuration. d.config is the one at the start, for settings that stay.
func (d *Daemon) settings() *config.Config { return d.latest.Load() }

// Follows reports whether the daemon already has a configuration.
func (d *Daemon) Follows(c config.Config) bool { return reflect.DeepEqual(c, *d.settings()) }

// Configure gives the daemon another configuration. It applies to everything that begins afterwards, except for the limits
// of review and of copies, and for the log's level, which the caller sets. It returns the keys of limits that differ but
// stay.
func (d *Daemon) Configure(c config.Config) (stay []string) {
	before := d.settings()
	d.take(c)
	for _, limit := range []struct {
		keys     string
		old, new any
	}{
		{"large_size", d.config.Large.MaxBytes, c.Large.MaxBytes},
		{"large_lines", d.config.Large.MaxLines, c.Large.MaxLines},
		{"copy_include", d.config.Copy.Include, c.Copy.Include},
		{"copy_files", d.config.Copy.MaxFiles, c.Copy.MaxFiles},
		{"copy_size", d.config.Copy.MaxBytes, c.Copy.MaxBytes},
	} {
		if !reflect.DeepEqual(limit.old, limit.new) {
			stay = append(stay, limit.keys)
		}
	}
	if c.Agent != before.Agent {
		d.agent.Refresh()
	}
	d.restFor(c.IdleExit)
	for _, w := range d.loops() {
		w.do(w.schedule) // more may run at once
	}
	return stay
}

// Reload makes the daemon read its configuration file again. A file with a mistake changes nothing.
func (d *Daemon) Reload() (api.Reloaded, error) {
	if d.reread == nil {
		return api.Reloaded{}, api.Errorf(api.KindUnavailable, "this daemon cannot read its configuration again: restart it (cursord stop)")
	}
	return d.reread(d)
}

// take makes c the present configuration.
func (d *Daemon) take(c config.Config) {
	c.ParallelTurns = max(c.ParallelTurns, 1)
	d.latest.Store(&c)
}

// restFor sets the idle time and restarts it; 0 is without end.
func (d *Daemon) restFor(idle time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.idle != nil {
		d.idle.Stop()
		d.idle = nil
	}
	if idle > 0 && !d.closed {
		d.idleLeft = idleLooks
		d.idle = time.AfterFunc(idle/idleLooks, d.idled)
	}
}
