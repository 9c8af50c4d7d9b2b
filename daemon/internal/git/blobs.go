package git

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cursord/daemon/internal/askgit"
)

// blobsTime bounds the second attempt to get contents.
const blobsTime = 2 * time.Second

// A Blob is git's id of a file's content, and the file's size in the work tree, which also depends on filters and line ends.
type Blob struct {
	OID  string
	Size int64
}

// CheckedOut returns the contents that files had when they were checked out. It asks the present repository first, and then
// the repository's earlier state for the rest, because commands may have changed git's folder.
func (r *Repository) CheckedOut(ctx context.Context, files map[string]Blob) map[string][]byte {
	found := r.Git.checkedOut(ctx, files)
	if r.was.was == nil || len(found) == len(files) {
		return found
	}
	rest := map[string]Blob{}
	for name, of := range files {
		if _, ok := found[name]; !ok {
			rest[name] = of
		}
	}
	again, cancel := context.WithTimeout(context.WithoutCancel(ctx), blobsTime)
	defer cancel()
	maps.Copy(found, r.was.checkedOut(again, rest))
	return found
}

// Checkout returns the contents of blobs as a checkout would write them, by path. It leaves out those that cannot be had.
func (r *Repository) Checkout(ctx context.Context, oids map[string]string) map[string][]byte {
	found := r.Git.Blobs(ctx, oids, true)
	if r.was.was == nil || len(found) == len(oids) {
		return found
	}
	rest := map[string]string{}
	for name, oid := range oids {
		if _, ok := found[name]; !ok {
			rest[name] = oid
		}
	}
	again, cancel := context.WithTimeout(context.WithoutCancel(ctx), blobsTime)
	defer cancel()
	maps.Copy(found, r.was.Blobs(again, rest, true))
	return found
}

// checkedOut returns, by path, the contents of files that git considers equal to their blobs. It leaves out uncertain files.
func (g Tree) checkedOut(ctx context.Context, files map[string]Blob) map[string][]byte {
	oids := make(map[string]string, len(files))
	for path, f := range files {
		oids[path] = f.OID
	}
	found := g.Blobs(ctx, oids, true)
	plain := map[string]string{}
	for path, f := range files {
		if data, ok := found[path]; !ok || int64(len(data)) != f.Size {
			plain[path] = f.OID
		}
	}
	// Git would check out something else if a filter is gone, or if the file has line ends that only "git add" converts.
	for path, data := range g.Blobs(ctx, plain, false) {
		filtered, ok := found[path]
		delete(found, path)
		if int64(len(data)) == files[path].Size {
			found[path] = data
		} else if !ok || bytes.Equal(filtered, data) {
			if crlf := bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")); int64(len(crlf)) == files[path].Size && !bytes.Contains(data, []byte("\r\n")) {
				found[path] = crlf
			}
		}
	}
	return found
}

// Blobs returns the contents of blobs, by path: unchanged or, if converted, as a checkout would write them. It leaves out
// blobs that git does not have.
func (g Tree) Blobs(ctx context.Context, oids map[string]string, converted bool) map[string][]byte {
	found := make(map[string][]byte, len(oids))
	if len(oids) == 0 {
		return found
	}
	v, err := g.open(ctx)
	if err != nil {
		return found
	}
	prefix, err := filepath.Rel(v.Top, g.Dir)
	if err != nil {
		return found
	}
	inTop := make(map[string]string, len(oids)) // by the path from the top
	for name, oid := range oids {
		inTop[path.Join(filepath.ToSlash(prefix), name)] = oid
	}
	contents := readBlobs(ctx, v, inTop, converted)
	if converted {
		if err := v.Smudge(ctx, contents); err != nil {
			return found // any of them may not have passed its filter
		}
	}
	for name := range oids {
		if data, ok := contents[path.Join(filepath.ToSlash(prefix), name)]; ok {
			found[name] = data
		}
	}
	return found
}

// readBlobs returns the contents of blobs by their paths from the top of the work tree: as they are, or with their line ends
// and encodings.
func readBlobs(ctx context.Context, v *askgit.View, oids map[string]string, converted bool) map[string][]byte {
	found := make(map[string][]byte, len(oids))
	// Git announces a length before it converts, so the length is wrong. Instead, each answer ends with git's complaint
	// about an invented object.
	mark := "no-such-object-" + rand.Text()
	var ask bytes.Buffer
	var order []string
	for path, oid := range oids {
		switch {
		case !converted:
			fmt.Fprintf(&ask, "%s\n%s\n", oid, mark)
		case strings.ContainsRune(path, '\n'):
			if out, err := v.Run(ctx, askgit.Question{Most: gitOutput}, "cat-file", "--filters", "--path="+path, oid); err == nil {
				found[path] = out
			}
			continue
		default:
			fmt.Fprintf(&ask, "%s %s\n%s\n", oid, path, mark)
		}
		order = append(order, path)
	}
	if len(order) == 0 {
		return found
	}
	args := []string{"cat-file", "--batch"}
	if converted {
		args = append(args, "--filters")
	}
	// What git printed before a failure is valid.
	out, _ := v.Run(ctx, askgit.Question{In: &ask, Most: gitOutput}, args...)
	end := []byte(mark + " missing\n")
	for _, path := range order {
		answer, rest, ok := bytes.Cut(out, end)
		if !ok {
			break
		}
		out = rest
		head, content, ok := bytes.Cut(answer, []byte("\n"))
		if kind := strings.Fields(string(head)); ok && len(kind) == 3 && kind[1] == "blob" && len(content) > 0 {
			found[path] = content[:len(content)-1]
		}
	}
	return found
}

// IsBlob reports whether oid is git's name for data.
func IsBlob(oid string, data []byte) bool {
	var h hash.Hash
	if len(oid) == 2*sha256.Size {
		h = sha256.New()
	} else {
		h = sha1.New()
	}
	io.WriteString(h, "blob "+strconv.Itoa(len(data))+"\x00")
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)) == oid
}
