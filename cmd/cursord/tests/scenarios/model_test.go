//go:build unix

package scenarios

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// This file reads hunks as a person does: lines shown as "-" were there, lines shown as "+" are there, at the line numbers
// given. It shares no code with the program.

// A held is the content of a path.
type held struct {
	text string
	mode fs.FileMode
}

// A shelf is files by path.
type shelf map[string]held

func (s shelf) clone() shelf {
	c := make(shelf, len(s))
	for path, h := range s {
		c[path] = h
	}
	return c
}

// differs says where two shelves differ; "" if they are equal.
func (s shelf) differs(other shelf) string {
	for _, path := range slices.Sorted(union(s, other)) {
		a, is := s[path]
		b, has := other[path]
		if is != has || a != b {
			return fmt.Sprintf("%s: want %s\nhave %s", path, describeHeld(a, is), describeHeld(b, has))
		}
	}
	return ""
}

func describeHeld(h held, is bool) string {
	if !is {
		return "nothing"
	}
	return fmt.Sprintf("%v %s", h.mode, brief(h.text))
}

var repeats = regexp.MustCompile(`(long ä){2,}`)

// brief shortens a text for a trace.
func brief(text string) string {
	return repeats.ReplaceAllString(strconv.Quote(text), "long ä… ")
}

func briefs(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, brief(l))
	}
	return out
}

func union(a, b shelf) func(func(string) bool) {
	return func(yield func(string) bool) {
		for path := range a {
			if !yield(path) {
				return
			}
		}
		for path := range b {
			if _, both := a[path]; !both && !yield(path) {
				return
			}
		}
	}
}

// readShelf reads all files below a folder, and lists its folders.
func readShelf(root, dir string) (files shelf, dirs []string) {
	files = shelf{}
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if e.IsDir() {
			dirs = append(dirs, rel)
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		files[filepath.ToSlash(rel)] = held{string(b), info.Mode()}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		panic(failure(err.Error()))
	}
	return files, dirs
}

func bare(line string) string { return strings.TrimRight(line, "\r\n") }

// sideOf returns the lines of one side of a hunk, with their ends: mark is "-" for the old side, "+" for the new.
func sideOf(h *sessions.Hunk, mark string) (lines []string) {
	noEOL := h.OldNoEOL
	if mark == "+" {
		noEOL = h.NewNoEOL
	}
	for _, l := range h.Lines {
		if l[:1] == " " || l[:1] == mark {
			lines = append(lines, l[1:]+"\n")
		}
	}
	if n := len(lines); noEOL && n > 0 {
		lines[n-1] = strings.TrimSuffix(lines[n-1], "\n")
	}
	return lines
}

// changesOf returns the changed lines of a hunk.
func changesOf(h *sessions.Hunk) (lines []string) {
	for _, l := range h.Lines {
		if l[:1] != " " {
			lines = append(lines, l)
		}
	}
	return lines
}

// patched applies hunks, in file order, to a text: from the new text to the old one, or back.
func patched(text string, hunks []*sessions.Hunk, back bool) (string, error) {
	lines := world.SplitAfter(text)
	var out strings.Builder
	at := 0
	for _, h := range hunks {
		start, count, from, to := h.OldStart, h.OldLines, sideOf(h, "-"), sideOf(h, "+")
		if back {
			start, count, from, to = h.NewStart, h.NewLines, to, from
		}
		if count > 0 {
			start--
		}
		switch {
		case count != len(from):
			return "", fmt.Errorf("hunk %s counts %d lines and has %d", h.ID, count, len(from))
		case start < 0 || start+count > len(lines):
			return "", fmt.Errorf("hunk %s is at %d+%d of %d lines", h.ID, start, count, len(lines))
		case !slices.Equal(lines[start:start+count], from):
			return "", fmt.Errorf("hunk %s shows %s where there is %s", h.ID, briefs(from), briefs(lines[start:start+count]))
		}
		lead, trail := contextOf(h) // the lines that two neighbouring hunks may both show
		if start+lead < at {
			return "", fmt.Errorf("hunk %s begins before line %d", h.ID, at)
		}
		for _, l := range append(lines[at:start+lead:start+lead], to[lead:len(to)-trail]...) {
			out.WriteString(l)
		}
		at = start + count - trail
	}
	for _, l := range lines[at:] {
		out.WriteString(l)
	}
	return out.String(), nil
}

// contextOf counts the unchanged lines at both ends of a hunk.
func contextOf(h *sessions.Hunk) (lead, trail int) {
	for lead < len(h.Lines) && h.Lines[lead][0] == ' ' {
		lead++
	}
	for trail < len(h.Lines)-lead && h.Lines[len(h.Lines)-1-trail][0] == ' ' {
		trail++
	}
	return lead, trail
}

// A hunkPart is a part of a file that a hunk may change.
type hunkPart string

const (
	partText   hunkPart = "text"
	partMove   hunkPart = "move"
	partMode   hunkPart = "mode"
	partMade   hunkPart = "created"
	partGone   hunkPart = "deleted"
	partOpaque hunkPart = "opaque" // a whole file whose lines are not shown
)

