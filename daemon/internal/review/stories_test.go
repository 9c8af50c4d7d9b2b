package review

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cursord/daemon/api"
	"cursord/sessions"
)

// Each run draws the same cases; -rapid.seed draws others.
func init() { _ = flag.Set("rapid.seed", "1") }

// daemon plays a step of the daemon or the agent. The editor makes the edits that come of it, at once or later.
func (s *story) daemon(accept, later, editor bool, do func()) {
	before, client := s.state(), s.client(editor)
	do()
	if !later {
		s.applies()
	}
	after := s.state()
	if accept {
		for l := range before.removed(client) {
			s.accepted[l] = true
		}
	}
	s.once(after, "after a step of the daemon")
	s.kept(before, after, s.accepted)
}

// A step is a step of a story, with its words in Go, for TestFoundStories.
type step struct {
	words string
	do    func(s *story)
}

// does plays a step.
func (s *story) does(do func(s *story), words string, args ...any) {
	s.steps = append(s.steps, step{fmt.Sprintf(words, args...), do})
	do(s)
}

// client returns the editor or the command line.
func (s *story) client(editor bool) api.ClientID {
	if editor {
		return s.editor
	}
	return s.command
}

// arrive has the editor make the edits that are on their way, or say that it does not.
func (s *story) arrive(t *rapid.T) {
	switch {
	case s.coming == nil:
	case rapid.IntRange(0, 3).Draw(t, "declines") == 0:
		s.does(func(s *story) { s.declines() }, "s.declines()")
	default:
		s.does(func(s *story) { s.daemon(false, false, true, func() {}) }, "s.applies()")
	}
}

// TestStories plays random stories of one file.
func TestStories(t *testing.T) {
	store, dir, n := storyStore(t), t.TempDir(), 0
	var last *story
	defer func() {
		if t.Failed() && last != nil {
			t.Log("without the steps that are not needed:\n" + shortest(store, dir, last.steps))
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		n++
		root := filepath.Join(dir, fmt.Sprint(n))
		require.NoError(t, os.Mkdir(root, 0o755))
		s := newStory(t, store, root, 8)
		last = s
		defer func() { s.r.Close(); os.RemoveAll(root) }()
		s.agentAny(t)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			s.any(t)
		}
		s.arrive(t)
		accept := rapid.Bool().Draw(t, "accept")
		s.does(func(s *story) { s.ends(accept) }, "s.ends(%v)", accept)
	})
}

func (s *story) span(t *rapid.T, text string) (at, count, add int) {
	at = rapid.IntRange(0, strings.Count(text, "\n")).Draw(t, "at")
	count, add = rapid.IntRange(0, 2).Draw(t, "count"), rapid.IntRange(0, 2).Draw(t, "add")
	return at, count, add
}

func (s *story) agentAny(t *rapid.T) {
	at, count, add := s.span(t, s.disk())
	s.does(func(s *story) { s.daemon(false, true, true, func() { s.agent(at, count, add) }) }, "s.agent(%d, %d, %d)", at, count, add)
}

// any plays a random step.
func (s *story) any(t *rapid.T) {
	editor := rapid.SampledFrom([]bool{true, true, false}).Draw(t, "editor")
	what := rapid.SampledFrom([]string{
		"agent", "type", "type", "editor undo", "editor undo", "editor redo", "save", "save", "other", "reads", "reads", "reload", "decide", "decide", "decide",
		"undo", "undo", "redo", "undo and redo", "merge", "restart", "closes",
	}).Draw(t, "what")
	later := rapid.IntRange(0, 3).Draw(t, "later") == 0
	if what != "agent" && what != "other" && what != "restart" && (editor || !later) {
		s.arrive(t)
	}
	who := map[bool]string{true: "s.editor", false: "s.command"}[editor]
	applies := map[bool]string{false: "; s.applies()"}[later]
	switch what {
	case "agent":
		s.agentAny(t)
	case "type":
		s.arrive(t)
		at, count, add := s.span(t, s.text)
		s.does(func(s *story) { s.types(at, count, add) }, "s.types(%d, %d, %d)", at, count, add)
	case "editor undo", "editor redo":
		s.arrive(t)
		by := rapid.IntRange(1, 3).Draw(t, "by")
		if what == "editor undo" {
			by = -by
		}
		s.does(func(s *story) { s.walks(by) }, "s.walks(%d)", by)
	case "save":
		s.arrive(t)
		s.does(func(s *story) { s.saves() }, "s.saves()")
	case "other":
		at, count, add := s.span(t, s.disk())
		s.does(func(s *story) { s.other(at, count, add) }, "s.other(%d, %d, %d)", at, count, add)
	case "reads":
		s.arrive(t)
		s.does(func(s *story) { s.reads() }, "s.reads()")
	case "closes":
		s.does(func(s *story) { s.closes() }, "s.closes()")
	case "reload":
		s.does(func(s *story) { s.reloads() }, "s.reloads()")
	case "decide":
		s.decideAny(t, editor, later)
	case "undo":
		s.does(func(s *story) { s.daemon(true, later, editor, func() { s.undoes(s.client(editor)) }) }, "s.undoes(%s)%s", who, applies)
	case "redo":
		s.does(func(s *story) { s.daemon(true, later, editor, func() { s.redoes(s.client(editor)) }) }, "s.redoes(%s)%s", who, applies)
	case "undo and redo":
		s.arrive(t)
		s.does(func(s *story) { s.undoAndRedo(editor) }, "s.undoAndRedo(%v)", editor)
	case "merge":
		s.does(func(s *story) { s.daemon(false, later, editor, func() { s.merges() }) }, "s.merges()%s", applies)
	case "restart":
		s.does(func(s *story) { s.daemon(false, false, editor, func() { s.restarts() }) }, "s.restarts()")
	}
	if rapid.Bool().Draw(t, "look") {
		s.does(func(s *story) { s.once(s.state(), "after a look") }, "s.looks()")
	}
}

