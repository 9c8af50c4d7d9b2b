package diffs

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A told is what happens to a file, in the words of the tests about a rewind.
type told struct {
	turn string // "": a person's, or a decision
	text string
	do   string // "": writes text
}

// hunkIDs returns the ids of all hunks.
func hunkIDs(r *Review) (ids []uint64) {
	for _, h := range r.Hunks() {
		ids = append(ids, h.ID)
	}
	return ids
}

// toldTo lets a review go through what is told.
func toldTo(t *testing.T, r *Review, acts []told) *Review {
	for _, a := range acts {
		var src *Source
		if a.turn != "" {
			src = by("s", a.turn)
		}
		switch a.do {
		case "":
			c := file(a.text)
			r.Observe(c, src)
		case "gone":
			r.Observe(Content{}, src)
		case "link":
			r.Observe(Content{Exists: true, Target: a.text}, src)
		case "move":
			from := r.Path()
			if from == "" {
				from = "f"
			}
			r.Rename(from, a.text, src)
		case "exec":
			c := r.Current()
			c.Mode = 0o755
			r.Observe(c, src)
		case "accept":
			if ids := hunkIDs(r); len(ids) > 0 {
				_, err := r.Decide(ids, true, nil)
				require.NoError(t, err)
			}
		case "reject and undo":
			d, err := r.Decide(hunkIDs(r), false, nil)
			require.NoError(t, err)
			r = restored(t, r)
			require.NoError(t, r.Undo(passed(t, d)))
		case "rewind and undo":
			d, _, err := r.Rewind(Undone{"s", []string{a.text}})
			require.NoError(t, err)
			r = restored(t, r)
			require.NoError(t, r.Undo(passed(t, d)))
		}
		r = restored(t, r)
	}
	return r
}

// passed returns a decision as it comes back from the store.
func passed(t *testing.T, d Decision) (back Decision) {
	data, err := json.Marshal(d)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &back))
	return back
}

// TestRewindAfterAnUndo takes a turn back after a decision was undone: that is as if nobody had decided.
func TestRewindAfterAnUndo(t *testing.T) {
	undone := told{do: "reject and undo"}
	for _, c := range []struct {
		name string
		base Content
		acts []told
		turn string
		want Content
		path string
	}{
		{
			name: "removed and written anew", base: file("a\nb\nc\n"),
			acts: []told{{turn: "1", do: "gone"}, {turn: "1", text: "a\nnew\n"}, undone}, turn: "1", want: file("a\nb\nc\n"),
		},
		{
			name: "a text that became a link", base: file("a\nb\n"),
			acts: []told{{turn: "1", do: "link", text: "x"}, undone, {do: "accept"}}, turn: "1", want: file("a\nb\n"),
		},
		{
			name: "a link that became a text", base: Content{Exists: true, Target: "x"},
			acts: []told{{turn: "1", text: "a\nb\n"}, undone, {do: "accept"}}, turn: "1", want: Content{Exists: true, Target: "x"},
		},
		{
			name: "moved twice", base: file("a\nb\nc\n"),
			acts: []told{{turn: "1", do: "move", text: "g"}, {turn: "2", do: "move", text: "h"}, {turn: "2", text: "a\nB\nc\n"}, undone},
			turn: "2", want: file("a\nb\nc\n"), path: "g",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := toldTo(t, New(c.base), c.acts)
			was := r.Copy()
			d, left, err := r.Rewind(Undone{"s", []string{c.turn}})
			require.NoError(t, err)
			require.Equal(t, Left{}, left)
			require.Equal(t, c.want, r.Current())
			require.Equal(t, c.path, r.Path())
			require.NoError(t, r.Undo(d))
			requireSame(t, was, r)
		})
	}
}

// TestRewindOfAFileWrittenAnew takes back a turn that has removed a file and written it anew, in one call or in two.
func TestRewindOfAFileWrittenAnew(t *testing.T) {
	for _, second := range []string{"1", "2"} {
		r := New(file("a\nb\nc\nd\ne\n"))
		r = toldTo(t, r, []told{{turn: "1", do: "gone"}, {turn: second, text: "a\nb\nnew\n"}})
		_, left, err := r.Rewind(Undone{"s", []string{"1", "2"}})
		require.NoError(t, err)
		require.Equal(t, Left{}, left)
		require.Equal(t, file("a\nb\nc\nd\ne\n"), r.Current())
		require.False(t, r.Pending())
	}
}

// requireRewound takes turns back to where their file was like began, and then takes that back.
func requireRewound(t *testing.T, began, r *Review, turns ...string) {
	was := r.Copy()
	d, left, err := r.Rewind(Undone{"s", turns})
	if err != nil {
		require.ErrorIs(t, err, ErrNotFound)
	}
	require.Equal(t, Left{}, left)
	requireAsBefore(t, began, r)
	for _, h := range r.Hunks() {
		require.NotEmpty(t, h.Sources)
		for _, src := range h.Sources {
			require.NotContains(t, turns, src.TurnID)
		}
	}
	r = restored(t, r)
	requireAsBefore(t, began, r)
	if err == nil {
		require.NoError(t, r.Undo(passed(t, d)))
		requireSame(t, was, r)
		require.Equal(t, was.History(7), r.History(7))
	}
}

// requireAsBefore compares what a person sees of two reviews.
func requireAsBefore(t *testing.T, want, got *Review) {
	require.Equal(t, want.Current(), got.Current())
	require.Equal(t, want.Path(), got.Path())
	require.Equal(t, want.Baseline(), got.Baseline(), "the baseline")
	require.Equal(t, want.OldPath(), got.OldPath())
	require.Equal(t, want.Kind(), got.Kind())
	told := func(r *Review) (hunks []string) {
		for _, h := range r.Hunks() {
			hunks = append(hunks, fmt.Sprint(h.Kind, h.OldStart, h.NewStart, h.Lines))
		}
		return hunks
	}
	require.Equal(t, told(want), told(got))
}

