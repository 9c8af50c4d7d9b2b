// Package pages reads the daemon's paged answers whole: all sessions, all turns, a whole transcript, the items of a turn. It keeps nothing.
package pages

import (
	"context"
	"errors"
	"slices"
	"sync"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

// Sessions returns the sessions of a workspace, or of all workspaces for "", the latest changed first.
func Sessions(ctx context.Context, client *rpc.Client, root string) ([]*sessions.Session, error) {
	list := []*sessions.Session{}
	params := rpc.SessionListParams{Workspace: root}
	for {
		page, err := client.SessionList(ctx, params)
		if err != nil {
			return nil, err
		}
		list = append(list, page.Sessions...)
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			return list, nil
		}
	}
}

// Turns calls each for each session in order, one at a time, with the session's turns, the latest first. A session that was
// deleted meanwhile has no turns.
func Turns(ctx context.Context, client *rpc.Client, of []*sessions.Session, each func(*sessions.Session, []*sessions.Turn)) error {
	const atOnce = 8 // requests under way
	type answer struct {
		turns []*sessions.Turn
		err   error
	}
	answers := make([]chan answer, len(of))
	for i := range answers {
		answers[i] = make(chan answer, 1)
	}
	ctx, cancel := context.WithCancel(ctx)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	room := make(chan struct{}, atOnce)
	asking.Go(func() {
		for i, s := range of {
			select {
			case room <- struct{}{}:
			case <-ctx.Done():
				return
			}
			asking.Go(func() {
				turns, err := turnsOf(ctx, client, s.ID)
				answers[i] <- answer{turns, err}
			})
		}
	})
	for i, s := range of {
		select {
		case a := <-answers[i]:
			<-room
			if a.err != nil {
				return a.err
			}
			each(s, a.turns)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func turnsOf(ctx context.Context, client *rpc.Client, session string) ([]*sessions.Turn, error) {
	var turns []*sessions.Turn
	for params := (rpc.TurnListParams{SessionID: session, Limit: 1000}); ; {
		page, err := client.TurnList(ctx, params)
		if e := (*rpc.Error)(nil); errors.As(err, &e) && e.Data.Kind == api.KindNotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		turns = append(turns, page.Turns...)
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			return turns, nil
		}
	}
}

// Active returns the turns that run or wait, in a workspace or in all for "".
func Active(ctx context.Context, client *rpc.Client, root string) ([]*sessions.Turn, error) {
	var turns []*sessions.Turn
	for params := (rpc.TurnListParams{Workspace: root, Active: true, Limit: 1000}); ; {
		page, err := client.TurnList(ctx, params)
		if err != nil {
			return nil, err
		}
		turns = append(turns, page.Turns...)
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			return turns, nil
		}
	}
}

// Transcript reads a whole session, the oldest item first.
func Transcript(ctx context.Context, client *rpc.Client, session string) (*api.Transcript, error) {
	var pages []api.Transcript // newest page first
	params := rpc.SessionReadParams{SessionID: session}
	for {
		page, err := client.SessionRead(ctx, params)
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
		if !page.More || len(page.Items) == 0 {
			break
		}
		params.Before = page.Items[0].ID
	}
	all := &api.Transcript{Session: pages[0].Session, Turns: []*sessions.Turn{}, Items: []*sessions.Item{}}
	known := map[string]bool{} // a turn that spans pages is in each of these pages
	for i := range pages {
		page := pages[len(pages)-1-i]
		for _, t := range page.Turns {
			if !known[t.ID] {
				known[t.ID] = true
				all.Turns = append(all.Turns, t)
			}
		}
		all.Items = append(all.Items, page.Items...)
	}
	return all, nil
}

// Items reads the items of a turn that has ended, the oldest first.
func Items(ctx context.Context, client *rpc.Client, turn *sessions.Turn) ([]*sessions.Item, error) {
	var items []*sessions.Item
	if turn.StartedAt == nil {
		return nil, nil // it was cancelled in the queue
	}
	for params := (rpc.SessionReadParams{SessionID: turn.SessionID}); ; {
		page, err := client.SessionRead(ctx, params)
		if err != nil {
			return nil, err
		}
		of := slices.DeleteFunc(slices.Clone(page.Items), func(i *sessions.Item) bool { return i.TurnID != turn.ID })
		items = append(of, items...)
		older := len(items) > 0 && len(page.Items) > 0 && page.Items[0].TurnID != turn.ID // the rest is of older turns
		if older || !page.More || len(page.Items) == 0 {
			return items, nil
		}
		params.Before = page.Items[0].ID
	}
}
