package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A change replaces del lines from the line from on by others; by is the edit, or 0 for a person.
type change struct {
	by   int32
	from int
	del  int
	add  string // words
}

// A told is a file of lines with its history.
type told struct {
	lines []string
	file  *File
}

func (f *told) make(c change) {
	e := Edit{From: c.from}
	for _, l := range f.lines[c.from : c.from+c.del] {
		e.Removed = append(e.Removed, Removed{Text: l, By: c.by})
	}
	for _, l := range strings.Fields(c.add) {
		e.Added = append(e.Added, Added{Text: l, By: c.by})
	}
	was := f.lines
	f.lines = slices.Replace(slices.Clone(was), c.from, c.from+c.del, strings.Fields(c.add)...)
	is, who := f.lines, Person
	if c.by != 0 {
		who = Agent
	}
	sum := func(lines []string) func() string { return func() string { return strings.Join(lines, " ") } }
	f.file = f.file.Take(Step{Who: who, Was: Body{Kind: Text}, Is: Body{Kind: Text}, Edits: []Edit{e}, Sum: sum(is), Before: sum(was)})
}

// without returns the words of the file without some edits.
func (f *told) without(edits ...int32) (words string, back *Back) {
	back = f.file.Rewind(func(n int32) bool { return slices.Contains(edits, n) }, Body{Kind: Text}, "f", f.lines, 0)
	if back == nil {
		return "", nil
	}
	var lines []string
	for _, p := range back.Lines {
		if lines = append(lines, f.lines[p.From:p.To]...); p.To == p.From {
			lines = append(lines, p.Text)
		}
	}
	return strings.Join(lines, " "), back
}

func TestRewindOfLines(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []change // of a file with the lines "one two three"
		undone  []int32
		want    string
		changed bool
	}{
		{"a replaced line comes back", []change{{1, 1, 1, "TWO"}}, []int32{1}, "one two three", false},
		{"a written line goes", []change{{1, 3, 0, "four five"}}, []int32{1}, "one two three", false},
		{"a deleted line comes back in its place", []change{{1, 1, 1, ""}}, []int32{1}, "one two three", false},
		{"a whole file", []change{{1, 0, 3, "all new"}}, []int32{1}, "one two three", false},
		{"the later of two edits of a line", []change{{1, 1, 1, "TWO"}, {2, 1, 1, "deux"}}, []int32{2}, "one TWO three", false},
		{"both edits of a line", []change{{1, 1, 1, "TWO"}, {2, 1, 1, "deux"}}, []int32{1, 2}, "one two three", false},
		{"the earlier of two edits of a line", []change{{1, 1, 1, "TWO"}, {2, 1, 1, "deux"}}, []int32{1}, "one deux three", true},
		{"an edit beside another", []change{{1, 0, 1, "ONE"}, {2, 2, 1, "THREE"}}, []int32{1}, "one two THREE", false},
		{"a person's lines stay", []change{{1, 1, 1, "TWO"}, {0, 2, 0, "mine"}, {0, 0, 0, "also"}}, []int32{1}, "also one two mine three", false},
		{"a person's change of an edit's line stays", []change{{1, 1, 1, "TWO"}, {0, 1, 1, "mine"}}, []int32{1}, "one mine three", true},
		{"a person's change that was taken back", []change{{1, 1, 1, "TWO"}, {0, 1, 1, "mine"}, {0, 1, 1, "TWO"}}, []int32{1}, "one two three", false},
		{"a line that a person has brought back elsewhere stays", []change{{1, 3, 0, "four"}, {0, 3, 1, ""}, {0, 0, 0, "four"}}, []int32{1}, "four one two three", true},
		{"a deleted line that a person has typed again", []change{{1, 1, 1, ""}, {0, 1, 0, "two"}, {1, 3, 0, "four"}}, []int32{1}, "one two three", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := told{lines: []string{"one", "two", "three"}}
			for _, one := range c.changes {
				f.make(one)
			}
			stored, err := Unmarshal(f.file.Marshal(), len(f.lines))
			require.NoError(t, err)
			require.Equal(t, f.file, stored)
			words, back := f.without(c.undone...)
			require.NotNil(t, back)
			require.Equal(t, c.want, words)
			require.Equal(t, c.changed, back.Changed)
			_, again := (&told{strings.Fields(words), back.File}).without(c.undone...)
			require.Nil(t, again, "the history has forgotten the edits")
		})
	}
}

