package daemon

import (
	"context"
	"errors"

	"cursord/daemon/api"
	"cursord/sessions"
)

// searchMax bounds a query, in bytes.
const searchMax = 4 << 10

// Search returns a page of the places in stored sessions that have a query, the newest first; root "" stands for all
// workspaces. See sessions.Store.Search.
func (d *Daemon) Search(ctx context.Context, root, query, cursor string, limit int) ([]sessions.Match, string, error) {
	if len(query) > searchMax {
		return nil, "", api.Invalid("query", "is %d bytes long; %d are the most", len(query), searchMax)
	}
	if root != "" {
		r, err := d.knownRoot(root)
		if err != nil {
			return nil, "", err
		}
		root = r
	}
	found, next, err := d.store.Search(ctx, root, query, cursor, pageSize(limit))
	switch {
	case errors.Is(err, sessions.ErrNoWord):
		return nil, "", api.Invalid("query", "has no word to search for")
	case errors.Is(err, sessions.ErrBadCursor):
		return nil, "", api.Invalid("cursor", "is not from search")
	case ctx.Err() != nil:
		return nil, "", &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
	}
	return found, next, api.StoreError(err)
}
