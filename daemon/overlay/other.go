//go:build !linux

package overlay

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
)

// A Tree is a mounted overlay. There is none here.
type Tree struct{}

func refused() error { return fmt.Errorf("%w: %s has none", ErrRefused, runtime.GOOS) }

// Mount returns ErrRefused here.
func Mount(_ context.Context, l Layout) (*Tree, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	return nil, refused()
}

// Root returns no path here.
func (*Tree) Root() string { return "" }

// Enter returns an error here.
func (*Tree) Enter(*exec.Cmd) error { return fs.ErrClosed }

// Close does nothing here.
func (*Tree) Close() error { return nil }

// Probe returns ErrRefused here.
func Probe(context.Context, string) error { return refused() }

// Helper does nothing here.
func Helper() {}

// Changes returns ErrRefused here.
func Changes(context.Context, string) ([]Change, error) { return nil, refused() }

// Changeable returns false here.
func Changeable(fs.FileInfo) bool { return false }

// IsWhiteout returns false here.
func IsWhiteout(fs.FileInfo) bool { return false }

// IsOpaque returns false here.
func IsOpaque(string) (bool, error) { return false, nil }

// Whiteout returns ErrRefused here.
func Whiteout(*os.Root, string) error { return refused() }

// Merge returns ErrRefused here.
func Merge(*os.Root, string, string) error { return refused() }

// Look returns ErrRefused here.
func Look(context.Context, []string, func(string)) (Survey, error) { return Survey{}, refused() }
