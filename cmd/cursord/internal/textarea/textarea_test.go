package textarea

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// typed returns an area of a width and 4 rows with a text, in which the cursor is at |.
func typed(width int, text string) *Area {
	a := &Area{}
	a.Resize(width, 4)
	before, after, _ := strings.Cut(text, "|")
	a.Set(before, after)
	return a
}

func marked(a *Area) string { return a.Before() + "|" + strings.TrimPrefix(a.Text(), a.Before()) }

func TestKeys(t *testing.T) {
	for _, c := range []struct{ text, keys, want string }{
		{"ab|", "left left left", "|ab"},
		{"a\n|b", "left", "a|\nb"},
		{"a|\nb", "right right right", "a\nb|"},
		{"e\u0301|", "left", "|e\u0301"},
		{"👩‍👧x|", "left backspace", "|x"},
		{"|🇩🇪🇫🇷", "delete", "|🇫🇷"},
		{"a|b", "backspace", "|b"},
		{"a\n|b", "backspace", "a|b"},
		{"a|\nb", "delete", "a|b"},
		{"a|b\nc", "ctrl+d", "a|\nc"}, // and not the line's end as well
		{"|", "backspace delete ctrl+k ctrl+u ctrl+w alt+d ctrl+t alt+c alt+u alt+l alt+b alt+f up down pgup pgdown", "|"},
		{"one  two|", "alt+b", "one  |two"},
		{"one  |two", "alt+b", "|one  two"},
		{" |x", "alt+b", "| x"}, // with nothing but spaces before
		{"one\n|two", "alt+b", "|one\ntwo"},
		{"one|\n two x", "alt+f", "one\n two| x"},
		{"a b c|", "ctrl+w", "a b |"},
		{"a b  |c", "ctrl+w", "a |c"},
		{"a\n|b", "ctrl+w", "a|b"},
		{"a\n  |b", "ctrl+w", "a\n|b"},
		{"|a b", "alt+d", "| b"},
		{"a|  \nb", "alt+d", "a|\nb"},
		{"a|\nb", "alt+d", "a|b"},
		{"a|b\nc", "ctrl+k", "a|\nc"},
		{"a|\nc", "ctrl+k", "a|c"},
		{"a\nb|c", "ctrl+u", "a\n|c"},
		{"a\n|c", "ctrl+u", "a|c"},
		{"x\na|b\nc", "home", "x\n|ab\nc"},
		{"x\na|b\nc", "ctrl+e", "x\nab|\nc"},
		{"x\na|b\nc", "alt+<", "|x\nab\nc"},
		{"x\na|b\nc", "ctrl+end", "x\nab\nc|"},
		{"a|b", "alt+enter", "a\n|b"},
		{"ab|", "ctrl+t", "ba|"},
		{"a|bc", "ctrl+t", "ba|c"},
		{"|ab", "ctrl+t", "|ab"},
		{"| one two", "alt+u", " ONE| two"},
		{"ONE| TWO", "alt+l", "ONE two|"},
		{"|élan vital", "alt+c", "Élan| vital"},
		{"a|", "ctrl+v", "a|"},
		{"abc\nd\nef|g", "up up", "ab|c\nd\nefg"},
		{"abc|\nd\nefg", "down down", "abc\nd\nefg|"},
		{"世界|\nabcde", "down", "世界\nabcd|e"},
		{"abc|\n世界", "down", "abc\n世|界"},
		{"1\n2\n3\n4\n5\n6|", "pgup", "1\n2\n3|\n4\n5\n6"},
		{"1\n2\n3\n4\n5\n6|", "pgup pgup", "1|\n2\n3\n4\n5\n6"},
		{"|1\n2\n3\n4\n5\n6", "pgdown", "1\n2\n3\n|4\n5\n6"},
		{"|1\n2\n3\n4\n5\n6", "pgdown pgdown", "1\n2\n3\n4\n5\n|6"},
	} {
		a := typed(20, c.text)
		for _, key := range strings.Fields(c.keys) {
			a.Key(key, "")
		}
		require.Equal(t, c.want, marked(a), "%q %s", c.text, c.keys)
	}
}

