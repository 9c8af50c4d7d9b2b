package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// TestUndoOfASavedConflictCountsOneHunk decides a conflict that has several hunks of the agent, around a line that the person has changed or
// deleted, and saves. Undo and redo are of the one hunk that the person saw. Before, they said 2 or 3.
func TestUndoOfASavedConflictCountsOneHunk(t *testing.T) {
	const base = "base 4\nbase 5\nbase 6\n"
	for name, mine := range map[string]string{"a changed line": "mine 4\nmine 6\n", "deleted lines": ""} {
		for how, agents := range map[string]string{"changes": "agent 4\nbase 5\nagent 6\n", "insertions": "base 4\nagent\nbase 5\nagent 6\nbase 6\n"} {
			for choice := range results {
				t.Run(strings.Join([]string{name, how, choice}, ", "), func(t *testing.T) {
					root := filepath.Join(t.TempDir(), "w")
					require.NoError(t, os.Mkdir(root, 0o755))
					s := newStory(t, storyStore(t), root, 12)
					t.Cleanup(func() { s.r.Close() })
					s.set(strings.Replace(s.text, base, mine, 1))
					s.agentWrites(strings.Replace(s.disk(), base, agents, 1))
					hunks := s.looks()[s.editor].Hunks
					require.Len(t, hunks, 1)
					require.Equal(t, "conflict", hunks[0].State)
					decided, err := s.decides(s.editor, api.Decision{Hunks: []string{hunks[0].ID}, Accept: choice != "mine", Both: choice == "both"})
					require.NoError(t, err)
					require.Equal(t, 1, decided.Applied)
					s.applies()
					s.saves()
					s.looks()
					for range 2 {
						for _, step := range []func(api.ClientID) (api.Decided, error){s.undoes, s.redoes} {
							out, err := step(s.editor)
							require.NoError(t, err)
							s.applies()
							require.Equal(t, 1, out.Step.Hunks)
							require.Equal(t, 1, out.Applied)
						}
					}
				})
			}
		}
	}
}
