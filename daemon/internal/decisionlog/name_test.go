package decisionlog

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestName(t *testing.T) {
	now := time.Date(2026, 11, 26, 14, 30, 0, 0, time.UTC)
	for want, g := range map[string]*Group{
		"the accept of 1 hunk in a":                       decided("a"),
		"the accept of 2 hunks in 2 files by a commit":    {Accept: true, Commit: true, Files: decided("a", "b").Files},
		"the accept of 2 hunks in a":                      {Accept: true, Files: decided("a", "a").Files},
		"the reject of 1 hunk in a (14:03)":               {Files: decided("a").Files, At: now.Add(-27 * time.Minute).UnixMilli()},
		"the rewind of 2 hunks in 2 files (25 Nov 14:30)": {Rewind: true, Files: decided("a", "b").Files, At: now.Add(-24 * time.Hour).UnixMilli()},
	} {
		require.Equal(t, want, g.Name(now))
	}
}

// TestPassKeepsTheOrder: a decision that was refused once is still the latest, and can be left out.
func TestPassKeepsTheOrder(t *testing.T) {
	var l Log
	l.Push(decided("f"))
	l.Push(decided("g"))
	require.Len(t, l.Pass(2), 1)
	require.Equal(t, uint64(2), l.Next(true).N)
	require.True(t, l.Next(true).Passed)
	require.Equal(t, uint64(1), l.Next(true, 2).N)
	require.Nil(t, l.Next(true, 2, 1))
	require.Empty(t, l.Pass(7))
}
