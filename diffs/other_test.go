package diffs

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBaselineStories: an agent works in a copy ("agent"), and a person in the file itself ("real") or in the copy ("user").
// Hunks are decided by position.
func TestBaselineStories(t *testing.T) {
	for _, c := range []struct{ name, base, steps, now, baseline, hunks string }{
		{"edit elsewhere", `a\nb\nc\n`, `agent a\nb\nx\n; real A\nb\nc\n`, `A\nb\nx\n`, `A\nb\nc\n`, `1,3 1,3: A| b|-c|+x`},
		{"edit without anything pending", `a\nb\n`, `real a\nB\n`, `a\nB\n`, `a\nB\n`, ``},
		{"line typed inside a hunk stays", `a\nb\nc\n`, `agent a\nx\n; real a\nb\nmine\nc\n; reject`, `a\nb\nmine\nc\n`, `a\nb\nmine\nc\n`, ``},
		{"line typed inside a hunk stays when accepted", `a\nb\nc\n`, `agent a\nx\n; real a\nb\nmine\nc\n; accept`, `a\nmine\nx\n`, `a\nmine\nx\n`, ``},
		{"deleted a line that is the same in both", `a\nb\nc\n`, `agent a\nb\nx\n; real b\nc\n`, `b\nx\n`, `b\nc\n`, `1,2 1,2: b|-c|+x`},
		{"deleted what the agent has deleted", `a\nb\nc\n`, `agent a\nc\n; real a\nc\n`, `a\nc\n`, `a\nc\n`, ``},
		{"deleted one of two", `a\nb\nc\nd\n`, `agent a\n; real a\nc\nd\n`, `a\n`, `a\nc\nd\n`, `1,3 1,1: a|-c|-d`},
		{"made the change by hand", `a\nb\n`, `agent a\nx\n; real a\nx\n`, `a\nx\n`, `a\nx\n`, ``},
		{"made half of the change by hand", `a\nb\n`, `agent a\nx\ny\n; real a\nx\n`, `a\nx\ny\n`, `a\nx\n`, `1,2 1,3: a| x|+y`},
		{"changed what the agent has changed", `a\nb\n`, `agent a\nx\n; real a\nmine\n`, `a\nmine\nx\n`, `a\nmine\n`, `1,2 1,3: a| mine|+x`},
		{"agreed but for the line end", `a\nb`, `agent a\nx\n; real a\nx`, `a\nx`, `a\nx`, ``},
		{"a last line without line end", `a\n`, `agent a\nx\n; real b`, `b\nx\n`, `b`, `1,1 1,2:-b\|+b|+x`},
		{"a last line without line end that others followed", `a\nx\n`, `agent a\n; user b; real b\n`, `b\n`, `b\n`, ``},
		{"an undo after it", `a\nb\nc\n`, `agent a\nx\nc\n; accept; real A\nx\nc\n; undo`, `A\nx\nc\n`, `A\nb\nc\n`, `1,3 1,3: A|-b|+x| c`},

		{"gone", `a\nb\n`, `real -`, `-`, `-`, ``},
		{"gone, and nothing added", `a\nb\n`, `agent a\n; real -`, `-`, `-`, ``},
		{"gone under the agent's lines", `a\nb\n`, `agent a\nx\ny\n; real -`, `x\ny\n`, `-`, `file 0,0 1,2:+x|+y`},
		{"gone under the agent's lines, rejected", `a\nb\n`, `agent a\nx\ny\n; real -; reject`, `-`, `-`, ``},
		{"gone in both", `a\n`, `agent -; real -`, `-`, `-`, ``},
		{"changed what the agent has deleted", `a\nb\n`, `agent -; real a\nmine\n`, `-`, `a\nmine\n`, `file 1,2 0,0:-a|-mine`},
		{"changed what the agent has deleted, accepted", `a\nb\n`, `agent -; real a\nmine\n; accept`, `mine\n`, `mine\n`, ``},
		{"changed what the agent has deleted, rejected", `a\nb\n`, `agent -; real a\nmine\n; reject`, `a\nmine\n`, `a\nmine\n`, ``},
		{"emptied what the agent has deleted", `a\n`, `agent -; real `, `-`, ``, `file 0,0 0,0:`},
		{"created in both", `-`, `agent a\nb\n; real a\nmine\n`, `a\nmine\nb\n`, `a\nmine\n`, `1,2 1,3: a| mine|+b`},
		{"created alike", `-`, `agent a\nb\n; real a\nb\n`, `a\nb\n`, `a\nb\n`, ``},
		{"created in the file alone", `-`, `real a\n`, `a\n`, `a\n`, ``},

		{"binary", `a\x00`, `real b\x00`, `b\x00`, `b\x00`, ``},
		{"binary in both", `a\x00`, `agent b\x00; real c\x00`, `b\x00`, `c\x00`, `file 0,0 0,0:`},
		{"binary in both, rejected", `a\x00`, `agent b\x00; real c\x00; reject`, `c\x00`, `c\x00`, ``},
		{"binary, agreed", `a\x00`, `agent b\x00; real b\x00`, `b\x00`, `b\x00`, ``},
		{"binary, gone", `a\x00`, `agent b\x00; real -`, `b\x00`, `-`, `file 0,0 0,0:`},
		{"binary, deleted by the agent", `a\x00`, `agent -; real b\x00`, `b\x00`, `b\x00`, ``},
		{"a text that becomes binary", `a\n`, `agent b\n; real \x00`, `b\n`, `\x00`, `file 0,0 0,0:`},
		{"a clean text that becomes binary", `a\n`, `real \x00`, `\x00`, `\x00`, ``},
		{"a clean binary that becomes text", `\x00`, `real a\nb\n; agent a\nx\n`, `a\nx\n`, `a\nb\n`, `1,2 1,2: a|-b|+x`},
		{"a link turned", `@x`, `real @y`, `@y`, `@y`, ``},
		{"a link turned in both", `@x`, `agent @y; real @z; reject`, `@z`, `@z`, ``},
		{"a mode", `644:a\n`, `agent 644:b\n; real 755:a\n`, `755:b\n`, `755:a\n`, `1,1 1,1:-a|+b`},
		{"a mode in both", `644:a\n`, `agent 755:a\n; real 600:a\n`, `600:a\n`, `600:a\n`, ``},
		{"a mode, agreed", `644:a\n`, `agent 755:a\n; real 755:a\n`, `755:a\n`, `755:a\n`, ``},
		{"lines beside the agent's mode", `644:a\n`, `agent 755:a\n; real 644:b\n`, `755:b\n`, `644:b\n`, `file 0,0 0,0:`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(moded(t, c.base))
			var done Decision
			for step := range strings.SplitSeq(c.steps, "; ") {
				switch verb, rest, _ := strings.Cut(step, " "); verb {
				case "agent", "user":
					r.Observe(moded(t, rest), agents[verb])
				case "real":
					r.ObserveBaseline(moded(t, rest))
				case "undo":
					require.NoError(t, r.Undo(done))
				default:
					var ids []uint64
					for _, h := range r.Hunks() {
						ids = append(ids, h.ID)
					}
					var err error
					done, err = decide(t, r, ids, verb == "accept", nil)
					require.NoError(t, err)
				}
			}
			require.Equal(t, moded(t, c.now), normal(r.Current()), "now")
			require.Equal(t, moded(t, c.baseline), normal(r.Baseline()), "baseline")
			require.Equal(t, c.hunks, described(r))
			wellFormed(t, r)
			checkHunks(t, r)
			reloaded(t, r)
		})
	}
}

