package term

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReflow sets a page of help for narrow terminals.
func TestReflow(t *testing.T) {
	t.Parallel()
	page := "One two three four five six\nseven.\n\nUsage:\n  cursord run [PROMPT] that is long and stays\n\nFlags:\n" +
		"  -c, --yes   say yes to all of it at once\n      --a-flag-with-a-long-name   x y\n  -n          no\n"
	require.Equal(t, page, Reflow(page, 0))
	require.Equal(t, "One two three four five six\nseven.\n\nUsage:\n  cursord run [PROMPT] that is long and stays\n\nFlags:\n"+
		"  -c, --yes   say yes to all\n              of it at once\n      --a-flag-with-a-long-name\n        x y\n  -n          no\n", Reflow(page, 30))
	require.Equal(t, "One two three four five six seven.\n", Reflow("One two three four five six\nseven.\n", 40))
	require.Equal(t, "averyveryverylongword\nshort\n", Reflow("averyveryverylongword short\n", 10))
}
