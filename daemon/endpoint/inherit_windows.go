package endpoint

import (
	"context"
	"errors"
)

// Inherit returns nil: on Windows nobody passes sockets.
func (Dirs) Inherit(context.Context) (*Listener, error) { return nil, nil }

// Keep does nothing; see Replace.
func (*Listener) Keep() error { return nil }

// Replace fails on Windows; the next client starts the successor.
func (*Listener) Replace(string) error {
	return errors.New("replacing the daemon needs a system other than Windows")
}
