package daemon

import (
	"log/slog"
	"time"
)

// storageTrouble is called by the store's writer, which must not wait.
func (d *Daemon) storageTrouble(err error) {
	if err == nil {
		d.messages.Withdraw("storage", "the database takes changes again: what was kept in memory is stored")
		go d.log.Info("the database takes changes again")
		return
	}
	d.messages.Post("storage", "", slog.LevelError,
		"the database takes no changes; what runs goes on, and is kept in memory until it can be stored: "+err.Error())
	go func() {
		d.log.Error("the database takes no changes; they are kept in memory", "err", err)
		for _, w := range d.loops() {
			w.do(func() { w.storageTrouble(err) })
		}
	}()
}

// tryDisk is called before a request that needs the database. If the last commit failed, it tries again at once, so that a
// person who has made room need not wait. It returns what is still wrong.
func (d *Daemon) tryDisk() error { return d.store.Retry(time.Second) }
