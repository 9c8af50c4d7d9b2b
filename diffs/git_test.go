package diffs

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// gitChecks applies one patch of all reviews with git: forwards to the baselines and backwards to the present texts.
func gitChecks(t *testing.T, reviews map[string]*Review) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	var patches []FilePatch
	for path, r := range reviews {
		patches = append(patches, r.Patch(path, nil))
	}
	patch := Unified(patches)
	for _, reverse := range []bool{false, true} {
		dir := t.TempDir()
		from, to := (*Review).Baseline, (*Review).Current
		args := []string{"apply", "--whitespace=nowarn", "-"}
		if reverse {
			from, to = to, from
			args = []string{"apply", "--whitespace=nowarn", "-R", "-"}
		}
		for path, r := range reviews {
			c := from(r)
			file := filepath.Join(dir, filepath.FromSlash(placed(r, path, !reverse)))
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			switch {
			case c.Target != "":
				require.NoError(t, os.Symlink(c.Target, file))
			case c.Exists:
				require.NoError(t, os.WriteFile(file, c.Data, 0o644))
				require.NoError(t, os.Chmod(file, fs.FileMode(max(c.Mode, 0o600))))
			}
		}
		git := exec.Command("git", args...)
		git.Dir = dir
		git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		git.Stdin = strings.NewReader(string(patch))
		out, err := git.CombinedOutput()
		require.NoError(t, err, "%s\n%s", out, patch)
		require.Empty(t, string(out), "git warns of\n%s", patch)
		for path, r := range reviews {
			file := filepath.Join(dir, filepath.FromSlash(placed(r, path, reverse)))
			want := to(r)
			info, err := os.Lstat(file)
			require.Equal(t, want.Exists, err == nil, path)
			if want.Target != "" {
				target, err := os.Readlink(file)
				require.NoError(t, err)
				require.Equal(t, want.Target, target, "%s\n%s", path, patch)
			} else if want.Exists {
				data, err := os.ReadFile(file)
				require.NoError(t, err)
				require.Equal(t, string(want.Data), string(data), "%s\n%s", path, patch)
				require.Equal(t, want.Mode&0o100 != 0, info.Mode()&0o100 != 0, "%s\n%s", path, patch)
			}
		}
	}
}

// placed returns the path, before or after the patch, of the file that is now at path.
func placed(r *Review, path string, before bool) string {
	if old := r.OldPath(); before && old != "" {
		return old
	}
	return path
}

