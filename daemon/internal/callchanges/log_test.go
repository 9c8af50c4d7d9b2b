package callchanges

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
	"cursord/sessions"
)

func text(s string) diffs.Content { return diffs.Content{Exists: true, Data: []byte(s)} }

func by(item string) *diffs.Source { return &diffs.Source{TurnID: "t", ItemID: item} }

// began returns a log in which a turn runs, and the items that it has given out, as a store has them.
func began(t *testing.T) (l *Log, take func() []string) {
	stored := map[string]Call{}
	l = &Log{Stored: func(item string) *sessions.Item {
		c, known := stored[item]
		require.True(t, known, "%s was given out", item)
		return &sessions.Item{Changes: c.Changes, MoreChanges: c.More}
	}}
	l.Begin("t")
	return l, func() (said []string) {
		for _, c := range l.Take() {
			stored[c.ItemID] = c
			for _, one := range c.Changes {
				said = append(said, fmt.Sprintf("%s: %s %s +%d -%d", c.ItemID, one.Kind, one.Path, one.Added, one.Removed))
			}
			if len(c.Changes) == 0 {
				said = append(said, c.ItemID+": nothing")
			}
		}
		return said
	}
}

func TestChangesOfCalls(t *testing.T) {
	f, g := Place{Path: "f"}, Place{Path: "g"}
	l, take := began(t)
	l.Note(f, "", text("a\n"), text("b\n"), by("1"))
	l.Note(f, "", text("a\n"), text("b\n"), &diffs.Source{TurnID: "other", ItemID: "1"})
	l.Note(f, "", text("a\n"), text("b\n"), nil)
	l.Note(g, "", text("a\n"), text("a\n"), by("1"))
	require.Empty(t, take(), "it has not ended")
	l.Ended("t", "1", "2", "3", "4", "5")
	require.Equal(t, []string{"1: modified f +1 -1"}, take())
	require.Empty(t, take(), "once")

	// A call that goes on has one change of the file; behind a person's it has another.
	l.Note(f, "", text("b\n"), text("b\nc\n"), by("1"))
	require.Equal(t, []string{"1: modified f +2 -1"}, take())
	l.Note(f, "", text("x\n"), text("x\ny\n"), by("1"))
	require.Equal(t, []string{"1: modified f +2 -1", "1: modified f +1 -0"}, take())

	// What is taken back is gone; a first part of it stays.
	l.Note(g, "", diffs.Content{}, text("1\n"), by("2"))
	l.Note(g, "", text("1\n"), text("1\n2\n"), by("2"))
	l.TakeBack(g, text("1\n"), text("somebody's\n"))
	require.Equal(t, []string{"2: created g +2 -0"}, take())
	l.TakeBack(g, text("1\n"), text("1\n2\n"))
	require.Equal(t, []string{"2: created g +1 -0"}, take())
	l.TakeBack(g, diffs.Content{}, text("1\n"))
	require.Equal(t, []string{"2: nothing"}, take())

	l.Note(g, "", text("1\n"), text("2\n"), by("3"))
	l.Note(g, "", text("2\n"), text("1\n"), by("3"))
	require.Equal(t, []string{"3: nothing"}, take(), "it has taken that back itself")

	l.Note(Place{Path: "new"}, "old", text("1\n"), text("1\n"), by("4"))
	l.Note(Place{Path: "new"}, "", text("1\n"), text("2\n"), by("4"))
	l.Found(g, nil, text("?"), by("4"))
	require.Equal(t, []string{"4: renamed new +1 -1", "4: modified g +0 -0"}, take())

	// A call that has been dropped is read again.
	l.Note(f, "", diffs.Content{}, text(strings.Repeat("x\n", 20_000)), by("5"))
	for i := range 40 {
		item := fmt.Sprint("more ", i)
		l.Ended("t", item)
		l.Note(f, "", diffs.Content{}, text(strings.Repeat("x\n", 20_000)), by(item))
	}
	take()
	require.NotContains(t, l.calls, "1")
	l.Note(g, "", text("1\n"), text("2\n"), by("1"))
	require.Equal(t, []string{"1: modified f +2 -1", "1: modified f +1 -0", "1: modified g +1 -1"}, take())

	// The calls of a killed agent have ended with their turn.
	l.Note(f, "", text("1\n"), text("2\n"), by("killed"))
	require.Empty(t, take())
	l.EndTurn("t")
	require.Equal(t, []string{"killed: modified f +1 -1"}, take())
	require.Zero(t, len(l.calls)+len(l.latest)+len(l.turns)+len(l.news)+l.held+l.kept)
	l.Note(f, "", text("1\n"), text("2\n"), by("killed"))
	require.Empty(t, take())

	// The calls of a killed daemon's turn may have stored some.
	l.Resume("t")
	l.Note(f, "", text("2\n"), text("2\n3\n"), by("killed"))
	require.Empty(t, take())
	l.EndTurn("t")
	require.Equal(t, []string{"killed: modified f +1 -1", "killed: modified f +1 -0"}, take())
}

