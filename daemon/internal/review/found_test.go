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
		"a save without the agent's lines is a reject, which undo and the editor's redo take back": func(t *testing.T, s *story) {
			for _, by := range []string{"undo", "the editor"} {
				s.agent(1, 2, 1)
				s.reads()
				pending := shapes(s.state())
				require.NotEmpty(t, pending)
				s.walks(-1)
				s.saves()
				require.Empty(t, shapes(s.state()))
				if by == "undo" {
					_, err := s.undoes(s.command)
					require.NoError(t, err)
					s.reads()
				} else {
					s.walks(1)
					s.saves()
				}
				require.Equal(t, pending, shapes(s.state()))
				s.decides(s.command, all(false))
				s.reads()
			}
		},
		"what the editor's undo takes back is pending at the next daemon, too": func(t *testing.T, s *story) {
			s.agent(1, 2, 1)
			s.agent(6, 1, 1)
			s.reads()
			pending := shapes(s.state())
			s.walks(-1)
			s.saves()
			s.walks(1)
			s.looks()
			s.r.Close() // it is killed
			s.docs.CloseClient(s.editor)
			s.starts()
			s.saves()
			require.Len(t, shapes(s.state()), len(pending))
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
		"a conflict that was kept as mine is open again after an undo": func(t *testing.T, s *story) {
			s.types(2, 1, 1)
			s.agent(2, 1, 1)
			s.agent(6, 1, 1)
			text, open := s.text, s.state()
			conflict := s.looks()[s.editor].Hunks[0]
			require.Equal(t, "conflict", conflict.State)
			s.decides(s.editor, api.Decision{Hunks: []string{conflict.ID}})
			kept := s.state()
			require.NotEqual(t, shapes(open), shapes(kept))
			for range 2 {
				s.undoes(s.editor)
				require.Empty(t, s.coming)
				require.Equal(t, shapes(open), shapes(s.state()))
				s.redoes(s.editor)
				require.Empty(t, s.coming)
				require.Equal(t, shapes(kept), shapes(s.state()))
			}
			s.undoes(s.editor)
			s.decides(s.editor, api.Decision{Hunks: []string{conflict.ID}, Accept: true})
			s.applies()
			require.Equal(t, strings.Replace(text, "mine 1", "agent 2", 1), s.text)
		},
		"all is rejected and taken back with a conflict among it": func(t *testing.T, s *story) {
			s.agent(0, 1, 1)
			s.reads()
			s.types(4, 1, 1)
			s.agent(4, 1, 1)
			text, open := s.text, s.state()
			s.decides(s.editor, all(false))
			s.applies()
			rejected := s.text
			require.NotEqual(t, text, rejected)
			for range 2 {
				s.undoes(s.editor)
				s.applies()
				require.Equal(t, text, s.text)
				require.Equal(t, shapes(open), shapes(s.state()))
				s.redoes(s.editor)
				s.applies()
				require.Equal(t, rejected, s.text)
				require.Empty(t, s.looks()[s.editor])
			}
			s.walks(-1) // the editor's undo
			require.Equal(t, shapes(open), shapes(s.state()))
			s.walks(1)
			require.Empty(t, s.looks()[s.editor])
		},
		"an undo by the command line opens no conflict that was none": func(t *testing.T, s *story) {
			s.agent(0, 1, 1)
			s.reads()
			s.types(0, 2, 1)
			s.decides(s.editor, all(true))
			before := s.state()
			s.undoes(s.command)
			s.redoes(s.command)
			require.Equal(t, shapes(before), shapes(s.state()))
		},
		"a line that was typed again and removed again comes back once": func(t *testing.T, s *story) {
			s.agent(7, 1, 1)
			s.decides(s.editor, all(true))
			s.saves() // over it
			s.looks()
			s.agent(7, 1, 0)
			s.undoes(s.command)
			s.decides(s.command, all(false))
			require.Equal(t, 1, count(s.disk())["base 7\n"])
		},
		"a rejected line that was typed again beside later lines comes back once": func(t *testing.T, s *story) {
			s.agent(1, 0, 1)
			s.closes()
			s.decides(s.command, all(false))
			s.saves() // over it
			s.looks()
			s.agent(0, 1, 2)
			s.undoes(s.command)
			require.Equal(t, 1, count(s.disk())["agent 1\n"])
		},
		"an undo keeps the order of lines that were typed again": func(t *testing.T, s *story) {
			s.agent(0, 1, 1)
			s.agent(1, 1, 0)
			s.decides(s.command, all(true))
			s.saves() // over it
			s.looks()
			s.agent(1, 1, 0)
			s.undoes(s.command)
			s.decides(s.command, all(false))
			require.Equal(t, s.text, s.disk())
		},
		"a line behind one that was typed again keeps its place": func(t *testing.T, s *story) {
			s.agent(5, 2, 2)
			s.decides(s.command, all(true))
			s.saves() // over it
			s.types(7, 1, 0)
			s.looks()
			s.other(6, 2, 0)
			s.undoes(s.editor)
			s.once(s.state(), "")
		},
		"an undo in the editor brings no line back that its own undo has brought back, with typing": func(t *testing.T, s *story) {
			s.agent(0, 0, 1)
			s.reads()
			s.types(4, 0, 1)
			s.decides(s.editor, all(false))
			s.applies()
			s.looks()
			s.walks(-1)
			s.types(8, 1, 1)
			s.looks()
			s.undoes(s.editor)
			s.applies()
			require.Equal(t, 1, count(s.text)["agent 1\n"])
		},
		"an undo puts lines beside those of their hunk that are left": func(t *testing.T, s *story) {
			s.agent(3, 2, 2)
			s.agent(0, 0, 1)
			s.types(1, 1, 1)
			s.agent(9, 0, 1)
			s.types(0, 3, 1)
			s.looks()
			s.merges()
			s.applies()
			s.looks()
			s.decides(s.editor, all(true))
			s.looks()
			s.saves()
			s.looks()
			s.walks(-1)
			s.looks()
			s.types(4, 2, 2)
			s.looks()
			s.agent(1, 1, 2)
			s.agent(7, 2, 1)
			s.undoes(s.editor)
			s.once(s.state(), "")
		},
		"a line that the editor's undo brings back above other typed lines is not deleted again": func(t *testing.T, s *story) {
			s.agent(0, 1, 1)
			s.decides(s.command, all(true))
			s.reloads()
			s.agent(0, 2, 1)
			s.walks(-2)
			s.types(1, 2, 1)
			s.saves()
			s.looks()
			s.walks(-3)
			s.once(s.state(), "")
		},
		"a deletion that an undo opens again is made by a text that has the line elsewhere": func(t *testing.T, s *story) {
			s.types(1, 0, 1)
			s.types(10, 0, 1)
			s.types(0, 1, 1)
			s.types(8, 2, 1)
			s.agent(0, 1, 0)
			s.decidesOne(true, 0, api.Decision{Accept: true})
			s.saves()
			s.looks()
			s.walks(-3)
			s.looks()
			s.undoes(s.command)
			s.once(s.state(), "")
		},
		"a rejected deletion comes back behind the line that was typed in front of it": func(t *testing.T, s *story) {
			s.agent(5, 0, 2)
			s.reads()
			s.types(1, 2, 1)
			s.agent(3, 2, 0)
			s.types(2, 1, 0)
			s.saves()
			s.decides(s.editor, all(false))
			s.applies()
			require.Equal(t, "0|mine 3|3|4|5|6|7|", short(s.text))
		},
		"an undo finds a line that was typed again above a deletion": func(t *testing.T, s *story) {
			s.agent(0, 2, 1)
			s.types(4, 2, 2)
			s.saves()
			s.undoes(s.editor)
			s.reloads()
			s.types(3, 0, 2)
			s.saves()
			s.redoes(s.editor)
			s.reads()
			s.agent(1, 1, 0)
			s.walks(-2)
			s.undoes(s.editor)
			s.applies()
			s.once(s.state(), "")
		},
		"a redo finds the person's lines above others that were typed since": func(t *testing.T, s *story) {
			s.agent(6, 2, 2)
			s.types(1, 2, 2)
			s.agent(1, 1, 0)
			s.decidesOne(true, 0, api.Decision{Accept: true})
			s.applies()
			s.types(0, 1, 0)
			s.types(1, 1, 2)
			s.undoAndRedo(true)
		},
		"a redo makes again what was undone last, after an editor's undo took back an older decision": func(t *testing.T, s *story) {
			s.agent(2, 2, 2)
			s.closes()
			s.decidesOne(true, 0, api.Decision{})
			s.applies()
			s.agent(5, 1, 1)
			s.saves()
			s.looks()
			s.walks(-2)
			s.undoAndRedo(true)
		},
		"a line that was typed back above those of a saved conflict is found by the undo": func(t *testing.T, s *story) {
			s.agent(0, 2, 1)
			s.reloads()
			s.types(2, 2, 1)
			s.agent(3, 1, 2)
			s.types(0, 2, 1)
			s.saves()
			s.looks()
			s.walks(-1)
			s.looks()
			s.undoes(s.editor)
			s.applies()
			s.once(s.state(), "")
		},
		"lines that the editor reads after a reject are the agent's": func(t *testing.T, s *story) {
			s.types(1, 2, 2)
			s.agent(2, 0, 1)
			s.looks()
			s.decides(s.editor, all(false))
			s.reloads()
			s.types(6, 2, 0)
			s.saves()
			s.once(s.state(), "")
		},
		"a redo of a reject takes out lines that were merged since": func(t *testing.T, s *story) {
			s.agent(1, 1, 1)
			s.types(1, 2, 0)
			s.looks()
			s.decides(s.editor, all(false))
			s.looks()
			s.walks(-1)
			s.looks()
			s.undoes(s.editor)
			s.merges()
			s.applies()
			s.looks()
			s.redoes(s.editor)
			s.applies()
			s.saves()
			s.once(s.state(), "")
		},
		"a part of a rejected hunk that the editor's undo and typing leave is the agent's": func(t *testing.T, s *story) {
			s.agent(1, 0, 2)
			s.closes()
			s.decides(s.editor, all(false))
			s.applies()
			s.looks()
			s.walks(-1)
			s.types(0, 2, 0)
			s.saves()
			require.Contains(t, strings.Join(shapes(s.state()), ""), "+agent 2")
		},
		"a save over a conflict leaves the hunk beside it": func(t *testing.T, s *story) {
			s.agent(1, 0, 1)
			s.reads()
			s.types(2, 2, 2)
			s.agent(3, 1, 1)
			s.saves()
			s.once(s.state(), "")
		},
		"an undo of a saved reject leaves lines alone that the agent has deleted since": func(t *testing.T, s *story) {
			s.agent(2, 2, 1)
			s.types(3, 0, 2)
			s.types(0, 2, 0)
			s.saves()
			s.looks()
			s.types(3, 0, 2)
			s.agent(0, 2, 0)
			text := s.text
			_, err := s.undoes(s.editor)
			require.ErrorContains(t, err, "have changed since")
			require.Equal(t, text, s.text)
			s.once(s.state(), "")
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