// TestBeside names the lines that a person has typed where an agent has changed a copy, and no others.
func TestBeside(t *testing.T) {
	for _, c := range []struct {
		name, base, agent, real string
		want                    []string
	}{
		{"the same line", `a\nb\nc\n`, `a\nx\nc\n`, `a\nmine\nc\n`, []string{" mine"}},
		{"two lines for one", `a\nb\nc\n`, `a\nx\nc\n`, `a\nmine\nours\nc\n`, []string{" mine", " ours"}},
		{"what the agent deleted", `a\nb\n`, `a\n`, `a\nmine\n`, []string{"-mine"}},
		{"in the middle of what the agent changed", `a\nb\nc\nd\ne\n`, `a\nB\nC\nD\ne\n`, `a\nb\nmine\nd\ne\n`, []string{"-mine"}},
		{"in the middle of what the agent deleted", `a\nb\nc\nd\ne\n`, `a\ne\n`, `a\nb\nmine\nd\ne\n`, []string{"-mine"}},
		{"beside what the agent deleted", `a\nb\nc\n`, `a\nc\n`, `mine\nb\nc\n`, nil},
		{"added beside what the agent changed", `a\nb\nc\n`, `a\nB\nc\n`, `a\nb\nmine\nc\n`, nil},
		{"added where the agent added", `a\nb\n`, `a\nx\nb\n`, `a\nmine\nb\n`, []string{" mine"}},
		{"beside what the agent changed", `a\nb\nc\n`, `a\nB\nc\n`, `mine\nb\nc\n`, nil},
		{"elsewhere", `a\nb\nc\n`, `a\nb\nx\n`, `mine\nb\nc\n`, nil},
		{"nothing", `a\nb\n`, `a\nx\n`, `a\nb\n`, nil},
	} {
		r := New(moded(t, c.base))
		r.Observe(moded(t, c.agent), agents["agent"])
		r.ObserveBaseline(moded(t, c.real))
		for _, r := range []*Review{r, reloaded(t, r)} {
			var got []string
			for _, h := range r.Hunks() {
				for _, i := range h.Beside {
					got = append(got, h.Lines[i])
				}
			}
			require.Equal(t, c.want, got, c.name)
		}
	}
}

