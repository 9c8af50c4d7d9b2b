package plaintext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCutsBetweenCharacters(t *testing.T) {
	const s = "aé€b" // 1, 2, 3 and 1 bytes
	for n, want := range []struct{ front, back string }{
		{"", ""}, {"a", "b"}, {"a", "b"}, {"aé", "b"}, {"aé", "€b"}, {"aé", "€b"}, {"aé€", "é€b"}, {s, s}, {s, s},
	} {
		require.Equal(t, want.front, Cut(s, n), "the first %d", n)
		require.Equal(t, want.back, CutFront(s, n), "the last %d", n)
	}
}
