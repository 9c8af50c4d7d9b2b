package similar

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDidYouMean guesses what is near, and nothing else.
func TestDidYouMean(t *testing.T) {
	t.Parallel()
	names := []string{"accept", "run", "sessions", "session", "undo", "redo", "--json"}
	for word, want := range map[string]string{
		"acept": "; did you mean accept?", "sesions": "; did you mean sessions?", "rnu": "; did you mean run?", "sess": "; did you mean sessions or session?",
		"nudo": "; did you mean undo?", "xyz": "", "": "", "--jsno": "; did you mean --json?", "ACCEPT": "; did you mean accept?",
	} {
		require.Equal(t, want, DidYouMean(word, names), word)
	}
}
