package agent

import (
	"crypto/md5"
	"encoding/hex"
	"os"
	"path/filepath"
)

// ChatIsGone reports whether the agent has chats of a directory, and that one is not among them. It would then begin a
// new chat under the same id without a word. Where the agent keeps its chats elsewhere the answer is false.
func ChatIsGone(dir, id string) bool {
	config := os.Getenv("CURSOR_CONFIG_DIR")
	if config == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return false
		}
		config = filepath.Join(home, ".cursor")
	}
	sum := md5.Sum([]byte(dir)) // the agent's name for it
	chats := filepath.Join(config, "chats", hex.EncodeToString(sum[:]))
	if info, err := os.Stat(chats); err != nil || !info.IsDir() || !filepath.IsLocal(id) {
		return false
	}
	_, err := os.Stat(filepath.Join(chats, id))
	return os.IsNotExist(err)
}
