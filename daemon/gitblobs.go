package daemon

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
	"strconv"
	"strings"
)

// A blobOf says which blob a file has and how large the file was, which its filters and line ends have a part in.
type blobOf struct {
	oid  string
	size int64
}

// checkedOut returns what files held that git takes for equal to their blobs, by path; those of which it is not certain
// are missing.
func (g gitTree) checkedOut(ctx context.Context, files map[string]blobOf) map[string][]byte {
	oids := make(map[string]string, len(files))
	for path, f := range files {
		oids[path] = f.oid
	}
	found := g.blobs(ctx, oids, true)
	plain := map[string]string{}
	for path, f := range files {
		if data, ok := found[path]; !ok || int64(len(data)) != f.size {
			plain[path] = f.oid
		}
	}
	// A checkout would write something else: a filter is gone, or the file has line ends that only an add converts.
	for path, data := range g.blobs(ctx, plain, false) {
		filtered, ok := found[path]
		delete(found, path)
		if int64(len(data)) == files[path].size {
			found[path] = data
		} else if !ok || bytes.Equal(filtered, data) {
			if crlf := bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")); int64(len(crlf)) == files[path].size && !bytes.Contains(data, []byte("\r\n")) {
				found[path] = crlf
			}
		}
	}
	return found
}

// blobs returns blobs by the paths that they are for, as they are or, with filters, as a checkout would write them; those
// that git cannot tell are missing.
func (g gitTree) blobs(ctx context.Context, oids map[string]string, filters bool) map[string][]byte {
	found := make(map[string][]byte, len(oids))
	if len(oids) == 0 {
		return found
	}
	if !g.readBlobs(ctx, oids, filters, found) && filters {
		left := maps.Clone(oids)
		for path := range found {
			delete(left, path)
		}
		if tree := g.lenient(ctx); len(tree.filters) > 0 {
			tree.readBlobs(ctx, left, filters, found)
		}
	}
	return found
}

// readBlobs is blobs, without what comes after a failure.
func (g gitTree) readBlobs(ctx context.Context, oids map[string]string, filters bool, found map[string][]byte) (whole bool) {
	prefix, err := g.run(ctx, nil, "rev-parse", "--show-prefix")
	if err != nil {
		return false
	}
	top := strings.TrimSuffix(string(prefix), "\n")
	// Git announces the length before its filters: what ends each answer is that an invented object is missing.
	mark := "no-such-object-" + rand.Text()
	var ask bytes.Buffer
	var order []string
	whole = true
	for path, oid := range oids {
		switch {
		case !filters:
			fmt.Fprintf(&ask, "%s\n%s\n", oid, mark)
		case strings.ContainsRune(path, '\n'):
			if out, err := g.run(ctx, nil, "cat-file", "--filters", "--path="+top+path, oid); err == nil {
				found[path] = out
			} else {
				whole = false
			}
			continue
		default:
			fmt.Fprintf(&ask, "%s %s\n%s\n", oid, top+path, mark)
		}
		order = append(order, path)
	}
	if len(order) == 0 {
		return whole
	}
	args := []string{"cat-file", "--batch"}
	if filters {
		args = append(args, "--filters")
	}
	out, err := g.run(ctx, &ask, args...)
	if err != nil && len(out) == 0 {
		return false
	}
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
	return whole && err == nil
}

// isBlob reports whether git names data, as it is, by oid.
func isBlob(oid string, data []byte) bool {
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
