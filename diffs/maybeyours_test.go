package diffs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMaybeYours lists, from 0, the hunks that a decision about all must not reject.
func TestMaybeYours(t *testing.T) {
	const middle = `b1\nb2\nb3\n`
	for _, c := range []struct{ name, base, steps, yours string }{
		{"nothing", `a\n`, ``, ""},
		{"an edit", `a\n` + middle, `agent A\n` + middle, ""},
		{"a command", `a\n` + middle, `tool A\n` + middle, ""},
		{"what nothing explains", `a\n` + middle, `maybe A\n` + middle, "0"},
		{"beside an edit", `a\n` + middle + `c\n`, `agent A\n` + middle + `c\n; maybe A\n` + middle + `C\n`, "1"},
		{"between edits", `a\n` + middle + `c\n` + middle + `e\n`,
			`agent A\n` + middle + `c\n` + middle + `E\n; maybe A\n` + middle + `C\n` + middle + `E\n`, "1"},
		{"in the hunk of an edit", `a\nb\n`, `agent A\nb\n; maybe A\nB\n`, "0"},
		{"behind an edit of the same line", `a\n`, `maybe b\n; agent c\n`, "0"}, // the edit removed a line that may be a person's
		{"removed lines", `a\n` + middle, `maybe ` + middle, "0"},
		{"created", `-`, `maybe a\n`, "0"},
		{"created by an edit, and more", `-`, `agent a\n; maybe a\nb\n`, "0"},
		{"deleted", `a\n`, `maybe -`, "0"},
		{"binary", `a\x00`, `maybe b\x00`, "0"},
		{"rejected", `a\n` + middle + `c\n`, `maybe A\n` + middle + `C\n; reject 0`, "0"},
		{"accepted", `a\n` + middle + `c\n`, `agent A\n` + middle + `c\n; maybe A\n` + middle + `C\n; accept 1`, ""},
		{"accepted, undone", `a\n` + middle + `c\n`, `agent A\n` + middle + `c\n; maybe A\n` + middle + `C\n; accept 1; undo`, "1"},
		{"a person's", `a\n` + middle, `agent A\n` + middle + `; user mine\nA\n` + middle, ""},
		// A line that the person wrote was moved: its two hunks are one decision.
		{"moved by an edit", `a\n` + middle + `z\n`, `user a\nwhat I wrote\n` + middle + `z\n; agent a\n` + middle + `what I wrote\nz\n`, ""},
		{"moved, and nothing explains it", `a\n` + middle + `z\n`,
			`user a\nwhat I wrote\n` + middle + `z\n; maybe a\n` + middle + `what I wrote\nz\n`, "0 1"},
		{"linked with what nothing explains", `a\n` + middle + `z\n` + middle,
			`user a\nwhat I wrote\n` + middle + `z\n` + middle + `; agent a\n` + middle + `z\n` + middle +
				`; maybe a\n` + middle + `what I wrote\nz\n` + middle + `; agent a\n` + middle + `what I wrote\nz\n` + middle + `more\n`, "0 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(unquoted(t, c.base))
			if c.steps != "" {
				tell(t, r, strings.Split(c.steps, "; "))
			}
			hunks := r.Hunks()
			ids := MaybeYours(hunks)
			var yours []string
			for i, h := range hunks {
				if ids[h.ID] {
					yours = append(yours, fmt.Sprint(i))
				}
			}
			require.Equal(t, c.yours, strings.Join(yours, " "), described(r))
			require.Len(t, ids, len(yours))
		})
	}
}
