package apart

import (
	"context"
	"errors"
	"os"
	"sync"

	"cursord/daemon/overlay"
)

// ErrByConfiguration is the reason why there are no overlays unless the configuration allows them.
var ErrByConfiguration = errors.New(`overlays, for large and precious folders, are new, and off: turn them on with isolation_tree = "auto" in the configuration`)

// A Prober knows whether the system has overlays for trees. It tries one, once, as soon as they are allowed: that takes six
// processes. Any goroutine may call its methods.
type Prober struct {
	allowed func() bool
	try     func()
	once    sync.Once
	done    chan struct{} // closed once err is known
	err     error
}

// NewProber returns a Prober that tries an overlay in a folder, which it makes. allowed returns whether the configuration
// allows overlays; if it does already, the trial begins.
func NewProber(ctx context.Context, dir string, allowed func() bool) *Prober {
	p := &Prober{allowed: allowed, done: make(chan struct{})}
	p.try = func() {
		defer close(p.done)
		defer overlay.RemoveAll(dir)
		if p.err = os.MkdirAll(dir, 0o700); p.err == nil {
			p.err = overlay.Probe(ctx, dir)
		}
	}
	overlay.RemoveAll(dir) // of a daemon that was killed
	if allowed() {
		p.begin()
	}
	return p
}

func (p *Prober) begin() { p.once.Do(func() { go p.try() }) }

// Refusal returns why there are no overlays; nil if there are. It waits until that is known, or returns the error of ctx.
func (p *Prober) Refusal(ctx context.Context) error {
	if !p.allowed() {
		return ErrByConfiguration
	}
	p.begin()
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close waits for the end of the trial. None begins after it.
func (p *Prober) Close() {
	p.once.Do(func() {
		p.err = context.Canceled
		close(p.done)
	})
	<-p.done
}
