package term

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLayout cuts the flexible columns of a table, one after the other, and no line is wider than there is room.
func TestLayout(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"TITLE", "WORKSPACE", "ID"}, {"a title of some words", "/home/me/src/shops", "01J"}, {"漢字漢字漢字漢字漢字漢字", "/w", "-"}}
	for _, tt := range []struct {
		room     int
		flexible []int
		want     []string
	}{
		{0, nil, []string{
			"TITLE                     WORKSPACE           ID",
			"a title of some words     /home/me/src/shops  01J",
			"漢字漢字漢字漢字漢字漢字  /w                  -",
		}},
		{40, []int{0, 1}, []string{
			"TITLE            WORKSPACE           ID",
			"a title of som…  /home/me/src/shops  01J",
			"漢字漢字漢字漢…  /w                  -",
		}},
		{30, []int{0, 1}, []string{
			"TITLE       WORKSPACE      ID",
			"a title o…  /home/me/src…  01J",
			"漢字漢字…   /w             -",
		}},
		{20, []int{0, 1}, []string{
			"TITLE       WO…  ID",
			"a title o…  /h…  01J",
			"漢字漢字…   /w   -",
		}},
	} {
		got := layout(rows, tt.room, tt.flexible)
		require.Equal(t, tt.want, got, "%d cells", tt.room)
		for _, line := range got {
			require.LessOrEqual(t, Width(line), max(tt.room, Width(tt.want[0])+10))
		}
	}
}

// TestALongTitlePadsNoOtherLine: where nothing is cut, one long cell leaves the other lines short.
func TestALongTitlePadsNoOtherLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 800)
	got := layout([][]string{{"TITLE", "ID"}, {long, "01J"}, {"short", "02J"}}, 0, []int{0})
	require.Equal(t, []string{
		"TITLE" + strings.Repeat(" ", 77) + "ID", long + "  01J", "short" + strings.Repeat(" ", 77) + "02J",
	}, got)
}

// TestLayoutKeepsEndsOfPaths cuts paths in the last column at their beginnings.
func TestLayoutKeepsEndsOfPaths(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"HUNKS", "TRUSTED", "WORKSPACE"}, {"3", "yes", "/tmp/of/somebody/w4"}, {"0", "no", "/w"}}
	require.Equal(t, []string{
		"HUNKS  TRUSTED  WORKSPACE",
		"3      yes      …mebody/w4",
		"0      no       /w",
	}, layout(rows, 26, nil))
	require.Equal(t, []string{
		"HUNKS…  WORKSPACE",
		"3    …  …mebody/w4",
		"0    …  /w",
	}, layout(rows, 18, nil))
}

// TestTokens stays short.
func TestTokens(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 9_999: "9999", 10_000: "10k", 999_999: "999k", 1_000_000: "1.0M", 12_345_678: "12.3M", 999_999_999: "999.9M", 1_500_000_000: "1500M",
	} {
		require.Equal(t, want, Tokens(n))
	}
}
