package review

import (
	"cursord/daemon/internal/watch"
)

// unused reports whether the reviewer has nothing pending and nothing to do. Only the reviewer's goroutine may call it.
func (r *Reviewer) unused() bool {
	if r.waiting.Len()+len(r.ops)+len(r.vacated)+len(r.affected)+len(r.deferred) > 0 || len(r.later.Ready) > 0 {
		return false
	}
	for _, t := range r.trees {
		if t.turns > 0 || t.busy || len(t.Starts.All()) > 0 {
			return false
		}
		for _, f := range t.files {
			if f.unread || f.pending() || len(f.Buffers) > 0 {
				return false
			}
		}
	}
	return true
}

// Waiting returns how many requests the reviewer has not taken yet.
func (r *Reviewer) Waiting() int { return len(r.inbox) }

// Wait returns when the reviewer has carried out all earlier requests.
func (r *Reviewer) Wait() { _ = r.call(func() {}) } // or when it has ended

// WhenUnused has the reviewer call do if it has nothing pending and nothing to do, and waits for that.
func (r *Reviewer) WhenUnused(do func()) {
	_ = r.call(func() {
		if r.unused() {
			do()
		}
	})
}

// Watching returns how the files under review are watched; nil if no file has been pending.
func (r *Reviewer) Watching() *watch.State { return r.watch.State.Load() }

// Republish stores and publishes the diff of a path again, because its record in the database was damaged.
func (r *Reviewer) Republish(path string) { r.do(func() { r.republish(path) }) }

// CopyRemoved reports that the copy of a session was removed.
func (r *Reviewer) CopyRemoved(session string) { r.do(func() { r.dropSession(session) }) }

// SessionDeleted reports that a session was deleted. It returns when nothing of its copy is under review any more.
func (r *Reviewer) SessionDeleted(session string) error {
	return r.call(func() { r.dropSession(session) })
}
