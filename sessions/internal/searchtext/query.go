package searchtext

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Query is what is searched for: a text that has it has each of its terms.
type Query struct{ terms []term }

// A term is a word or a phrase: pieces with white space between them, folded. The first piece begins at a word's beginning.
// A whole term ends at a word's end; of another one the text may have the beginning.
type term struct {
	pieces []string
	whole  bool
}

// A Word is a word to look up in an index. With Prefix, words that begin so count as well.
type Word struct {
	Text   string
	Prefix bool
}

// Parse reads a query as people type it: words, each of which may be the beginning of one, and phrases in double quotes, which
// are whole. Punctuation around an unquoted word does not count, inside of it it does. A phrase whose quote is not closed goes
// to the end, and its last word may be the beginning of one, unless white space follows it.
func Parse(query string) Query {
	var q Query
	parts := strings.Split(query, `"`)
	for i, part := range parts {
		if i%2 == 1 {
			if pieces := strings.Fields(NewText(part).folded); hasWord(pieces) {
				closed := i < len(parts)-1 || strings.TrimRightFunc(part, unicode.IsSpace) != part
				q.terms = append(q.terms, term{pieces: pieces, whole: closed})
			}
			continue
		}
		for word := range strings.FieldsSeq(NewText(part).folded) {
			if word = strings.TrimFunc(word, func(r rune) bool { return classOf(r) == between }); word != "" {
				q.terms = append(q.terms, term{pieces: []string{word}})
			}
		}
	}
	return q
}

func hasWord(pieces []string) bool {
	return slices.ContainsFunc(pieces, func(p string) bool {
		return strings.ContainsFunc(p, func(r rune) bool { return classOf(r) != between })
	})
}

// Empty reports whether the query has no word.
func (q Query) Empty() bool { return len(q.terms) == 0 }

// Words returns the words that each text with the query has.
func (q Query) Words() (list []Word) {
	add := func(w Word) {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	for _, t := range q.terms {
		var of []string
		words(strings.Join(t.pieces, " "), func(w string) { of = append(of, w) })
		last := t.pieces[len(t.pieces)-1]
		end, _ := utf8.DecodeLastRuneInString(last)
		for i, w := range of {
			open := i == len(of)-1 && !t.whole && classOf(end) == letter
			add(Word{Text: w, Prefix: open && len(w) < MaxWord})
		}
	}
	return list
}

// find returns where a folded text has a term, from an offset on; from is -1 if it has not.
func (t term) find(folded string, start int) (from, to int) {
	first, _ := utf8.DecodeRuneInString(t.pieces[0])
	for start <= len(folded) {
		i := strings.Index(folded[start:], t.pieces[0])
		if i < 0 {
			return -1, 0
		}
		from = start + i
		start = from + 1
		if classOf(first) != between && !atWord(folded, from) {
			continue
		}
		if to = t.end(folded, from); to >= 0 && (!t.whole || atWord(folded, to)) {
			return from, to
		}
	}
	return -1, 0
}

// end returns where a term ends that begins at an offset, or -1.
func (t term) end(folded string, at int) int {
	for i, piece := range t.pieces {
		if i > 0 {
			rest := strings.TrimLeftFunc(folded[at:], unicode.IsSpace)
			if len(rest) == len(folded)-at {
				return -1
			}
			at = len(folded) - len(rest)
		}
		if !strings.HasPrefix(folded[at:], piece) {
			return -1
		}
		at += len(piece)
	}
	return at
}

// A Range is a part of a text, in bytes.
type Range struct{ From, To int }

// How long a snippet is, in bytes of the text, and how much of it is in front of the first word that was found.
const (
	snippetBytes = 200
	snippetFront = 50
)

// Find looks for the query in a text. The snippet is the part of the text with most of the query, on one line; ranges are
// where it has the query's terms, in order, without overlaps.
func (q Query) Find(text string) (snippet string, ranges []Range, found bool) {
	t := NewText(text)
	var firsts []int // where each term is for the first time, in the original text
	for _, term := range q.terms {
		from, _ := term.find(t.folded, 0)
		if from < 0 {
			return "", nil, false
		}
		firsts = append(firsts, t.inOriginal(from))
	}
	slices.Sort(firsts)
	best, most := firsts[0], 0
	for _, at := range firsts {
		n := 0
		for _, other := range firsts {
			if at <= other && other < at+snippetBytes-snippetFront {
				n++
			}
		}
		if n > most {
			best, most = at, n
		}
	}
	from := startOf(text, best)
	to := min(from+snippetBytes, len(text))
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	snippet, ranges = oneLine(text, from, to, q.within(t, from, to))
	return snippet, ranges, true
}

// startOf returns where a snippet begins that shows what is at an offset: a little before, and at a word if there is one.
func startOf(text string, at int) int {
	from := at - snippetFront
	if from <= 0 {
		return 0
	}
	for !utf8.RuneStart(text[from]) {
		from--
	}
	if i := strings.IndexFunc(text[from:at], unicode.IsSpace); i >= 0 {
		from += i
		from = at - len(strings.TrimLeftFunc(text[from:at], unicode.IsSpace))
	}
	return from
}

// within returns where a part of the original text has terms, sorted and merged.
func (q Query) within(t Text, from, to int) (list []Range) {
	low, high := t.inFolded(from), t.inFolded(to)
	for _, term := range q.terms {
		for at := low; at < high; {
			i, j := term.find(t.folded, at)
			if i < 0 || i >= high {
				break
			}
			r := Range{t.inOriginal(i), min(t.inOriginal(j), to)}
			if r.To > r.From {
				list = append(list, r)
			}
			at = j
		}
	}
	slices.SortFunc(list, func(a, b Range) int { return a.From - b.From })
	merged := list[:0]
	for _, r := range list {
		if n := len(merged); n > 0 && r.From < merged[n-1].To {
			merged[n-1].To = max(merged[n-1].To, r.To)
		} else {
			merged = append(merged, r)
		}
	}
	return merged
}

// oneLine returns text[from:to] with each run of white space and control characters as one space, and with dots where it is
// cut; and the ranges moved to where they are in it.
func oneLine(text string, from, to int, ranges []Range) (string, []Range) {
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	moved := make([]Range, len(ranges))
	place := func(at int) { // the snippet so far ends before text[at]
		for i, r := range ranges {
			if r.From == at {
				moved[i].From = b.Len()
			}
			if r.To == at {
				moved[i].To = b.Len()
			}
		}
	}
	gap := true
	for i, r := range text[from:to] {
		space := unicode.IsSpace(r) || unicode.IsControl(r)
		if !space || !gap {
			place(from + i)
		}
		switch {
		case !space:
			b.WriteRune(r)
		case !gap:
			b.WriteByte(' ')
		default:
			place(from + i)
		}
		gap = space
	}
	place(to)
	if to < len(text) {
		b.WriteString("…")
	}
	return b.String(), moved
}
