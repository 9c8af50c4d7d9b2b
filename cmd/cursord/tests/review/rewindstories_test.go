//go:build unix

package review

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/sessions"
)

var (
	rewindSeed  = flag.Uint64("rewinds.seed", 7, "what the stories of TestRewindStories are made of")
	rewindSteps = flag.Int("rewinds.steps", 30, "how many steps a story of TestRewindStories has")
)

// A rewindStory is a file that a person and an agent change and move by turns, line by line. No two lines are the same, so that the model is a few maps.
type rewindStory struct {
	t       *testing.T
	w       *world.World
	e       *world.Editor
	rng     *rand.Rand
	lines   int
	session string
	turns   []string          // of the session, the oldest first
	owner   map[string]string // of each line that ever was: a turn, or "" for a person
	killer  map[string]string // of lines that are not there: the turn that has taken them out, or "" for somebody else
	trace   []string
	changes int // that rewinds have taken back
}

func (s *rewindStory) does(format string, args ...any) {
	s.trace = append(s.trace, fmt.Sprintf(format, args...))
}

// path returns where the file is.
func (s *rewindStory) path() (path string) {
	for name, what := range s.w.Whole(s.w.Root) {
		if what != "folder" {
			require.Empty(s.t, path, "there are two files\n%s", s)
			path = name
		}
	}
	require.NotEmpty(s.t, path, "the file is gone\n%s", s)
	return path
}

func (s *rewindStory) get() string { return s.w.Get(s.path()) }

func (s *rewindStory) text() []string {
	return strings.SplitAfter(strings.TrimSuffix(s.get(), "\n"), "\n")
}

// move returns a command that gives the file another name.
func (s *rewindStory) move() string {
	from := s.path()
	names := slices.DeleteFunc([]string{"f", "g", "h", "d/f", "d/g"}, func(name string) bool { return name == from })
	return fmt.Sprintf("mkdir -p d; mv %s %s", from, names[s.rng.IntN(len(names))])
}

// moves has the agent move the file by a command.
func (s *rewindStory) moves() {
	command := s.move()
	s.takes(world.Shells("m", command), "%s", command)
}

// renames has the person move the file. Nobody need look at it at once.
func (s *rewindStory) renames() {
	command := s.move()
	s.does("person: %s", command)
	s.w.Makes(command)
	if s.rng.IntN(2) == 0 {
		s.e.Diffs()
	}
}

func joined(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimSuffix(l, "\n") + "\n")
	}
	return b.String()
}

// changed returns a text with some lines taken out and others put in.
func (s *rewindStory) changed(who string) string {
	lines := s.text()
	for range 1 + s.rng.IntN(3) {
		at := s.rng.IntN(len(lines) + 1)
		if s.rng.IntN(3) > 0 || len(lines) < 4 {
			s.lines++
			line := fmt.Sprintf("%s %d", who, s.lines)
			s.owner[line] = who
			lines = slices.Insert(lines, at, line)
			continue
		}
		from := min(at, len(lines)-1)
		s.killer[bareLine(lines[from])] = who
		lines = slices.Delete(lines, from, from+1)
	}
	return joined(lines)
}

func bareLine(l string) string { return strings.TrimSuffix(l, "\n") }

func (s *rewindStory) agent() {
	id := s.next()
	before := s.get()
	after := s.changed(id)
	s.takes(world.Edits("c"+id, s.path(), before, after), "%q", after)
}

// next returns the id of the next turn.
func (s *rewindStory) next() string { return fmt.Sprintf("turn%d", len(s.trace)) }

// takes has the agent take a turn.
func (s *rewindStory) takes(lines []string, what string, args ...any) {
	id := s.next()
	s.does(id+": "+what, args...)
	s.w.Plays(world.Lines(lines)...)
	params := world.Obj{"turnId": id}
	if s.session != "" {
		params["sessionId"] = s.session
	}
	turn := s.e.Turn(params)
	require.Equal(s.t, sessions.TurnCompleted, turn.Status)
	s.session, s.turns = turn.SessionID, append(s.turns, id)
}

func (s *rewindStory) person() {
	text := s.changed("")
	s.does("person: %q", text)
	s.w.Put(s.path(), text)
	s.e.Diffs()
}

// decides decides some hunk. What a reject takes out and brings back is read from the file.
func (s *rewindStory) decides() {
	d := s.e.Diffs()[s.path()]
	if d == nil {
		return
	}
	method := []string{"diff/accept", "diff/reject"}[s.rng.IntN(2)]
	id := d.Hunks[s.rng.IntN(len(d.Hunks))].ID
	before := s.text()
	s.e.Decides(method, world.Obj{"hunks": []string{id}})
	s.does("%s %s: %s %q", method, id, s.path(), s.get())
	s.noteMoves(before)
}

