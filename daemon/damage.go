package daemon

import (
	"log/slog"

	"cursord/daemon/api"
	"cursord/sessions"
)

// objectDamaged is called by the store for an object that it has set aside; it does not wait.
func (d *Daemon) objectDamaged(x sessions.Damage) {
	go func() { // a goroutine that loads the workspace may hold the lock needed
		d.damagedRecord(x.Workspace, string(x.Kind)+" "+x.ID, nil)
		for _, w := range d.loops() {
			if x.Kind == sessions.KindDiff && w.root == x.Workspace {
				w.review.Republish(x.ID)
			}
		}
	}()
}

// damagedRecord says once, in a message, that something in the database was damaged.
func (d *Daemon) damagedRecord(root, what string, err error) {
	attrs := []any{"what", what, "workspace", root}
	if err != nil {
		attrs = append(attrs, "err", err)
	}
	d.log.Error("something in the database is damaged and was set aside", attrs...)
	d.messages.Post("damage", "", slog.LevelWarn,
		`something in the database was damaged: it was set aside, and everything else is served; the log names it, "cursord doctor" counts such objects, and forgets them with --forget-damaged. Check the disk`)
}

// ForgetDamaged deletes the damaged objects that were set aside, once a person knows of them, and returns how many there
// were. It returns KindStorage if the database takes no changes.
func (d *Daemon) ForgetDamaged() (int, error) {
	if err := d.tryDisk(); err != nil {
		return 0, api.StoreError(err)
	}
	n, err := d.store.ForgetDamaged()
	if err != nil {
		return 0, api.StoreError(err)
	}
	d.messages.Withdraw("damage", "")
	if n > 0 {
		d.log.Info("what was damaged and set aside is forgotten", "objects", n)
	}
	return n, nil
}
