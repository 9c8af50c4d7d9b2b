package daemon

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// gitOutput bounds what git may print, in bytes.
const gitOutput = 256 << 20

var errGitOutput = errors.New("git printed too much")

// A gitTree asks git about a folder in a work tree. It only asks: nothing here takes a lock or writes to the
// repository, runs its hooks or its file system monitor, or fetches.
type gitTree struct {
	dir string
}

// A listed is one path of a listing, relative to the gitTree's folder.
type listed struct {
	path  string
	oid   string // what the index has; "" for what it does not have
	dirty bool   // the work tree holds, or may hold, something else than oid
	gone  bool   // the index has it, the work tree does not
}

// list names what the index has, and what is neither there nor ignored; without what a sparse checkout leaves out.
// Submodules and repositories within come apart, as folders. With dirty, it also says which contents differ from the
// index.
func (g gitTree) list(ctx context.Context, dirty bool) (files []listed, nested []string, err error) {
	args := []string{"ls-files", "-z", "-v", "--stage", "--others", "--exclude-standard"}
	if dirty {
		args = append(args, "--modified", "--deleted")
	}
	out, err := g.run(ctx, nil, args...)
	if err != nil {
		return nil, nil, err
	}
	return parseListing(string(out))
}

// parseListing reads records like "H 100644 <oid> 0\tpath" and "? path", each ended by a NUL.
func parseListing(out string) (list []listed, nested []string, err error) {
	list = make([]listed, 0, strings.Count(out, "\x00"))
	for len(out) > 0 {
		rec, rest, ended := strings.Cut(out, "\x00")
		out = rest
		if len(rec) < 3 || rec[1] != ' ' || !ended {
			return nil, nil, fmt.Errorf("git listed %.100q", rec)
		}
		tag, rec := rec[0], rec[2:]
		if tag == '?' {
			if dir, ok := strings.CutSuffix(rec, "/"); ok {
				nested = append(nested, dir)
			} else {
				list = append(list, listed{path: rec})
			}
			continue
		}
		info, path, ok := strings.Cut(rec, "\t")
		mode, info, _ := strings.Cut(info, " ")
		oid, stage, _ := strings.Cut(info, " ")
		if !ok || path == "" || oid == "" || stage == "" {
			return nil, nil, fmt.Errorf("git listed %.100q", rec)
		}
		switch {
		case mode == "160000":
			nested = append(nested, path)
			continue
		case tag == 'S' || tag == 's':
			continue
		}
		if n := len(list); n == 0 || list[n-1].path != path {
			list = append(list, listed{path: path, oid: oid})
		}
		last := &list[len(list)-1]
		switch {
		case tag == 'R':
			last.gone = true
		case tag != 'H': // modified, unmerged, or (in small letters) not to be looked at
			last.dirty = true
		}
	}
	return list, nested, nil
}

// ignored reports whether git would not list a path that is not in the index; "." is the folder itself.
func (g gitTree) ignored(ctx context.Context, path string) (bool, error) {
	_, err := g.run(ctx, nil, "check-ignore", "-q", "--no-index", "--", "./"+path) // ":…" would be more than a name
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// blobs returns what a checkout of each path would write, by path; those that git cannot tell are missing.
func (g gitTree) blobs(ctx context.Context, oids map[string]string) map[string][]byte {
	found := make(map[string][]byte, len(oids))
	if len(oids) == 0 {
		return found
	}
	prefix, err := g.run(ctx, nil, "rev-parse", "--show-prefix")
	if err != nil {
		return found
	}
	top := strings.TrimSuffix(string(prefix), "\n")
	// Git announces the length before its filters: what ends each answer is that an invented object is missing.
	mark := "no-such-object-" + rand.Text()
	var ask bytes.Buffer
	var order []string
	for path, oid := range oids {
		if strings.ContainsRune(path, '\n') {
			if out, err := g.run(ctx, nil, "cat-file", "--filters", "--path="+top+path, oid); err == nil {
				found[path] = out
			}
			continue
		}
		order = append(order, path)
		fmt.Fprintf(&ask, "%s %s\n%s\n", oid, top+path, mark)
	}
	if len(order) == 0 {
		return found
	}
	out, err := g.run(ctx, &ask, "cat-file", "--batch", "--filters")
	if err != nil && len(out) == 0 {
		return found
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
	return found
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

// run runs git and returns what it printed; it is an error if git's exit code is not 0.
func (g gitTree) run(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
		"-c", "core.quotePath=false"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin = g.dir, gitEnvironment(), in
	cmd.WaitDelay = 200 * time.Millisecond
	out := &boundedBuffer{left: gitOutput}
	errOut := &boundedBuffer{left: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, errOut
	err := cmd.Run()
	if out.over {
		return nil, errGitOutput
	}
	if err != nil {
		return out.b.Bytes(), fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(errOut.b.String()))
	}
	return out.b.Bytes(), nil
}

// gitEnvironment is the daemon's without what would lead git to another repository, or have it lock, ask or fetch.
func gitEnvironment() []string {
	var env []string
	for _, kv := range os.Environ() {
		key, _, _ := strings.Cut(kv, "=")
		switch {
		case key == "GIT_CONFIG_GLOBAL" || key == "GIT_CONFIG_SYSTEM" || key == "GIT_CONFIG_NOSYSTEM" || key == "GIT_EXEC_PATH":
		case strings.HasPrefix(key, "GIT_") || key == "LC_ALL" || key == "LANGUAGE":
			continue
		}
		env = append(env, kv)
	}
	return append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
}

// A boundedBuffer keeps what is written to it, up to a bound; what is over it is dropped.
type boundedBuffer struct {
	b    bytes.Buffer
	left int
	over bool
}

func (w *boundedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.b.Write(p[:n])
	w.left -= n
	w.over = w.over || n < len(p)
	return len(p), nil
}

// inGit reports whether a folder lies in a work tree, as far as names tell; git has the last word.
func inGit(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}