// partOf returns the part that a hunk changes. Hunks of kind file have a fixed order.
func partOf(d *sessions.Diff, h *sessions.Hunk) hunkPart {
	if h.Kind == "text" {
		return partText
	}
	i := slices.IndexFunc(d.Hunks, func(x sessions.Hunk) bool { return x.ID == h.ID })
	var files []hunkPart
	if d.OldPath != "" && d.Kind != "deleted" {
		files = append(files, partMove)
	}
	if d.OldMode != "" && d.Kind != "created" && d.Kind != "deleted" {
		files = append(files, partMode)
	}
	switch {
	case i < len(files):
		return files[i]
	case d.Kind == "created":
		return partMade
	case d.Kind == "deleted":
		return partGone
	}
	return partOpaque
}

func hunksOf(d *sessions.Diff, p hunkPart) (hunks []*sessions.Hunk) {
	for i := range d.Hunks {
		if partOf(d, &d.Hunks[i]) == p {
			hunks = append(hunks, &d.Hunks[i])
		}
	}
	return hunks
}

func oldPath(d *sessions.Diff) string {
	if d.OldPath != "" {
		return d.OldPath
	}
	return d.Path
}

func modeOf(s string) (fs.FileMode, error) {
	n, err := strconv.ParseUint(s, 8, 32)
	return fs.FileMode(n) & fs.ModePerm, err
}

// baselineOf computes from the hunks the files' content without them. Parts that no hunk can show are as known before.
func baselineOf(disk, known shelf, diffs map[string]*sessions.Diff) (shelf, error) {
	base := disk.clone()
	for path := range diffs {
		delete(base, path)
	}
	for path, d := range diffs {
		was := oldPath(d)
		now, is := disk[path]
		if is == (d.Kind == "deleted") && len(hunksOf(d, partOpaque)) == 0 {
			return nil, fmt.Errorf("%s is %s; on disk: %v", path, d.Kind, is)
		}
		if d.Baseline != "known" {
			return nil, fmt.Errorf("the baseline of %s is %s", path, d.Baseline)
		}
		switch {
		case len(hunksOf(d, partOpaque)) > 0:
			if old, had := known[was]; had {
				base[was] = old
			}
			continue
		case len(hunksOf(d, partMade)) > 0:
			shown, err := patched("", hunksOf(d, partMade), false)
			if err != nil || shown != now.text {
				return nil, fmt.Errorf("%s is created as %s, and holds %s: %v", path, brief(shown), brief(now.text), err)
			}
			continue
		case len(hunksOf(d, partGone)) > 0:
			old, err := patched("", mirrored(hunksOf(d, partGone)), false)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			base[was] = held{old, known[was].mode}
			continue
		}
		old, err := patched(now.text, hunksOf(d, partText), true)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		mode := now.mode
		if d.OldMode != "" {
			if mode, err = modeOf(d.OldMode); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if is, err := modeOf(d.NewMode); err != nil || is != now.mode {
				return nil, fmt.Errorf("%s has mode %v, shown as %s: %v", path, now.mode, d.NewMode, err)
			}
		}
		if _, twice := base[was]; twice {
			return nil, fmt.Errorf("two files come from %s", was)
		}
		base[was] = held{old, mode}
	}
	return base, nil
}

// mirrored turns removals into additions.
func mirrored(hunks []*sessions.Hunk) (out []*sessions.Hunk) {
	for _, h := range hunks {
		m := *h
		m.OldStart, m.OldLines, m.OldNoEOL, m.NewStart, m.NewLines, m.NewNoEOL = h.NewStart, h.NewLines, h.NewNoEOL, h.OldStart, h.OldLines, h.OldNoEOL
		m.Lines = make([]string, len(h.Lines))
		for i, l := range h.Lines {
			m.Lines[i] = strings.NewReplacer("-", "+", "+", "-").Replace(l[:1]) + l[1:]
		}
		out = append(out, &m)
	}
	return out
}

// decided returns the disk and the baseline after some hunks of a file have been accepted or rejected.
func decided(disk, base shelf, d *sessions.Diff, chosen map[string]bool, accept bool) (shelf, shelf, error) {
	disk, base = disk.clone(), base.clone()
	path, was := d.Path, oldPath(d)
	if _, is := disk[path]; !is {
		path = was // a removed line comes back at its former place
	}
	pick := func(p hunkPart) (hunks []*sessions.Hunk) {
		return slices.DeleteFunc(hunksOf(d, p), func(h *sessions.Hunk) bool { return !chosen[h.ID] })
	}
	var err error
	if hunks := pick(partText); len(hunks) > 0 {
		side, at := disk, path
		if accept {
			side, at = base, was
		}
		h := side[at]
		if h.text, err = patched(h.text, hunks, !accept); err != nil {
			return nil, nil, err
		}
		side[at] = h
	}
	give := func(to shelf, at string, from shelf, of string, change func(held, held) held) {
		h, is := from[of]
		if !is {
			delete(to, at)
			return
		}
		to[at] = change(to[at], h)
	}
	all := func(_, h held) held { return h }
	from, to, src, dst := base, disk, was, path
	if accept {
		from, to, src, dst = disk, base, path, was
	}
	for _, p := range []hunkPart{partMade, partGone, partOpaque} {
		if len(pick(p)) > 0 {
			change := all
			if p == partOpaque && len(hunksOf(d, partMode)) > 0 {
				change = func(old, h held) held { return held{h.text, old.mode} }
			}
			give(to, dst, from, src, change)
		}
	}
	if len(pick(partMode)) > 0 {
		give(to, dst, from, src, func(old, h held) held { return held{old.text, h.mode} })
	}
	if len(pick(partMove)) > 0 {
		to[src] = to[dst]
		delete(to, dst)
	}
	return disk, base, nil
}
