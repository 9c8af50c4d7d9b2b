//go:build unix

package review

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestWholeFileChanges: a shell command changes modes and links and moves files. Every change is shown, can be rejected and
// made again, and git applies the patch in both directions.
func TestWholeFileChanges(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, before, does, path, want string }{
		{"mode", `echo a >f; chmod 644 f`, `chmod 755 f`, "f", "mode 100644 100755: file0"},
		{"mode taken away", `echo a >f; chmod 755 f`, `chmod 644 f`, "f", "mode 100755 100644: file0"},
		{"mode and lines", `echo a >f; chmod 644 f`, `echo b >>f; chmod 755 f`, "f", "mode 100644 100755: file0,text2"},
		{"mode of a large file", `head -c 3000000 /dev/zero | tr '\0' x >f; touch -d '1 hour ago' f`, `chmod 700 f`, "f", "mode 100644 100700: file0"},
		{"a created script", `true`, `echo a >f; chmod 755 f`, "f", "created 100755: file1"},
		{"a deleted script", `echo a >f; chmod 755 f`, `rm f`, "f", "deleted: file1"},
		{"link created", `true`, `ln -s ../out f`, "f", "symlink ../out: file0"},
		{"link in a new folder", `true`, `mkdir -p a/b; ln -s x a/b/f`, "a/b/f", "symlink x: file0"},
		{"link deleted", `ln -s x f`, `rm f`, "f", "symlink x: file0"},
		{"link turned", `ln -s x f`, `ln -sfn y f`, "f", "symlink x y: file0"},
		{"link to a folder turned", `mkdir d e; ln -s d f`, `ln -sfn e f`, "f", "symlink d e: file0"},
		{"file to link", `echo a >f; chmod 755 f`, `rm f; ln -s x f`, "f", "symlink 100755 120000 x: file0"},
		{"link to file", `ln -s x f`, `rm f; echo a >f`, "f", "symlink 120000 100644 x: file0"},
		{"link to script", `ln -s x f`, `rm f; echo a >f; chmod 755 f`, "f", "symlink 120000 100755 x: file0"},
	}
	for _, git := range []bool{false, true} {
		t.Run(fmt.Sprint("git ", git), func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			type state struct{ root, before, after, patch string }
			states := make([]state, len(cases))
			for i, c := range cases {
				w.Elsewhere()
				w.Makes("umask 022; " + c.before)
				if git {
					w.Makes("git init -q && git add -A && git -c user.name=n -c user.email=e commit -qm one --allow-empty")
				}
				states[i] = state{root: w.Root, before: w.Listing()}
			}
			w.Start()
			e := w.Joins()
			for i, c := range cases {
				s := &states[i]
				t.Run(c.name, func(t *testing.T) {
					defer w.In(t, e)()
					w.Root = s.root
					e.Follows()
					w.Plays(append(world.Shells("s", "umask 022; "+c.does), world.Done)...)
					e.Turn(nil)
					s.after = w.Listing()
					diffs := e.Diffs()
					require.Len(t, diffs, 1)
					require.NotNil(t, diffs[c.path])
					require.Equal(t, c.want, world.Summary(diffs[c.path]))
					require.Equal(t, "known", diffs[c.path].Baseline)
					require.Equal(t, sessions.ViaShell, diffs[c.path].Hunks[0].Sources[0].Via)

					var out struct{ Patch string }
					e.Must("diff/unified", world.Obj{"workspace": w.Root}, &out)
					e.Decides("diff/reject", world.Obj{"all": true})
					require.Equal(t, s.before, w.Listing())
					require.Empty(t, e.Diffs())
					e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
					require.Equal(t, s.after, w.Listing())
					require.Equal(t, c.want, world.Summary(e.Diffs()[c.path]))
					s.patch = out.Patch
					require.NotEmpty(t, s.patch)
				})
			}
			w.Stop()
			w.Start()
			e = w.Joins()
			for i, c := range cases {
				s := states[i]
				if s.patch == "" {
					continue // it has failed
				}
				t.Run(c.name+", after a restart", func(t *testing.T) {
					defer w.In(t, e)()
					w.Root = s.root
					e.Follows()
					require.Equal(t, c.want, world.Summary(e.Diffs()[c.path]))
					e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
					require.Equal(t, s.before, w.Listing())
					e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
					e.Decides("diff/accept", world.Obj{"all": true})
					require.Equal(t, s.after, w.Listing())
					require.Empty(t, e.Diffs())

					if strings.Contains(c.want, "100700") {
						return // git knows no such mode
					}
					patch := filepath.Join(filepath.Dir(w.Root), "patch")
					require.NoError(t, os.WriteFile(patch, []byte(s.patch), 0o644))
					w.Makes("umask 022; git apply -R " + patch)
					require.Equal(t, strings.ReplaceAll(s.before, "a/; a/b/; ", ""), strings.ReplaceAll(w.Listing(), "a/; a/b/; ", ""))
					w.Makes("umask 022; git apply " + patch)
					require.Equal(t, s.after, w.Listing())
				})
			}
		})
	}
}

