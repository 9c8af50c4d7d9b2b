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

// known counts the lines that have enough letters not to be just anywhere.
func known(lines []string) (n int) {
	for _, l := range lines {
		if linkKey(l) != "" {
			n++
		}
	}
	return n
}

// replaced reports whether a text was replaced as a whole, although a few of its lines are in the new text: many texts have such lines. It
// takes the numbers of known lines in the old text, in the new one, and in both.
func replaced(old, now, common int) bool { return 2*common < min(old, now) }

// Tell drops those guesses (ByText) among the origins of a text whose lines anybody may have typed. One guess is a run of lines of the same
// turn; lines of few letters, such as a brace, do not end it. It stays if the lines of the run that the text has only once are telling.
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
			switch {
			case o.ByText && known < telling:
				o = Origin{From: o.From, To: o.To, Commit: o.Commit, Pending: o.Pending && o.Commit != ""}
			case o.ByText:
				o.Commit = ""
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