func TestRewindOfFiles(t *testing.T) {
	text, link := Body{Kind: Text, Mode: 0o644}, Body{Kind: Opaque, Data: []byte("to"), Link: true}
	for _, c := range []struct {
		name string
		step Step
		want Body
		path string
	}{
		{"a new file goes", Step{Is: text, BodyBy: 1}, Body{Mode: 0o644}, "f"},
		{"a deleted link comes back", Step{Was: link, BodyBy: 1}, link, "f"},
		{"a mode", Step{Was: text, Is: Body{Kind: Text, Mode: 0o755}, ModeBy: 1}, text, "f"},
		{"a name", Step{Was: text, Is: text, WasPath: "old", IsPath: "f", MoveBy: 1}, text, "old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.step.Who = Agent
			back := (*File)(nil).Take(c.step).Rewind(func(n int32) bool { return n == 1 }, c.step.Is, "f", nil, 0)
			require.NotNil(t, back)
			require.Equal(t, c.want, back.Body)
			require.Equal(t, c.path, back.Path)
			require.Equal(t, 1, back.Changes)
			require.Nil(t, back.File)
		})
	}
}

// TestNothingIsKnown: a file that no edit has touched has no history, and nothing to take back.
func TestNothingIsKnown(t *testing.T) {
	f := told{lines: []string{"one"}}
	f.make(change{from: 0, del: 1, add: "mine"})
	require.Nil(t, f.file)
	require.Nil(t, f.file.Marshal())
	_, back := f.without(1)
	require.Nil(t, back)
	f.make(change{by: 1, from: 1, add: "two"})
	_, back = f.without(2)
	require.Nil(t, back)
}

// TestLongHistory: what a step costs does not grow with the square of the lines that earlier edits have removed.
func TestLongHistory(t *testing.T) {
	const edits = 1000
	f := told{lines: []string{"line 0"}}
	for i := range edits {
		f.make(change{by: int32(i + 1), del: 1, add: fmt.Sprint("line", i+1)[4:]})
	}
	was := f
	allocs := testing.AllocsPerRun(1, func() {
		f = was
		f.make(change{by: edits + 1, del: 1, add: "last"})
	})
	require.Less(t, allocs, float64(edits/4), "not one for each removed line")
	words, _ := f.without(edits+1, edits, edits-1)
	require.Equal(t, fmt.Sprint(edits-2), words)
}

// TestManyLinesComeBack: a person brings back more lines than are compared each with each.
func TestManyLinesComeBack(t *testing.T) {
	const n = 600
	var lines []string
	for i := range n {
		lines = append(lines, fmt.Sprint("line", i))
	}
	f := told{lines: lines}
	f.make(change{by: 1, del: n, add: "new"})
	f.make(change{from: 0, add: "mine " + strings.Join(lines[:n-1], " ")})
	words, _ := f.without(1)
	require.Equal(t, "mine "+strings.Join(lines, " "), words)
}

func TestDamagedHistories(t *testing.T) {
	for name, data := range map[string][]byte{
		"an unknown form":           []byte("x{}"),
		"no JSON":                   []byte("j{"),
		"damaged compressed data":   []byte("z?"),
		"a run beyond the end":      []byte(`j{"runs":[{"f":1,"t":4,"b":1}]}`),
		"an empty run":              []byte(`j{"runs":[{"f":1,"t":1,"b":1}]}`),
		"runs in the wrong order":   []byte(`j{"runs":[{"f":1,"t":2,"b":1},{"f":0,"t":1,"b":1}]}`),
		"lost lines beyond the end": []byte(`j{"dead":[{"a":4,"l":[{"x":"a","d":1}]}]}`),
		"lost lines twice":          []byte(`j{"dead":[{"a":1},{"a":1}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Unmarshal(data, 3)
			require.Error(t, err)
		})
	}
}

// TestHistoryWithoutGroups reads what older versions have stored, and goes on with it: an edit is one group there.
func TestHistoryWithoutGroups(t *testing.T) {
	stored := []byte(`j{"runs":[{"f":0,"t":1,"b":1}],"dead":[{"a":0,"l":[{"x":"old\n","d":1}]}],"at":{"1":7}}`)
	f, err := Unmarshal(stored, 2)
	require.NoError(t, err)
	require.Equal(t, []string{"old\n"}, f.Former(0, 1))
	f = f.Take(Step{
		Who: Agent, Was: Body{Kind: Text}, Is: Body{Kind: Text},
		Edits: []Edit{{From: 1, Removed: []Removed{{Text: "b\n", By: 2}}, Added: []Added{{Text: "B\n", By: 2}}}},
	})
	f, err = Unmarshal(f.Marshal(), 2)
	require.NoError(t, err)
	require.Equal(t, []string{"b\n"}, f.Former(1, 2))
	back := f.Rewind(func(n int32) bool { return n == 1 }, Body{Kind: Text}, "f", []string{"new\n", "B\n"}, 0)
	require.Equal(t, "old\n", back.Lines[0].Text)
	require.Equal(t, Piece{From: 1, To: 2}, back.Lines[1])
}
