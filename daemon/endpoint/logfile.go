package endpoint

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
)

// A daemon in the background keeps its log to this size, with this many older files beside it (.1 is the latest).
const (
	maxLogSize  = 5 << 20
	keptOldLogs = 2
)

// A LogFile is a log that is rotated when it gets too large. Its lines are JSON objects.
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

// Logger returns a logger for records of a level or above; the level may change. Prompts and contents of files are logged
// only at slog.LevelDebug.
func (l *LogFile) Logger(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: level}))
}

// Write appends one line. It starts a new file first if the line does not fit into the present one.
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

// Reopen opens the log's path again, in case somebody has moved the file away.
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

// openLocked opens the log's path. l.mu must be held, or l not be shared yet.
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

// rotateLocked moves the file aside and opens a new one. If that fails, the log continues in the old file, and the next
// attempt follows after as many bytes again: a log that is too long is better than one with holes. l.mu must be held.
func (l *LogFile) rotateLocked() {
	for n := keptOldLogs; n > 0; n-- {
		from := l.path
		if n > 1 {
			from = fmt.Sprintf("%s.%d", l.path, n-1)
		}
		os.Rename(from, fmt.Sprintf("%s.%d", l.path, n)) // if it fails, the new file's size shows it
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
