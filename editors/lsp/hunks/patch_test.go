package hunks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

// TestPatchShowsALostLineEnd: a last line that loses its line end looked the same with it.
func TestPatchShowsALostLineEnd(t *testing.T) {
	t.Parallel()
	const none = "\\ No newline at end of file"
	for _, one := range []struct {
		hunk sessions.Hunk
		want []string
	}{
		{sessions.Hunk{Lines: []string{"-x = 1", "+x = 2"}}, []string{"-x = 1", "+x = 2"}},
		{sessions.Hunk{Lines: []string{"-x = 1", "+x = 2"}, NewNoEOL: true}, []string{"-x = 1", "+x = 2", none}},
		{sessions.Hunk{Lines: []string{"-x = 1", "+x = 2"}, OldNoEOL: true}, []string{"-x = 1", none, "+x = 2"}},
		{sessions.Hunk{Lines: []string{"-a", "+b", " c"}, OldNoEOL: true, NewNoEOL: true}, []string{"-a", "+b", " c", none}},
		{sessions.Hunk{Lines: []string{"-a", "-b"}, OldNoEOL: true}, []string{"-a", "-b", none}},
	} {
		h := one.hunk
		require.Equal(t, one.want, Lines(&h))
		h.ID, h.Kind = "7.1", "text"
		var b strings.Builder
		WritePatch(&b, &sessions.Diff{Path: "b.py", Hunks: []sessions.Hunk{h, {ID: "7.2", Kind: "text", Lines: []string{"+z"}}}})
		require.Contains(t, b.String(), strings.Join(one.want, "\n")+"\n")
		all := ListedIn(b.String())
		require.Len(t, all, 2)
		require.Equal(t, all[0].To, all[1].From)
	}
}