// TestForked: both sides write a binary. An accept would lose the person's version; a reject loses nothing.
func TestForked(t *testing.T) {
	r := New(content("a\x00"))
	r.Observe(content("b\x00"), agents["agent"])
	require.True(t, r.ObserveBaseline(content("mine\x00")))
	require.False(t, r.ObserveBaseline(content("mine\x00")))
	id := r.Hunks()[0].ID
	require.ErrorIs(t, r.Decidable(id, true), ErrUserChanged)
	_, err := r.Decide([]uint64{id}, true, nil)
	require.ErrorIs(t, err, ErrUserChanged)
	require.NoError(t, r.Decidable(id, false))
	require.ErrorIs(t, reloaded(t, r).Decidable(id, true), ErrUserChanged)
}

// TestUndoAfterALookAtTheBaseline takes back a decision about a link after a look that found nothing new.
func TestUndoAfterALookAtTheBaseline(t *testing.T) {
	link, text := Content{Exists: true, Target: "x"}, Content{Exists: true, Data: []byte("a\n"), Mode: 0o644}
	for _, c := range []struct{ before, after Content }{{Content{}, link}, {link, Content{}}, {text, link}, {link, text}} {
		for _, accept := range []bool{false, true} {
			r := New(c.before)
			r.Observe(c.after, &Source{TurnID: "t"})
			was := r.Marshal()
			var ids []uint64
			for _, h := range r.Hunks() {
				ids = append(ids, h.ID)
			}
			d, err := r.Decide(ids, accept, nil)
			require.NoError(t, err)
			require.False(t, r.ObserveBaseline(r.Baseline()))
			require.NoError(t, r.Undo(d))
			again, err := Unmarshal(was, c.before.Data, c.after.Data)
			require.NoError(t, err)
			require.Equal(t, again.Hunks(), r.Hunks())
		}
	}
}

