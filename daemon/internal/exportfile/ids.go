package exportfile

import (
	"context"
	"errors"
	"fmt"
	"io"

	"cursord/daemon/api"
	"cursord/daemon/internal/decisionlog"
	"cursord/daemon/internal/recap"
	"cursord/sessions"
)

// IDs are the ids of the daemon that imports a session.
type IDs struct {
	New        func() string                       // nil: the session and its turns keep their ids
	HasSession func(id string) (bool, error)       // whether a session has the id
	HasTurn    func(id string) (has bool, _ error) // whether a turn has the id, or is about to get it; else it is the import's from now on
}

// An Import is a session that is being imported, with the ids that it will have.
type Import struct {
	IDs
	Session *sessions.Session
	Turns   map[string]string       // ids by the file's ids
	Count   int                     // number of turns that were read
	Written bool                    // the file says what the session has written in files
	Told    []decisionlog.Rejection // what the session was told of decisions
}

// Read calls each for the turns, items, and what else there is of a file. It may be called several times, for the same file.
func (im *Import) Read(ctx context.Context, f io.Reader, each func(Line) error) error {
	im.Count, im.Told = 0, nil
	return Read(ctx, f, func(l Line) error {
		var err error
		switch {
		case l.Session != nil:
			return im.begin(l.Session)
		case l.Turn != nil:
			err = im.turn(l.Turn)
		case l.Item != nil:
			l.Item.TurnID, l.Item.SessionID = im.Turns[l.Item.TurnID], im.Session.ID
			l.Item.ID = sessions.ItemID(l.Item.TurnID, l.Item.Index)
		case l.Written != nil:
			im.Written = true
		case l.Told != nil:
			im.Told = append(im.Told, decisionlog.Rejection{Session: im.Session.ID, Text: recap.Plainly(l.Told.Text), Comment: l.Told.Comment})
		}
		if err != nil {
			return err
		}
		return each(l)
	})
}

func taken(what, id string) error {
	return &api.Error{
		Kind: api.KindInvalid, Field: "newIds", Message: fmt.Sprintf("%s %s exists already and is not overwritten", what, id),
		Hint: "import it as a new one with new ids (--new-ids)",
	}
}

// begin takes the session.
func (im *Import) begin(s *sessions.Session) error {
	if err := clean(s); err != nil || im.Session != nil {
		return err // or the file is read again
	}
	im.Session = s
	if im.New != nil {
		// The original goes on with its chat.
		s.ID, s.AgentSessionID, s.Rewound = im.New(), nil, s.Turns > 0
		return nil
	}
	has, err := im.HasSession(s.ID)
	if err == nil && has {
		err = taken("session", s.ID)
	}
	return err
}

func (im *Import) turn(t *sessions.Turn) error {
	if err := validTurn(t); err != nil {
		return err
	}
	im.Count++
	id, again := im.Turns[t.ID]
	switch {
	case again && im.Count <= len(im.Turns):
	case again:
		return fmt.Errorf("turn %q comes twice", t.ID)
	case im.New != nil:
		id = im.New()
	default:
		id = t.ID
		if has, err := im.HasTurn(id); err != nil || has {
			return errors.Join(taken("turn", id), err)
		}
	}
	im.Turns[t.ID] = id
	t.ID, t.SessionID = id, im.Session.ID
	return nil
}