// TestWholeFileConflicts: a person changes a file that a reject would overwrite.
func TestWholeFileConflicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, does, mine string }{
		{"a link turned by the user", `true`, `ln -s x f`, `ln -sfn mine f`},
		{"a link replaced by the user", `true`, `ln -s x f`, `rm f; echo mine >f`},
		{"a mode set by the user", `echo a >f; chmod 644 f`, `chmod 755 f`, `chmod 600 f`},
		{"a link in place of a script", `echo a >f; chmod 644 f`, `chmod 755 f`, `rm f; ln -s /etc/passwd f`},
		{"a folder in place of a link", `true`, `ln -s x f`, `rm f; mkdir f; echo mine >f/g`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Makes(c.before)
			w.Plays(append(world.Shells("s", c.does), world.Done)...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			hunk := e.Diffs()["f"].Hunks[0].ID
			w.Makes(c.mine)
			want := w.Listing()
			err := e.Call("diff/reject", world.Obj{"workspace": w.Root, "hunks": []string{hunk}}, nil)
			require.Error(t, err)
			require.Equal(t, want, w.Listing())
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Equal(t, want, w.Listing())
		})
	}
}

// TestDeletedLink: the agent's own tool deletes a link to a file. A reject restores the link, not a file.
func TestDeletedLink(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("target", "a\n")
	require.NoError(t, os.Symlink("target", w.Path("f")))
	before := w.Listing()
	w.Plays(world.Lines(world.Deletes("d", "f", "a\n"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	_, err := os.Lstat(w.Path("f"))
	require.True(t, errors.Is(err, fs.ErrNotExist))
	require.Equal(t, "symlink target: file0", world.Summary(e.Diffs()["f"]))
	e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, before, w.Listing())
}

// TestModeBesideEdit: the agent's edit and its chmod are decided apart.
func TestModeBesideEdit(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "a\nb\n")
	w.Plays(append(append(world.Edits("e", "f", "a\nb\n", "a\nB\n"), world.Shells("s", "chmod 755 f")...), world.Done)...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	d := e.Diffs()["f"]
	require.Equal(t, "mode 100644 100755: file0,text3", world.Summary(d))
	e.Decides("diff/reject", world.Obj{"hunks": []string{d.Hunks[1].ID}})
	require.Equal(t, `f 755 "a\nb\n"; `, w.Listing())
	require.Equal(t, d.Hunks[0].ID, e.Diffs()["f"].Hunks[0].ID)
	e.Decides("diff/reject", world.Obj{"hunks": []string{d.Hunks[0].ID}})
	require.Equal(t, `f 644 "a\nb\n"; `, w.Listing())
}

// TestMoves: a shell command moves files. A move is a decision of its own beside the lines.
func TestMoves(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, before, does, want string }{
		{"moved", `echo a >f`, `mv f g`, "g: renamed f: file0"},
		{"moved to a new folder", `echo a >f`, `mkdir -p x/y; mv f x/y/g`, "x/y/g: renamed f: file0"},
		{"moved out of a folder", `mkdir d; echo a >d/f`, `mv d/f g; rmdir d`, "g: renamed d/f: file0"},
		{"moved and edited", `seq 20 >f`, `mv f g; sed -i s/^7$/seven/ g`, "g: renamed f: file0,text8"},
		{"edited in place and moved", `seq 20 >f; touch -d '1 hour ago' f`, `echo 21 >>f; mv f g`, "g: renamed f: file0,text4"},
		{"moved with a mode", `echo a >f; chmod 644 f`, `mv f g; chmod 755 g`, "g: renamed f 100644 100755: file0,file0"},
		{"copied and removed", `echo a >f`, `cp f g; rm f`, "g: renamed f: file0"},
		{"a folder moved", `mkdir d; echo a >d/f; echo b >d/g`, `mv d e`, "e/f: renamed d/f: file0; e/g: renamed d/g: file0"},
		{"a link moved", `ln -s x f`, `mv f g`, "g: renamed f: file0"},
		{"one of two alike", `echo a >f; echo a >g`, `cp f h; rm f g`, "f: deleted: file1; g: deleted: file1; h: created: file1"},
		{"an empty file", `true >f`, `rm f; true >g`, "f: deleted: file0; g: created: file0"},
		{"over another", `echo a >f; echo b >g`, `mv f g`, "f: deleted: file1; g: modified: text2"},
		{"in the place of one that moved", `echo a >f; echo b >g`, `mv g h; mv f g`, "f: deleted: file1; g: modified: text2; h: created: file1"},
		{"another file in its place", `echo a >f`, `rm f; echo b >g`, "f: deleted: file1; g: created: file1"},
	}
	for _, git := range []bool{false, true} {
		t.Run(fmt.Sprint("git ", git), func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			type state struct{ root, before, after, patch string }
			states := make([]state, len(cases))
			for i, c := range cases {
				if !git && strings.HasPrefix(c.name, "edited in place") {
					continue // the file must be older than the turn; git's work takes that long
				}
				w.Elsewhere()
				w.Makes("umask 022; " + c.before)
				if git {
					w.Commits()
				}
				states[i] = state{root: w.Root, before: w.Listing()}
			}
			w.Start()
			e := w.Joins()
			list := func() string {
				var all []string
				for path, d := range e.Diffs() {
					all = append(all, path+": "+world.Summary(d))
				}
				return strings.Join(world.Sorted(all), "; ")
			}
			for i, c := range cases {
				s := &states[i]
				if s.root == "" {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					defer w.In(t, e)()
					w.Root = s.root
					e.Follows()
					w.Plays(append(world.Shells("s", "umask 022; "+c.does), world.Done)...)
					e.Turn(nil)
					s.after = w.Listing()
					require.Equal(t, c.want, list())
					var out struct{ Patch string }
					e.Must("diff/unified", world.Obj{"workspace": w.Root}, &out)
					e.Decides("diff/reject", world.Obj{"all": true})
					require.Equal(t, s.before, w.Listing())
					require.Empty(t, e.Diffs())
					e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
					require.Equal(t, s.after, w.Listing())
					require.Equal(t, c.want, list())
					s.patch = out.Patch
					require.NotEmpty(t, s.patch)
				})
			}
			w.Stop()
			w.Start()
			e = w.Joins()
			for i, c := range cases {
				s := states[i]
				if s.patch == "" {
					continue // it has failed, or was left out
				}
				t.Run(c.name+", after a restart", func(t *testing.T) {
					defer w.In(t, e)()
					w.Root = s.root
					e.Follows()
					require.Equal(t, c.want, list())
					e.Must("diff/redo", world.Obj{"workspace": w.Root}, nil)
					require.Equal(t, s.before, w.Listing())
					e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
					e.Decides("diff/accept", world.Obj{"all": true})
					require.Equal(t, s.after, w.Listing())
					require.Empty(t, e.Diffs())
					if strings.Contains(c.name, "folder") {
						return // git keeps no empty folders, and makes folders as it needs them
					}
					patch := filepath.Join(filepath.Dir(w.Root), "patch")
					require.NoError(t, os.WriteFile(patch, []byte(s.patch), 0o644))
					w.Makes("umask 022; git apply -R " + patch)
					require.Equal(t, s.before, w.Listing())
					w.Makes("umask 022; git apply " + patch)
					require.Equal(t, s.after, w.Listing())
				})
			}
		})
	}
}

