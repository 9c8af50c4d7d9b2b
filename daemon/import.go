package daemon

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/exportfile"
	"cursord/daemon/internal/forked"
	"cursord/daemon/internal/origins"
	"cursord/daemon/internal/recap"
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
	im := d.newImporter(newIDs)
	defer im.free()
	if err := im.Read(ctx, f, func(exportfile.Line) error { return nil }); err != nil {
		return nil, err
	}
	if err := d.importRoom(f); err != nil {
		return nil, err
	}
	if root == "" {
		root = im.Session.Workspace
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
	s, err := im.store(ctx, w, f)
	if err == nil && len(im.Told) > 0 && d.settings().TellRejections {
		w.review.Tell(recap.Latest(im.Told))
	}
	if err == nil && im.Written {
		if _, err := f.Seek(0, io.SeekStart); err == nil {
			im.tellFiles(ctx, w, f)
		}
	}
	if err == nil {
		_ = reviewLoop{w}.Persist() // what the session was told, and has written, must be on disk as well
	}
	return s, err
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

// An importer reads an exported session three times: to check it, to store it, and to tell the files' histories of it.
type importer struct {
	exportfile.Import
	d       *Daemon
	claimed []string // ids of turns
}

func (d *Daemon) newImporter(newIDs bool) *importer {
	im := &importer{d: d}
	has := func(err error) (bool, error) {
		if errors.Is(err, sessions.ErrNotFound) {
			return false, nil
		}
		return true, err
	}
	im.Import = exportfile.Import{Turns: map[string]string{}, IDs: exportfile.IDs{
		HasSession: func(id string) (bool, error) {
			_, err := d.store.Session(id)
			return has(err)
		},
		HasTurn: func(id string) (bool, error) {
			if !d.claimTurn(id, im) {
				return true, nil
			}
			im.claimed = append(im.claimed, id)
			_, err := d.store.Turn(id)
			return has(err)
		},
	}}
	if newIDs {
		im.New = newID
	}
	return im
}

// free releases the turns' ids, which are stored by now, or not used.
func (im *importer) free() {
	for _, id := range im.claimed {
		im.d.freeTurn(id, im)
	}
}

// store stores the session with its contents.
func (im *importer) store(ctx context.Context, w *workspace, f io.Reader) (*sessions.Session, error) {
	s := *im.Session
	if s.Workspace = w.root; s.Isolation == config.IsolationNone && w.d.settings().IsolationFor(w.root) == config.IsolationCopy {
		// The person wants copies, and no imported file overrules that. Its chat belongs to the work tree, and cannot go on in a copy.
		s.Isolation, s.AgentSessionID, s.Rewound = config.IsolationCopy, nil, s.Turns > 0
	}
	fill, err := w.fill(s, sessions.Revive{ID: s.ID})
	if err != nil {
		return nil, err
	}
	err = im.Read(ctx, f, func(l exportfile.Line) error {
		switch {
		case l.Turn != nil:
			l.Turn.Workspace = w.root
			return fill.add(l.Turn, nil, l.Size)
		case l.Item == nil:
			return nil
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
		whole, err = fill.end(func(s *sessions.Session) { s.Turns = im.Count })
	}
	if err != nil { // only a full disk, a cancellation, or a change to the file can cause this
		fill.undo()
		return nil, err
	}
	return whole, nil
}

// tellFiles tells the histories of files which of their lines the session has written. A file that cannot be read goes without.
func (im *importer) tellFiles(ctx context.Context, w *workspace, f io.Reader) {
	earlier := forked.Earlier(im.d.store)
	_ = im.Read(ctx, f, func(l exportfile.Line) error { // it was read before
		if l.Written != nil {
			w.review.Recall(l.Written.Path, origins.Imported(l.Written, im.Session.ID, im.Turns), l.Written.Sums, earlier)
		}
		return nil
	})
}
