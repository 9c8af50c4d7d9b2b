package daemon

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"cursord/daemon/api"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/review"
	"cursord/daemon/paths"
	"cursord/sessions"
)

// This file is about the images that go with a prompt. The agent reads an image whose path is in its prompt. What comes as
// bytes, as from a clipboard, becomes a file below the state folder that lives as long as its session.

const (
	pictureMax  = 20 << 20 // bytes of an image
	picturesMax = 32       // of a turn
)

// pictureType returns the ending for a file with an image that begins so; "" if it is none that the agent reads.
func pictureType(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "jpg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "gif"
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "webp"
	}
	return ""
}

const notPicture = "is no image: PNG, JPEG, GIF and WebP are, by what is in them"

// openPicture opens the file of an image. It waits for nobody, as the opening of a pipe would. The error is about field.
func openPicture(field, path string) (_ *os.File, ending string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", api.Invalid(field, "%s cannot be opened: %v", paths.Shown(path), paths.Cause(err))
	}
	if !info.Mode().IsRegular() {
		return nil, "", api.Invalid(field, "%s is not a regular file", paths.Shown(path))
	}
	f, err := os.OpenFile(path, os.O_RDONLY|filestat.NonBlocking, 0)
	if err != nil {
		return nil, "", api.Invalid(field, "%s cannot be opened: %v", paths.Shown(path), paths.Cause(err))
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	switch info, err = f.Stat(); {
	case err != nil:
		return nil, "", api.Invalid(field, "%s cannot be opened: %v", paths.Shown(path), paths.Cause(err))
	case !info.Mode().IsRegular(): // now
		return nil, "", api.Invalid(field, "%s is not a regular file", paths.Shown(path))
	case info.Size() > pictureMax:
		return nil, "", pictureTooLarge(field, "the image "+paths.Shown(path), info.Size())
	}
	head := make([]byte, 16)
	n, err := io.ReadFull(io.NewSectionReader(f, 0, int64(len(head))), head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, "", api.Invalid(field, "%s cannot be read: %v", paths.Shown(path), paths.Cause(err))
	}
	if ending = pictureType(head[:n]); ending == "" {
		return nil, "", api.Invalid(field, "%s %s", paths.Shown(path), notPicture)
	}
	return f, ending, nil
}

// CheckImage says of a file why it cannot be an image of a turn; the error is about field, and nil for one that can be.
func CheckImage(field, path string) error {
	f, _, err := openPicture(field, path)
	if err != nil {
		return err
	}
	return f.Close()
}

func pictureTooLarge(field, what string, size int64) error {
	return &api.Error{
		Kind: api.KindTooLarge, Field: field, Message: fmt.Sprintf("%s: %s has %d bytes; the limit is %d", field, what, size, pictureMax),
		Hint: "make it smaller",
	}
}

// picturesOf returns where the images of a session are that came as bytes. Any id makes a name for a folder.
func (d *Daemon) picturesOf(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(d.picturesDir(), hex.EncodeToString(sum[:16]))
}

func (d *Daemon) picturesDir() string { return filepath.Join(d.stateDir, "images") }