// noteMoves notes the lines that have come and gone since a text, by a decision.
func (s *rewindStory) noteMoves(before []string) {
	now := s.text()
	for _, l := range before {
		if !slices.Contains(now, l) {
			s.killer[bareLine(l)] = ""
		}
	}
	for _, l := range now {
		delete(s.killer, bareLine(l))
	}
}

func (s *rewindStory) restarts() {
	s.does("restart")
	s.w.Kill()
	s.w.Start()
	s.e = s.w.Opens()
}

// forks goes on in a fork of the session at its last turn, from where nothing can be rewound that the other has done.
func (s *rewindStory) forks() {
	if s.session == "" {
		return
	}
	var made rpc.SessionResult
	s.e.Must("session/fork", world.Obj{"sessionId": s.session}, &made)
	s.does("fork")
	s.session, s.turns = made.Session.ID, nil
}

// rewinds takes turns back, and checks each line that ever was.
func (s *rewindStory) rewinds() {
	if len(s.turns) == 0 {
		return
	}
	s.e.Diffs()
	n := s.rng.IntN(len(s.turns))
	gone := s.turns[n:]
	before, file := s.text(), s.path()+": "+s.get()
	var out api.Rewound
	s.e.Must("session/rewind", world.Obj{"sessionId": s.session, "turnId": s.turns[n]}, &out)
	s.does("rewind %v: %s %q, skipped %+v", gone, s.path(), s.get(), out.Skipped)
	require.Equal(s.t, gone, out.Turns, "%s", s)
	now := s.text()
	for line, by := range s.owner {
		was, is := contains(before, line), contains(now, line)
		killed, dead := s.killer[line]
		switch {
		case slices.Contains(gone, by):
			require.False(s.t, is, "%q is of a turn that was taken back\n%s", line, s)
		case was:
			require.True(s.t, is, "%q is lost\n%s", line, s)
		case dead && killed != "" && slices.Contains(gone, killed):
			require.True(s.t, is || len(out.Skipped) > 0, "%q was taken out by a turn that was taken back, and is not there\n%s", line, s)
		default:
			require.False(s.t, is, "%q has come back\n%s", line, s)
		}
	}
	after := s.path() + ": " + s.get()
	s.changes += out.Applied
	if out.Applied > 0 {
		s.e.Must("diff/undo", world.Obj{"workspace": s.w.Root}, nil)
		require.Equal(s.t, file, s.path()+": "+s.get(), "an undo brings all back\n%s", s)
		s.e.Must("diff/redo", world.Obj{"workspace": s.w.Root}, nil)
		require.Equal(s.t, after, s.path()+": "+s.get(), "a redo as well\n%s", s)
	}
	s.turns = s.turns[:n]
	s.noteMoves(before)
	for line, by := range s.owner {
		if slices.Contains(gone, by) {
			delete(s.owner, line)
		}
	}
}

func contains(lines []string, line string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return bareLine(l) == line })
}

func (s *rewindStory) String() string { return strings.Join(s.trace, "\n") }

// TestRewindStories plays stories of turns, edits and moves of the file by a person and by the agent, decisions, restarts, forks and rewinds. A rewind takes out the lines of its turns, brings
// back what these have taken out, and loses no other line; an undo brings every byte back.
func TestRewindStories(t *testing.T) {
	t.Parallel()
	for n := range uint64(6) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := &rewindStory{t: t, w: world.New(t), rng: rand.New(rand.NewPCG(*rewindSeed, n)), owner: map[string]string{}, killer: map[string]string{}}
			var first []string
			for i := range 8 {
				first = append(first, fmt.Sprint("line ", i))
				s.owner[first[i]] = ""
			}
			s.w.Put("f", joined(first))
			s.w.Start()
			s.e = s.w.Opens()
			for range *rewindSteps {
				switch s.rng.IntN(15) {
				case 0, 1, 2, 3:
					s.agent()
				case 4, 5, 6:
					s.person()
				case 7, 8:
					s.decides()
				case 12:
					s.moves()
				case 13, 14:
					s.renames()
				case 9:
					s.restarts()
				case 10:
					s.rewinds()
				case 11:
					if s.rng.IntN(3) == 0 {
						s.forks()
					} else {
						s.rewinds()
					}
				}
			}
			s.rewinds()
			require.NotZero(t, s.changes, "no rewind has taken anything back\n%s", s)
		})
	}
}