// TestReplace accepts what an agent has written in a copy in the place of the person's lines beside it, goes back, and does it again. The
// person's lines elsewhere stay, and an undo finds the place after more typing.
func TestReplace(t *testing.T) {
	for _, c := range []struct {
		name, base, agent, real string
		beside                  string // all lines, joined
		took                    string // both sides after it
	}{
		{"the same line", `a\nb\nc\n`, `a\nx\nc\n`, `a\nmine\nc\n`, "mine", `a\nx\nc\n`},
		{"more lines than context has", `a\nb\nc\n`, `a\nx\nc\n`, `a\n1\n2\n3\n4\n5\nc\n`, "1 2 3 4 5", `a\nx\nc\n`},
		{"between two hunks", `a\nb\nc\nd\n`, `a\nx\ny\nd\n`, `a\nb\nmine\nc\nd\n`, "mine", `a\nx\ny\nd\n`},
		{"and elsewhere", `a\nb\nc\nd\n`, `a\nx\nc\nd\n`, `a\nmine\nc\nours\n`, "mine", `a\nx\nc\nours\n`},
		{"nothing", `a\nb\n`, `a\nx\n`, `a\nb\n`, "", `a\nx\n`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(moded(t, c.base))
			r.Observe(moded(t, c.agent), agents["agent"])
			r.ObserveBaseline(moded(t, c.real))
			real, both := r.Baseline(), r.Current()
			var ids []uint64
			var beside []string
			for _, h := range r.HunksBeside() {
				ids = append(ids, h.ID)
				for _, i := range h.Beside {
					beside = append(beside, h.Lines[i][1:])
				}
			}
			require.Equal(t, c.beside, strings.Join(beside, " "))
			require.Equal(t, moded(t, c.real), normal(real))
			shown := r.Hunks()
			done, err := r.Replace(ids)
			require.NoError(t, err)
			for range 2 {
				require.Equal(t, moded(t, c.took), normal(r.Baseline()))
				require.Equal(t, moded(t, c.took), normal(r.Current()))
				wellFormed(t, r)
				require.NoError(t, r.Undo(done))
				require.Equal(t, real, r.Baseline())
				require.Equal(t, both, r.Current())
				require.Equal(t, shown, r.Hunks())
				wellFormed(t, r)
				r = reloaded(t, r)
				done, err = r.Redo(done)
				require.NoError(t, err)
			}
			// Typing at the end, by a person, does not stand in the way.
			typed := normal(r.Baseline())
			typed.Data = append(slices.Clone(typed.Data), "typed\n"...)
			r.ObserveBaseline(typed)
			require.NoError(t, r.Undo(done))
			require.Equal(t, string(normal(real).Data)+"typed\n", string(normal(r.Baseline()).Data))
			wellFormed(t, r)
		})
	}
}

