package term

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFit cuts by what a terminal shows, not by characters.
func TestFit(t *testing.T) {
	for _, tt := range []struct {
		text string
		room int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"", 0, ""}, {"a", 0, ""}, {"abc", -1, ""}, {"ab", 1, "…"},
		{"漢字", 4, "漢字"}, {"漢字", 3, "漢…"}, {"漢字", 2, "…"}, {"a漢字", 4, "a漢…"},
		{"e\u0301e\u0301", 2, "e\u0301e\u0301"}, {"e\u0301e\u0301e", 2, "e\u0301…"},
	} {
		got := Fit(tt.text, tt.room)
		require.Equal(t, tt.want, got, "%q in %d", tt.text, tt.room)
		used := 0
		for _, r := range got {
			used += Cells(r)
		}
		require.LessOrEqual(t, used, max(tt.room, 0))
	}
	require.Equal(t, strings.Repeat("漢", 39)+"…", Fit(strings.Repeat("漢", 100), 79))
}
