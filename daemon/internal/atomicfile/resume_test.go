//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/diffs"
)

// TestResume resumes in each state that a crash, or a person after it, can leave.
func TestResume(t *testing.T) {
	file := func(text string) diffs.Content { return diffs.Content{Exists: true, Data: []byte(text), Mode: 0o644} }
	none, link := diffs.Content{}, diffs.Content{Exists: true, Target: "x"}
	const temp = ".f.tmp"
	for _, c := range []struct {
		name          string
		before, after diffs.Content
		disk, temp    diffs.Content
		want          Progress
		now           diffs.Content // the file at that time; there is nothing at temp
	}{
		{"not begun", file("old\n"), file("new\n"), file("old\n"), none, Untouched, file("old\n")},
		{"half written aside", file("old\n"), file("new\n"), file("old\n"), file("ne"), Untouched, file("old\n")},
		{"empty aside", file("old\n"), file("new\n"), file("old\n"), file(""), Untouched, file("old\n")},
		{"written aside", file("old\n"), file("new\n"), file("old\n"), file("new\n"), Untouched, file("old\n")},
		{"exchanged", file("old\n"), file("new\n"), file("new\n"), file("old\n"), Carried, file("new\n")},
		{"done", file("old\n"), file("new\n"), file("new\n"), none, Carried, file("new\n")},
		{"exchanged for what somebody had just saved", file("old\n"), file("new\n"), file("new\n"), file("mine\n"), Foreign, file("mine\n")},
		{"exchanged for what somebody was just saving", file("old\n"), file("new\n"), file("new\n"), file(""), Foreign, file("")},
		{"saved since", file("old\n"), file("new\n"), file("mine\n"), none, Foreign, file("mine\n")},
		{"saved since, with a half aside", file("old\n"), file("new\n"), file("mine\n"), file("ne"), Foreign, file("mine\n")},
		{"in place, half", file("old text\n"), file("new text\n"), file("new text\n"[:3] + "old text\n"[3:]), none, Carried, file("new text\n")},
		{"in place, longer, half", file("old\n"), file("new text\n"), file("new te"), none, Carried, file("new text\n")},
		{"in place, shorter, not cut", file("old text\n"), file("new\n"), file("new\n" + "old text\n"[4:]), none, Carried, file("new\n")},
		{"in place, somebody else's", file("old text\n"), file("new text\n"), file("nex text\n"), none, Foreign, file("nex text\n")},
		{"created", none, file("new\n"), file("new\n"), none, Carried, file("new\n")},
		{"created with a second name", none, file("new\n"), file("new\n"), file("new\n"), Carried, file("new\n")},
		{"not created", none, file("new\n"), none, file("ne"), Untouched, none},
		{"created by somebody", none, file("new\n"), file("mine\n"), none, Foreign, file("mine\n")},
		{"taken aside to delete", file("old\n"), none, none, file("old\n"), Carried, none},
		{"taken aside what somebody had just saved", file("old\n"), none, none, file("mine\n"), Foreign, file("mine\n")},
		{"not deleted", file("old\n"), none, file("old\n"), none, Untouched, file("old\n")},
		{"link aside", file("old\n"), link, file("old\n"), link, Untouched, file("old\n")},
		{"link exchanged", file("old\n"), link, link, file("old\n"), Carried, link},
		{"mode not yet", file("old\n"), diffs.Content{Exists: true, Data: []byte("new\n"), Mode: 0o755}, file("new\n"), none, Carried, diffs.Content{Exists: true, Data: []byte("new\n"), Mode: 0o755}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "f", c.disk)
			put(t, dir, temp, c.temp)
			at, err := in(t, dir).Resume(&Change{From: "f", To: "f", Temp: temp, Before: State{Content: c.before}, After: c.after, Mode: 0o644})
			require.NoError(t, err)
			require.Equal(t, c.want, at)
			require.True(t, Read(dir, "f").Same(State{Content: c.now}), "%v", Read(dir, "f"))
			_, err = os.Lstat(filepath.Join(dir, temp))
			require.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

// TestResumeKeepsWhatItDoesNotKnow: an unknown file at the temporary name stays.
func TestResumeKeepsWhatItDoesNotKnow(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "f", diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644})
	put(t, dir, ".f.tmp", diffs.Content{Exists: true, Data: []byte("mine too\n"), Mode: 0o644})
	c := changing(diffs.Content{Exists: true, Data: []byte("old\n"), Mode: 0o644}, diffs.Content{Exists: true, Data: []byte("new\n"), Mode: 0o644})
	c.Temp = ".f.tmp"
	at, err := in(t, dir).Resume(c)
	require.ErrorContains(t, err, ".f.tmp")
	require.Equal(t, Foreign, at)
	require.Equal(t, "mine\n", string(Read(dir, "f").Data))
	require.Equal(t, "mine too\n", string(Read(dir, ".f.tmp").Data))
}

// TestResumeMove resumes a move in each of its states.
func TestResumeMove(t *testing.T) {
	a, b := diffs.Content{Exists: true, Data: []byte("a\n"), Mode: 0o644}, diffs.Content{Exists: true, Data: []byte("b\n"), Mode: 0o644}
	for _, c := range []struct {
		name     string
		does     func(t *testing.T, dir string)
		want     Progress
		old, now string
	}{
		{"not begun", func(t *testing.T, dir string) { put(t, dir, "f", a) }, Untouched, "a\n", ""},
		{"under both names", func(t *testing.T, dir string) {
			put(t, dir, "f", a)
			require.NoError(t, os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "g")))
		}, Carried, "", "b\n"},
		{"moved", func(t *testing.T, dir string) { put(t, dir, "g", a) }, Carried, "", "b\n"},
		{"done", func(t *testing.T, dir string) { put(t, dir, "g", b) }, Carried, "", "b\n"},
		{"done, and another came", func(t *testing.T, dir string) {
			put(t, dir, "g", b)
			put(t, dir, "f", diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644})
		}, Carried, "mine\n", "b\n"},
		{"something in the way", func(t *testing.T, dir string) {
			put(t, dir, "f", a)
			put(t, dir, "g", diffs.Content{Exists: true, Data: []byte("mine\n"), Mode: 0o644})
		}, Untouched, "a\n", "mine\n"},
		{"gone", func(*testing.T, string) {}, Foreign, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.does(t, dir)
			at, err := in(t, dir).Resume(&Change{From: "f", To: "g", Temp: ".g.tmp", Before: State{Content: a}, After: b, Mode: 0o644})
			require.NoError(t, err)
			require.Equal(t, c.want, at)
			require.Equal(t, c.old, string(Read(dir, "f").Data))
			require.Equal(t, c.now, string(Read(dir, "g").Data))
		})
	}
}
