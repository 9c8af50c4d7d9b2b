package apart

import (
	"context"
	"errors"
	"os"

	"cursord/daemon/overlay"
)

// ErrByConfiguration is the reason why there are no overlays unless the configuration allows them.
var ErrByConfiguration = errors.New(`overlays, for large and precious folders, are new, and off: turn them on with isolation_tree = "auto" in the configuration`)

// A Prober knows whether the system has overlays for trees. It tries one when it is made. Any goroutine may call its methods.
type Prober struct {
	allowed func() bool
	done    chan struct{} // closed once err is known
	err     error
}

// NewProber begins to try an overlay in a folder, which it makes. allowed returns whether the configuration allows overlays.
func NewProber(ctx context.Context, dir string, allowed func() bool) *Prober {
	p := &Prober{allowed: allowed, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		overlay.RemoveAll(dir) // of a daemon that was killed
		defer overlay.RemoveAll(dir)
		if p.err = os.MkdirAll(dir, 0o700); p.err == nil {
			p.err = overlay.Probe(ctx, dir)
		}
	}()
	return p
}

// Refusal returns why there are no overlays; nil if there are. It waits until that is known, or returns the error of ctx.
func (p *Prober) Refusal(ctx context.Context) error {
	if !p.allowed() {
		return ErrByConfiguration
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Known is Refusal without waiting; known is false while it is not known.
func (p *Prober) Known() (known bool, err error) {
	if !p.allowed() {
		return true, ErrByConfiguration
	}
	select {
	case <-p.done:
		return true, p.err
	default:
		return false, nil
	}
}

// Close waits for the end of the trial.
func (p *Prober) Close() { <-p.done }
