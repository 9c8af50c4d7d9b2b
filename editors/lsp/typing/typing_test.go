package typing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPause: each change begins the wait anew, also where the timer of the one before has run out already.
func TestPause(t *testing.T) {
	t.Parallel()
	var due []func()
	pauses := 0
	p := Pause{Wait: time.Second, Begun: func() { pauses++ }, After: func(d time.Duration, f func()) *time.Timer {
		require.Equal(t, time.Second, d)
		due = append(due, f)
		return nil
	}}
	require.False(t, p.Busy())
	p.Typed()
	p.Typed()
	due[0]()
	require.True(t, p.Busy())
	require.Zero(t, pauses)
	due[1]()
	require.False(t, p.Busy())
	require.Equal(t, 1, pauses)
}
