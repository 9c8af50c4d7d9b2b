package chat

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFrame: the next drawing begins higher by the rows that a narrower window has added, counted from what is on the screen.
func TestFrame(t *testing.T) {
	t.Parallel()
	f := frame{breaks: true}
	f.resized(80) // nothing is drawn
	require.Empty(t, f.draws())
	f.viewed([]string{"12345678", "\x1b[2m漢字漢字漢\x1b[m", ""}, 9)
	require.Empty(t, f.draws())
	f.resized(10)
	require.Empty(t, f.draws())
	f.resized(8)
	f.resized(4) // before it has been drawn for 8 columns
	f.viewed(nil, 0)
	require.Equal(t, "\x1b[5A", f.draws())
	f.resized(2) // what is drawn now fits
	require.Empty(t, f.draws())

	cuts := frame{}
	cuts.viewed([]string{"12345678"}, 0)
	cuts.draws()
	cuts.resized(4)
	require.Empty(t, cuts.draws())
}
