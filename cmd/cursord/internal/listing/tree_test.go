package listing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

func TestTree(t *testing.T) {
	at := func(minute int) sessions.Time {
		return sessions.Time{Time: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}
	}
	session := func(id, from string, made, updated int) *sessions.Session {
		s := &sessions.Session{ID: id, CreatedAt: at(made), UpdatedAt: at(updated)}
		if from != "" {
			s.ForkedFrom = &sessions.Fork{SessionID: from}
		}
		return s
	}
	draw := func(list ...*sessions.Session) (lines []string) {
		for _, n := range tree(list) {
			lines = append(lines, n.branch+n.session.ID)
		}
		return lines
	}
	require.Empty(t, draw())
	require.Equal(t, []string{"a", "b"}, draw(session("a", "", 0, 9), session("b", "", 0, 8)))
	require.Equal(t, []string{"old", "├ early", "│ └ deep", "└ late", "new"}, draw(
		session("new", "", 5, 7), session("late", "old", 4, 6), session("deep", "early", 3, 8), session("early", "old", 2, 2), session("old", "", 1, 1)),
		"a tree is as new as its newest session, and the forks of a session come by their age")
	require.Equal(t, []string{"fork"}, draw(session("fork", "gone", 1, 1)))
	require.Equal(t, []string{"a", "b", "c"}, draw(session("a", "b", 1, 3), session("b", "a", 1, 2), session("c", "c", 1, 1)), "circles of a forged file")
}

// TestPlacesInATree: a tree, whose order is another one, names each session as @N does, which counts in the list of a workspace.
func TestPlacesInATree(t *testing.T) {
	session := func(id, workspace, from string) *sessions.Session {
		s := &sessions.Session{ID: id, Title: id, Workspace: workspace}
		if from != "" {
			s.ForkedFrom = &sessions.Fork{SessionID: from}
		}
		return s
	}
	list := []*sessions.Session{session("fork", "/w", "root"), session("other", "/v", ""), session("new", "/w", ""), session("root", "/w", "")}
	places := placesOf(list)
	var lines []line
	for _, n := range tree(list) {
		lines = append(lines, line{session: n.session, branch: n.branch, place: places[n.session.ID]})
	}
	rows := sessionRows(lines, true, nil, time.Now())
	var shown []string
	for _, row := range rows {
		shown = append(shown, row[0]+" "+row[2])
	}
	require.Equal(t, []string{"TITLE PLACE", "other @1", "new @2", "root @3", "└ fork @1"}, shown)
	lines[0].place = 0
	require.NotContains(t, sessionRows(lines[:1], true, nil, time.Now())[0], "PLACE")
}
