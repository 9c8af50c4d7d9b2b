//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// TestResume finds a tree as a crash, or somebody after it, has left it.
func TestResume(t *testing.T) {
	file := func(text string) diffs.Content { return diffs.Content{Exists: true, Data: []byte(text), Mode: 0o644} }
	none, link := diffs.Content{}, diffs.Content{Exists: true, Target: "x"}
	const temp = ".f.tmp"
	for _, c := range []struct {
		name          string
		before, after diffs.Content
		disk, temp    diffs.Content
		want          progress
		now           diffs.Content // on the disk then; nothing is left at temp
	}{
		{"not begun", file("old\n"), file("new\n"), file("old\n"), none, untouched, file("old\n")},
		{"half written aside", file("old\n"), file("new\n"), file("old\n"), file("ne"), untouched, file("old\n")},
		{"empty aside", file("old\n"), file("new\n"), file("old\n"), file(""), untouched, file("old\n")},
		{"written aside", file("old\n"), file("new\n"), file("old\n"), file("new\n"), untouched, file("old\n")},
		{"exchanged", file("old\n"), file("new\n"), file("new\n"), file("old\n"), carried, file("new\n")},
		{"done", file("old\n"), file("new\n"), file("new\n"), none, carried, file("new\n")},
		{"exchanged for what somebody had just saved", file("old\n"), file("new\n"), file("new\n"), file("mine\n"), foreign, file("mine\n")},
		{"exchanged for what somebody was just saving", file("old\n"), file("new\n"), file("new\n"), file(""), foreign, file("")},
		{"saved since", file("old\n"), file("new\n"), file("mine\n"), none, foreign, file("mine\n")},
		{"saved since, with a half aside", file("old\n"), file("new\n"), file("mine\n"), file("ne"), foreign, file("mine\n")},
		{"in place, half", file("old text\n"), file("new text\n"), file("new text\n"[:3] + "old text\n"[3:]), none, carried, file("new text\n")},
		{"in place, longer, half", file("old\n"), file("new text\n"), file("new te"), none, carried, file("new text\n")},
		{"in place, shorter, not cut", file("old text\n"), file("new\n"), file("new\n" + "old text\n"[4:]), none, carried, file("new\n")},
		{"in place, somebody else's", file("old text\n"), file("new text\n"), file("nex text\n"), none, foreign, file("nex text\n")},
		{"created", none, file("new\n"), file("new\n"), none, carried, file("new\n")},
		{"created with a second name", none, file("new\n"), file("new\n"), file("new\n"), carried, file("new\n")},
		{"not created", none, file("new\n"), none, file("ne"), untouched, none},
		{"created by somebody", none, file("new\n"), file("mine\n"), none, foreign, file("mine\n")},
		{"taken aside to delete", file("old\n"), none, none, file("old\n"), carried, none},
		{"taken aside what somebody had just saved", file("old\n"), none, none, file("mine\n"), foreign, file("mine\n")},
		{"not deleted", file("old\n"), none, file("old\n"), none, untouched, file("old\n")},
		{"link aside", file("old\n"), link, file("old\n"), link, untouched, file("old\n")},
		{"link exchanged", file("old\n"), link, link, file("old\n"), carried, link},
		{"mode not yet", file("old\n"), diffs.Content{Exists: true, Data: []byte("new\n"), Mode: 0o755}, file("new\n"), none, carried, diffs.Content{Exists: true, Data: []byte("new\n"), Mode: 0o755}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "f", c.disk)
			put(t, dir, temp, c.temp)
			at, err := in(t, dir).resume(&change{from: "f", to: "f", temp: temp, before: image{Content: c.before}, after: c.after, mode: 0o644})
			require.NoError(t, err)
			require.Equal(t, c.want, at)
			require.True(t, readImage(dir, "f").same(image{Content: c.now}), "%v", readImage(dir, "f"))
			_, err = os.Lstat(filepath.Join(dir, temp))
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

// TestResumeKeepsWhatItDoesNotKnow finds something at its temporary name that is nobody's known: it stays.
func TestResumeKeepsWhatItDoesNotKnow(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "f", diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644})
	put(t, dir, ".f.tmp", diffs.Content{Exists: true, Data: []byte("mine too\n"), Mode: 0o644})
	c := changing(diffs.Content{Exists: true, Data: []byte("old\n"), Mode: 0o644}, diffs.Content{Exists: true, Data: []byte("new\n"), Mode: 0o644})
	c.temp = ".f.tmp"
	at, err := in(t, dir).resume(c)
	require.ErrorContains(t, err, ".f.tmp")
	require.Equal(t, foreign, at)
	require.Equal(t, "mine\n", string(readImage(dir, "f").Data))
	require.Equal(t, "mine too\n", string(readImage(dir, ".f.tmp").Data))
}

// TestResumeMove finds a move in each of its states.
func TestResumeMove(t *testing.T) {
	a, b := diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o644}, diffs.Content{Exists: true, Data: []byte("b\n"), Mode: 0o644}
	for _, c := range []struct {
		name     string
		does     func(t *testing.T, dir string)
		want     progress
		old, now string
	}{
		{"not begun", func(t *testing.T, dir string) { put(t, dir, "f", a) }, untouched, "a\n", ""},
		{"under both names", func(t *testing.T, dir string) {
			put(t, dir, "f", a)
			require.NoError(t, os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "g")))
		}, carried, "", "b\n"},
		{"moved", func(t *testing.T, dir string) { put(t, dir, "g", a) }, carried, "", "b\n"},
		{"done", func(t *testing.T, dir string) { put(t, dir, "g", b) }, carried, "", "b\n"},
		{"done, and another came", func(t *testing.T, dir string) {
			put(t, dir, "g", b)
			put(t, dir, "f", diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644})
		}, carried, "mine\n", "b\n"},
		{"something in the way", func(t *testing.T, dir string) {
			put(t, dir, "f", a)
			put(t, dir, "g", diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644})
		}, untouched, "a\n", "mine\n"},
		{"gone", func(*testing.T, string) {}, foreign, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.does(t, dir)
			at, err := in(t, dir).resume(&change{from: "f", to: "g", temp: ".g.tmp", before: image{Content: a}, after: b, mode: 0o644})
			require.NoError(t, err)
			require.Equal(t, c.want, at)
			require.Equal(t, c.old, string(readImage(dir, "f").Data))
			require.Equal(t, c.now, string(readImage(dir, "g").Data))
		})
	}
}
