package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuilds(t *testing.T) {
	var kept []byte
	b := LoadBuilds([]byte("no JSON"), func(data []byte) { kept = data })
	require.Empty(t, b.Lacks("1"))
	b.Learn("1", "--x")
	b.Learn("1", "--y")
	b.Learn("2", "--x")
	require.Equal(t, []string{"--x", "--y"}, b.Lacks("1"))

	kept, before := nil, kept
	b.Learn("1", "--x")
	require.Nil(t, kept, "nothing new")
	again := LoadBuilds(before, nil)
	require.Equal(t, []string{"--x", "--y"}, again.Lacks("1"))
	require.Equal(t, []string{"--x"}, again.Lacks("2"))

	for i := range 2 * maxBuilds { // only the latest are kept
		b.Learn(fmt.Sprint("many ", i), "--x")
	}
	for i := range 2 * maxLacks {
		b.Learn("1", fmt.Sprint("--", i))
	}
	require.Len(t, b.Lacks("1"), maxLacks)
	require.Empty(t, b.Lacks("2"))
	require.NotEmpty(t, b.Lacks(fmt.Sprint("many ", 2*maxBuilds-1)))
	require.Less(t, len(kept), 16<<10)
	b.Learn(strings.Repeat("1", 1000), "--x")
	b.Learn("3", strings.Repeat("-", 1000))
	require.NotContains(t, string(kept), strings.Repeat("1", 1000))
	require.Empty(t, b.Lacks("3"))
}

// TestOffers: messages suggest only options that the build is not known to lack.
func TestOffers(t *testing.T) {
	b := LoadBuilds(nil, nil)
	b.Learn("2026.09.28-64d2043", "--sandbox")
	b.Learn("/opt/agent", "--auto-review")
	for _, tt := range []struct {
		build, option string
		want          bool
	}{
		{"2026.09.28-64d2043", "--auto-review", true},
		{"2026.09.28-64d2043", "--sandbox", false},
		{"2026.09.15-0000000", "--sandbox", true},
		{"2026.08.25-3e8eec8", "--auto-review", false},
		{"2026.08.25-3e8eec8", "--force", true},
		{"/opt/agent", "--auto-review", false},
		{"/opt/agent", "--sandbox", true},
		{"", "--sandbox", true},
	} {
		require.Equal(t, tt.want, b.Offers(tt.build, tt.option), "%s %s", tt.build, tt.option)
	}
}
