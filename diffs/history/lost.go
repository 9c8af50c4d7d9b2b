package history

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// maxLost bounds the lines that a file is remembered to have lost.
const maxLost = 20_000

// Lost are lines of edits that a person's changes have taken out of a file, by sums of their texts. So they are known when a
// checkout, or an undo in an editor, brings them back, whatever else it changes.
type Lost []lostLine // ascending by sum

type lostLine struct {
	sum uint64
	by  int32
}

// lostBytes is the size of a stored line.
const lostBytes = 12

// MarshalJSON packs the lines, because there are many.
func (l Lost) MarshalJSON() ([]byte, error) {
	packed := make([]byte, 0, lostBytes*len(l))
	for _, line := range l {
		packed = binary.LittleEndian.AppendUint64(packed, line.sum)
		packed = binary.LittleEndian.AppendUint32(packed, uint32(line.by))
	}
	return json.Marshal(packed)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (l *Lost) UnmarshalJSON(data []byte) error {
	var packed []byte
	if err := json.Unmarshal(data, &packed); err != nil {
		return err
	}
	*l = nil
	for ; len(packed) >= lostBytes; packed = packed[lostBytes:] {
		*l = append(*l, lostLine{binary.LittleEndian.Uint64(packed), int32(binary.LittleEndian.Uint32(packed[8:]))})
	}
	slices.SortFunc(*l, bySum)
	return nil
}

func bySum(a, b lostLine) int { return cmp.Compare(a.sum, b.sum) }

// sumOf returns the sum of a line's text; ok is false for a line that may be anywhere.
func sumOf(text string) (sum uint64, ok bool) {
	h := fnv.New64a()
	h.Write([]byte(trim(text)))
	return h.Sum64(), key(text) != ""
}

// of returns the edit that a lost line was of; 0 for a line that was not lost.
func (l Lost) of(text string) int32 {
	if len(l) == 0 {
		return 0
	}
	sum, ok := sumOf(text)
	i, found := slices.BinarySearchFunc(l, lostLine{sum: sum}, bySum)
	if !ok || !found {
		return 0
	}
	return l[i].by
}

// with returns the lines and others, which count where both have the same text. Above the bound, the lines of the oldest edits go.
func (l Lost) with(others []lostLine) Lost {
	if len(others) == 0 {
		return l
	}
	all := slices.Concat(others, l)
	slices.SortStableFunc(all, bySum)
	all = slices.CompactFunc(all, func(a, b lostLine) bool { return a.sum == b.sum })
	if over := len(all) - maxLost; over > 0 {
		slices.SortStableFunc(all, func(a, b lostLine) int { return cmp.Compare(a.by, b.by) })
		all = slices.Clone(all[over:])
		slices.SortFunc(all, bySum)
	}
	return slices.Clip(Lost(all))
}

// but returns the lines without others of the same texts.
func (l Lost) but(others []lostLine) Lost {
	if len(l) == 0 || len(others) == 0 {
		return l
	}
	other := map[uint64]bool{}
	for _, o := range others {
		other[o.sum] = true
	}
	return slices.DeleteFunc(slices.Clone(l), func(line lostLine) bool { return other[line.sum] })
}

func (l Lost) without(undone func(int32) bool) Lost {
	gone := func(line lostLine) bool { return undone(line.by) }
	if !slices.ContainsFunc(l, gone) {
		return l
	}
	return slices.DeleteFunc(slices.Clone(l), gone)
}

// OfText returns the edit that wrote a line with this text which is not in the file any more; 0 if none is known. Lines that may be
// anywhere are not known.
func (f *File) OfText(text string) int32 {
	if f == nil || key(text) == "" {
		return 0
	}
	return f.Lost.of(text)
}

// Former returns the lines that the edit of present lines from to to (exclusive), which are of one edit, has removed where it wrote
// them: of a part of the lines that replaced others together, all of these.
func (f *File) Former(from, to int) (lines []string) {
	if f == nil {
		return nil
	}
	r := f.run(from)
	if r.By == 0 {
		return nil
	}
	removed := func(g Grave, add bool) (any bool) {
		for _, d := range g.Lines {
			if d.removed() == r.Author || r.By < 0 && d.Del == -r.By {
				if any = true; add {
					lines = append(lines, d.Text)
				}
			}
		}
		return any
	}
	start := r.From
	first, _ := slices.BinarySearchFunc(f.Dead, r.From, func(g Grave, at int) int { return cmp.Compare(g.At, at) })
	for _, g := range f.Dead[first:] {
		if g.At > from {
			break
		}
		if removed(g, false) {
			start = g.At
		}
	}
	for _, g := range f.Dead[first:] {
		if g.At >= to && (g.At != r.To || to < r.To) {
			break
		}
		if g.At >= start {
			removed(g, true)
		}
	}
	return lines
}

// Replaced returns the edits that wrote lines which later edits have removed, by their texts without line ends.
func (f *File) Replaced() map[string]int32 {
	replaced := map[string]int32{}
	if f == nil {
		return replaced
	}
	for _, g := range f.Dead {
		for _, d := range g.Lines {
			if by := d.First.of(d.Ins); by > 0 {
				replaced[trim(d.Text)] = by
			}
		}
	}
	return replaced
}

// Near returns the lines that edits have removed in front of the present lines from to to, both inclusive.
func (f *File) Near(from, to int) (dead []Dead) {
	first, _ := slices.BinarySearchFunc(f.Dead, from, func(g Grave, at int) int { return cmp.Compare(g.At, at) })
	for _, g := range f.Dead[first:] {
		if g.At > to {
			break
		}
		dead = append(dead, g.Lines...)
	}
	return dead
}

// Gone counts the lines of edits that a person has taken out of the file.
func (f *File) Gone() int {
	if f == nil {
		return 0
	}
	return len(f.Lost)
}

// MovedOnce reports whether a person has moved a line with this text, which edit by wrote, in one step that has removed it once and written it once.
func (f *File) MovedOnce(text string, by int32) bool {
	if f == nil || len(f.Moved) == 0 {
		return false
	}
	sum, _ := sumOf(text)
	i, found := slices.BinarySearchFunc(f.Moved, lostLine{sum: sum}, bySum)
	return found && f.Moved[i].by == by
}

// movedOnce returns the edits of the lines with letters or digits that a person's step removes once and writes once.
func (t *taking) movedOnce() map[string]int32 {
	was, is, by := map[string]int{}, map[string]int{}, map[string]int32{}
	for _, e := range t.step.Edits {
		for i, r := range e.Removed {
			if n, _, _ := t.c.f.Whose(e.From + i); n != 0 && strings.ContainsFunc(r.Text, isWord) {
				by[trim(r.Text)] = n
			}
			was[trim(r.Text)]++
		}
		for _, a := range e.Added {
			is[trim(a.Text)]++
		}
	}
	maps.DeleteFunc(by, func(text string, _ int32) bool { return was[text] != 1 || is[text] != 1 })
	return by
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

// key returns what a moved line is known by: "" for lines with so few letters that they are anywhere.
func key(line string) string {
	line = strings.TrimRight(line, "\r\n")
	if len(strings.TrimSpace(line)) < 4 {
		return ""
	}
	return line
}
