package diffs

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// telling is how many letters and digits, in words that are not ordinary, lines need so that hardly anybody else writes them.
const telling = 6

// tells counts the letters and digits of a line in words that are not ordinary.
func tells(line string) (n int) {
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

// known counts the lines that are not of so few letters that they may be anywhere.
func known(lines []string) (n int) {
	for _, l := range lines {
		if linkKey(l) != "" {
			n++
		}
	}
	return n
}

// replaced reports whether a text was replaced as a whole by another with which it has some lines in common: those may be there because
// many texts have such lines. It takes numbers of known lines.
func replaced(old, now, common int) bool { return 2*common < min(old, now) }

// Tell returns the origins of a text without those guesses (ByText) that its lines do not bear out: somebody else may have typed them. A guess
// is about the lines of one turn that follow each other, also beyond lines of few letters, such as a brace. Those that are there once have to be telling.
func Tell(origins []Origin, text string) (told []Origin) {
	lines, count := splitLines(text), map[string]int{}
	for i, l := range lines {
		lines[i] = trimEnd(l)
		count[lines[i]]++
	}
	for i := 0; i < len(origins); {
		if !origins[i].ByText {
			told = append(told, origins[i])
			i++
			continue
		}
		known, end := 0, i
		for k := i; k < len(origins); k++ {
			o := &origins[k]
			of := lines[min(o.From, len(lines)):min(o.To, len(lines))]
			switch {
			case o.ByText && o.Source.TurnID == origins[i].Source.TurnID:
				for _, l := range of {
					if count[l] == 1 {
						known += tells(l)
					}
				}
				end = k + 1
				continue
			case o.Source == nil && len(of) == 1 && linkKey(of[0]) == "":
				continue
			}
			break
		}
		for ; i < end; i++ {
			o := origins[i]
			if o.ByText && known < telling {
				o = Origin{From: o.From, To: o.To}
			}
			if n := len(told) - 1; n >= 0 && told[n].like(&o) {
				told[n].To = o.To
			} else {
				told = append(told, o)
			}
		}
	}
	return told
}
