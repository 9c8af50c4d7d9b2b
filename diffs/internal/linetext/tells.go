package linetext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Telling is how many letters and digits, in words that are not ordinary, lines need so that hardly anybody else writes them.
const Telling = 6

// Tells counts the letters and digits of a line in words that are not ordinary.
func Tells(line string) (n int) {
	for word := range strings.FieldsFuncSeq(line, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if !ordinary[word] {
			n += utf8.RuneCountInString(word)
		}
	}
	return n
}

// ordinary are words of programming languages of which whole lines of boilerplate are made.
var ordinary = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`
		and as assert async await begin boolean break case catch class const continue def default defer delete do double elif else elsif end endif enum
		err error esac except export extends extern fi final finally float fn for foreach from func function go goto if impl implements import in include
		int interface is lambda let local loop main match mod module mut new nil not null of or package pass private protected pub public raise range
		rescue return self static std str string struct super switch then this throw throws trait true false try type typedef typeof unless unsafe until
		use using var void where while with yield None True False`) {
		all[word] = true
	}
	return all
}()

// Known counts the lines that have enough letters not to be just anywhere.
func Known(lines []string) (n int) {
	for _, l := range lines {
		if Key(l) != "" {
			n++
		}
	}
	return n
}

// Replaced reports whether a text was replaced as a whole, although a few of its lines are in the new text: many texts have such lines. It
// takes the numbers of known lines in the old text, in the new one, and in both.
func Replaced(old, now, common int) bool { return 2*common < min(old, now) }
