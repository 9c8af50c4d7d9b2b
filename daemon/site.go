package daemon

import (
	"cmp"
	"context"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/apart"
	"cursord/daemon/internal/review"
	"cursord/daemon/internal/translate"
	"cursord/sessions"
)

// This file is the part of a turn that works in a copy of the workspace.

// copyNotice is how long making a copy may take before a notice says so.
const copyNotice = 2 * time.Second

// A site is where a turn's agent works.
type site struct {
	tree  *review.Worktree
	words *translate.Words // nil if the agent finds its tree at the workspace's path
	end   func()           // ends the turn's use of the copy
}

// site returns where a turn works. For an isolated session it makes or updates the copy; say gets notices about that. alias
// is another path of the workspace. The trust may have been taken back while the turn waited.
func (w *workspace) site(ctx context.Context, s *sessions.Session, turn, alias string, say func(string)) (site, error) {
	trusted := false
	if err := w.call(func() { trusted = w.trusted }); err != nil || !trusted {
		return site{}, cmp.Or(err, error(api.Untrusted(w.root)))
	}
	if s.Isolation != config.IsolationCopy {
		return site{tree: w.review.WorkTree(), end: func() {}}, nil
	}
	release, err := w.d.copies.Use(ctx, s.ID)
	if err != nil {
		return site{}, err
	}
	late := time.AfterFunc(copyNotice, func() {
		say("The agent works in a copy of the workspace. It is being made or brought up to date, which takes a while here.")
	})
	t, fresh, err := w.review.BeginInCopy(ctx, s.ID, turn)
	late.Stop()
	if err != nil {
		release()
		return site{}, err
	}
	if text := apart.About(t.Notes()); fresh && text != "" {
		say(text)
	}
	at := site{tree: t, end: func() {
		w.review.EndInCopy(t)
		release()
	}}
	if t.Root() != w.root {
		at.words = translate.New(t.Root(), w.root, alias)
	}
	return at, nil
}

// copyRemoved makes the reviewer of a workspace forget a session's copy.
func (d *Daemon) copyRemoved(root, session string) {
	d.mu.Lock()
	w := d.workspaces[root]
	d.mu.Unlock()
	if w != nil {
		w.review.CopyRemoved(session)
	}
}
