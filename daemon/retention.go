package daemon

import (
	"context"
	"errors"
	"os"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/sessions"
)

const (
	retentionEvery = 24 * time.Hour
	compactEvery   = 10 * time.Minute // how often to check whether compaction pays
)

// housekeep deletes what the configuration does not keep and compacts the database, until ctx ends; images are the files
// that existed before any session could be made. It uses the monotonic clock, and does nothing while the database is in
// trouble.
func (d *Daemon) housekeep(ctx context.Context, images []string) {
	if err := d.pictures.Sweep(images, d.sessionIDs); err != nil {
		d.log.Warn("images of a session that is no more could not be removed", "err", err)
	}
	looks := time.NewTicker(compactEvery)
	defer looks.Stop()
	for kept := (time.Time{}); ; {
		if d.store.Trouble() == nil {
			if kept.IsZero() || time.Since(kept) >= retentionEvery {
				kept = time.Now()
				d.daily(ctx)
			}
			d.compactIfWasteful(ctx)
		}
		select {
		case <-looks.C:
		case <-ctx.Done():
			return
		}
	}
}

// daily deletes the sessions that the configuration does not keep, and forgets workspaces that are gone.
func (d *Daemon) daily(ctx context.Context) {
	if d.settings().Keep != (config.Retention{}) {
		if done, err := d.retain(ctx, false); err != nil {
			d.log.Warn("old sessions could not be deleted", "err", err)
		} else if len(done.Sessions) > 0 {
			d.log.Info("deleted sessions, as the configuration says", "sessions", len(done.Sessions), "kept", done.Kept)
		}
	}
	if gone, err := d.forgetGone(false); err != nil {
		d.log.Warn("workspaces that are gone could not be forgotten", "err", err)
	} else if len(gone) > 0 {
		d.log.Info("forgot workspaces whose folders are gone", "workspaces", len(gone))
	}
}

// sessionIDs yields the ids of all sessions, or an error.
func (d *Daemon) sessionIDs(yield func(string, error) bool) {
	for cursor := ""; ; {
		page, next, err := d.store.Sessions("", cursor, listMax)
		if err != nil {
			yield("", err)
			return
		}
		for _, s := range page {
			if !yield(s.ID, nil) {
				return
			}
		}
		if cursor = next; cursor == "" {
			return
		}
	}
}

// compactIfWasteful compacts the database if that pays and no turn runs: it would not hold turns up, but uses the disk.
func (d *Daemon) compactIfWasteful(ctx context.Context) {
	use, err := d.store.DiskUse()
	if err != nil || !use.Wasteful() {
		return
	}
	for _, w := range d.loops() {
		if w.running.Load() > 0 {
			return
		}
	}
	began := time.Now()
	if err := d.store.Compact(ctx); err != nil {
		d.log.Warn("the database was not compacted", "err", err)
		return
	}
	if now, err := d.store.DiskUse(); err == nil {
		d.log.Info("compacted the database", "from", use.Bytes, "to", now.Bytes, "took", time.Since(began))
	}
}

// GC deletes what the configuration does not keep, and compacts the database. With dryRun it only reports what it would
// delete.
func (d *Daemon) GC(ctx context.Context, dryRun bool) (api.Collected, error) {
	if err := d.tryDisk(); err != nil {
		return api.Collected{}, api.StoreError(err)
	}
	done, err := d.retain(ctx, dryRun)
	if err != nil {
		return api.Collected{}, err
	}
	if done.Forgotten, err = d.forgetGone(dryRun); err != nil {
		return api.Collected{}, err
	}
	use, err := d.store.DiskUse()
	if err != nil {
		return api.Collected{}, api.StoreError(err)
	}
	done.BytesBefore, done.BytesAfter = use.Bytes, use.Bytes
	if dryRun {
		return done, nil
	}
	if err := d.store.Compact(ctx); err != nil {
		if ctx.Err() != nil {
			return api.Collected{}, &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
		}
		done.NotCompacted = err.Error()
		return done, nil
	}
	if use, err = d.store.DiskUse(); err != nil {
		return api.Collected{}, api.StoreError(err)
	}
	done.BytesAfter = use.Bytes
	return done, nil
}

