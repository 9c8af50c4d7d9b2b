package sessions_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

// TestParts reads whole sessions, in pages of every fill.
func TestParts(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	seq := uint64(0)
	next := func() uint64 { seq++; return seq }
	var want []string
	ops := puts(session("s1", next()), session("empty", next()), session("other", next()), turn("x", "other", TurnCompleted, next()))
	for i := range 30 {
		id := fmt.Sprintf("t%02d", i)
		ops = append(ops, puts(turn(id, "s1", TurnCompleted, next()))...)
		want = append(want, "turn "+id)
		for j := range i % 5 {
			it := item(id, "s1", j, ItemCompleted, next())
			it.Text = strings.Repeat("x", i*j*2000)
			p := Put{Object: it}
			if j == 2 {
				p.Detail = []byte(strings.Repeat("d", 600<<10))
			}
			ops = append(ops, p)
			want = append(want, fmt.Sprintf("item %s:%d %d %d", id, j, len(it.Text), len(p.Detail)))
		}
	}
	ops = append(ops, puts(turn("last", "s1", TurnRunning, next()), item("last", "s1", 0, ItemRunning, next()))...)
	ops = append(ops, AppendText{ItemID: ItemID("last", 0), Offset: 0, Text: "growing"})
	want = append(want, "turn last", "item last:0 7 0")
	must(t, s, ops...)
	var got []string
	pages := 0
	for at := (Place{}); !at.End; pages++ {
		parts, behind, err := s.Parts("s1", at)
		require.NoError(t, err)
		for _, p := range parts {
			var o struct{ ID, Text string }
			require.NoError(t, json.Unmarshal(p.JSON, &o))
			line := fmt.Sprintf("%s %s", p.Kind, o.ID)
			if p.Kind == KindItem {
				line += fmt.Sprintf(" %d %d", len(o.Text), len(p.Detail))
			}
			got = append(got, line)
		}
		at = behind
	}
	require.Equal(t, want, got)
	require.Greater(t, pages, 5)
	parts, at, err := s.Parts("empty", Place{})
	require.NoError(t, err)
	require.Empty(t, parts)
	require.True(t, at.End)
	_, _, err = s.Parts("nobody", Place{})
	require.ErrorIs(t, err, ErrNotFound)

	size, err := s.SessionSize("s1")
	require.NoError(t, err)
	require.Greater(t, size, int64(12*600<<10))
	size, err = s.SessionSize("nobody")
	require.NoError(t, err)
	require.Zero(t, size)
}

// TestRevive stores a deleted session again.
func TestRevive(t *testing.T) {
	s := openNew(t)
	must(t, s, puts(session("s1", 1), session("s2", 2))...)
	must(t, s, RemoveSession{ID: "s1", Seq: 3})
	must(t, s, puts(session("s1", 4))...)
	require.ErrorIs(t, second(s.Session("s1")), ErrNotFound, "what comes late of a deleted session is left out")
	must(t, s, append([]Op{Revive{ID: "s1"}, Revive{ID: "s2"}, Revive{ID: "nobody"}}, puts(session("s1", 5), turn("t1", "s1", TurnCompleted, 6))...)...)
	require.Equal(t, []string{"2 session s2", "5 session s1", "6 turn t1"}, index(t, s, 0))
	must(t, s, RemoveSession{ID: "s1", Seq: 7})
	require.Equal(t, []string{"2 session s2", "7 session s1 X"}, index(t, s, 0))
}

// TestBackup copies a store that is being written to.
func TestBackup(t *testing.T) {
	t.Parallel()
	path := dbPath(t)
	s, _ := openAt(t, path)
	for _, ops := range history(60) {
		must(t, s, ops...)
	}
	dir := t.TempDir()
	to := filepath.Join(dir, "backup.db")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for seq := uint64(10_000); ; seq++ {
			select {
			case <-stop:
				return
			default:
				if err := submit(s, root, puts(session("busy", seq))...); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	require.NoError(t, s.Backup(context.Background(), to, false))
	close(stop)
	<-stopped
	info, err := os.Stat(to)
	require.NoError(t, err)
	if os.PathSeparator == '/' {
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	}
	was, err := os.ReadFile(to)
	require.NoError(t, err)

	// An existing file stays unless it may be replaced.
	require.ErrorIs(t, s.Backup(context.Background(), to, false), fs.ErrExist)
	is, err := os.ReadFile(to)
	require.NoError(t, err)
	require.Equal(t, was, is)
	require.NoError(t, s.Backup(context.Background(), to, true))
	require.ErrorContains(t, s.Backup(context.Background(), path, true), "the database itself")
	require.ErrorContains(t, s.Backup(context.Background(), dir, true), "not a regular file")
	require.ErrorIs(t, s.Backup(context.Background(), filepath.Join(dir, "none", "x"), false), fs.ErrNotExist)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, s.Backup(cancelled, filepath.Join(dir, "y"), false), context.Canceled)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "z"+BackupSuffix), nil, 0o600))
	require.ErrorIs(t, s.Backup(context.Background(), filepath.Join(dir, "z"), false), fs.ErrExist)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "the backup, and what lay in the way of another")

	require.NoError(t, s.Close())
	require.Equal(t, dump(t, path), dump(t, to))
	s, report := openAt(t, to)
	require.Empty(t, report.MovedAside)
	require.NoError(t, s.Close())
	require.True(t, errors.Is(s.Backup(context.Background(), filepath.Join(dir, "w"), false), ErrClosed))
}
