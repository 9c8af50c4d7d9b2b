//go:build linux

package snapshot

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"cursord/daemon/internal/clock"

	"github.com/stretchr/testify/require"
)

// TestALookAheadOfTheLastScan: what the system tells no watch is found by the look ahead, and by the last scan itself if a call or another
// scan came in between. What comes later is found in any case.
func TestALookAheadOfTheLastScan(t *testing.T) {
	for name, tt := range map[string]struct {
		does func(t *testing.T, s *Snapshot, hidden func(name string))
		want []string
	}{
		"hidden before": {func(t *testing.T, s *Snapshot, hidden func(string)) {
			hidden("a")
			s.LookAhead(true)
		}, []string{"a"}},
		"seen later": {func(t *testing.T, s *Snapshot, hidden func(string)) {
			s.LookAhead(true)
			<-s.ahead.done
			require.NoError(t, os.WriteFile(s.Full("b"), []byte("later"), 0o644))
			require.NoError(t, os.MkdirAll(s.Full("made"), 0o755))
			require.NoError(t, os.WriteFile(s.Full("made/c"), []byte("later"), 0o644))
		}, []string{"b", "made/c"}},
		"a call": {func(t *testing.T, s *Snapshot, hidden func(string)) {
			s.LookAhead(true)
			<-s.ahead.done
			s.CallBegins(clock.Now())
			hidden("a")
		}, []string{"a"}},
		"another scan": {func(t *testing.T, s *Snapshot, hidden func(string)) {
			s.LookAhead(true)
			<-s.ahead.done
			hidden("a")
			found, _ := s.Scan(t.Context(), true, byShell)
			require.Empty(t, found, "it looks at what the watch tells")
		}, []string{"a"}},
		"something at work": {func(t *testing.T, s *Snapshot, hidden func(string)) {
			s.LookAhead(true)
			<-s.ahead.done
			hidden("a")
			s.LookAhead(false)
		}, []string{"a"}},
		"the watch lost something": {func(t *testing.T, s *Snapshot, hidden func(string)) {
			s.LookAhead(true)
			<-s.ahead.done
			s.sight.watch.Close()
			hidden("a")
		}, []string{"a"}},
	} {
		for _, repo := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				s := takeSnapshot(t, repo, "a", "b", "d/c")
				away := filepath.Join(t.TempDir(), "link")
				hidden := func(name string) {
					require.NoError(t, os.Link(s.Full(name), away))
					require.NoError(t, os.WriteFile(away, []byte("by another name"), 0o644))
					require.NoError(t, os.Remove(away))
				}
				(&gardener{t: t, away: t.TempDir(), rand: rand.New(rand.NewPCG(1, 1))}).settle() // else all files are looked at, because they are young
				s2, _ := new(List).Take(s.root, t.TempDir(), "", guardIn(t, s.root), false, nil)
				defer s2.Close()
				<-s2.ready
				<-s2.left
				tt.does(t, s2, hidden)
				ctx, cancel := context.WithTimeout(t.Context(), LastScanTime)
				defer cancel()
				all, left := s2.Scan(ctx, true, byShell)
				require.Empty(t, left.String())
				var found []string
				for _, c := range all {
					found = append(found, c.Path)
				}
				require.Equal(t, tt.want, found)
			})
		}
	}
}