// TestRewindOfWhatWasPendingAsAWhole takes a turn back that has changed as a whole what an earlier one had: that is pending as before.
func TestRewindOfWhatWasPendingAsAWhole(t *testing.T) {
	abc := file("a\nb\nc\n")
	to := func(do, text string) func(turn string) told {
		return func(turn string) told { return told{turn: turn, do: do, text: text} }
	}
	type does = func(turn string) told
	for _, c := range []struct {
		name     string
		base     Content
		one, two []does
	}{
		{"removed, made again with another text", abc, []does{to("gone", "")}, []does{to("", "a\nq\n")}},
		{"removed, made again", abc, []does{to("gone", "")}, []does{to("", "a\nb\nc\n")}},
		{"removed, made again, removed", abc, []does{to("gone", "")}, []does{to("", "a\nq\n"), to("gone", "")}},
		{"removed, made a link", abc, []does{to("gone", "")}, []does{to("link", "x")}},
		{"moved twice", abc, []does{to("move", "g")}, []does{to("move", "h")}},
		{"moved and back", abc, []does{to("move", "g")}, []does{to("move", "f")}},
		{"moved, removed", abc, []does{to("move", "g")}, []does{to("gone", "")}},
		{"mode, written anew", abc, []does{to("exec", "")}, []does{to("gone", ""), to("", "a\nb\nc\n")}},
		{"mode, removed", abc, []does{to("exec", "")}, []does{to("gone", "")}},
		{"mode and back", abc, []does{to("exec", "")}, []does{to("", "a\nb\nc\n")}},
		{"a line removed, written elsewhere", abc, []does{to("", "a\nb\n")}, []does{to("", "a\nl5\nb\nl4\nc\n")}},
		{"a line removed, written, removed", abc, []does{to("", "l6\nb\nc\n")}, []does{to("", "a\nq\nc\n"), to("", "r\nc\n")}},
		{"a line changed, others written back", abc, []does{to("", "a\nl2\nc\n")}, []does{to("", "l3\nl2\nc\n"), to("", "a\nb\nc\n")}},
		{"another text, the first one again", abc, []does{to("", "fresh\n")}, []does{to("", "a\nb\nc\n")}},
		{"edited, a link, another text", abc, []does{to("", "a\nl4\nc\n")}, []does{to("link", "x"), to("", "l5\nb\nc\n")}},
		{"edited, removed", abc, []does{to("", "a\nB\nc\n")}, []does{to("gone", "")}},
		{"edited, made a link", abc, []does{to("", "a\nB\nc\n")}, []does{to("link", "x")}},
		{"made a link, another link", abc, []does{to("link", "x")}, []does{to("link", "y")}},
		{"made a link, a text again", abc, []does{to("link", "x")}, []does{to("", "a\nb\nc\n")}},
		{"made a link, another text", abc, []does{to("link", "x")}, []does{to("", "a\nB\nc\n")}},
		{"a new link, another link", Content{}, []does{to("link", "x")}, []does{to("link", "y")}},
		{"a new link, removed", Content{}, []does{to("link", "x")}, []does{to("gone", "")}},
		{"a new empty file, removed", Content{}, []does{to("", "")}, []does{to("gone", "")}},
		{"a new file, removed, made a link", Content{}, []does{to("", "a\n")}, []does{to("gone", ""), to("link", "x")}},
		{"a link made a text, edited", Content{Exists: true, Target: "x"}, []does{to("", "a\n")}, []does{to("", "a\nb\n")}},
		{"a link made a text, removed", Content{Exists: true, Target: "x"}, []does{to("", "a\n")}, []does{to("gone", "")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var one, two []told
			for _, do := range c.one {
				one = append(one, do("1"))
			}
			for _, do := range c.two {
				two = append(two, do("2"))
			}
			began := toldTo(t, New(c.base), one)
			requireRewound(t, began, toldTo(t, began.Copy(), two), "2")
			began.Decide(hunkIDs(began), true, nil)
			requireRewound(t, began, toldTo(t, began.Copy(), two), "2")
			began = toldTo(t, New(c.base), one)
			began.Decide(hunkIDs(began), false, nil)
			requireRewound(t, began, toldTo(t, began.Copy(), two), "2")
		})
	}
}

// TestRewindOfARemovalThatIsVoid takes a removal back after a later turn has written the lines again: they are there once.
func TestRewindOfARemovalThatIsVoid(t *testing.T) {
	for _, back := range [][]told{nil, {{do: "rewind and undo", text: "2"}}} {
		r := New(file("x\ny\n"))
		r = toldTo(t, r, append([]told{{turn: "1", do: "gone"}, {turn: "2", text: "x\ny\nz\n"}}, back...))
		_, _, err := r.Rewind(Undone{"s", []string{"1"}})
		require.ErrorIs(t, err, ErrNotFound)
		require.Equal(t, "x\ny\nz\n", string(r.Current().Data))
		requireRewound(t, New(file("x\ny\n")), r, "1", "2")
	}
	r := New(file("a\nb\nc\n"))
	r = toldTo(t, r, []told{{turn: "1", text: "a\n"}, {turn: "2", text: "a\nb\n"}})
	_, left, err := r.Rewind(Undone{"s", []string{"1"}})
	require.NoError(t, err)
	require.Equal(t, Left{}, left)
	require.Equal(t, "a\nb\nc\n", string(r.Current().Data))
}
