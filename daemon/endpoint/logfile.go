package endpoint

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
)

// A daemon in the background keeps its log to this size, and so many older ones beside it (.1 is the latest).
const (
	maxLogSize  = 5 << 20
	keptOldLogs = 2
)

// A LogFile is a log that is put aside when it grows too big. Its lines are JSON objects.
type LogFile struct {
	path string
	max  int64

	mu   sync.Mutex // guards what follows
	file *os.File
	size int64
}

// OpenLog opens a log to append to, readable for this user alone. The folder must exist.
func OpenLog(path string) (*LogFile, error) { return openLog(path, maxLogSize) }

func openLog(path string, max int64) (*LogFile, error) {
	l := &LogFile{path: path, max: max}
	if err := l.openLocked(); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return l, nil
}

// Logger returns a logger that writes what is of a level or above, which may change. Prompts and contents of files are for
// slog.LevelDebug alone.
func (l *LogFile) Logger(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: level}))
}

// Write adds one line, in a new file if it does not fit into the present one.
func (l *LogFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(line)) > l.max {
		l.rotateLocked()
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return n, err
}

// Reopen opens the file at the log's path anew, in case somebody has moved the present one away.
func (l *LogFile) Reopen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.file
	if err := l.openLocked(); err != nil {
		return err
	}
	return old.Close()
}

// Close closes the file.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

// openLocked opens the file at path; l.mu must be held, or l not be shared yet.
func (l *LogFile) openLocked() error {
	f, err := OpenRegular(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}

// rotateLocked puts the file aside and opens a new one. Where that fails, the log goes on in the old file, and it is
// tried again after as much has been written: a log that is too long beats one with holes. l.mu must be held.
func (l *LogFile) rotateLocked() {
	for n := keptOldLogs; n > 0; n-- {
		from := l.path
		if n > 1 {
			from = fmt.Sprintf("%s.%d", l.path, n-1)
		}
		os.Rename(from, fmt.Sprintf("%s.%d", l.path, n)) // a failure shows in the new file's size
	}
	old := l.file
	if err := l.openLocked(); err != nil {
		l.size = 0
		return
	}
	if l.size > 0 {
		l.size = 0 // not moved
	}
	old.Close()
}
