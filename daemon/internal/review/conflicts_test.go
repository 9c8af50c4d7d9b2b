package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// conflicts begins a story with a conflict of "mine 1" with "agent 2" in line 2, with the base's line gone from both. If more is set, the
// agent has changed a second line, which the editor has merged.
func conflicts(t *testing.T, more bool) *story {
	root := filepath.Join(t.TempDir(), "w")
	require.NoError(t, os.Mkdir(root, 0o755))
	s := newStory(t, storyStore(t), root, 8)
	t.Cleanup(func() { s.r.Close() })
	s.types(2, 1, 1)
	s.agent(2, 1, 1)
	if more {
		s.agent(6, 1, 1)
		s.merges()
		s.applies()
	}
	s.conflict()
	return s
}

// TestUndoOfAnAcceptBesideOtherUnsavedLines: the conflict is back, for all clients, by the editor's undo, before or after the daemon has
// looked; by an undo that the editor asks for as it goes back; and by one that the editor makes. Before, an undo of an accept that was
// not saved counted as that of a saved one, and the editor lacked the agent's hunk.
func TestUndoOfAnAcceptBesideOtherUnsavedLines(t *testing.T) {
	ways := map[string]func(s *story){
		"u":         func(s *story) { s.walks(-1) },
		"a late u":  func(s *story) { s.looks(); s.walks(-1) },
		"C-/":       func(s *story) { s.looks(); s.undoes(s.editor); s.coming = nil; s.walks(-1) },
		"diff/undo": func(s *story) { s.looks(); s.undoes(s.editor); s.applies() },
	}
	for way, back := range ways {
		for choice := range results {
			for _, more := range []bool{false, true} {
				if choice == "mine" && way != "C-/" && way != "diff/undo" {
					continue // no text changes
				}
				root := filepath.Join(t.TempDir(), "w")
				require.NoError(t, os.Mkdir(root, 0o755))
				s := newStory(t, storyStore(t), root, 12)
				t.Cleanup(func() { s.r.Close() })
				s.types(2, 1, 1)
				s.types(5, 1, 1)
				s.agentWrites(strings.NewReplacer("base 2\n", "agent 2\n", "base 9\n", "agent 3\n").Replace(s.disk()))
				if more {
					s.merges()
					s.applies()
				}
				s.conflict()
				open := s.state()
				for range 2 {
					s.chooses(choice)
					if choice == "mine" {
						s.looks()
						s.undoes(s.editor)
						s.applies()
					} else {
						back(s)
					}
					require.Equal(t, open.text, s.text, "%s %s %v\n%s", way, choice, more, strings.Join(s.told, "\n"))
					require.Equal(t, shapes(open), shapes(s.state()), "%s %s %v\n%s", way, choice, more, strings.Join(s.told, "\n"))
				}
				s.saves()
				s.looks()
				require.Contains(t, s.disk(), "mine 1\n")
				require.NotContains(t, s.disk(), "agent 2\n")
				saved := shapes(s.state())
				out, err := s.undoes(s.editor) // of the save
				require.NoError(t, err, s.told)
				require.Positive(t, out.Applied, s.told)
				s.applies()
				s.bothSides()
				_, err = s.redoes(s.editor)
				require.NoError(t, err, s.told)
				s.applies()
				require.Equal(t, saved, shapes(s.state()))
			}
		}
	}
}

// conflict requires that the editor has a conflict, and returns its id.
func (s *story) conflict() string {
	d := s.looks()[s.editor]
	require.NotNil(s.t, d, "%v", s.told)
	require.Equal(s.t, "conflict", d.Hunks[0].State, "%v\n%v", d.Hunks, s.told)
	require.Equal(s.t, []string{"-mine 1", "+agent 2"}, d.Hunks[0].Lines)
	return d.Hunks[0].ID
}

// bothSides requires that the agent's line is in the place of the person's, which a reject of the hunk brings back.
func (s *story) bothSides() {
	require.Contains(s.t, s.text+s.disk(), "agent 2\n", "%s", strings.Join(s.told, "\n"))
	require.Contains(s.t, strings.Join(shapes(s.state()), "\n"), "-mine 1 +agent 2", strings.Join(s.told, "\n"))
}

// chooses decides the conflict, and makes the edits.
func (s *story) chooses(choice string) {
	dec := api.Decision{Hunks: []string{s.conflict()}, Accept: choice != "mine", Both: choice == "both"}
	_, err := s.decides(s.editor, dec)
	require.NoError(s.t, err)
	s.applies()
}

// results are what a text has in the place of a conflict after a choice.
var results = map[string]string{"mine": "mine 1\n", "theirs": "agent 2\n", "both": "mine 1\nagent 2\n"}

