package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/daemon/internal/wire"
	"cursord/daemon/paths"
	"cursord/sessions"
)

const (
	importBatch = 200     // objects stored at a time, so that others are not held up
	importBytes = 1 << 20 // of their lines, about
	incomplete  = " (import incomplete)"
)

// ImportSession stores the session that was exported to the file at path, in the workspace root, or in its own for "".
// It never touches what is stored: a session or turn whose id is taken is KindInvalid, unless newIDs makes up others.
// All of the file is checked first. An import that the daemon's end cuts short shows in the session's title.
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

	d.importing.Lock() // what is not taken when the file is checked is not when it is stored
	defer d.importing.Unlock()
	im := &importer{d: d, newIDs: newIDs, turns: map[string]string{}}
	defer im.free()
	if err := im.read(ctx, f, func(api.ExportPart, int) error { return nil }); err != nil {
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
			e.Hint = "name another workspace for it (-w DIR)"
		}
		return nil, err
	}
	defer w.release()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, api.Invalid("path", "%s cannot be read: %v", path, paths.Cause(err))
	}
	return im.store(ctx, w, f)
}

// importRoom fails where the disk has no room for what is in a file: an import that filled it would have everybody wait
// until there is.
func (d *Daemon) importRoom(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return api.Errorf(api.KindInternal, "%v", err)
	}
	if err = d.store.Room(info.Size() / 2 * 3); errors.Is(err, sessions.ErrNoSpace) {
		return api.Errorf(api.KindStorage, "the session is not imported: %v", err)
	}
	return api.StoreError(err)
}

// An importer reads an exported session twice: first to check it, then to store it.
type importer struct {
	d       *Daemon
	newIDs  bool
	session *sessions.Session // as it is to be stored, but for its workspace
	turns   map[string]string // new ids by those in the file
	count   int               // of turns
}

// read calls each for the turns and items of a file, with their ids as they are to be, and the length of their lines.
func (im *importer) read(ctx context.Context, f io.Reader, each func(p api.ExportPart, size int) error) error {
	r := bufio.NewReaderSize(f, 1<<20)
	n := 0
	fail := func(format string, args ...any) error {
		return api.Invalid("path", "line %d: %s", n, fmt.Sprintf(format, args...))
	}
	im.count = 0
	turn, next := "", 0 // the present turn in the file, and the least index of its next item
	var end *api.ExportEnd
	items := 0
	for {
		if ctx.Err() != nil {
			return &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
		}
		line, whole, err := readLine(r)
		if err == io.EOF {
			break
		}
		n++
		if err == nil && end != nil {
			return fail("there is more behind the end of the session: a file has one session")
		}
		if err != nil {
			return fail("%v", err)
		}
		if whole && !utf8.Valid(line) {
			return fail("not UTF-8")
		}
		if n == 1 {
			var h api.ExportHeader
			if json.Unmarshal(line, &h) != nil || h.Cursord != "session" {
				return fail(`not a session that "cursord export --format ndjson" wrote`)
			}
			if h.Version != exportVersion {
				return fail("version %d of the format; this cursord knows %d", h.Version, exportVersion)
			}
			continue
		}
		var l api.ExportLine
		if err := json.Unmarshal(line, &l); err != nil && !whole {
			return cutOff(api.ExportEnd{Turns: im.count, Items: items}, "the file is cut off in line %d", n)
		} else if err != nil {
			return fail("%v", err)
		}
		switch {
		case n == 2 && l.Session != nil:
			err = im.begin(l.Session)
		case n == 2 || l.Session != nil:
			return fail("the second line, and no other, is the session")
		case l.Turn != nil:
			turn, next = l.Turn.ID, 0
			err = im.turn(l.Turn)
		case l.Item != nil:
			if l.Item.TurnID != turn || turn == "" || l.Item.Index < next {
				return fail("item %q does not follow its turn and the items before it", l.Item.ID)
			}
			next = l.Item.Index + 1
			items++
			err = im.item(l.Item)
		case l.End != nil:
			end = l.End
			continue
		default:
			continue // of a later version's making
		}
		var e *api.Error
		if errors.As(err, &e) {
			return err
		}
		if err != nil {
			return fail("%v", err)
		}
		if n > 2 {
			if err := each(l.ExportPart, len(line)); err != nil {
				return err
			}
		}
	}
	if n < 2 {
		return api.Invalid("path", "the file ends before the session")
	}
	switch has := (api.ExportEnd{Turns: im.count, Items: items}); {
	case end == nil:
		return cutOff(has, "the file has no end: it was cut off after %d turn(s) and %d item(s)", has.Turns, has.Items)
	case *end != has:
		return cutOff(has, "lines are missing: the file has %d turn(s) and %d item(s), and had %d and %d",
			has.Turns, has.Items, end.Turns, end.Items)
	}
	return nil
}

func (im *importer) taken(what, id string) error {
	return &api.Error{
		Kind: api.KindInvalid, Field: "newIds", Message: fmt.Sprintf("%s %s is here already, and is not overwritten", what, id),
		Hint: "import it beside that one with newIds (--new-ids)",
	}
}