// TestOpenCallsAreGivenOut: what an open call has changed is given out each time it changes something, and again when it has ended.
func TestOpenCallsAreGivenOut(t *testing.T) {
	l, _ := began(t)
	open := func() (n int) {
		for _, c := range l.Open() {
			require.True(t, c.Open)
			n += len(c.Changes)
		}
		return n
	}
	l.Note(Place{Path: "f"}, "", text("1\n"), text("2\n"), by("1"))
	require.Equal(t, 1, open())
	require.Zero(t, open())
	require.Empty(t, l.Take())
	l.Note(Place{Path: "g"}, "", text("1\n"), text("2\n"), by("1"))
	require.Equal(t, 2, open())
	l.Note(Place{Path: "h"}, "", text("1\n"), text("2\n"), by("1"))
	l.Ended("t", "1")
	require.Zero(t, open())
	all := l.Take()
	require.Len(t, all, 1)
	require.False(t, all[0].Open)
	require.Len(t, all[0].Changes, 3)
}

// TestChangesAreBounded: those of a call take no more than their bounds, and say so.
func TestChangesAreBounded(t *testing.T) {
	l, _ := began(t)
	for i := range MaxFiles + 3 {
		l.Note(Place{Path: fmt.Sprint(i)}, "", diffs.Content{}, text(strings.Repeat("12345678\n", 1000)), by("1"))
	}
	l.Ended("t", "1")
	c := l.Take()[0]
	require.Len(t, c.Changes, MaxFiles)
	require.Equal(t, 3, c.More)
	size, cut := 0, 0
	for _, one := range c.Changes {
		require.Equal(t, 1000, one.Added)
		size += len(one.Patch)
		if one.Cut {
			cut++
		}
	}
	require.LessOrEqual(t, size, MaxPatch)
	require.Equal(t, MaxFiles-6, cut, "six are whole")

	for i := range 20 {
		l.Note(Place{Path: fmt.Sprint(i)}, "", text(strings.Repeat("x", 1<<20)), text("y"), by("2"))
	}
	require.LessOrEqual(t, l.held, maxHeld)
}

// TestRefusedCalls: people are told, once, of a refused call that has changed something.
func TestRefusedCalls(t *testing.T) {
	l, take := began(t)
	var said []string
	l.Refused("t", map[int]string{0: "Edit f", 1: "make", 2: "idle", 7: "gone"}, []string{"1", "2", "3"}, func(text string) { said = append(said, text) })
	l.Refused("other", map[int]string{0: "x"}, []string{"1"}, nil)
	l.Ended("t", "1", "2", "3")
	sure, unsure := by("1"), by("2")
	sure.Via, unsure.Via = diffs.ViaEdit, diffs.ViaUnknown
	l.Note(Place{Path: "f"}, "", text("a\n"), text("b\n"), sure)
	l.Note(Place{Path: "g"}, "", text("a\n"), text("b\n"), unsure)
	l.Note(Place{Path: "h"}, "", text("a\n"), text("b\n"), unsure)
	require.Empty(t, said)
	take()
	l.Note(Place{Path: "f"}, "", text("b\n"), text("c\n"), sure)
	take()
	require.Equal(t, []string{
		"The agent did this although it was refused: Edit f. It has changed f.",
		"The agent may have done this although it was refused: make. Since it asked, g and 1 other file have changed, and nobody has said who did that.",
	}, said)
}

// TestRefusedCallOfAnOpenFile: while a client has a file open that a refused call may have changed, people are told only when the turn is over, and
// not at all if the change is taken back before.
func TestRefusedCallOfAnOpenFile(t *testing.T) {
	l, take := began(t)
	l.Opened = func(path string) bool { return path != "shut" }
	var said []string
	l.Refused("t", map[int]string{0: "Edit f", 1: "Edit g"}, []string{"1", "2"}, func(text string) { said = append(said, text) })
	l.Ended("t", "1", "2")
	for item, path := range map[string]string{"1": "f", "2": "g"} {
		src := by(item)
		src.Via = diffs.ViaEdit
		l.Note(Place{Path: path}, "", text("a\n"), text("b\n"), src)
	}
	take()
	l.TakeBack(Place{Path: "g"}, text("a\n"), text("b\n"))
	take()
	require.Empty(t, said)
	l.EndTurn("t")
	take()
	require.Equal(t, []string{"The agent did this although it was refused: Edit f. It has changed f."}, said)
}
