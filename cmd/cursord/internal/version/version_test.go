package version

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestForPeople has the release, the day and the commit of what Go records of builds.
func TestForPeople(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]string{
		"dev":                                "development build",
		"v0.9.0":                             "v0.9.0",
		"v0.9.0-rc.1":                        "v0.9.0-rc.1",
		"v0.9.0+dirty":                       "v0.9.0, changed since",
		"v0.9.1-dev.14.g0123abc":             "v0.9.1-dev.14.g0123abc",
		"v0.0.0-20261123081258-0123456789ab": "development build of 2026-11-23, commit 0123456789ab",
		"v0.9.1-0.20261123081258-0123456789ab+dirty": "development build after v0.9.0 of 2026-11-23, commit 0123456789ab, changed since",
		"built by hand": "built by hand",
	} {
		require.Equal(t, want, ForPeople(v), v)
	}
}

// TestLine begins as daemons want it of what takes their place.
func TestLine(t *testing.T) {
	require.True(t, strings.HasPrefix(Line(), "cursord "))
	stamped = "v1.2.3"
	defer func() { stamped = "" }()
	require.Equal(t, "v1.2.3", Own())
	require.True(t, strings.HasPrefix(Line(), "cursord v1.2.3 (go"))
}
