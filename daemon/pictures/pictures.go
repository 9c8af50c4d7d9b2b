// Package pictures handles the images that go with prompts. An agent reads an image whose path is in its prompt, so an image
// that comes as bytes, for example from a clipboard, becomes a file in a Store and lives as long as its session. A file is
// an image if it begins like one that the agent reads, whatever its name. Checking a file never waits, and closes it again.
package pictures

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/internal/filestat"
	"cursord/daemon/paths"
)

// Limits of a turn's images.
const (
	MaxBytes = 20 << 20 // of each image
	Most     = 32
)

// Kind is the kind of the context that is an image.
const Kind = "image"

// typeOf returns the file name's ending for an image that begins with head; "" if the agent does not read such images.
func typeOf(head []byte) string {
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

const notImage = "is no image: PNG, JPEG, GIF and WebP are, by what is in them"

// open opens an image's file, without waiting as the opening of a pipe would. Its errors are about field.
func open(field, path string) (_ *os.File, ending string, err error) {
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
	case !info.Mode().IsRegular(): // it has changed
		return nil, "", api.Invalid(field, "%s is not a regular file", paths.Shown(path))
	case info.Size() > MaxBytes:
		return nil, "", tooLarge(field, "the image "+paths.Shown(path), info.Size())
	}
	head := make([]byte, 16)
	n, err := io.ReadFull(io.NewSectionReader(f, 0, int64(len(head))), head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, "", api.Invalid(field, "%s cannot be read: %v", paths.Shown(path), paths.Cause(err))
	}
	if ending = typeOf(head[:n]); ending == "" {
		return nil, "", api.Invalid(field, "%s %s", paths.Shown(path), notImage)
	}
	return f, ending, nil
}

// Check returns why a file cannot be an image of a turn, or nil; its errors are about field.
func Check(field, path string) error {
	f, _, err := open(field, path)
	if err != nil {
		return err
	}
	return f.Close()
}

// mimeTypes are those of images, by their endings.
var mimeTypes = map[string]string{"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}

// Read returns an image of at most so many bytes.
func Read(path string, most int64) (data []byte, mimeType string, err error) {
	f, ending, err := open("path", path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	data, err = io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", paths.Shown(path), most)
	}
	return data, mimeTypes[ending], err
}

func tooLarge(field, what string, size int64) error {
	return &api.Error{
		Kind: api.KindTooLarge, Field: field, Message: fmt.Sprintf("%s: %s has %d bytes; the limit is %d", field, what, size, MaxBytes),
		Hint: "make it smaller",
	}
}

// A Store is a folder for images that came as bytes, with a folder for each session.
type Store struct{ Dir string }

// of returns the folder of a session; any id is allowed.
func (s Store) of(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:16]))
}

// keep stores an image for a session in a file that only this user can read, and returns its path.
func (s Store) keep(session, ending string, from io.Reader) (path string, err error) {
	dir := s.of(session)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "*."+ending)
	if err != nil {
		return "", err
	}
	path = f.Name()
	n, err := io.Copy(f, io.LimitReader(from, MaxBytes+1))
	if err = errors.Join(err, f.Close()); err == nil && n > MaxBytes {
		err = errors.New("it has grown too large")
	}
	if err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// Drop removes the images of a session.
func (s Store) Drop(session string) error { return os.RemoveAll(s.of(session)) }

// Share returns the paths of a session's images for another session. Those that are files of the store stay when the first
// session's are dropped. A path whose file is gone is returned as it is.
func (s Store) Share(paths []string, from, to string) []string {
	shared := slices.Clone(paths)
	for i, path := range paths {
		if filepath.Dir(path) != s.of(from) {
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if kept, err := s.keep(to, strings.TrimPrefix(filepath.Ext(path), "."), f); err == nil {
			shared[i] = kept
		}
		f.Close()
	}
	return shared
}

// Folders lists the folders in the store, by names for Sweep.
func (s Store) Folders() (names []string) {
	entries, _ := os.ReadDir(s.Dir) // without a folder there is nothing
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Sweep removes those of the folders that belong to none of the sessions, as a killed daemon may have left them. It removes
// nothing if sessions yields an error.
func (s Store) Sweep(folders []string, sessions iter.Seq2[string, error]) error {
	if len(folders) == 0 {
		return nil
	}
	known := map[string]bool{}
	for id, err := range sessions {
		if err != nil {
			return err
		}
		known[filepath.Base(s.of(id))] = true
	}
	var failed error
	for _, name := range folders {
		if !known[name] {
			failed = errors.Join(failed, os.RemoveAll(filepath.Join(s.Dir, name)))
		}
	}
	return failed
}

// Taken are a turn's images.
type Taken struct {
	Paths []string // of the images' files, absolute
	made  []string // those of Paths that are files of the store
}

// Drop removes the files that were made for a turn that is refused.
func (t *Taken) Drop() {
	for _, path := range t.made {
		os.Remove(path)
		os.Remove(filepath.Dir(path)) // unless there are other files
	}
	t.made = nil
}

// Take checks the images in a turn's context, and stores those that came as bytes, for its session. It makes their paths in
// context absolute; relative paths count from root. If it fails, it leaves no file.
func (s Store) Take(context []api.Context, root, session string) (Taken, error) {
	var t Taken
	for i := range context {
		c := &context[i]
		if c.Kind != Kind {
			continue
		}
		if err := s.take(&t, c, root, session, fmt.Sprintf("context[%d].", i)); err != nil {
			t.Drop()
			return Taken{}, err
		}
		t.Paths = append(t.Paths, c.Path)
	}
	return t, nil
}

func (s Store) take(t *Taken, c *api.Context, root, session, at string) error {
	if c.Data == nil {
		if !filepath.IsAbs(c.Path) {
			c.Path = filepath.Join(root, c.Path)
		}
		c.Path = filepath.Clean(c.Path)
		return Check(at+"path", c.Path)
	}
	if len(c.Data) > MaxBytes {
		return tooLarge(at+"data", "the image", int64(len(c.Data)))
	}
	ending := typeOf(c.Data)
	if ending == "" {
		return api.Invalid(at+"data", notImage)
	}
	path, err := s.keep(session, ending, bytes.NewReader(c.Data))
	if err != nil {
		return api.Errorf(api.KindStorage, "the image could not be stored: %v", err)
	}
	c.Path, c.Data = path, nil
	t.made = append(t.made, path)
	return nil
}

// Placed returns a turn's context for an agent that works in a copy of the workspace root: it reads an image of the
// workspace in the copy. An image that the copy lacks, because git ignores it, is copied to the store. notice gets what the
// agent cannot see.
func (s Store) Placed(context []api.Context, session, root, copy string, notice func(string)) []api.Context {
	context = slices.Clone(context)
	for i := range context {
		c := &context[i]
		if c.Kind != Kind {
			continue
		}
		rel, inside := paths.Within(root, paths.ResolveDirs(c.Path))
		if !inside {
			continue
		}
		there := filepath.Join(copy, filepath.FromSlash(rel))
		if Check("path", there) == nil {
			c.Path = there
			continue
		}
		f, ending, err := open("path", c.Path)
		if err == nil {
			c.Path, err = s.keep(session, ending, f)
			f.Close()
		}
		if err != nil {
			notice(fmt.Sprintf("the agent cannot see the image %s: %v", paths.Shown(rel), err))
		}
	}
	return context
}