// retain deletes the sessions that the configuration does not keep; with dryRun it only lists them.
func (d *Daemon) retain(ctx context.Context, dryRun bool) (api.Collected, error) {
	done := api.Collected{Sessions: []api.CollectedSession{}}
	outdated, err := d.outdated(ctx)
	if err != nil || len(outdated) == 0 {
		return done, err
	}
	reviewed, err := d.underReview()
	if err != nil {
		return done, err
	}
	for _, o := range outdated {
		if err := ctx.Err(); err != nil {
			return done, &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
		}
		if o.session.State != sessions.SessionIdle || reviewed.sessions[o.session.ID] || reviewed.lost[o.session.Workspace] {
			done.Kept++
			continue
		}
		if !dryRun {
			var e *api.Error
			switch err := d.deleteSession(o.session.ID, o.session.Seq); {
			case errors.As(err, &e) && (e.Kind == api.KindBusy || e.Kind == api.KindNotFound || e.Kind == api.KindConflict):
				done.Kept++ // it was used meanwhile
				continue
			case err != nil:
				return done, err
			}
		}
		done.Sessions = append(done.Sessions, api.CollectedSession{
			ID: o.session.ID, Workspace: o.session.Workspace, Title: o.session.Title, UpdatedAt: o.session.UpdatedAt, Reason: o.reason,
		})
	}
	return done, nil
}

// An outdatedSession is a session that the configuration does not keep.
type outdatedSession struct {
	session *sessions.Session
	reason  string // age, count or size
}

// outdated lists the sessions that the configuration does not keep, the latest first. Ages count back from the latest change
// of any session, unless that is in the future. So sessions do not get older while cursord is not used.
func (d *Daemon) outdated(ctx context.Context) (list []outdatedSession, err error) {
	keep := d.settings().Keep
	if keep == (config.Retention{}) {
		return nil, nil
	}
	from := time.Now()
	n, size := 0, int64(0)
	for cursor := ""; ; {
		page, next, err := d.store.Sessions("", cursor, listMax)
		if err != nil {
			return nil, api.StoreError(err)
		}
		for _, s := range page {
			if n++; n == 1 && s.UpdatedAt.Before(from) {
				from = s.UpdatedAt.Time
			}
			if keep.Size > 0 {
				took, err := d.store.SessionSize(s.ID)
				if err != nil {
					return nil, api.StoreError(err)
				}
				size += took
			}
			reason := ""
			switch {
			case keep.Age > 0 && from.Sub(s.UpdatedAt.Time) > keep.Age:
				reason = "age"
			case keep.Sessions > 0 && n > keep.Sessions:
				reason = "count"
			case keep.Size > 0 && size > keep.Size:
				reason = "size"
			default:
				continue
			}
			list = append(list, outdatedSession{s, reason})
		}
		if cursor = next; cursor == "" {
			return list, nil
		}
		if ctx.Err() != nil {
			return nil, &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
		}
	}
}

// reviewedSessions are those whose changes are under review.
type reviewedSessions struct {
	sessions map[string]bool
	lost     map[string]bool // workspaces under review whose folder does not exist, perhaps because its disk is not mounted
}

func (d *Daemon) underReview() (reviewedSessions, error) {
	r := reviewedSessions{map[string]bool{}, map[string]bool{}}
	spaces, err := d.store.Workspaces()
	if err != nil {
		return r, api.StoreError(err)
	}
	for _, space := range spaces {
		diffs, err := d.store.PendingDiffs(space.Root)
		if err != nil {
			return r, api.StoreError(err)
		}
		for _, diff := range diffs {
			for _, h := range diff.Hunks {
				for _, src := range h.Sources {
					r.sessions[src.SessionID] = true
				}
			}
			for _, id := range diff.Turns {
				if t, err := d.store.Turn(id); err == nil {
					r.sessions[t.SessionID] = true
				}
			}
		}
		if info, err := os.Stat(space.Root); len(diffs) > 0 && (err != nil || !info.IsDir()) {
			r.lost[space.Root] = true
		}
	}
	return r, nil
}
