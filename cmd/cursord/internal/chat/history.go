package chat

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"cursord/daemon/endpoint"
)

const (
	historyMost  = 1000     // entries that are kept
	historyEntry = 64 << 10 // the largest entry that is kept, in bytes
	historyFile  = 4 << 20  // how much of the file is read, in bytes
)

// A history holds the prompts typed in a folder, the latest last. Several chats may write its file: each line is an entry, a
// string in JSON.
type history struct {
	path    string // "": it is not kept
	entries []string
}

// historyPath returns the path of a folder's history, beside the daemon's database; "" if the database's folder is unknown.
func historyPath(root string) string {
	dirs, err := endpoint.FindDirs()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(root))
	return filepath.Join(dirs.State, "history", hex.EncodeToString(sum[:16]))
}

// openHistory reads a history from a file. The file may be missing. A file that cannot be read or written costs only the
// history.
func openHistory(path string) *history {
	h := &history{path: path}
	if path == "" {
		return h
	}
	raw, whole := tail(path)
	n := 0
	for line := range bytes.Lines(raw) {
		var entry string
		if json.Unmarshal(line, &entry) == nil {
			h.keep(entry)
		}
		n++
	}
	if n > 2*historyMost || !whole {
		h.rewrite()
	}
	return h
}

// tail returns the last lines of a file, at most historyFile bytes, and whether these are all lines.
func tail(path string) (lines []byte, whole bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, true
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, true
	}
	from := max(info.Size()-historyFile, 0)
	raw := make([]byte, info.Size()-from)
	n, err := f.ReadAt(raw, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, true
	}
	if raw = raw[:n]; from > 0 {
		raw = raw[bytes.IndexByte(raw, '\n')+1:]
	}
	return raw, from == 0
}

// keep makes an entry the latest one and removes older ones of the same text. It returns false if the entry cannot be kept.
func (h *history) keep(entry string) bool {
	if strings.TrimSpace(entry) == "" || len(entry) > historyEntry {
		return false
	}
	for i, e := range h.entries {
		if e == entry {
			h.entries = append(h.entries[:i], h.entries[i+1:]...)
			break
		}
	}
	h.entries = append(h.entries, entry)
	h.entries = h.entries[max(len(h.entries)-historyMost, 0):]
	return true
}

// add appends an entry, also to the file.
func (h *history) add(entry string) {
	if !h.keep(entry) || h.path == "" {
		return
	}
	line, err := json.Marshal(entry)
	if err != nil || os.MkdirAll(filepath.Dir(h.path), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n')) // in one write, because other chats write too
}

// rewrite replaces the file by the kept entries.
func (h *history) rewrite() {
	var b bytes.Buffer
	for _, entry := range h.entries {
		line, err := json.Marshal(entry)
		if err != nil {
			return
		}
		b.Write(append(line, '\n'))
	}
	if os.WriteFile(h.path+".new", b.Bytes(), 0o600) == nil {
		_ = os.Rename(h.path+".new", h.path)
	}
}

// older returns the index of the latest entry before i that contains text; -1 if there is none.
func (h *history) older(i int, text string) int {
	for i--; i >= 0; i-- {
		if strings.Contains(h.entries[i], text) {
			return i
		}
	}
	return -1
}
