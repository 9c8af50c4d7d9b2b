package words

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpans(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"a = 1", "a = 1", "a = 1"},
		{"s.store.Put(ctx, key)", "s.backend.PutAll(ctx, keys)", "s.[store→backend].[Put→PutAll](ctx, [key→keys])"},
		{"one two three", "eins zwei three", "[one two→eins zwei] three"},
		{"", "new", "[→new]"},
		{"x := f()", "x, err := f()", "x[→, err] := f()"},
		{"größe", "größer", "[größe→größer]"},
		{"\xff", "\xfe", "[\xff→\xfe]"},
	} {
		var b strings.Builder
		at := 0
		for _, s := range Spans(c.old, c.new) {
			b.WriteString(c.old[at:s.OldFrom] + "[" + c.old[s.OldFrom:s.OldTo] + "→" + c.new[s.NewFrom:s.NewTo] + "]")
			at = s.OldTo
		}
		require.Equal(t, c.want, b.String()+c.old[at:])
	}
}
