package review

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAFileThatIsRenamedWhileNoDaemonRuns: what was pending in the file, or accepted, is known at its new name, and not in another file with the
// same text.
func TestAFileThatIsRenamedWhileNoDaemonRuns(t *testing.T) {
	const text = "base 0\nagent\nbase 1\n"
	for _, c := range []struct {
		name      string
		accepted  bool
		meanwhile func(t *testing.T, root string)
		want      string // where it is then
	}{
		{"pending", false, func(*testing.T, string) {}, "g"},
		{"accepted", true, func(*testing.T, string) {}, "g"},
		{"a copy of it", false, func(t *testing.T, root string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "h"), []byte(text), 0o644))
		}, "g"},
		{"only a copy of it", false, func(t *testing.T, root string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "h"), []byte(text), 0o644))
			require.NoError(t, os.Remove(filepath.Join(root, "g")))
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			s := newStory(t, storyStore(t), root, 2)
			require.NoError(t, s.docs.Close(s.editor, s.uri()))
			s.agentWrites(text)
			if c.accepted {
				_, err := s.decides(s.command, all(true))
				require.NoError(t, err)
			}
			s.docs.CloseClient(s.editor)
			s.r.Close()
			require.NoError(t, os.Rename(s.path(), filepath.Join(root, "g")))
			c.meanwhile(t, root)
			var err error
			s.r, err = New(s.setup)
			require.NoError(t, err)
			defer s.r.Close()
			s.r.Wait()
			if c.want == "" {
				diffs, err := s.r.Diffs(s.command, "", "")
				require.NoError(t, err)
				require.Empty(t, diffs)
				return
			}
			why, err := s.r.Why(c.want, 0, -1)
			require.NoError(t, err)
			require.Len(t, why.Lines, 3)
			require.Equal(t, "t", why.Lines[1].Source.TurnID)
			diffs, err := s.r.Diffs(s.command, "", "")
			require.NoError(t, err)
			if c.accepted {
				require.Empty(t, diffs)
			} else {
				require.Equal(t, c.want, diffs[0].Path)
			}
		})
	}
}