// keepPicture makes a file of an image for a session, which nobody else may read, and returns its path.
func (d *Daemon) keepPicture(session, ending string, from io.Reader) (path string, err error) {
	dir := d.picturesOf(session)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(dir, newID()+"."+ending)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	n, err := io.Copy(f, io.LimitReader(from, pictureMax+1))
	if err = errors.Join(err, f.Close()); err == nil && n > pictureMax {
		err = errors.New("it has grown too large")
	}
	if err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// dropPictures removes the images of a session that is no more.
func (d *Daemon) dropPictures(session string) {
	if err := os.RemoveAll(d.picturesOf(session)); err != nil {
		d.log.Warn("the images of a deleted session could not be removed", "err", err)
	}
}

// sweepPictures removes what is below the folder of images and belongs to no session; names is what was there before any
// session could be made. A daemon that was killed may have left it.
func (d *Daemon) sweepPictures(names []os.DirEntry) {
	known := map[string]bool{}
	for cursor := ""; len(names) > 0; {
		page, next, err := d.store.Sessions("", cursor, listMax)
		if err != nil {
			return // the next daemon looks again
		}
		for _, s := range page {
			known[filepath.Base(d.picturesOf(s.ID))] = true
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	for _, entry := range names {
		if known[entry.Name()] {
			continue
		}
		if err := os.RemoveAll(filepath.Join(d.picturesDir(), entry.Name())); err != nil {
			d.log.Warn("images of a session that is no more could not be removed", "err", err)
		}
	}
}

// A pictured is what is known of a turn's images before the loop has it: that takes the disk.
type pictured struct {
	session string   // whose folder has the images that came as bytes
	fresh   bool     // there is no such session yet: the one that the turn makes is to have that id
	paths   []string // absolute
	made    []string // of them, those that are files of ours
	err     error    // why there can be no such turn
}

// drop removes the files that were made for a turn that there is not.
func (pics *pictured) drop() {
	for _, path := range pics.made {
		os.Remove(path)
		os.Remove(filepath.Dir(path)) // unless there are others
	}
	pics.made = nil
}

// pictures checks the images of a turn, and makes files of those that came as bytes. p's context then has absolute paths.
func (w *workspace) pictures(p *api.TurnParams) *pictured {
	pics := &pictured{}
	if !slices.ContainsFunc(p.Context, func(c api.Context) bool { return c.Kind == kindImage }) {
		return pics
	}
	pics.session = p.SessionID
	// With a recap, a turn of another workspace's session makes one of its own.
	if s, err := w.d.store.Session(p.SessionID); p.SessionID == "" || err == nil && s.Workspace != w.root {
		pics.session, pics.fresh = newID(), true
	}
	for i := range p.Context {
		c := &p.Context[i]
		if c.Kind != kindImage {
			continue
		}
		if pics.err = w.picture(pics, c, fmt.Sprintf("context[%d].", i)); pics.err != nil {
			pics.drop()
			return pics
		}
		pics.paths = append(pics.paths, c.Path)
	}
	return pics
}

func (w *workspace) picture(pics *pictured, c *api.Context, at string) error {
	if c.Data == nil {
		if !filepath.IsAbs(c.Path) {
			c.Path = filepath.Join(w.root, c.Path)
		}
		c.Path = filepath.Clean(c.Path)
		f, _, err := openPicture(at+"path", c.Path)
		if err == nil {
			f.Close()
		}
		return err
	}
	if len(c.Data) > pictureMax {
		return pictureTooLarge(at+"data", "the image", int64(len(c.Data)))
	}
	ending := pictureType(c.Data)
	if ending == "" {
		return api.Invalid(at+"data", notPicture)
	}
	path, err := w.d.keepPicture(pics.session, ending, bytes.NewReader(c.Data))
	if err != nil {
		return api.Errorf(api.KindStorage, "the image could not be stored: %v", err)
	}
	c.Path, c.Data = path, nil
	pics.made = append(pics.made, path)
	return nil
}

// placed returns a turn's context for an agent that works in tree: an image in the workspace is to be in the copy, too. One
// that is not, since git ignores it, is copied to the session's own.
func (w *workspace) placed(context []api.Context, s *sessions.Session, tree *review.Worktree, notice func(string)) []api.Context {
	if tree.Root() == w.root {
		return context
	}
	context = slices.Clone(context)
	for i := range context {
		c := &context[i]
		if c.Kind != kindImage {
			continue
		}
		rel, inside := paths.Within(w.root, paths.ResolveDirs(c.Path))
		if !inside {
			continue
		}
		there := filepath.Join(tree.Root(), filepath.FromSlash(rel))
		f, _, err := openPicture("path", there)
		if err == nil {
			f.Close()
			c.Path = there
			continue
		}
		f, ending, err := openPicture("path", c.Path)
		if err == nil {
			c.Path, err = w.d.keepPicture(s.ID, ending, f)
			f.Close()
		}
		if err != nil {
			notice(fmt.Sprintf("the agent cannot see the image %s: %v", paths.Shown(rel), err))
		}
	}
	return context
}
