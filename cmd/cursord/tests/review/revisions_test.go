//go:build unix

package review

import (
	"encoding/json"
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

// TestRevisionsNameOneState plays agents, isolated agents, people and two editors with unsaved texts at random, with
// decisions, restarts and crashes in between. One revision of a path never has two contents, for any client at any time; for
// one connection revisions only grow; and a decision with an old revision is refused.
func TestRevisionsNameOneState(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			s := newRevisionScenario(t, seed)
			for range 80 {
				s.step()
			}
			require.Positive(t, s.unsaved, "an unsaved text was seen")
			require.Greater(t, len(s.contents), 40, "states were seen")
		})
	}
}

// A revisionScenario remembers the content of each revision that a client saw.
type revisionScenario struct {
	t        *testing.T
	w        *world.World
	random   *rand.Rand
	people   []*revisionEditor
	isolated *sessions.Session
	contents map[string]string   // by path and revision
	revs     map[string][]uint64 // by path, in the order of their first sight
	unsaved  int                 // how often the two editors had different diffs of a file
	n        int                 // a counter that makes texts differ
	history  []string
}

// A revisionEditor is an editor with its checked notifications, the latest revisions in them, and its open documents.
type revisionEditor struct {
	*world.Editor
	looked int
	latest map[string]uint64
	docs   map[string]*world.Document
}

var revisionPaths = []string{"f", "g"}

func newRevisionScenario(t *testing.T, seed uint64) *revisionScenario {
	s := &revisionScenario{
		t: t, w: world.New(t), random: rand.New(rand.NewPCG(seed, 0)), contents: map[string]string{}, revs: map[string][]uint64{},
	}
	for _, path := range revisionPaths {
		s.w.Put(path, world.Numbered(20, nil))
	}
	s.start()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the steps:\n%s", strings.Join(s.history, "\n"))
		}
	})
	return s
}

func (s *revisionScenario) start() {
	s.w.Start()
	s.people = nil
	for range 2 {
		s.people = append(s.people, &revisionEditor{Editor: s.w.Opens(), latest: map[string]uint64{}, docs: map[string]*world.Document{}})
	}
}

func (s *revisionScenario) step() {
	e, path := s.people[s.random.IntN(len(s.people))], revisionPaths[s.random.IntN(len(revisionPaths))]
	what := s.random.IntN(23)
	s.n++
	s.history = append(s.history, fmt.Sprint("step ", s.n, ": act ", what, " in ", path))
	d := e.docs[path]
	switch what {
	case 0, 1, 2, 3, 4:
		s.w.Plays(world.Lines(world.Edits("c", path, s.w.Get(path), s.changed(s.w.Get(path))))...)
		e.Turn(nil)
	case 5, 6:
		s.isolatedTurn(e, path)
	case 7, 8:
		s.w.Put(path, s.changed(s.w.Get(path)))
	case 9, 10, 11, 12, 13:
		if d == nil {
			d = e.OpenDocument(path)
			e.docs[path] = d
		}
		d.Set(s.changed(d.Text))
	case 14:
		if d != nil {
			d.Save()
		}
	case 15, 16:
		if d != nil {
			d.Closes()
			delete(e.docs, path)
		}
	case 17, 18, 19:
		s.decide(e, path)
	case 20, 21:
		var out rpc.UndoResult
		if e.Call([]string{"diff/undo", "diff/redo"}[s.random.IntN(2)], world.Obj{"workspace": s.w.Root}, &out) == nil {
			s.answered(e, out.Diffs, out.Edits)
		}
	case 22:
		s.look()
		if s.random.IntN(2) == 0 {
			s.w.Kill()
		} else {
			s.w.Stop()
		}
		s.start()
	}
	s.look()
	s.decideStale(s.people[s.random.IntN(len(s.people))], path)
}

// changed returns text with another line somewhere.
func (s *revisionScenario) changed(text string) string {
	all := strings.SplitAfter(text, "\n")
	all[s.random.IntN(len(all))] = fmt.Sprintf("change %d\n", s.n)
	return strings.Join(all, "")
}

