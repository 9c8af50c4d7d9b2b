package daemon

import (
	"reflect"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/config"
)

// settings returns the configuration as it is now; d.config is what of it holds until the end.
func (d *Daemon) settings() *config.Config { return d.latest.Load() }

// Follows reports whether a daemon follows a configuration already.
func (d *Daemon) Follows(c config.Config) bool { return reflect.DeepEqual(c, *d.settings()) }

// Configure gives a daemon another configuration. What begins after it follows that; limits of what is reviewed and of
// what is copied, and the log's level, which is its owner's, stay. It returns the keys of limits that would be others.
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

// Reload has the daemon follow its configuration file as it is now. One with a mistake changes nothing.
func (d *Daemon) Reload() (api.Reloaded, error) {
	if d.reread == nil {
		return api.Reloaded{}, api.Errorf(api.KindUnavailable, "this daemon cannot read its configuration again: start another")
	}
	return d.reread(d)
}

// take makes c what settings returns.
func (d *Daemon) take(c config.Config) {
	c.ParallelTurns = max(c.ParallelTurns, 1)
	d.latest.Store(&c)
}

// restFor makes the idle time another one, and starts it anew; 0 is without end.
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