// begin takes the session.
func (im *importer) begin(s *sessions.Session) error {
	if s.ID == "" || len(s.ID) > turnIDMax || strings.Trim(s.ID, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		return fmt.Errorf("%q is no session's id", s.ID)
	}
	if !validMode(s.Mode) {
		return fmt.Errorf("%q is no mode", s.Mode)
	}
	if im.session != nil {
		return nil // the second reading
	}
	if s.AgentSessionID != nil && checkChat(*s.AgentSessionID) != nil {
		s.AgentSessionID = nil
	}
	im.session = s
	s.Title = wire.CutText(s.Title, titleMax)
	s.Isolation, s.State = "none", sessions.SessionIdle
	s.Sandbox, s.AutoReview, s.AddDirs = "", nil, nil // a file does not decide what agents here may do
	if im.newIDs {
		s.ID = newID()
		return nil
	}
	if _, err := im.d.store.Session(s.ID); !errors.Is(err, sessions.ErrNotFound) {
		return errors.Join(im.taken("session", s.ID), err)
	}
	return nil
}

func (im *importer) turn(t *sessions.Turn) error {
	if t.ID == "" || utf8.RuneCountInString(t.ID) > turnIDMax || !utf8.ValidString(t.ID) || strings.ContainsFunc(t.ID, unicode.IsControl) {
		return fmt.Errorf("%q is no turn's id", t.ID)
	}
	if !validMode(t.Mode) {
		return fmt.Errorf("%q is no mode", t.Mode)
	}
	switch t.Status {
	case sessions.TurnQueued, sessions.TurnRunning: // exported while it ran
		t.Status, t.Background = sessions.TurnInterrupted, nil
	case sessions.TurnCompleted, sessions.TurnFailed, sessions.TurnCancelled, sessions.TurnInterrupted:
	default:
		return fmt.Errorf("%q is no status of a turn", t.Status)
	}
	if t.EndedAt == nil {
		t.EndedAt = &t.CreatedAt
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

// free lets others have the turns' ids, which are stored by now, or left.
func (im *importer) free() {
	for _, id := range im.turns {
		im.d.freeTurn(id, im)
	}
}

func (im *importer) item(it *sessions.Item) error {
	switch it.Kind {
	case sessions.ItemAssistant, sessions.ItemThinking, sessions.ItemPlan, sessions.ItemNotice:
		it.Tool = nil
	case sessions.ItemTool:
		if it.Tool == nil {
			return errors.New("a tool call without a tool")
		}
	default:
		return fmt.Errorf("%q is no kind of item", it.Kind)
	}
	switch it.Status {
	case sessions.ItemRunning: // exported while it ran
		it.Status = sessions.ItemCancelled
	case sessions.ItemCompleted, sessions.ItemFailed, sessions.ItemRejected, sessions.ItemCancelled:
	default:
		return fmt.Errorf("%q is no status of an item", it.Status)
	}
	if it.EndedAt == nil {
		it.EndedAt = &it.StartedAt
	}
	if it.Index < 0 || it.Index >= math.MaxInt32 {
		return fmt.Errorf("%d is no index", it.Index)
	}
	it.TurnID, it.SessionID = im.turns[it.TurnID], im.session.ID
	it.ID = sessions.ItemID(it.TurnID, it.Index)
	return nil
}

// store stores the session, then what is in it, and at last the session as it is to be.
func (im *importer) store(ctx context.Context, w *workspace, f io.Reader) (*sessions.Session, error) {
	s := *im.session
	s.Workspace, s.Turns = w.root, im.count
	first := s
	first.Title += incomplete
	if err := im.put(w, []sessions.Op{sessions.Revive{ID: s.ID}}, &first); err != nil {
		return nil, err
	}
	var batch []sessions.Object
	size := 0
	flush := func() error {
		err := im.put(w, nil, batch...)
		batch, size = nil, 0
		return err
	}
	err := im.read(ctx, f, func(p api.ExportPart, n int) error {
		if p.Turn != nil {
			p.Turn.Workspace = w.root
			batch = append(batch, p.Turn)
		} else {
			p.Item.Workspace = w.root
			batch = append(batch, p.Item)
		}
		if size += n; size > importBytes || len(batch) == importBatch {
			return flush()
		}
		return nil
	})
	if err == nil {
		batch = append(batch, &s)
		err = flush()
	}
	if err == nil {
		return &s, nil
	}
	// Only the disk, a cancellation, or somebody who changed the file can have done that.
	if undone := im.d.DeleteSession(s.ID); undone != nil {
		im.d.log.Warn("an import that failed left a session", "session", s.ID, "err", undone)
	}
	return nil, err
}

// put stores objects and tells them.
func (im *importer) put(w *workspace, before []sessions.Op, objects ...sessions.Object) error {
	_, err := stored(w, func(c *commit) (struct{}, error) {
		c.ops = append(c.ops, before...)
		for _, o := range objects {
			var detail []byte
			if it, ok := o.(*sessions.Item); ok && it.Tool != nil {
				it.Tool, detail = wire.CutTool(it.Tool)
			}
			w.put(c, o, detail)
		}
		return struct{}{}, nil
	})
	return err
}
