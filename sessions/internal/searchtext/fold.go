// Package searchtext is the text side of the search: how texts are folded and cut into words, what a query asks for, where a
// text has it, and the form of the index. It is pure: it reads and writes nothing.
//
// A word is a run of letters, marks and digits; in scripts without spaces between words, such as Han, each character is one.
// An emoji is a word as well. Case does not count, by Unicode's folding, and neither does whether a letter is composed or decomposed.
package searchtext

import (
	"sort"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Version grows with each change of what the words of a text are, or of which texts an object has: a segment of an earlier one is to be made anew.
const Version = 5 // 0: without emoji, and decomposed letters were others; 1 is taken; 2: without questions; 3: without their options; 4: i̇ was not İ

// several are runes that fold to more than one, or that Unicode folds only in full.
var several = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'İ': "i", 'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl", 'ﬅ': "st", 'ﬆ': "st",
}

// foldRune returns the one of the runes that differ only in case.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return unicode.ToLower(least)
}

// A Text is a text with its folded form, and where the parts of the one are in the other.
type Text struct {
	original string
	folded   string
	shifts   []shift
}

// A shift says that from these two offsets on, the texts have the same distances, up to the next shift.
type shift struct{ folded, original int }

// NewText folds a text.
func NewText(s string) Text {
	t := Text{original: s}
	folded := make([]byte, 0, len(s))
	apart := 0 // original offset minus folded offset
	at := func(i int) {
		if now := i - len(folded); now != apart {
			t.shifts = append(t.shifts, shift{len(folded), i})
			apart = now
		}
	}
	for i := 0; i < len(s); {
		part := s[i : i+norm.NFC.QuickSpanString(s[i:])]
		for j, r := range part {
			at(i + j)
			folded = appendFolded(folded, r)
		}
		if i += len(part); i < len(s) { // a letter whose marks are to be composed with it
			n := norm.NFC.NextBoundaryInString(s[i:], true)
			at(i)
			for _, r := range norm.NFC.String(s[i : i+n]) {
				folded = appendFolded(folded, r)
			}
			i += n
		}
	}
	at(len(s))
	t.folded = string(folded)
	return t
}

func appendFolded(b []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return append(b, byte(r))
	}
	if s := several[r]; s != "" {
		return append(b, s...)
	}
	if r == '\u0307' && len(b) > 0 && b[len(b)-1] == 'i' {
		return b // the small letter of İ, as most programs write it
	}
	return utf8.AppendRune(b, foldRune(r))
}

// inOriginal returns the offset in the original text for one in the folded text. Inside of a rune that folds to several it
// is the rune's end.
func (t Text) inOriginal(folded int) int {
	i := t.shifted(folded)
	for i < len(t.original) && !utf8.RuneStart(t.original[i]) {
		i++
	}
	return min(i, len(t.original))
}

func (t Text) shifted(folded int) int {
	n := sort.Search(len(t.shifts), func(i int) bool { return t.shifts[i].folded > folded })
	if n == 0 {
		return folded
	}
	at := t.shifts[n-1]
	return at.original + folded - at.folded
}

// inFolded is the reverse of inOriginal.
func (t Text) inFolded(original int) int {
	n := sort.Search(len(t.shifts), func(i int) bool { return t.shifts[i].original > original })
	if n == 0 {
		return min(original, len(t.folded))
	}
	at := t.shifts[n-1]
	return min(at.folded+original-at.original, len(t.folded))
}

// A class is what a rune is in a text.
type class byte

const (
	between class = iota // words
	letter               // it is in a word, with the letters beside it
	single               // it is a word
)

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' {
			return letter
		}
		return between
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return single
	case unicode.In(r, unicode.L, unicode.M, unicode.N):
		return letter
	case unicode.Is(unicode.So, r) && (r >= 0x1f000 || 0x2600 <= r && r < 0x2800):
		return single
	}
	return between
}

// MaxWord is the length of words in the index, in bytes: of longer ones it has the beginning.
const MaxWord = 40

func cutWord(w string) string {
	if len(w) <= MaxWord {
		return w
	}
	n := MaxWord
	for !utf8.RuneStart(w[n]) {
		n--
	}
	return w[:n]
}

// words calls each for the words of a folded text, cut to MaxWord.
func words(folded string, each func(word string)) {
	begin := -1
	for i, r := range folded {
		c := classOf(r)
		if c == letter && begin < 0 {
			begin = i
		}
		if c != letter && begin >= 0 {
			each(cutWord(folded[begin:i]))
			begin = -1
		}
		if c == single {
			each(folded[i : i+utf8.RuneLen(r)])
		}
	}
	if begin >= 0 {
		each(cutWord(folded[begin:]))
	}
}

// atWord reports whether no word of a folded text goes across an offset.
func atWord(folded string, i int) bool {
	if i == 0 || i >= len(folded) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(folded[:i])
	after, _ := utf8.DecodeRuneInString(folded[i:])
	return classOf(before) != letter || classOf(after) != letter
}
