package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLateLooksOfABusyMachine: looks that are a little late do not count as stops of this process, or an agent would never be
// quiet for long enough.
func TestLateLooksOfABusyMachine(t *testing.T) {
	for _, tt := range []struct {
		late, step time.Duration
		stopped    bool
	}{
		{0, time.Millisecond, false},
		{300 * time.Millisecond, 50 * time.Millisecond, false},
		{1500 * time.Millisecond, 50 * time.Millisecond, true},
		{1500 * time.Millisecond, 3 * time.Second, false},
		{time.Hour, 3 * time.Minute, true},
	} {
		require.Equal(t, tt.stopped, stopped(tt.late, tt.step), "%v late in steps of %v", tt.late, tt.step)
	}
}
