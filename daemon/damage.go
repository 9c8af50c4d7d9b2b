package daemon

import (
	"log/slog"

	"cursord/sessions"
)

// objectDamaged is called by the store for an object that it has set aside; it does not wait.
func (d *Daemon) objectDamaged(x sessions.Damage) {
	d.damagedRecord(x.Workspace, string(x.Kind)+" "+x.ID, nil)
	if x.Kind != sessions.KindDiff {
		return
	}
	go func() { // whoever loads the workspace may hold what is needed
		for _, w := range d.loops() {
			if w.root == x.Workspace {
				w.review.do(func() { w.review.retell(x.ID) })
			}
		}
	}()
}

// damagedRecord says that something in the database was damaged; people are told once.
func (d *Daemon) damagedRecord(root, what string, err error) {
	attrs := []any{"what", what, "workspace", root}
	if err != nil {
		attrs = append(attrs, "err", err)
	}
	go d.log.Error("a record in the database is damaged and was set aside", attrs...)
	d.board.post("damage", slog.LevelWarn,
		`something in the database was damaged: it was set aside, and everything else is served; the log names it, "cursord doctor" counts such objects. Check the disk`)
}
