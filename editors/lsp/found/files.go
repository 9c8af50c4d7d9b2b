package found

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// Files are the files of transcripts that symbols name, each with the seq that its session had then. The zero value has none.
type Files struct {
	of map[string]file // by session
}

type file struct {
	path  string
	seq   uint64
	lines map[string]int
}

// Read returns the transcript of a session from its file. It reports false if none was written for that seq, or the file is gone.
func (f *Files) Read(session string, seq uint64) (Transcript, bool) {
	one, ok := f.of[session]
	if !ok || one.seq != seq {
		return Transcript{}, false
	}
	text, err := os.ReadFile(one.path)
	return Transcript{Text: string(text), Lines: one.lines}, err == nil
}

// Write writes the transcript of a session to its file in a folder, which is there, by write.
func (f *Files) Write(dir, session string, seq uint64, t Transcript, write func(file, text string) error) error {
	path := filepath.Join(dir, Name(session))
	if err := write(path, t.Text); err != nil {
		return err
	}
	if f.of == nil {
		f.of = map[string]file{}
	}
	f.of[session] = file{path: path, seq: seq, lines: t.Lines}
	return nil
}

// Remove removes all files.
func (f *Files) Remove() {
	for _, one := range f.of {
		_ = os.Remove(one.path) // one that stays is written anew
	}
	f.of = nil
}

// Name returns the name of a session's file. It is short, because pickers show it.
func Name(session string) string {
	sum := sha256.Sum256([]byte(session))
	return "chat-" + hex.EncodeToString(sum[:4]) + ".md"
}

// IsName reports whether Name can have returned a name.
func IsName(name string) bool {
	return strings.HasPrefix(name, "chat-") && strings.HasSuffix(name, ".md")
}