// TestEditorsUndoOfAChoiceOpensTheConflict: u after each choice of a conflict brings the hunk back, and the agent's line can still be had.
func TestEditorsUndoOfAChoiceOpensTheConflict(t *testing.T) {
	for choice := range results {
		for _, more := range []bool{false, true} {
			s := conflicts(t, more)
			open := s.state()
			for range 2 {
				s.chooses(choice)
				require.Equal(t, strings.Replace(open.text, "mine 1\n", results[choice], 1), s.text, s.told)
				s.looks()
				if choice == "mine" {
					s.undoes(s.editor)
				} else {
					s.walks(-1)
				}
				require.Equal(t, open.text, s.text)
				require.Equal(t, shapes(open), shapes(s.state()), "%s %v", choice, s.told)
			}
			if choice == "both" {
				s.walks(1)
				require.NotContains(t, shapes(s.state()), shapes(open)[0], "the editor's redo makes the choice again")
				s.walks(-1)
				require.Equal(t, shapes(open), shapes(s.state()))
			}
			s.saves()
			s.looks()
			require.Contains(t, s.disk(), "mine 1\n")
			require.NotContains(t, s.disk(), "agent 2\n")
			out, err := s.undoes(s.editor) // of the save
			require.NoError(t, err, s.told)
			require.Equal(t, 1, out.Applied, s.told)
			s.applies()
			s.bothSides()
		}
	}
}

// TestUndoOfASavedChoiceKeepsBothSides: the hunk that comes back is the agent's change of the person's line. Before, it was a change of the
// line from before both, so a reject lost or doubled the person's.
func TestUndoOfASavedChoiceKeepsBothSides(t *testing.T) {
	for choice := range results {
		for _, more := range []bool{false, true} {
			for _, accept := range []bool{false, true} {
				s := conflicts(t, more)
				open := s.text
				s.chooses(choice)
				s.saves()
				s.looks()
				saved := s.disk()
				_, err := s.undoes(s.editor)
				require.NoError(t, err, s.told)
				s.applies()
				require.Contains(t, s.text+s.disk(), "agent 2\n", s.told)
				_, err = s.redoes(s.editor)
				require.NoError(t, err, s.told)
				s.applies()
				require.Equal(t, saved, s.disk(), s.told)
				require.NotContains(t, strings.Join(shapes(s.state()), ""), "agent 2", "%s %v", choice, s.told)
				_, err = s.undoes(s.editor)
				require.NoError(t, err, s.told)
				s.applies()
				d := s.looks()[s.editor]
				h := d.Hunks[0]
				require.NotContains(t, strings.Join(h.Lines, ""), "-base", "%s\n%v", strings.Join(s.told, "\n"), shapes(s.state()))
				_, err = s.decides(s.editor, api.Decision{Hunks: []string{h.ID}, Accept: accept})
				require.NoError(t, err, s.told)
				s.applies()
				want := open
				if choice := choice; accept {
					if choice == "mine" {
						choice = "theirs"
					}
					want = strings.Replace(open, "mine 1\n", results[choice], 1)
				}
				if s.text == s.saved {
					s.reads()
				}
				require.ElementsMatch(t, strings.SplitAfter(want, "\n"), strings.SplitAfter(s.text, "\n"), "%s %v\n%s", choice, accept, strings.Join(s.told, "\n"))
			}
		}
	}
}

// decides the conflict by each choice, after something that must not have closed it.
func stillOpen(t *testing.T, between func(s *story)) {
	for choice := range results {
		for _, more := range []bool{false, true} {
			s := conflicts(t, more)
			open := s.state()
			between(s)
			require.Equal(t, open.text, s.text)
			s.conflict()
			s.chooses(choice)
			require.Equal(t, strings.Replace(open.text, "mine 1\n", results[choice], 1), s.text, "%s\n%s", choice, strings.Join(s.told, "\n"))
			s.saves()
			for _, h := range shapes(s.state()) {
				require.NotContains(t, h, "mine", choice)
				require.NotContains(t, h, "base 2", choice)
			}
			require.Equal(t, s.text, s.disk())
		}
	}
}

// TestAConflictSurvivesTheDaemon: the next daemon knows what an unsaved text and the disk had in common. Before, it took the person's line
// for one that had replaced the agent's.
func TestAConflictSurvivesTheDaemon(t *testing.T) {
	stillOpen(t, func(s *story) { s.restarts() })
	stillOpen(t, func(s *story) {
		s.restarts()
		s.looks()
		s.restarts()
	})
	stillOpen(t, func(s *story) { // it is killed
		s.r.Close()
		s.docs.CloseClient(s.editor)
		s.starts()
	})
}

