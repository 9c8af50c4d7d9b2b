// Package retention finds the sessions that the configuration does not keep, and those that must stay because their changes are under
// review. It only reads the store.
package retention

import (
	"context"
	"iter"
	"os"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/sessions"
)

// pageSize is how many sessions are read at a time.
const pageSize = 1000

// SessionIDs yields the ids of all sessions, or an error.
func SessionIDs(store *sessions.Store) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for cursor := ""; ; {
			page, next, err := store.Sessions("", cursor, pageSize)
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
}

// An Outdated is a session that the configuration does not keep.
type Outdated struct {
	Session *sessions.Session
	Reason  string // age, count or size
}

// FindOutdated lists the sessions that the configuration does not keep, the latest first. Ages count back from the latest change
// of any session, unless that is in the future. So sessions do not get older while cursord is not used.
func FindOutdated(ctx context.Context, store *sessions.Store, keep config.Retention) (list []Outdated, err error) {
	if keep == (config.Retention{}) {
		return nil, nil
	}
	from := time.Now()
	n, size := 0, int64(0)
	for cursor := ""; ; {
		page, next, err := store.Sessions("", cursor, pageSize)
		if err != nil {
			return nil, api.StoreError(err)
		}
		for _, s := range page {
			if n++; n == 1 && s.UpdatedAt.Before(from) {
				from = s.UpdatedAt.Time
			}
			if keep.Size > 0 {
				took, err := store.SessionSize(s.ID)
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
			list = append(list, Outdated{s, reason})
		}
		if cursor = next; cursor == "" {
			return list, nil
		}
		if ctx.Err() != nil {
			return nil, &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
		}
	}
}

// Reviewed are the sessions whose changes are under review.
type Reviewed struct {
	Sessions map[string]bool
	Lost     map[string]bool // workspaces under review whose folder does not exist, perhaps because its disk is not mounted
}

// UnderReview finds the sessions whose changes are under review.
func UnderReview(store *sessions.Store) (Reviewed, error) {
	r := Reviewed{map[string]bool{}, map[string]bool{}}
	spaces, err := store.Workspaces()
	if err != nil {
		return r, api.StoreError(err)
	}
	for _, space := range spaces {
		diffs, err := store.PendingDiffs(space.Root)
		if err != nil {
			return r, api.StoreError(err)
		}
		for _, diff := range diffs {
			for _, h := range diff.Hunks {
				for _, src := range h.Sources {
					r.Sessions[src.SessionID] = true
				}
			}
			for _, id := range diff.Turns {
				if t, err := store.Turn(id); err == nil {
					r.Sessions[t.SessionID] = true
				}
			}
		}
		if info, err := os.Stat(space.Root); len(diffs) > 0 && (err != nil || !info.IsDir()) {
			r.Lost[space.Root] = true
		}
	}
	return r, nil
}
