package diffs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cursord/diffs/internal/gitform"
	"cursord/diffs/internal/linetext"

	"github.com/stretchr/testify/require"
)

// checkHunks compares the hunks, one by one and as a patch, with the two texts.
func checkHunks(t require.TestingT, r *Review) {
	old, now := string(r.Baseline().Data), string(r.Current().Data)
	oldLines, nowLines := linetext.Split(old), linetext.Split(now)
	var shown []Hunk
	for _, h := range r.Hunks() {
		require.NotEmpty(t, h.Sources)
		require.Equal(t, h.Kind == TextHunk, !slices.Contains([]uint64{r.op.ID, r.unknown.ID, r.chmod.ID, r.renamed.ID}, h.ID))
		if len(h.Lines) == 0 {
			require.Equal(t, FileHunk, h.Kind)
			require.Zero(t, h.OldLines+h.NewLines+h.OldStart+h.NewStart)
			continue
		}
		shown = append(shown, h)
		require.Equal(t, sideLines(h, "-"), slice(oldLines, h.OldStart, h.OldLines), "the old side of %v", h.Lines)
		require.Equal(t, sideLines(h, "+"), slice(nowLines, h.NewStart, h.NewLines), "the new side of %v", h.Lines)
		if h.Kind == TextHunk {
			for _, l := range [][]string{context(h.Lines, 1), context(h.Lines, -1)} {
				require.LessOrEqual(t, len(l), contextLines)
			}
			require.NotEmpty(t, changes(h))
		}
	}
	if r.whole != nil {
		return
	}
	patch := string(Unified([]FilePatch{r.Patch("f", nil)}))
	if len(shown) == 0 {
		return
	}
	made, err := applied(patch, oldLines, false)
	require.NoError(t, err, patch)
	require.Equal(t, now, made, "20: the patch on the baseline makes the file")
	made, err = applied(patch, nowLines, true)
	require.NoError(t, err, patch)
	require.Equal(t, old, made, "20: the reverse patch on the file makes the baseline")
}

func context(lines []string, step int) (out []string) {
	i := 0
	if step < 0 {
		i = len(lines) - 1
	}
	for ; i >= 0 && i < len(lines) && lines[i][0] == ' '; i += step {
		out = append(out, lines[i])
	}
	return out
}

// sideLines returns the lines of one side of a hunk with their ends.
func sideLines(h Hunk, mark string) []string {
	lines := make([]string, 0, len(h.Lines))
	for _, l := range h.Lines {
		if l[:1] == mark || l[0] == ' ' {
			lines = append(lines, l[1:]+"\n")
		}
	}
	if n := len(lines); n > 0 && (mark == "-" && h.OldNoEOL || mark == "+" && h.NewNoEOL) {
		lines[n-1] = strings.TrimSuffix(lines[n-1], "\n")
	}
	return lines
}

func slice(lines []string, start, count int) []string {
	if count == 0 {
		return []string{}
	}
	return lines[start-1 : start-1+count]
}

// applied applies a patch of one file strictly: every hunk must be exactly at its place.
func applied(patch string, lines []string, reverse bool) (string, error) {
	var out strings.Builder
	at, made := 0, 0
	in := strings.Split(patch, "\n")
	in = in[:len(in)-1]
	for len(in) > 0 && !strings.HasPrefix(in[0], "@@") {
		in = in[1:]
	}
	for len(in) > 0 {
		from, to, err := header(in[0])
		if err != nil {
			return "", err
		}
		in = in[1:]
		minus, plus := byte('-'), byte('+')
		if reverse {
			from, to, minus, plus = to, from, plus, minus
		}
		before := gitform.Before(from[0], from[1])
		if before < at {
			return "", fmt.Errorf("a hunk at %d, when %d lines are done", before, at)
		}
		for ; at < before; at++ {
			out.WriteString(lines[at])
			made++
		}
		if made != gitform.Before(to[0], to[1]) {
			return "", fmt.Errorf("a hunk that makes line %d, when %d are made", gitform.Before(to[0], to[1]), made)
		}
		for from[1] > 0 || to[1] > 0 {
			l := in[0]
			text := l[1:] + "\n"
			in = in[1:]
			if len(in) > 0 && strings.HasPrefix(in[0], "\\") {
				text, in = text[:len(text)-1], in[1:]
			}
			if l[0] != plus {
				if at >= len(lines) || lines[at] != text {
					return "", fmt.Errorf("line %d is not %q", at, text)
				}
				at++
				from[1]--
			}
			if l[0] != minus {
				out.WriteString(text)
				made++
				to[1]--
			}
		}
	}
	for _, l := range lines[at:] {
		out.WriteString(l)
	}
	return out.String(), nil
}

// TestPatchOfAFileThatWasMovedAndDeleted: the patch names the path to which the file comes back.
func TestPatchOfAFileThatWasMovedAndDeleted(t *testing.T) {
	for _, text := range []string{"x\n", "x\x00"} {
		r := New(Content{Exists: true, Data: []byte(text)})
		r.Rename("a", "b", &Source{Via: "shell"})
		r.Observe(Content{}, &Source{Via: "edit"})
		patch := string(Unified([]FilePatch{r.Patch("b", nil)}))
		require.Contains(t, patch, "diff --git a/a b/a\ndeleted file mode 100644\n")
		require.NotContains(t, patch, "/b\n--- ")
	}
}

func header(l string) (old, now [2]int, err error) {
	var a, b string
	if _, err := fmt.Sscanf(l, "@@ -%s +%s @@", &a, &b); err != nil {
		return old, now, fmt.Errorf("%q: %w", l, err)
	}
	for s, p := range map[string]*[2]int{"-" + a: &old, "+" + b: &now} {
		if !strings.Contains(s, ",") {
			s += ",1"
		}
		if _, err := fmt.Sscanf(s[1:], "%d,%d", &p[0], &p[1]); err != nil {
			return old, now, fmt.Errorf("%q: %w", l, err)
		}
	}
	return old, now, nil
}