// TestMoveOfReviewedFile moves a file with hunks. They keep their ids, and a notification reports the old path as clean.
func TestMoveOfReviewedFile(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", world.Numbered(20, nil))
	w.Plays(world.Lines(world.Edits("e", "f", world.Numbered(20, nil), world.Numbered(20, map[int]string{3: "three\n", 15: "fifteen\n"})))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	was := world.HunkIDs(e.Diffs()["f"])
	w.Plays(append(world.Shells("s", "mv f g"), world.Done)...)
	e.Turn(world.Obj{"prompt": "move it"})
	d := e.Diffs()
	require.Len(t, d, 1)
	require.Equal(t, "renamed f: file0,text7,text8", world.Summary(d["g"]))
	require.Equal(t, was, world.HunkIDs(d["g"])[1:])
	e.Until("that nothing is left at the old path", func(n world.Notification) bool {
		return n.Method == "diff/changed" && n.Diff.Path == "f" && n.Diff.State == "clean"
	})

	// A person writes a new file at the old path: the move cannot be rejected, the lines can.
	w.Put("f", "mine\n")
	move := world.HunkIDs(d["g"])[0]
	require.EqualValues(t, -32003, e.Fails("diff/reject", world.Obj{"workspace": w.Root, "hunks": []string{move}}).Code)
	require.Equal(t, "mine\n", w.Get("f"))
	e.Decides("diff/reject", world.Obj{"hunks": was[:1]})
	require.Equal(t, world.Numbered(20, map[int]string{15: "fifteen\n"}), w.Get("g"))
	w.Makes("rm f")
	e.Decides("diff/reject", world.Obj{"hunks": []string{move}})
	require.Equal(t, "(absent)", w.Get("g"))
	require.Equal(t, was[1:], world.HunkIDs(e.Diffs()["f"]))
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	e.Must("diff/undo", world.Obj{"workspace": w.Root}, nil)
	require.Equal(t, "renamed f: file0,text7,text8", world.Summary(e.Diffs()["g"]))
	e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, world.Numbered(20, nil), w.Get("f"))
	require.Equal(t, "(absent)", w.Get("g"))
}

