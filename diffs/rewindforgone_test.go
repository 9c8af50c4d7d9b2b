package diffs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewindOfADeletionThatAPersonHasMadeToo: lines that the person has deleted from the baseline do not come back with the agent's deletion,
// unless the person has put them back.
func TestRewindOfADeletionThatAPersonHasMadeToo(t *testing.T) {
	t.Parallel()
	text := func(s string) Content { return Content{Exists: true, Data: []byte(s)} }
	src := Source{SessionID: "s", TurnID: "t", Via: ViaTool}
	for name, tt := range map[string]struct {
		persons []string
		accept  bool
		want    string
	}{
		"one of two":              {[]string{"1\n2\n3\n5\n6\n"}, false, "1\n2\n3\n5\n6\n"},
		"one of two, with accept": {[]string{"1\n2\n3\n5\n6\n"}, true, "1\n2\n3\n5\n6\n"},
		"put back":                {[]string{"1\n2\n3\n5\n6\n", "1\n2\n3\n4\n5\n6\n"}, false, "1\n2\n3\n4\n5\n6\n"},
		"all that the agent did":  {[]string{"1\nA\n3\n6\n"}, false, "1\n2\n3\n4\n5\n6\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := New(text("1\n2\n3\n4\n5\n6\n"))
			r.Observe(text("1\nA\n3\n6\n"), &src)
			for _, p := range tt.persons {
				r.ObserveBaseline(text(p))
			}
			if tt.accept {
				_, err := r.Decide([]uint64{r.Hunks()[0].ID}, true, nil)
				require.NoError(t, err)
			}
			_, _, err := r.RewindAll(Undone{Session: "s", Turns: []string{"t"}})
			require.NoError(t, err)
			require.Equal(t, tt.want, string(r.Current().Data))
		})
	}
}
