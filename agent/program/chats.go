package program

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Chat is a chat that the agent keeps. Fields that its files do not give are empty.
type Chat struct {
	ID      string
	Title   string
	Updated time.Time
}

// ChatIsGone reports whether the agent has chats of a directory, but not the one with an id. It would then silently begin a
// new chat under that id. If the agent keeps its chats elsewhere, the answer is false.
func ChatIsGone(dir, id string) bool {
	chats, ok := chatsOf(dir)
	if !ok || !filepath.IsLocal(id) {
		return false
	}
	if info, err := os.Stat(chats); err != nil || !info.IsDir() {
		return false
	}
	_, err := os.Stat(filepath.Join(chats, id))
	return os.IsNotExist(err)
}

// Chats lists the chats that the agent keeps of a directory, the latest first; none if it keeps them elsewhere. The agent's
// files may have any form: what cannot be read stays empty.
func Chats(dir string) ([]Chat, error) {
	folder, ok := chatsOf(dir)
	if !ok {
		return nil, nil
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var chats []Chat
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		chats = append(chats, readChat(filepath.Join(folder, e.Name())))
	}
	slices.SortStableFunc(chats, func(a, b Chat) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID))
	})
	return chats, nil
}

// chatsOf returns the folder in which the agent keeps the chats of a directory.
func chatsOf(dir string) (string, bool) {
	config := os.Getenv("CURSOR_CONFIG_DIR")
	if config == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", false
		}
		config = filepath.Join(home, ".cursor")
	}
	sum := md5.Sum([]byte(dir)) // the agent names the folder by this
	return filepath.Join(config, "chats", hex.EncodeToString(sum[:])), true
}

// readChat reads a chat's folder. Its last use is the time of its files: no build writes that anywhere else.
func readChat(folder string) Chat {
	c := Chat{ID: filepath.Base(folder), Title: chatTitle(filepath.Join(folder, "meta.json"))}
	names := []string{"store.db", "store.db-wal", "meta.json", "."}
	for _, name := range names {
		if name == "." && !c.Updated.IsZero() {
			break // the files in it say more
		}
		if info, err := os.Lstat(filepath.Join(folder, name)); err == nil && info.ModTime().After(c.Updated) {
			c.Updated = info.ModTime()
		}
	}
	return c
}

// chatTitle returns the title in a chat's description; "" if that is not JSON or has none.
func chatTitle(path string) string {
	const enough = 256 << 10
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > enough {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, enough))
	var meta map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &meta) != nil {
		return ""
	}
	for _, name := range []string{"title", "name"} {
		var title string
		if json.Unmarshal(meta[name], &title) == nil && strings.TrimSpace(title) != "" {
			return strings.Join(strings.Fields(title), " ")
		}
	}
	return ""
}
