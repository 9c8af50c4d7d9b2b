package copytree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"cursord/daemon/internal/filestat"
)

// A content that neither tree is sure to keep is stored beside the copy, within these bounds; they do not count where the
// file system shares blocks.
const (
	baseFile  = 4 << 20
	baseBytes = 512 << 20
)

// ErrNoBase is returned by Base when the content is lost.
var ErrNoBase = errors.New("the earlier content of the file is lost")

// Base returns the content of a path when it was last taken over.
func (c *Copy) Base(ctx context.Context, p string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.t.entries[p]
	if e == nil || !e.Mode.IsRegular() || e.linked {
		return nil, fmt.Errorf("%s: %w", p, ErrNoBase)
	}
	is := func(data []byte) bool { return int64(len(data)) == e.Size && sha256.Sum256(data) == e.Hash }
	for _, name := range []string{c.basePath(e.Hash), c.inCopy(p), c.inReal(p)} {
		if st := filestat.Of(name); st.Size != e.Size || !st.Mode.IsRegular() {
			continue
		}
		if data, err := readAll(name, e.Size); err == nil && is(data) {
			return data, nil
		}
	}
	if dir, g := c.repoOf(p); g.dir != "" && e.oid != "" {
		name := p
		if dir != "." {
			name = strings.TrimPrefix(p, dir+"/")
		} else {
			name = strings.TrimPrefix(c.t.prefix+"/"+p, "./")
		}
		// As it is, with its line ends converted, and with its filters applied.
		data, err := g.run(ctx, nil, "cat-file", "blob", e.oid)
		if err == nil && !is(data) {
			data, err = g.run(ctx, nil, "cat-file", "--filters", "--path="+name, e.oid)
		}
		if err == nil && !is(data) {
			data, err = g.smudge(ctx, name, data)
		}
		if err == nil && is(data) {
			return data, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("%s: %w", p, ErrNoBase)
}

// repoOf returns the repository of a path, and its folder.
func (c *Copy) repoOf(p string) (string, git) {
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		if g, ok := c.t.repos[dir]; ok || dir == "." {
			return dir, g
		}
	}
}

func readAll(name string, size int64) ([]byte, error) {
	f, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err = b.ReadFrom(f)
	return b.Bytes(), err
}

func (c *Copy) basePath(hash [sha256.Size]byte) string {
	return filepath.Join(c.meta(), "base", hex.EncodeToString(hash[:]))
}

// keepBases stores the contents of a new copy that git does not have; dirty lists the files that differ from the index.
func (c *Copy) keepBases(ctx context.Context, dirty map[string]bool) error {
	for p, e := range c.t.entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if dir, _ := c.repoOf(p); e.oid == "" || dirty[p] || dir != "." {
			if err := c.keepBase(p, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepBase stores the content of a path while the copy still holds what was taken over.
func (c *Copy) keepBase(p string, e *entry) error { return c.keepFrom(c.inCopy(p), e) }

// keepReal stores the content of a path while the workspace still holds what was taken over.
func (c *Copy) keepReal(p string, e *entry) error { return c.keepFrom(c.inReal(p), e) }

func (c *Copy) keepFrom(from string, e *entry) error {
	if !e.Mode.IsRegular() || e.Size == 0 {
		return nil
	}
	name := c.basePath(e.Hash)
	if filestat.Of(name).Exists() {
		return nil
	}
	if c.plain.Load() && (e.Size > baseFile || c.baseSize+e.Size > baseBytes) {
		return nil
	}
	f, err := openFile(from)
	if err != nil {
		return nil // its mode may forbid reading
	}
	defer f.Close()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	tmp := filepath.Join(c.meta(), unfinished, "base")
	if err := os.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	s := State{Size: e.Size}
	if err := c.copyFile(&s, f, tmp); err != nil {
		return err
	}
	if s.Hash != e.Hash {
		return os.Remove(tmp)
	}
	c.baseSize += s.Size
	return os.Rename(tmp, name)
}

// dropBases removes stored contents that no path needs, and adds up the rest.
func (c *Copy) dropBases() error {
	dir := filepath.Join(c.meta(), "base")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	used := make(map[string]bool, len(entries))
	for _, e := range c.t.entries {
		if e.Mode.IsRegular() {
			used[hex.EncodeToString(e.Hash[:])] = true
		}
	}
	c.baseSize = 0
	for _, d := range entries {
		name := filepath.Join(dir, d.Name())
		if used[d.Name()] {
			c.baseSize += filestat.Of(name).Size
		} else if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}