// isolatedTurn has an agent change a path in a copy, or deletes the copy's session with its pending hunks.
func (s *revisionScenario) isolatedTurn(e *revisionEditor, path string) {
	if s.isolated != nil && s.random.IntN(3) == 0 {
		e.Must("session/delete", world.Obj{"sessionId": s.isolated.ID}, nil)
		s.isolated = nil
		return
	}
	if s.isolated == nil {
		s.isolated = e.Isolates()
	}
	s.w.Plays(world.Lines(world.Edits("c", path, s.w.Get(path), s.changed(s.w.Get(path))))...)
	e.Turn(world.Obj{"sessionId": s.isolated.ID})
}

// decide accepts or rejects a path or a hunk, at the revision that the editor sees.
func (s *revisionScenario) decide(e *revisionEditor, path string) {
	diff := e.Diffs()[path]
	if diff == nil {
		return
	}
	method, params := "diff/accept", world.Obj{"workspace": s.w.Root, "path": path, "rev": diff.Rev}
	if s.random.IntN(2) == 0 {
		method = "diff/reject"
	}
	if s.random.IntN(2) == 0 {
		delete(params, "path")
		params["hunks"] = world.HunkIDs(diff)[:1]
	}
	var out api.Decided
	if err := e.Call(method, params, &out); err != nil {
		s.failed(err)
		return
	}
	s.answered(e, out.Diffs, out.Edits)
}

// answered notes the diffs of a decision's answer. It makes the answer's edits, or not.
func (s *revisionScenario) answered(e *revisionEditor, diffs []*sessions.Diff, edits []api.DocumentEdits) {
	for _, d := range diffs {
		s.saw(d)
	}
	for _, one := range edits {
		if d := e.docs[one.Path]; d != nil && s.random.IntN(4) > 0 {
			d.Applies([]api.DocumentEdits{one})
		}
	}
}

// failed notes the present diff in a conflict.
func (s *revisionScenario) failed(err error) {
	var failed *rpc.Error
	require.ErrorAs(s.t, err, &failed)
	if failed.Data.Diff != nil {
		s.saw(failed.Data.Diff)
	}
}

// decideStale decides at an old revision, which must be refused.
func (s *revisionScenario) decideStale(e *revisionEditor, path string) {
	past := s.revs[path]
	if len(past) == 0 {
		return
	}
	rev := past[s.random.IntN(len(past))]
	for {
		diff := e.Diffs()[path]
		if diff == nil || rev == diff.Rev {
			return
		}
		err := e.Fails("diff/accept", world.Obj{"workspace": s.w.Root, "path": path, "rev": rev})
		if now := e.Diffs()[path]; now == nil || now.Rev != diff.Rev {
			continue // the daemon has seen meanwhile what the last step did to the disk
		}
		require.Equal(s.t, api.KindConflict, err.Data.Kind)
		require.Equal(s.t, diff.Rev, err.Data.Diff.Rev)
		s.saw(err.Data.Diff)
		return
	}
}

// look notes all diffs that the editors see or were sent.
func (s *revisionScenario) look() {
	seen := map[string]uint64{}
	for _, e := range s.people {
		for path, d := range e.Diffs() {
			s.saw(d)
			if other := seen[path]; other != 0 && other != d.Rev {
				s.unsaved++
			}
			seen[path] = d.Rev
		}
		for all := e.All(); e.looked < len(all); e.looked++ {
			if d := all[e.looked].Diff; all[e.looked].Method == "diff/changed" {
				require.GreaterOrEqual(s.t, d.Rev, e.latest[d.Path], "the revisions of %s grow", d.Path)
				e.latest[d.Path] = d.Rev
				s.saw(d)
			}
		}
	}
}

func (s *revisionScenario) saw(d *sessions.Diff) {
	s.t.Helper()
	shown := *d
	shown.Rev, shown.Seq = 0, 0
	content, err := json.Marshal(shown)
	require.NoError(s.t, err)
	key := fmt.Sprint(d.Path, " ", d.Rev)
	if known, ok := s.contents[key]; ok {
		require.Equal(s.t, known, string(content), "revision %d of %s", d.Rev, d.Path)
		return
	}
	s.contents[key] = string(content)
	if !slices.Contains(s.revs[d.Path], d.Rev) {
		s.revs[d.Path] = append(s.revs[d.Path], d.Rev)
	}
}
