package term

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScreenRows(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want int
	}{
		{"", 0},
		{"a\nb\n", 2},
		{"a\n\nb", 3},
		{"1234567890\n", 1},
		{"12345678901\n", 2},
		{"\x1b[31m1234567890\x1b[0m\n", 1},
		{"\tab\n", 1},
		{"\tabc\n", 2},
		{"ääääääääää\n", 1},
	} {
		require.Equal(t, tt.want, screenRows(tt.text, 10), "%q", tt.text)
	}
}

func TestPagerCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{}, "less -FRX"},
		{map[string]string{"PAGER": "more"}, "more"},
		{map[string]string{"PAGER": " less -S "}, "less -S"},
		{map[string]string{"PAGER": ""}, ""},
		{map[string]string{"PAGER": "cat"}, ""},
		{map[string]string{"PAGER": "less", "TERM": "dumb"}, ""},
	} {
		require.Equal(t, tt.want, pagerCommand(func(name string) (string, bool) {
			v, ok := tt.env[name]
			return v, ok
		}), "%v", tt.env)
	}
}
