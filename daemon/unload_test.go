package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"cursord/daemon/paths"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/internal/params"
	"cursord/sessions"
)

// openUnloading opens a daemon that unloads unused workspaces after a time, and makes some folders.
func openUnloading(t *testing.T, after time.Duration, folders int) (d *Daemon, roots []string) {
	t.Helper()
	d, err := Open(Options{StateDir: t.TempDir(), Config: config.Default(), unloadAfter: after})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	for range folders {
		root, err := params.Root(t.TempDir())
		require.NoError(t, err)
		roots = append(roots, root)
	}
	return d, roots
}

func (d *Daemon) loaded() int { return len(d.loops()) }

// subscribes returns once the answer has come.
func (d *Daemon) subscribes(t require.TestingT, root string) (*Subscription, api.Subscribed) {
	answer := make(chan api.Subscribed, 1)
	s := d.Subscribe(root, SubscribeOptions{}, func(*Notification) bool { return true }, func(a api.Subscribed, err error) {
		require.NoError(t, err)
		answer <- a
	})
	return s, <-answer
}

func TestUnusedWorkspacesAreUnloaded(t *testing.T) {
	d, roots := openUnloading(t, 20*time.Millisecond, 50)
	before := goleak.IgnoreCurrent()
	made, err := d.CreateSession(roots[0], api.SessionParams{})
	require.NoError(t, err)
	_, err = d.Trust(roots[0], true)
	require.NoError(t, err)
	var subs []*Subscription
	for _, root := range roots {
		s, _ := d.subscribes(t, root)
		subs = append(subs, s)
	}
	require.Equal(t, len(roots), d.loaded())
	for _, s := range subs {
		s.Close()
	}
	require.Eventually(t, func() bool { return d.loaded() == 0 }, patience, time.Millisecond)
	require.Eventually(t, func() bool { return goleak.Find(before) == nil }, patience, time.Millisecond)

	s, again := d.subscribes(t, roots[0])
	defer s.Close()
	require.Equal(t, made.Seq, again.Seq)
	w := d.loops()[0]
	require.NoError(t, w.call(func() { require.True(t, w.trusted) }))
	_, err = d.UpdateSession(made.ID, api.SessionParams{Title: new(string)})
	require.NoError(t, err)
}

// TestUntrustOfADeletedFolder: a folder that was deleted can lose the trust, and has none when it is made again.
func TestUntrustOfADeletedFolder(t *testing.T) {
	d, roots := openUnloading(t, time.Hour, 1)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(roots[0], link))
	root := filepath.Join(roots[0], "app")
	for _, name := range []string{root, filepath.Join(link, "app")} {
		require.NoError(t, os.Mkdir(root, 0o700))
		_, err := d.Trust(root, true)
		require.NoError(t, err)
		require.NoError(t, os.Remove(root))
		_, err = d.Trust(root, true)
		require.ErrorContains(t, err, "cannot be opened")
		at, err := d.Trust(name, false)
		require.NoError(t, err)
		require.Equal(t, root, at)
		rec, err := d.store.Workspace(root)
		require.NoError(t, err)
		require.False(t, rec.Trusted)
	}
	_, err := d.Trust(filepath.Join(roots[0], "never"), false)
	require.ErrorContains(t, err, "cannot be opened")
}

// TestUsedWorkspacesStay: sweeps unload no workspace that is in use.
func TestUsedWorkspacesStay(t *testing.T) {
	d, roots := openUnloading(t, time.Hour, 4)
	s, _ := d.subscribes(t, roots[0])
	uri := paths.URI(roots[1] + "/f")
	require.NoError(t, d.OpenDocument(7, uri, 1, nil, false))
	_, err := d.Diffs(0, roots[1], "", "")
	require.NoError(t, err)
	w, err := d.workspaceAt(roots[2])
	require.NoError(t, err)
	w.in(t, func() { w.turns["x"] = &liveTurn{} })
	w.release()
	_, err = d.Diffs(0, roots[3], "", "")
	require.NoError(t, err)
	d.mu.Lock()
	d.unloadAfter = 0
	d.mu.Unlock()
	unused := func() (roots []string) {
		d.sweep()
		for _, w := range d.loops() {
			roots = append(roots, w.root)
		}
		return roots
	}
	require.ElementsMatch(t, roots[:3], unused())
	s.Close()
	d.CloseDocument(7, uri)
	w.in(t, func() { delete(w.turns, "x") })
	require.Eventually(t, func() bool { return len(unused()) == 0 }, patience, time.Millisecond)
}

// TestUnloadBesideRequests makes many requests to workspaces that are unloaded all the time.
func TestUnloadBesideRequests(t *testing.T) {
	const clients, each = 8, 40
	d, roots := openUnloading(t, time.Nanosecond, 3)
	var asking sync.WaitGroup
	for i := range clients {
		asking.Go(func() {
			for n := range each {
				root := roots[(i+n)%len(roots)]
				title := fmt.Sprint(i, n)
				made, err := d.CreateSession(root, api.SessionParams{Title: &title})
				if err == nil {
					_, err = d.Diffs(0, root, "", "")
				}
				if err == nil {
					s, _ := d.subscribes(t, root)
					s.Close()
					err = d.DeleteSession(made.ID)
				}
				if err != nil {
					t.Errorf("request %d of client %d: %v", n, i, err)
					return
				}
			}
		})
	}
	asking.Wait()
	require.Eventually(t, func() bool { return d.loaded() == 0 }, patience, time.Millisecond)
	for _, root := range roots {
		list, _, err := d.ListSessions(root, 0, "")
		require.NoError(t, err)
		require.Empty(t, list)
	}
}

// TestNoTurnBeginsWhileTheDaemonEnds: a workspace that is opened while a signal ends the daemon is not among those whose turns end.
func TestNoTurnBeginsWhileTheDaemonEnds(t *testing.T) {
	t.Parallel()
	d, err := Open(Options{StateDir: t.TempDir(), Config: config.Default()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	d.EndTurns()
	answer := make(chan error, 1)
	d.StartTurn(api.TurnParams{Workspace: t.TempDir(), Prompt: "p"}, func(_ *sessions.Session, _ *sessions.Turn, err error) { answer <- err })
	require.ErrorIs(t, <-answer, api.ErrStopped)
}
