package review

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// TestAConflictIsOneHunk has a person change some lines of many that an agent changes, in an unsaved text. All of it is one conflict, also
// what both have deleted, and each choice decides all of it. The person's side comes back with an undo.
func TestAConflictIsOneHunk(t *testing.T) {
	const theirs = "agent 4\nagent 5\nagent 6\nagent 7\n"
	for name, mine := range map[string]string{
		"a line in the middle": "base 4\nmine 5\nmine new\nbase 6\nbase 7\n",
		"the first":            "mine 4\nbase 5\nbase 6\nbase 7\n",
		"the last":             "base 4\nbase 5\nbase 6\nmine 7\n",
		"a deletion":           "base 4\nbase 6\nbase 7\n",
		"an insertion":         "base 4\nbase 5\nmine new\nbase 6\nbase 7\n",
		"two lines apart":      "mine 4\nbase 5\nmine 6\nbase 7\n",
		"all":                  "mine\n",
		"none left":            "",
	} {
		for choice, want := range map[string]string{"mine": mine, "theirs": theirs, "both": mine + theirs} {
			t.Run(name+", "+choice, func(t *testing.T) {
				root := filepath.Join(t.TempDir(), "w")
				require.NoError(t, os.Mkdir(root, 0o755))
				s := newStory(t, storyStore(t), root, 14)
				t.Cleanup(func() { s.r.Close() })
				const base = "base 4\nbase 5\nbase 6\nbase 7\n"
				s.set(strings.NewReplacer(base, mine, "base 1\n", "mine 1\n").Replace(s.text)) // which stays unsaved
				s.agentWrites(strings.NewReplacer(base, theirs, "base 12\n", "agent 12\n").Replace(s.disk()))
				s.merges()
				s.applies()
				open := s.state()
				require.Contains(t, open.text, "agent 12\n")
				hunks := open.seen[s.editor].Hunks
				require.Len(t, hunks, 2, "%v", hunks)
				i := slices.IndexFunc(hunks, func(h sessions.Hunk) bool { return h.State == "conflict" })
				require.GreaterOrEqual(t, i, 0)
				for range 2 {
					_, err := s.decides(s.editor, api.Decision{Hunks: []string{hunks[i].ID}, Accept: choice != "mine", Both: choice == "both"})
					require.NoError(t, err)
					s.applies()
					require.Equal(t, "base 0\nmine 1\nbase 2\nbase 3\n"+want+"base 8\nbase 9\nbase 10\nbase 11\nagent 12\nbase 13\n", s.text)
					require.Len(t, s.looks()[s.editor].Hunks, 1, "%v", s.looks()[s.editor].Hunks)
					_, err = s.undoes(s.editor)
					require.NoError(t, err)
					s.applies()
					require.Equal(t, open.text, s.text, "the person's side is back")
					require.Equal(t, shapes(open), shapes(s.state()))
				}
				_, err := s.redoes(s.editor)
				require.NoError(t, err)
				s.applies()
				require.Contains(t, s.text, "base 3\n"+want+"base 8\n")
				_, err = s.undoes(s.editor)
				require.NoError(t, err)
				s.applies()
				require.Equal(t, open.text, s.text)
				// A reject of all keeps the person's side as well.
				_, err = s.decides(s.editor, api.Decision{All: true})
				require.NoError(t, err)
				s.applies()
				s.saves()
				require.Equal(t, strings.Replace(open.text, "agent 12\n", "base 12\n", 1), s.disk())
				require.Empty(t, s.looks())
			})
		}
	}
}