func TestRows(t *testing.T) {
	for _, c := range []struct {
		text, want string
		x, y       int
	}{
		{"|", "", 0, 0},
		{"abcd|", "abcd", 4, 0},
		{"abcde|", "abcde/", 0, 1}, // a cell is left for the cursor
		{"ab cd|", "ab /cd", 2, 1},
		{"ab cde |", "ab /cde ", 4, 1},
		{"a|bcdefg", "abcde/fg", 1, 0},
		{"ab| cdefghi", "ab /cdefg/hi", 2, 0},
		{"aaaa世|", "aaaa/世", 2, 1},
		{"世界|世", "世界/世", 0, 1},
		{"a\u00a0b\u2028c|", "a b /c", 1, 1},
		{"e\u0301e\u0301|", "e\u0301e\u0301", 2, 0},
		{"abcd |", "abcd /", 0, 1},
		{"a\n\nb|", "a//b", 1, 2},
	} {
		a := typed(5, c.text)
		rows, above := a.Rows()
		require.Equal(t, c.want, strings.Join(rows, "/"), "%q", c.text)
		require.Zero(t, above)
		x, y := a.Cursor()
		require.Equal(t, [2]int{c.x, c.y}, [2]int{x, y}, "%q", c.text)
	}
}

func TestUpAndDownGoThroughTheRowsOfALine(t *testing.T) {
	a := typed(5, "ab cd ef|")
	a.Key("up", "")
	require.Equal(t, "ab cd| ef", marked(a))
	a.Key("up", "")
	require.Equal(t, "ab| cd ef", marked(a))
	require.Zero(t, a.Row())
	a.Key("up", "")
	require.Zero(t, a.Row())
	a.Key("down", "")
	require.Equal(t, 1, a.Row())
}

func TestTheCursorsRowIsShown(t *testing.T) {
	a := typed(20, "1\n2\n3\n4\n5\n6|")
	rows, above := a.Rows()
	require.Equal(t, []string{"3", "4", "5", "6"}, rows)
	require.Equal(t, 2, above)
	a.Key("ctrl+home", "")
	rows, above = a.Rows()
	require.Equal(t, []string{"1", "2", "3", "4"}, rows)
	require.Zero(t, above)
	a.Key("ctrl+end", "")
	a.Key("ctrl+u", "")
	a.Key("ctrl+u", "")
	rows, above = a.Rows()
	require.Equal(t, []string{"2", "3", "4", "5"}, rows)
	require.Equal(t, 1, above)
}

func TestInsertLeavesOutWhatControlsATerminal(t *testing.T) {
	a := &Area{}
	a.Insert("a\r\nb\rc\td\x1b[31m\x00\u0085\xff世")
	require.Equal(t, "a\nb\nc    d[31m世", a.Text())
}

// A long paste stays whole.
func TestALongTextStaysWhole(t *testing.T) {
	text := strings.Repeat("a line\n", 30_000) + strings.Repeat("é", 100_000)
	a := typed(80, text)
	require.Equal(t, text, a.Text())
}

// TestAnyKeys: whatever is typed, the rows are the text, none is wider than the area, and the cursor is where it says.
func TestAnyKeys(t *testing.T) {
	keys := []string{
		"left", "right", "up", "down", "home", "end", "backspace", "delete", "ctrl+k", "ctrl+u", "ctrl+w", "alt+d", "alt+b", "alt+f", "ctrl+t",
		"alt+c", "alt+u", "alt+l", "alt+enter", "pgup", "pgdown", "alt+<", "alt+>",
	}
	texts := []string{"a", "bc", " ", "   ", "世", "e\u0301", "\u0301", "👩‍👧", "\u200d", "🇩", "\u3000", "word ", "\n", "longer-than-a-row", "\u00a0"}
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		width := 2 + rnd.IntN(9)
		a := typed(width, "")
		for range 60 {
			if rnd.IntN(2) == 0 {
				a.Insert(texts[rnd.IntN(len(texts))])
			} else {
				a.Key(keys[rnd.IntN(len(keys))], "")
			}
			require.True(t, strings.HasPrefix(a.Text(), a.Before()))
			rows, above := a.Rows()
			x, y := a.Cursor()
			require.True(t, y >= 0 && y < len(rows) && x >= 0 && x <= width, "%q: %d %d", marked(a), x, y)
			require.Equal(t, above+y, a.Row())
			for _, row := range rows {
				require.LessOrEqual(t, cells(row), width, "%q", marked(a))
			}
			all := &Area{}
			all.Resize(width, 10_000)
			all.Set(a.Text(), "")
			rows, _ = all.Rows()
			require.Equal(t, shown(strings.ReplaceAll(a.Text(), "\n", "")), strings.Join(rows, ""))
		}
	}
}