func TestUnifiedWithGit(t *testing.T) {
	lines := func(format string) string {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	many := lines("line %d\n")
	for _, c := range []struct{ name, old, now string }{
		{"old without final newline", "a\nb", "a\nb\n"},
		{"new without final newline", "a\nb\n", "a\nb"},
		{"both without, unchanged", "x\na\nb", "y\na\nb"},
		{"both without, changed", "a\nb", "a\nc"},
		{"a last line without newline added", "a\nb\n", "a\nb\nc"},
		{"empty to text", "", "a\nb\n"},
		{"text to empty", "a\nb\n", ""},
		{"text to a newline", "a\nb\n", "\n"},
		{"CRLF", "a\r\nb\r\nc\r\n", "a\r\nx\r\nc\r\n"},
		{"mixed line ends", "a\r\nb\nc\r\n", "a\nb\r\nc\r\n"},
		{"lone CR", "a\rb\nc\n", "a\rx\nc\r\n"},
		{"FF and VT", "a\fb\nc\v\n", "a\fx\nc\v\v\n"},
		{"U+2028", "a\u2028b\nc\n", "a\u2028x\nc\n"},
		{"not UTF-8", "a\xff\nb\n", "a\xfe\nb\n"},
		{"U+FFFD against a bad byte", "a\ufffd\nb\n", "a\xff\nb\n"},
		{"NUL", "a\x00\nb\n", "a\x00\nc\n"},
		{"BOM", "\ufeffa\nb\n", "a\nb\n"},
		{"lines like headers", "-- x\n++ y\n@@ z\n", "-- y\n++ y\n+++ z\n--- a\n"},
		{"duplicates", "}\n}\n}\n}\n}\n}\n}\n}\n", "}\n}\n}\nx\n}\n}\n}\n}\n"},
		{"far apart", many, strings.Replace(strings.Replace(many, "line 5\n", "", 1), "line 40\n", "line 40\nmore\nand more\n", 1)},
		{"close together", many, strings.NewReplacer("line 5\n", "five\n", "line 7\n", "", "line 12\n", "twelve\n12\n", "line 19\n", "x\n").Replace(many)},
		{"first and last line", many, "first\n" + many + "last\n"},
		{"backslash", "\\ No newline at end of file\na\n", "\\ No newline at end of file\nb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(Content{Exists: true, Data: []byte(c.old)})
			r.Observe(Content{Exists: true, Data: []byte(c.now)}, agents["agent"])
			gitChecks(t, map[string]*Review{"f": r})
		})
	}
	for _, path := range []string{"a b", "dir/a\tb", `q"q`, `back\slash`, "ümlaut", "new\nline", " lead", "trail "} {
		t.Run("path "+path, func(t *testing.T) {
			reviews := make(map[string]*Review)
			for name, c := range map[string][2]Content{
				"modified": {content("a\nb\n"), content("a\nc\n")},
				"created":  {{}, content("a\n")},
				"empty":    {{}, content("")},
				"deleted":  {content("a\n"), {}},
				"emptied":  {content(""), {}},
				"binary":   {content("a\x00"), content("b\x00" + many)},
				"newbin":   {{}, content("b\x00")},
				"delbin":   {content("b\x00"), {}},
				"mode":     {moded(t, `644:a\n`), moded(t, `755:a\n`)},
				"modetext": {moded(t, `755:a\n`), moded(t, `644:b\n`)},
				"modebin":  {moded(t, `644:a\x00`), moded(t, `755:b\x00`)},
				"runbin":   {moded(t, `755:a\x00`), moded(t, `755:b\x00`)},
				"newmode":  {{}, moded(t, `755:a\n`)},
				"delmode":  {moded(t, `755:a\n`), {}},
				"link":     {moded(t, "@x"), moded(t, "@../y z")},
				"newlink":  {{}, moded(t, "@x")},
				"dellink":  {moded(t, "@x"), {}},
				"tolink":   {moded(t, `755:a\nb`), moded(t, "@x")},
				"fromlink": {moded(t, "@x"), moded(t, `755:a\n`)},
				"linkbin":  {moded(t, "@x"), moded(t, `755:\x00`)},
				"binlink":  {moded(t, `644:\x00`), moded(t, "@x")},
			} {
				r := New(c[0])
				r.Observe(c[1], agents["agent"])
				reviews[name+path] = r
				if c[0].Exists && c[1].Exists && (c[0].Target != "") == (c[1].Target != "") {
					r = r.Copy()
					r.Rename("was"+name+path, "is"+name+path, agents["agent"])
					reviews["is"+name+path] = r
				}
			}
			gitChecks(t, reviews)
		})
	}
}

func content(s string) Content { return Content{Exists: true, Data: []byte(s)} }

func TestUnifiedHeaders(t *testing.T) {
	r := New(content("a\nb\n"))
	r.Observe(content("a\nc\n"), agents["agent"])
	hunks := r.Hunks()
	binary := New(content("\x00"))
	binary.Observe(content("\x00\x00"), agents["agent"])
	for _, c := range []struct {
		name, want string
		file       FilePatch
	}{
		{"modified", "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", FilePatch{Path: "f", Kind: Modified, Hunks: hunks}},
		{"blank", "diff --git a/f g b/f g\n--- a/f g\t\n+++ b/f g\t\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", FilePatch{Path: "f g", Kind: Modified, Hunks: hunks}},
		{"quoted", "diff --git \"a/\\303\\274\" \"b/\\303\\274\"\n--- \"a/\\303\\274\"\n+++ \"b/\\303\\274\"\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", FilePatch{Path: "ü", Kind: Modified, Hunks: hunks}},
		{"created empty", "diff --git a/f b/f\nnew file mode 100755\n", FilePatch{Path: "f", Kind: Created, Mode: "100755"}},
		{"deleted empty", "diff --git a/f b/f\ndeleted file mode 100644\n", FilePatch{Path: "f", Kind: Deleted}},
		{"mode", "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n", FilePatch{Path: "f", Kind: Mode, OldMode: "100644", NewMode: "100755"}},
		{"renamed", "diff --git a/e b/f\nrename from e\nrename to f\n", FilePatch{Path: "f", OldPath: "e", Kind: Renamed}},
		{"binary without contents", "diff --git a/f b/f\nBinary files a/f and b/f differ\n", FilePatch{Path: "f", Kind: Binary, Hunks: binary.Hunks()}},
		{"unknown", "", FilePatch{Path: "f", Kind: Modified, Hunks: NewUnknown(content("a\n"), *agents["agent"]).Hunks()}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, string(Unified([]FilePatch{c.file}))) })
	}
}
