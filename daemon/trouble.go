package daemon

import (
	"errors"
	"log/slog"
	"time"

	"cursord/daemon/api"
	"cursord/sessions"
)

// storageTrouble is called by the store's writer, which must not wait.
func (d *Daemon) storageTrouble(err error) {
	if err == nil {
		d.messages.withdraw("storage", "the database takes changes again: what was kept in memory is stored")
		go d.log.Info("the database takes changes again")
		return
	}
	d.messages.post("storage", slog.LevelError,
		"the database takes no changes; what runs goes on, and is kept in memory until it can be stored: "+err.Error())
	go func() {
		d.log.Error("the database takes no changes; they are kept in memory", "err", err)
		for _, w := range d.loops() {
			w.do(func() { w.storageTrouble(err) })
		}
	}()
}

// tryDisk is called ahead of what needs the database: where that took no changes when it was last tried, it is tried anew, so
// that who has made room, or has mended the disk, need not wait. It returns what is wrong still.
func (d *Daemon) tryDisk() error { return d.store.Retry(time.Second) }

// storeError turns the store's error into an answer.
func storeError(err error) error {
	var e *api.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, sessions.ErrNotFound):
		return notFound(err)
	case errors.Is(err, sessions.ErrClosed):
		return errStopped
	case errors.Is(err, sessions.ErrContent), errors.Is(err, sessions.ErrDamaged):
		return &api.Error{Kind: api.KindStorage, Message: err.Error(), Hint: "check the disk's health"}
	}
	return &api.Error{
		Kind: api.KindStorage, Message: "the database does not take changes: " + err.Error(),
		Hint: "what runs goes on and is stored once it can be; make room on the disk or check its health",
	}
}
