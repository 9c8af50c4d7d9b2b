package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"cursord/daemon/api"
	"cursord/daemon/internal/exportfile"
	"cursord/daemon/internal/wire"
	"cursord/daemon/paths"
	"cursord/sessions"
)

// ImportSession stores the session that was exported to the file at path, in the workspace root or, for "", in its own. It
// never changes what is stored: a session or turn whose id is taken is KindInvalid, unless newIDs gives new ids. It first
// checks the whole file. An import that the daemon's end interrupts leaves nothing.
func (d *Daemon) ImportSession(ctx context.Context, path, root string, newIDs bool) (*sessions.Session, error) {
	if why := paths.TooLong(path); why != "" {
		return nil, api.Invalid("path", "%s", why)
	}
	if !filepath.IsAbs(path) {
		return nil, api.Invalid("path", "%q is not an absolute path", path)
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		if err == nil {
			err = errors.New("not a regular file")
		}
		return nil, api.Invalid("path", "%s cannot be read: %v", path, paths.Cause(err))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, api.Invalid("path", "%s cannot be read: %v", path, paths.Cause(err))
	}
	defer f.Close()

	d.importing.Lock() // an id that is free when the file is checked must be free when it is stored
	defer d.importing.Unlock()
	im := &importer{d: d, newIDs: newIDs, turns: map[string]string{}}
	defer im.free()
	if err := im.read(ctx, f, func(exportfile.Line) error { return nil }); err != nil {
		return nil, err
	}
	if err := d.importRoom(f); err != nil {
		return nil, err
	}
	if root == "" {
		root = im.session.Workspace
	}
	w, err := d.workspace(root)
	if err != nil {
		var e *api.Error
		if errors.As(err, &e) {
			e.Hint = "choose another workspace (-w DIR)"
		}
		return nil, err
	}
	defer w.release()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, api.Invalid("path", "%s cannot be read: %v", path, paths.Cause(err))
	}
	return im.store(ctx, w, f)
}

// importRoom returns an error if the disk has no room for the contents of a file: an import that fills the disk would stop
// everybody.
func (d *Daemon) importRoom(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return api.Errorf(api.KindInternal, "%v", err)
	}
	if err = d.store.Room(info.Size() / 2 * 3); errors.Is(err, sessions.ErrNoSpace) {
		return api.Errorf(api.KindStorage, "the session was not imported: %v", err)
	}
	return api.StoreError(err)
}

// An importer reads an exported session twice: first to check it, then to store it.
type importer struct {
	d       *Daemon
	newIDs  bool
	session *sessions.Session // as it will be stored, except for its workspace
	turns   map[string]string // new ids by the file's ids
	count   int               // number of turns
}

// read calls each for the turns and items of a file, with the ids that they will have.
func (im *importer) read(ctx context.Context, f io.Reader, each func(exportfile.Line) error) error {
	im.count = 0
	return exportfile.Read(ctx, f, func(l exportfile.Line) error {
		var err error
		switch {
		case l.Session != nil:
			return im.begin(l.Session)
		case l.Turn != nil:
			err = im.turn(l.Turn)
		default:
			l.Item.TurnID, l.Item.SessionID = im.turns[l.Item.TurnID], im.session.ID
			l.Item.ID = sessions.ItemID(l.Item.TurnID, l.Item.Index)
		}
		if err != nil {
			return err
		}
		return each(l)
	})
}

func (im *importer) taken(what, id string) error {
	return &api.Error{
		Kind: api.KindInvalid, Field: "newIds", Message: fmt.Sprintf("%s %s exists already and is not overwritten", what, id),
		Hint: "import it as a new one with new ids (--new-ids)",
	}
}

// begin takes the session.
func (im *importer) begin(s *sessions.Session) error {
	if err := exportfile.Clean(s); err != nil || im.session != nil {
		return err // or this is the second reading
	}
	im.session = s
	if im.newIDs {
		// The original goes on with its chat.
		s.ID, s.AgentSessionID, s.Rewound = newID(), nil, s.Turns > 0
		return nil
	}
	if _, err := im.d.store.Session(s.ID); !errors.Is(err, sessions.ErrNotFound) {
		return errors.Join(im.taken("session", s.ID), err)
	}
	return nil
}

func (im *importer) turn(t *sessions.Turn) error {
	if err := exportfile.CheckTurn(t); err != nil {
		return err
	}
	im.count++
	id, again := im.turns[t.ID]
	switch {
	case again && im.count <= len(im.turns):
	case again:
		return fmt.Errorf("turn %q comes twice", t.ID)
	case im.newIDs:
		id = newID()
	default:
		id = t.ID
		if !im.d.claimTurn(id, im) {
			return im.taken("turn", id)
		}
		im.turns[t.ID] = id
		if _, err := im.d.store.Turn(id); !errors.Is(err, sessions.ErrNotFound) {
			return errors.Join(im.taken("turn", id), err)
		}
	}
	im.turns[t.ID] = id
	t.ID, t.SessionID = id, im.session.ID
	return nil
}

// free releases the turns' ids, which are stored by now, or not used.
func (im *importer) free() {
	for _, id := range im.turns {
		im.d.freeTurn(id, im)
	}
}

// store stores the session with its contents.
func (im *importer) store(ctx context.Context, w *workspace, f io.Reader) (*sessions.Session, error) {
	s := *im.session
	s.Workspace = w.root
	fill, err := w.fill(s, sessions.Revive{ID: s.ID})
	if err != nil {
		return nil, err
	}
	err = im.read(ctx, f, func(l exportfile.Line) error {
		if l.Turn != nil {
			l.Turn.Workspace = w.root
			return fill.add(l.Turn, nil, l.Size)
		}
		l.Item.Workspace = w.root
		var detail []byte
		if l.Item.Tool != nil {
			l.Item.Tool, detail = wire.CutTool(l.Item.Tool)
		}
		return fill.add(l.Item, detail, l.Size)
	})
	var whole *sessions.Session
	if err == nil {
		whole, err = fill.end(func(s *sessions.Session) { s.Turns = im.count })
	}
	if err != nil { // only a full disk, a cancellation, or a change to the file can cause this
		fill.undo()
		return nil, err
	}
	return whole, nil
}