// TestATextThatComesBackHasItsConflict: the editor reads the file, and its undo leads back to the text with the conflict.
func TestATextThatComesBackHasItsConflict(t *testing.T) {
	stillOpen(t, func(s *story) {
		for range 2 {
			s.reloads()
			s.looks()
			s.walks(-1)
			s.looks()
		}
	})
}

// TestASavedTextHasNoConflictLeft: a change of a line of the agent that the person has read is no conflict, after a conflict in the file
// was saved.
func TestASavedTextHasNoConflictLeft(t *testing.T) {
	s := conflicts(t, true)
	s.chooses("theirs")
	s.saves()
	s.looks()
	s.types(6, 1, 1)
	s.restarts()
	for _, h := range s.looks()[s.editor].Hunks {
		require.Empty(t, h.State, s.told)
	}
}

// TestASavedChoiceOfBothIsNoConflictAgain: the editor's undo leads back to the text from before it. That lacks the agent's line, and the file has
// the person's line once. Before, the agent's side of a conflict had both lines, and "both" made the person's line twice.
func TestASavedChoiceOfBothIsNoConflictAgain(t *testing.T) {
	s := conflicts(t, true)
	s.chooses("both")
	s.saves()
	s.looks()
	s.walks(-1)
	for _, h := range s.looks()[s.editor].Hunks {
		require.Empty(t, h.State, s.told)
	}
}

// TestASaveRightAfterTheEditorsUndo: the daemon first looks at the text when it is saved. Before, the agent's line was gone without a decision.
func TestASaveRightAfterTheEditorsUndo(t *testing.T) {
	for _, choice := range []string{"theirs", "both"} {
		s := conflicts(t, true)
		s.chooses(choice)
		s.looks()
		s.walks(-1)
		s.saves()
		s.undoes(s.editor)
		s.applies()
		s.bothSides()
	}
}

// TestASaveBesideTheDaemonsEnd: the daemon is killed, and the editor saves over an open conflict before the next one has heard of its text.
// That is the choice of the person's lines, and undo takes it back. Before, the agent's line was gone without a decision, and a hunk
// that was nobody's stayed.
func TestASaveBesideTheDaemonsEnd(t *testing.T) {
	for _, more := range []bool{false, true} {
		for _, late := range []bool{false, true} {
			s := conflicts(t, more)
			text := s.text
			s.r.Close()
			s.docs.CloseClient(s.editor)
			if late {
				r, err := New(s.setup)
				require.NoError(t, err)
				s.r = r
				r.Wait()
			}
			s.put(text)
			s.saved = text
			if late {
				s.looks()
				s.r.Close()
			}
			s.starts()
			st := s.state()
			require.Equal(t, text, st.disk)
			for _, h := range shapes(st) {
				require.NotContains(t, h, "base 2", s.told)
				require.NotContains(t, h, "agent 2", s.told)
			}
			out, err := s.undoes(s.editor)
			require.NoError(t, err, s.told)
			require.Equal(t, 1, out.Step.Hunks)
			s.applies()
			s.bothSides()
			_, err = s.redoes(s.editor)
			require.NoError(t, err, s.told)
			s.applies()
			require.Equal(t, text, s.disk())
			require.Equal(t, shapes(st), shapes(s.state()))
		}
	}
}

// TestEditorsUndoOfASavedChoiceAndASave: the second save is the choice of the person's line, which undo takes back. Before, the agent's
// line counted as removed by the person after a saved "both".
func TestEditorsUndoOfASavedChoiceAndASave(t *testing.T) {
	for _, choice := range []string{"theirs", "both"} {
		for _, more := range []bool{false, true} {
			for _, looked := range []bool{false, true} {
				s := conflicts(t, more)
				open := s.text
				s.chooses(choice)
				s.saves()
				s.looks()
				s.walks(-1)
				require.Equal(t, open, s.text)
				if looked {
					s.looks()
				}
				s.saves()
				require.NotContains(t, strings.Join(shapes(s.state()), ""), "base 2", "%s %v %v\n%s", choice, more, looked, strings.Join(s.told, "\n"))
				require.Equal(t, open, s.disk())
				require.NotContains(t, strings.Join(shapes(s.state()), ""), "agent 2")
				out, err := s.undoes(s.editor)
				require.NoError(t, err)
				require.Equal(t, api.StepReject, out.Step.Kind, "%s %v %v\n%s", choice, more, looked, strings.Join(s.told, "\n"))
				s.applies()
				require.Contains(t, s.disk(), "agent 2\n")
				require.Contains(t, strings.Join(shapes(s.state()), ""), "+agent 2")
				_, err = s.redoes(s.editor)
				require.NoError(t, err)
				s.applies()
				require.Equal(t, open, s.disk())
			}
		}
	}
}
