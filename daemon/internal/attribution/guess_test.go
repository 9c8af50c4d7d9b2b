package attribution

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGuess: some reports take a change from the author that a look guessed. The texts are those of TestChain.
func TestGuess(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to string
		report   Report
		want     bool
	}{
		{"it read what was there and left what is there", "abc", "aBc", reported("abc", "aBc"), true},
		{"its report lacks line ends", "abc$", "aBc$", reported("abc", "aBc"), true},
		{"its report lacks the byte order mark", "^abc", "^aBc", reported("abc", "aBc"), true},
		{"it made the file", "-", "abc", reported("?", "abc"), true},
		{"it removed the file", "abc", "-", Report{Before: reported("abc", "?").Before, Deleted: true}, true},
		{"a person saved before it read", "abc", "aBcX", reported("abcX", "aBcX"), true},
		{"a person saved after it wrote", "abc", "aBcX", reported("abc", "aBc"), true},
		{"a person saved before and after", "abc", "YaBcX", reported("abcX", "aBcX"), true},
		{"it wrote before", "aBc", "aBcX", reported("abc", "aBc"), false},
		{"it wrote later", "abc", "abcX", reported("abcX", "aBcX"), false},
		{"it did nothing", "abc", "aBc", reported("aBc", "aBc"), false},
		{"it does not say what it read", "abc", "aBc", reported("?", "aBc"), false},
		{"it does not say what it left", "abc", "aBc", reported("abc", "?"), false},
		{"a person saved before it removed", "abc", "-", Report{Before: reported("abX", "?").Before, Deleted: true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := Guess{content(c.from), content(c.to)}
			require.Equal(t, c.want, g.Holds([]Report{{}, c.report}))
			require.False(t, g.Holds(nil))
		})
	}
}

// reported is the report of a tool that omits empty texts; "?" stands for an omitted text.
func reported(before, after string) Report {
	r := Report{LeavesEmpty: true}
	for _, side := range []struct {
		text string
		to   **string
	}{{before, &r.Before}, {after, &r.After}} {
		if side.text != "?" {
			text := string(content(side.text).Data)
			*side.to = &text
		}
	}
	return r
}
