// Package forked copies the turns and items of a session into a fork of it. It gives each an id of its own, because an object
// has one session, one id and one seq; the rest stays as it is.
package forked

import (
	"context"
	"encoding/json"

	"cursord/daemon/api"
	"cursord/sessions"
)

// A Copy is the making of a fork.
type Copy struct {
	Session string // the fork's id
	Last    string // the last turn to copy; "": all before the first that has not ended
	NewID   func() string
	Images  func(paths []string) []string                       // returns the paths that the fork has for a turn's images
	Add     func(o sessions.Object, detail []byte, n int) error // takes each copy; n is about its size in bytes

	Turns int    // number of those copied
	From  string // the last of them, by its old id; "": none

	turn string // the same by its new id
}

// Parts reads a session, as sessions.Store.Parts does.
type Parts func(session string, from sessions.Place) ([]sessions.Part, sessions.Place, error)

// All copies what there is to copy of a session. Its errors are Add's, and those that clients get.
func (c *Copy) All(ctx context.Context, read Parts, session string) error {
	for at := (sessions.Place{}); !at.End; {
		parts, next, err := read(session, at)
		if err != nil {
			return api.StoreError(err)
		}
		for _, p := range parts {
			if err := ctx.Err(); err != nil {
				return &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
			}
			over, err := c.part(p)
			if err != nil || over {
				return err
			}
		}
		at = next
	}
	return nil
}

// part copies a turn or an item; over reports that it is behind what is to be copied.
func (c *Copy) part(p sessions.Part) (over bool, err error) {
	if p.Kind == sessions.KindTurn {
		t := new(sessions.Turn)
		if err := json.Unmarshal(p.JSON, t); err != nil {
			return false, api.Errorf(api.KindStorage, "a turn of a session that is forked: %v", err)
		}
		if c.From != "" && c.From == c.Last || !t.Status.Final() {
			return true, nil
		}
		c.From, c.turn = t.ID, c.NewID()
		c.Turns++
		t.ID, t.SessionID, t.Images = c.turn, c.Session, c.Images(t.Images)
		return false, c.Add(t, nil, len(p.JSON))
	}
	it := new(sessions.Item)
	if err := json.Unmarshal(p.JSON, it); err != nil {
		return false, api.Errorf(api.KindStorage, "an item of a session that is forked: %v", err)
	}
	it.TurnID, it.SessionID = c.turn, c.Session
	it.ID = sessions.ItemID(it.TurnID, it.Index)
	return false, c.Add(it, p.Detail, len(p.JSON)+len(p.Detail))
}
