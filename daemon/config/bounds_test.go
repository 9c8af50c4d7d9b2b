package config

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSettingsSayTheirBounds: the words of what a setting allows name the bounds that are checked.
func TestSettingsSayTheirBounds(t *testing.T) {
	t.Parallel()
	bounds := regexp.MustCompile(`(?:from|at least) (\S+?)(?:,| to (\S+?)(?:,|$)|$)`)
	checked := 0
	c := Default()
	for _, s := range settings(&c) {
		found := bounds.FindStringSubmatch(s.allowed)
		if found == nil {
			require.NotRegexp(t, `from \S+ to|at least`, s.allowed, "%s: put a comma behind the bounds", s.key)
			continue
		}
		checked++
		moved := func(bound string, by int64) string { // the next value
			text, quoted := strings.CutPrefix(strings.TrimSuffix(bound, `"`), `"`)
			if !quoted {
				n, err := strconv.ParseInt(bound, 10, 64)
				require.NoError(t, err, s.key)
				return strconv.FormatInt(n+by, 10)
			}
			if d, err := time.ParseDuration(text); err == nil {
				return strconv.Quote((d + time.Duration(by)).String())
			}
			n, err := parseSize(text)
			require.NoError(t, err, s.key)
			return strconv.Quote(strconv.FormatInt(n+by, 10) + "B")
		}
		takes := func(value string) bool {
			_, _, err := parseConfig("config.toml", []byte(s.key+" = "+value+"\n"))
			return err == nil
		}
		least, most := found[1], found[2]
		require.True(t, takes(least), "%s = %s", s.key, least)
		if less := moved(least, -1); !strings.HasPrefix(less, "0") { // 0 may have a meaning of its own
			require.False(t, takes(less), "%s = %s: %s", s.key, less, s.allowed)
		}
		if most != "" {
			require.True(t, takes(most), "%s = %s", s.key, most)
			require.False(t, takes(moved(most, 1)), "%s = %s: %s", s.key, moved(most, 1), s.allowed)
		}
	}
	require.Greater(t, checked, 10)
}
