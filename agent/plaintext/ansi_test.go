package plaintext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStripANSI(t *testing.T) {
	require.Equal(t, "abc\nd", StripANSI("\x1b[1;31ma\x1b[0mb\x1b]8;;http://x\x1b\\c\r\n\x1b]0;t\ad\x1b"))
	require.Equal(t, "plain", StripANSI("plain"))
}
