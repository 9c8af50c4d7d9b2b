package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// all is what a client decides about everything.
func all(accept bool) api.Decision { return api.Decision{All: true, Accept: accept} }

// TestFoundStories plays what TestStories has found once. Each was wrong in the way that its name denies.
func TestFoundStories(t *testing.T) {
	store, dir := storyStore(t), t.TempDir()
	for name, play := range map[string]func(t *testing.T, s *story){
		"a merge has what was typed since the last look": func(t *testing.T, s *story) {
			s.agent(1, 1, 0)
			s.types(0, 0, 1)
			s.looks()
			s.decides(s.command, all(true))
			s.types(8, 1, 1)
			s.merges()
			s.applies()
			require.Contains(t, s.text, "mine 2\n")
		},
		"a redo decides no later change of the same lines": func(t *testing.T, s *story) {
			s.agent(0, 3, 0)
			s.decides(s.command, all(false))
			s.agent(2, 1, 1)
			before := s.disk()
			s.undoes(s.command)
			s.redoes(s.command)
			require.Equal(t, before, s.disk())
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
			require.NoError(t, os.Mkdir(root, 0o755))
			s := newStory(t, store, root, 8)
			defer func() {
				s.r.Close()
				if t.Failed() {
					t.Log(strings.Join(s.told, "\n"))
				}
			}()
			play(t, s)
		})
	}
}
