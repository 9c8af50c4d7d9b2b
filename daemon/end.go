package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
)

// Done is closed when Close has ended.
func (d *Daemon) Done() <-chan struct{} { return d.done }

// Stop asks the daemon to end. It returns KindBusy while turns run or wait, unless forced. It returns at once; Stopping
// tells the daemon's owner to call Close.
func (d *Daemon) Stop(force bool) error {
	if !force {
		if s := d.Status(); s.Turns.Running+s.Turns.Queued > 0 {
			return &api.Error{
				Kind: api.KindBusy, Message: fmt.Sprintf("%s running and %d queued", plaintext.Count(s.Turns.Running, "turn"), s.Turns.Queued),
				Hint: "wait for them, or interrupt them: cursord stop --force",
			}
		}
	}
	d.refuseTurns()
	return nil
}

// refuseTurns makes all loops refuse turns, also those that begin after this.
func (d *Daemon) refuseTurns() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.asked {
		d.asked = true
		close(d.stopping)
	}
}

// Stopping is closed when Stop or EndTurns was called.
func (d *Daemon) Stopping() <-chan struct{} { return d.stopping }

// Bounds of the wait for agents to end and for their turns' ends to be stored; the wait is shorter while the database takes
// no changes.
const (
	drainTime   = 15 * time.Second
	troubleTime = 6 * time.Second // an agent that ignores signals takes 5 s
	lastTry     = time.Second     // for the database, after the agents have ended
)

// EndTurns ends every turn as interrupted. It returns when that is stored and published; if it cannot be stored, it tells
// everybody what is lost. Later calls do nothing.
func (d *Daemon) EndTurns() { d.endTurns.Do(d.endAllTurns) }

func (d *Daemon) endAllTurns() {
	d.refuseTurns() // a loop that begins now is not among those that are stopped
	for _, w := range d.loops() {
		w.call(w.stop)
	}
	agents, ended := make(chan struct{}), make(chan struct{})
	go func() {
		d.turns.Wait()
		close(agents)
		d.unfinished.Wait()
		close(ended)
	}()
	limit := time.NewTimer(drainTime)
	defer limit.Stop()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for began, late := time.Now(), false; !late; {
		select {
		case <-ended:
			return
		case <-limit.C:
			d.log.Error("turns did not end in time; they will be interrupted at the next start")
			return
		case <-agents:
			agents = nil
		case <-look.C:
			late = d.store.Trouble() != nil && (time.Since(began) > troubleTime || agents == nil && d.store.Retry(lastTry) != nil)
		}
	}
	if what := d.store.Unstored(); what != "" {
		d.messages.Post("unstored", "", slog.LevelError, fmt.Sprintf("the daemon is ending and cannot store %s: %v", what, d.store.Trouble()))
	}
}

// Close ends turns, loops and the store. Close connections between EndTurns and Close.
func (d *Daemon) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		<-d.done
		return nil
	}
	d.closed = true
	if d.sweeper != nil {
		d.sweeper.Stop()
	}
	if d.idle != nil {
		d.idle.Stop()
	}
	d.mu.Unlock()
	d.endKeeping()
	d.agent.Close()
	d.EndTurns()
	d.drivers.Close()
	d.keeping.Wait()
	d.overlays.Close()
	for _, w := range d.loops() {
		w.close()
	}
	d.agent.Keep()
	d.copies.Close()
	d.atEnd.Close()
	d.saves.Close()
	d.killed.Close()
	unstored := d.store.Unstored()
	err := d.store.Close()
	if trouble := d.store.Trouble(); trouble != nil && unstored != "" {
		err = errors.Join(err, fmt.Errorf("not stored when the daemon ended: %s: %w", unstored, trouble))
	}
	close(d.done)
	return err
}