func (s *story) decideAny(t *rapid.T, editor, later bool) {
	dec, at := api.Decision{All: true, Accept: rapid.Bool().Draw(t, "accept")}, -1
	if d := s.looks()[s.client(editor)]; d != nil && rapid.Bool().Draw(t, "one") {
		h := rapid.SampledFrom(d.Hunks).Draw(t, "hunk")
		at = slices.IndexFunc(d.Hunks, func(o sessions.Hunk) bool { return o.ID == h.ID })
		dec.Both = dec.Accept && canHaveBoth(h) && rapid.Bool().Draw(t, "both")
		if n := changedLines(h); h.State == "" && n > 0 && rapid.IntRange(0, 3).Draw(t, "lines") == 0 {
			from := rapid.IntRange(0, n-1).Draw(t, "from")
			dec.Lines = &api.LineRange{From: from, To: rapid.IntRange(from+1, n).Draw(t, "to")}
		}
	}
	words := fmt.Sprintf("s.decides(%s, all(%v))", map[bool]string{true: "s.editor", false: "s.command"}[editor], dec.Accept)
	if at >= 0 {
		lines := ""
		if dec.Lines != nil {
			lines = fmt.Sprintf(", Lines: &api.LineRange{From: %d, To: %d}", dec.Lines.From, dec.Lines.To)
		}
		words = fmt.Sprintf("s.decidesOne(%v, %d, api.Decision{Accept: %v, Both: %v%s})", editor, at, dec.Accept, dec.Both, lines)
	}
	s.does(func(s *story) {
		s.looks()
		if dec.Accept {
			s.approve(editor)
		}
		s.daemon(dec.Accept && !dec.Both, later, editor, func() {
			if at >= 0 {
				s.decidesOne(editor, at, dec)
			} else {
				s.decides(s.client(editor), dec)
			}
		})
	}, "%s%s", words, map[bool]string{false: "; s.applies()"}[later])
}

// canHaveBoth reports whether both sides of a conflict can be accepted: no old line would be there twice after an undo.
func canHaveBoth(h sessions.Hunk) bool {
	return h.State == "conflict" && !slices.ContainsFunc(h.Lines, func(l string) bool { return l[0] == '-' && !strings.HasPrefix(l, "-mine") })
}

// decidesOne decides the hunk that a client sees at a place of the list; without so many hunks, it does nothing.
func (s *story) decidesOne(editor bool, at int, dec api.Decision) {
	if d := s.looks()[s.client(editor)]; d != nil && at < len(d.Hunks) {
		h := d.Hunks[at]
		dec.All, dec.Hunks, dec.Both = false, []string{h.ID}, dec.Both && canHaveBoth(h)
		s.decides(s.client(editor), dec)
	}
}

func changedLines(h sessions.Hunk) (n int) {
	for _, l := range h.Lines {
		if l[0] != ' ' {
			n++
		}
	}
	return n
}

// undoAndRedo requires that a redo makes what an undo has taken back.
func (s *story) undoAndRedo(editor bool) {
	client := s.client(editor)
	before := s.state()
	undone, again, calm, out := error(nil), error(nil), s.calm, api.Decided{}
	s.daemon(true, false, editor, func() { out, undone = s.undoes(client) })
	if undone != nil {
		return
	}
	between := s.state()
	s.tell("between: %s / %s", short(between.disk), short(between.text))
	if calm {
		seen := func(st state) []string { return append(shapes(st), st.disk, st.text) }
		require.NotEqual(s.t, seen(before), seen(between), "an undo that brings nothing back\n%s", strings.Join(s.told, "\n"))
	}
	s.daemon(true, false, editor, func() { _, again = s.redoes(client) })
	after := s.state()
	story := strings.Join(s.told, "\n")
	if again != nil { // nothing of it is pending
		require.Equal(s.t, [2]string{before.disk, before.text}, [2]string{after.disk, after.text}, story)
		return
	}
	if between.disk == between.text && before.text == after.disk {
		return // a text that the editor had not changed is the file's, and the redo is made there
	}
	if out.Step.Kind == api.StepReject && between.disk == before.disk && between.text == before.text {
		return // the lines were in a text that was older than the reject
	}
	require.Equal(s.t, [2]string{before.disk, before.text}, [2]string{after.disk, after.text}, story)
	if calm {
		require.Equal(s.t, shapes(before), shapes(after), story)
	}
}

// shapes returns the hunks that clients see.
func shapes(st state) (hunks []string) {
	for client, d := range st.seen {
		for _, h := range d.Hunks {
			hunks = append(hunks, fmt.Sprint(client, h.ID, h.State, h.Lines))
		}
	}
	return slices.Sorted(slices.Values(hunks))
}

// ends has the person save, and decide everything.
func (s *story) ends(accept bool) {
	s.reads()
	if s.text != s.saved || s.disk() != s.text {
		s.saves()
	}
	s.once(s.state(), "at the end")
	if accept {
		s.approve(true)
	}
	s.daemon(accept, false, true, func() {
		_, err := s.decides(s.editor, api.Decision{All: true, Accept: accept})
		require.NoError(s.t, err)
	})
	if s.text != s.saved {
		s.saves()
	}
	s.reads()
	st := s.state()
	story := strings.Join(s.told, "\n")
	require.Empty(s.t, st.seen, "everything is decided\n%s", story)
	require.Equal(s.t, st.disk, st.text, story)
}