// TestOnePlaceIsOneConflict: a person saves one edit of what an agent has changed in a copy. There is one hunk, however the edit lies in it, and
// what is chosen there is what the file holds, by each order of undo and redo.
func TestOnePlaceIsOneConflict(t *testing.T) {
	for _, c := range []struct{ name, base, agent, real, both string }{
		{"the middle line of three", `a\nb\nc\nd\ne\n`, `a\nB\nC\nD\ne\n`, `a\nb\nmine\nd\ne\n`, `a\nmine\nB\nC\nD\ne\n`},
		{"the last line of two", `a\nb\nc\nd\n`, `a\nB\nC\nd\n`, `a\nb\nmine\nd\n`, `a\nmine\nB\nC\nd\n`},
		{"the first line of two", `a\nb\nc\nd\n`, `a\nB\nC\nd\n`, `a\nmine\nc\nd\n`, `a\nmine\nB\nC\nd\n`},
		{"all lines", `a\nb\nc\nd\n`, `a\nB\nC\nd\n`, `a\nmine\nours\nd\n`, `a\nmine\nours\nB\nC\nd\n`},
		{"two lines apart", `a\nb\nc\nd\ne\n`, `a\nx\ne\n`, `a\nmine\nc\nours\ne\n`, `a\nmine\nours\nx\ne\n`},
		{"typed between two", `a\nb\nc\nd\n`, `a\nx\nd\n`, `a\nb\nmine\nc\nd\n`, `a\nmine\nx\nd\n`},
		{"a line that was only deleted", `a\nb\nc\n`, `a\nc\n`, `a\nmine\nc\n`, `a\nmine\nc\n`},
		{"one of three that were only deleted", `a\nb\nc\nd\ne\n`, `a\ne\n`, `a\nb\nmine\nd\ne\n`, `a\nmine\ne\n`},
		{"three for one that was only deleted", `a\nb\nc\n`, `a\nc\n`, `a\n1\n2\n3\nc\n`, `a\n1\n2\n3\nc\n`},
		{"one for two that were only deleted", `a\nb\nc\nd\n`, `a\nd\n`, `a\nmine\nd\n`, `a\nmine\nd\n`},
		{"typed between two that were only deleted", `a\nb\nc\nd\n`, `a\nd\n`, `a\nb\nmine\nc\nd\n`, `a\nmine\nd\n`},
		{"a line of a file that was deleted", `a\nb\nc\n`, `-`, `a\nmine\nc\n`, `mine\n`},
		{"a line behind those of a file that was deleted", `a\n`, `-`, `a\nmine\n`, `mine\n`},
		{"the only line of a file that was deleted", `a\n`, `-`, `mine\n`, `mine\n`},
		{"the only line, emptied", `a\n`, ``, `mine\n`, `mine\n`},
		{"the only line, without its end", `a`, ``, `mine`, `mine`},
	} {
		choices := map[string]func(*Review, []uint64) (Decision, error){
			c.real:  func(r *Review, ids []uint64) (Decision, error) { return r.Decide(ids, false, nil) },
			c.agent: func(r *Review, ids []uint64) (Decision, error) { return r.Replace(ids) },
			c.both:  func(r *Review, ids []uint64) (Decision, error) { return r.Decide(ids, true, nil) },
		}
		for want, choose := range choices {
			t.Run(c.name, func(t *testing.T) {
				r := New(moded(t, c.base))
				r.Observe(moded(t, c.agent), agents["agent"])
				r.ObserveBaseline(moded(t, c.real))
				was := r.Copy()
				require.Len(t, r.Hunks(), 1)
				h := r.HunksBeside()[0]
				require.NotEmpty(t, h.Beside)
				require.True(t, r.IsBeside(h.ID))
				d, err := choose(r, []uint64{h.ID})
				for range 2 {
					require.NoError(t, err)
					require.Equal(t, moded(t, want), normal(r.Baseline()))
					require.Equal(t, moded(t, want), normal(r.Current()))
					require.Empty(t, r.Hunks())
					wellFormed(t, r)
					r, d = reloaded(t, r), stored(t, d)
					require.NoError(t, r.Undo(d))
					sameReview(t, was, r, "undo")
					require.Equal(t, h, r.HunksBeside()[0])
					d, err = r.Redo(d)
				}
				// Whatever a person types elsewhere, an undo opens the same conflict.
				if len(c.agent) == 0 || c.agent == "-" {
					return // there is no line to find the place by
				}
				more := normal(r.Baseline())
				more.Data = append([]byte("more\n"), more.Data...)
				r.ObserveBaseline(more)
				require.NoError(t, r.Undo(d))
				again := r.HunksBeside()
				require.Len(t, again, 1)
				require.Equal(t, len(h.Beside), len(again[0].Beside))
				require.Equal(t, "more\n"+string(normal(was.Baseline()).Data), string(normal(r.Baseline()).Data))
				wellFormed(t, r)
			})
		}
	}
}

// TestUndoOfARejectOfWhatIsPendingAgain: an agent has made a rejected change again. The undo of the reject puts no line there twice.
func TestUndoOfARejectOfWhatIsPendingAgain(t *testing.T) {
	r := New(content("a\nb\nc\n"))
	r.Observe(content("a\nx\nc\n"), &Source{TurnID: "1"})
	d, err := r.Decide([]uint64{r.Hunks()[0].ID}, false, nil)
	require.NoError(t, err)
	r.Observe(content("a\nx\nc\n"), &Source{TurnID: "2"})
	require.NoError(t, r.Undo(d))
	require.Equal(t, "a\nx\nc\n", string(r.Current().Data))
	require.Equal(t, `1,3 1,3: a|-b|+x| c`, described(r))
	wellFormed(t, r)
}
