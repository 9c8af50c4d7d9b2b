package term

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// An Output is a standard output that is no terminal. Commands that print for people ignore errors of single writes. So an Output keeps the
// first error, and the program does not report success for what it has lost. After WhenUnread, a write that nobody reads fails instead of ending the
// program.
type Output struct {
	file *os.File

	mu      sync.Mutex
	err     error
	unread  bool
	onClose func()
}

// NewOutput returns an Output for a file.
func NewOutput(file *os.File) *Output { return &Output{file: file} }

func (o *Output) Write(text []byte) (int, error) {
	n, err := o.file.Write(text)
	if err == nil {
		return n, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	if errors.Is(err, syscall.EPIPE) && o.onClose != nil {
		if !o.unread {
			go o.onClose()
		}
		o.unread = true
	}
	return n, err
}

// Err returns the error of the first write that failed; nil if all went well.
func (o *Output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Stat describes the file.
func (o *Output) Stat() (os.FileInfo, error) { return o.file.Stat() }

// WhenUnread has the program live on when nobody reads the output any more, as behind head. The first write that fails for that reason calls
// then.
func (o *Output) WhenUnread(then func()) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // without it, the write ends the program
	o.mu.Lock()
	defer o.mu.Unlock()
	o.onClose = then
}
