package sessions_test

import (
	"cmp"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	. "cursord/sessions"
)

// Each run draws the same cases; -rapid.seed draws others.
func init() { _ = flag.Set("rapid.seed", "1") }

// A model is the expected contents of a store: the newest seq of each object, by its line in the index.
type model struct {
	seqs    map[string]uint64 // "kind id"
	session map[string]string // of turns and items, by their line
	removed map[string]bool
	seq     uint64
}

func (m *model) alive(session string) bool {
	_, ok := m.seqs["session "+session]
	return ok
}

// put adds an object if the model has its session.
func (m *model) put(o Object, session string) {
	m.seq = o.Sequence()
	kind, id := o.Key()
	line := fmt.Sprint(kind, " ", id)
	switch o := o.(type) {
	case *Session:
		if m.removed[id] {
			return
		}
	case *Turn:
		if !m.alive(session) {
			return
		}
	case *Approval:
		if _, ok := m.seqs["turn "+o.TurnID]; !ok {
			return
		}
	case *Item:
		if _, ok := m.seqs["turn "+o.TurnID]; !ok {
			return
		}
	}
	m.seqs[line], m.session[line] = o.Sequence(), session
}

func (m *model) remove(session string, seq uint64) {
	m.seq = seq
	if !m.alive(session) {
		return
	}
	m.removed[session] = true
	for line, of := range m.session {
		if of == session {
			delete(m.seqs, line)
		}
	}
	m.seqs["session "+session+" X"] = seq
}

func (m *model) index(after uint64) []string {
	var lines []string
	for line, seq := range m.seqs {
		if seq > after {
			lines = append(lines, line)
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Compare(m.seqs[a], m.seqs[b]) })
	for i, line := range lines {
		lines[i] = fmt.Sprintf("%d %s", m.seqs[line], line)
	}
	return lines
}

func TestStoreIsLikeTheModel(t *testing.T) {
	t.Parallel()
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n))
		s, _, err := Open(path, Options{})
		require.NoError(t, err)
		defer func() { s.Close() }()
		m := &model{seqs: map[string]uint64{}, session: map[string]string{}, removed: map[string]bool{}}
		for range rapid.IntRange(1, 12).Draw(rt, "submits") {
			var ops []Op
			for range rapid.IntRange(1, 5).Draw(rt, "ops") {
				seq := m.seq + 1
				sid := rapid.SampledFrom([]string{"s0", "s1", "s2"}).Draw(rt, "session")
				tid := sid + ":t" + rapid.SampledFrom([]string{"0", "1"}).Draw(rt, "turn")
				var o Object
				switch rapid.SampledFrom([]string{"session", "turn", "item", "item", "diff", "remove", "approval"}).Draw(rt, "op") {
				case "session":
					o = session(sid, seq)
				case "turn":
					o = turn(tid, sid, TurnCompleted, seq)
				case "item":
					o = item(tid, sid, rapid.IntRange(0, 3).Draw(rt, "index"), ItemCompleted, seq)
				case "approval":
					o = approval(tid, sid, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "tag"), ApprovalAnswered, seq)
				case "diff":
					o = diff("file-"+sid, "pending", seq)
				default:
					ops = append(ops, RemoveSession{ID: sid, Seq: seq})
					m.remove(sid, seq)
					continue
				}
				of := sid
				if k, _ := o.Key(); k == KindDiff {
					of = ""
				}
				ops = append(ops, Put{Object: o})
				m.put(o, of)
			}
			must(t, s, ops...)
			if rapid.IntRange(0, 9).Draw(rt, "reopen") == 0 {
				require.NoError(t, s.Close())
				s, _, err = Open(path, Options{})
				require.NoError(t, err)
			}
		}
		after := rapid.Uint64Range(0, m.seq).Draw(rt, "after")
		if got, want := index(t, s, after), m.index(after); !slices.Equal(got, want) {
			rt.Fatalf("after %d:\n got %q\nwant %q", after, got, want)
		}
		list, _, err := s.Sessions(root, "", 0)
		require.NoError(t, err)
		alive := 0
		for _, id := range []string{"s0", "s1", "s2"} {
			if m.alive(id) {
				alive++
			}
		}
		if w, err := s.Workspace(root); err != nil || w.Seq != m.seq || w.Sessions != alive || len(list) != alive {
			rt.Fatalf("got %+v and a list of %d, want seq %d and %d sessions", w, len(list), m.seq, alive)
		}
	})
}
