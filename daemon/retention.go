package daemon

import (
	"context"
	"errors"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/retention"
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
	if err := d.pictures.Sweep(images, retention.SessionIDs(d.store)); err != nil {
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
	outdated, err := retention.FindOutdated(ctx, d.store, d.settings().Keep)
	if err != nil || len(outdated) == 0 {
		return done, err
	}
	reviewed, err := retention.UnderReview(d.store)
	if err != nil {
		return done, err
	}
	for _, o := range outdated {
		if err := ctx.Err(); err != nil {
			return done, &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
		}
		if o.Session.State != sessions.SessionIdle || reviewed.Sessions[o.Session.ID] || reviewed.Lost[o.Session.Workspace] {
			done.Kept++
			continue
		}
		if !dryRun {
			var e *api.Error
			switch err := d.deleteSession(o.Session.ID, o.Session.Seq); {
			case errors.As(err, &e) && (e.Kind == api.KindBusy || e.Kind == api.KindNotFound || e.Kind == api.KindConflict):
				done.Kept++ // it was used meanwhile
				continue
			case err != nil:
				return done, err
			}
		}
		done.Sessions = append(done.Sessions, api.CollectedSession{
			ID: o.Session.ID, Workspace: o.Session.Workspace, Title: o.Session.Title, UpdatedAt: o.Session.UpdatedAt, Reason: o.Reason,
		})
	}
	return done, nil
}