// TestLargeFilesAreWhatTheSettingsSay reviews files on both sides of the limits.
func TestLargeFilesAreWhatTheSettingsSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, settings, before, want string }{
		{"as many lines", "large_lines = 40", world.Numbered(40, nil), "modified: text4"},
		{"too many lines", "large_lines = 39", world.Numbered(40, nil), "large: file0"},
		{"as large", `large_size = "1KB"`, strings.Repeat("123456789012345\n", 64), "modified: text4"},
		{"too large", `large_size = "1KB"`, strings.Repeat("123456789012345\n", 65), "large: file0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("../config.toml", c.settings)
			w.Put("f", c.before)
			after := c.before[strings.Index(c.before, "\n")+1:]
			w.Plays(world.Lines(world.Edits("c", "f", c.before, after), []string{world.Done})...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			require.Equal(t, c.want, world.Summary(e.Diffs()["f"]))
			e.Decides("diff/reject", world.Obj{"all": true})
			require.Equal(t, c.before, w.Get("f"))
		})
	}
}

// TestARejectedRenameIsInItsAnswer: the answer to the reject of a rename includes the new path as clean, for clients that
// count by answers. The agent gets the comment, although the file has no diff any more.
func TestARejectedRenameIsInItsAnswer(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "a\n")
	w.Plays(world.Lines(world.Shells("1", "mv f g"))...)
	w.Start()
	e := w.Opens()
	e.Turn(nil)
	out := e.Decides("diff/reject", world.Obj{"path": "g", "comment": "f is its name"})
	require.Len(t, out.Diffs, 1)
	require.Equal(t, "g", out.Diffs[0].Path)
	require.Equal(t, "clean", out.Diffs[0].State)
	w.Plays(world.Done)
	e.Turn(world.Obj{"sessionId": e.Turns()[0].SessionID, "prompt": "go on"})
	runs := w.Runs()
	require.Contains(t, runs[len(runs)-1].Prompt, "f is its name")
}
