package allow

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

const mostLookAlikes = 40

// LookAlikes returns the words of a command in which letters may look like others, with these as <U+043E>: words that mix ASCII letters with
// those of an alphabet that has the same shapes, words with what cannot be seen or looks like a blank, and names of commands that are not ASCII. If the
// command is no command line, each word may be a name. The same holds for the names in paths, which need not be ASCII.
func LookAlikes(command string, paths []string) (marked []string) {
	blank := func(r rune) bool { return r <= unicode.MaxASCII && unicode.IsSpace(r) }
	words := strings.FieldsFunc(command, blank)
	found, understood := names(command)
	if !understood {
		found = words
	}
	ascii := func(s string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
	}
	found = slices.DeleteFunc(slices.Clone(found), ascii)
	for _, p := range paths {
		words = append(words, strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == filepath.Separator || blank(r) })...)
	}
	for _, w := range append(found, slices.DeleteFunc(words, func(w string) bool { return !mixes(w) && !hides(w) })...) {
		var b strings.Builder
		for _, r := range w {
			if r > unicode.MaxASCII {
				fmt.Fprintf(&b, "<U+%04X>", r)
			} else {
				b.WriteRune(r)
			}
		}
		switch {
		case slices.Contains(marked, b.String()):
		case len(marked) == mostLookAlikes:
			return append(marked, "…")
		default:
			marked = append(marked, b.String())
		}
	}
	return marked
}

// names returns the names of the simple commands in a command, as they are written; false if it is no command line.
func names(command string) (names []string, understood bool) {
	defer func() {
		if recover() != nil { // a fault of the parser
			names, understood = nil, false
		}
	}()
	if len(command) > MaxCommand {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil, false
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, is := n.(*syntax.CallExpr); is && len(c.Args) > 0 {
			names = append(names, command[c.Args[0].Pos().Offset():c.Args[0].End().Offset()])
		}
		return true
	})
	return names, true
}

// alike have letters with the shapes of ASCII ones: other alphabets, and Latin letters of full width or for formulas.
var alike = []*unicode.RangeTable{
	unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu,
	{R16: []unicode.Range16{{Lo: 0xff21, Hi: 0xff5a, Stride: 1}}, R32: []unicode.Range32{{Lo: 0x1d400, Hi: 0x1d7ff, Stride: 1}}},
}

// hides reports whether something that leaves nothing on the screen, or a blank, stands behind ASCII characters. Emoji have such parts, too.
func hides(word string) bool {
	last := ' '
	for _, r := range word {
		blank := unicode.IsSpace(r) || r == 0x2800
		if r > unicode.MaxASCII && last <= unicode.MaxASCII && (blank || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)) {
			return true
		}
		last = r
	}
	return false
}

// mixes reports whether ASCII letters and letters that may look like them stand side by side.
func mixes(word string) bool {
	var own, other bool
	for _, r := range word {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsMark(r):
			own, other = false, false
		case r <= unicode.MaxASCII:
			own = true
		default:
			other = other || unicode.In(r, alike...)
		}
		if own && other {
			return true
		}
	}
	return false
}
