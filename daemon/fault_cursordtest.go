//go:build cursordtest

package daemon

import (
	"time"

	"cursord/daemon/internal/clock"
)

// SetFault has a daemon call fault in each step of a decision and before each commit, which fails with the error.
func (o *Options) SetFault(fault func(Step) error) { o.fault = fault }

// SetAhead moves the clock of this process, and the times of files, as clock.SetAhead does.
func SetAhead(by func(unix int64) time.Duration) { clock.SetAhead(by) }
