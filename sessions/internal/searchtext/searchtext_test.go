package searchtext

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                nil,
		" \n-- ":                          nil,
		"Fix the_BUG in src/main.go!":     {"fix", "the", "bug", "in", "src", "main", "go"},
		"don't 2nd 3.14":                  {"don", "t", "2nd", "3", "14"},
		"STRASSE Straße ẞ":                {"strasse", "strasse", "ss"},
		"ΣΊΣΥΦΟΣ σίσυφος":                 {"σίσυφοσ", "σίσυφοσ"},
		"İstanbul ﬁne \u212aelvin ſo":     {"istanbul", "fine", "kelvin", "so"},
		"i\u0307stanbul I\u0307x i\u0307": {"istanbul", "ix", "i"},
		"漢字かな ab検索":                       {"漢", "字", "か", "な", "ab", "検", "索"},
		"e\u0301te\u0301 \u00e9t\u00e9":   {"été", "été"},
		"U\u0308ber x\u0301":              {"über", "x\u0301"},
		"a🚀 ship it ✓ → ©":                {"a", "🚀", "ship", "it", "✓"},
		strings.Repeat("é", 30):           {strings.Repeat("é", 20)},
		"a" + strings.Repeat("é", 30):     {"a" + strings.Repeat("é", 19)},
		"\xff\xfeok":                      {"ok"},
		"привет ПРИВЕТ":                   {"привет", "привет"},
	} {
		var got []string
		words(NewText(text).folded, func(w string) { got = append(got, w) })
		require.Equal(t, want, got, "%q", text)
	}
}

// marked returns a snippet with its ranges in brackets.
func marked(snippet string, ranges []Range) string {
	for _, r := range slices.Backward(ranges) {
		snippet = snippet[:r.From] + "[" + snippet[r.From:r.To] + "]" + snippet[r.To:]
	}
	return snippet
}

func TestFind(t *testing.T) {
	long := strings.Repeat("filler ", 100)
	for _, c := range []struct{ query, text, want string }{
		{"fox", "The Fox jumps", "The [Fox] jumps"},
		{"jump FOX", "The Fox jumps", "The [Fox] [jump]s"},
		{"ump", "The Fox jumps", ""},
		{"fox cat", "The Fox jumps", ""},
		{`"the fox"`, "see  the\n\tFOX run", "see [the FOX] run"},
		{`"fox the"`, "the fox", ""},
		{`"the fo"`, "the fox", ""},
		{`"the fo`, "the fo x", "[the fo] x"},
		{`"the fo`, "see the fox", "see [the fo]x"}, // while one types
		{`"the fo `, "see the fox", ""},
		{`"jumps" fox`, "fox jumps", "[fox] [jumps]"},
		{`"jump" fox`, "fox jumps", ""},
		{"(fox),", "a fox", "a [fox]"},
		{"src/main.go", "in src/main.go:12", "in [src/main.go]:12"},
		{"src/main", "in src main", ""},
		{"foo_bar", "call foo_bar()", "call [foo_bar]()"},
		{"bar", "call foo_bar()", "call foo_[bar]()"},
		{"strasse", "die Straße hier", "die [Straße] hier"},
		{"STRAẞE", "die strasse hier", "die [strasse] hier"},
		{"検索", "全文検索の索引", "全文[検索]の索引"},
		{`"c++"`, "in C++ now", "in [C++] now"},
		{"ÉTÉ", "un été chaud", "un [été] chaud"},
		{"e\u0301te\u0301", "un été chaud", "un [été] chaud"},
		{"été", "un e\u0301te\u0301 chaud, ete\u0301", "un [e\u0301te\u0301] chaud, ete\u0301"},
		{"chaud", "un e\u0301te\u0301 chaud", "un e\u0301te\u0301 [chaud]"},
		{"🚀", "ship it 🚀 now", "ship it [🚀] now"},
		{"İst", "aİ İstanbul", "aİ [İst]anbul"},
		{"i\u0307st", "aİ İstanbul", "aİ [İst]anbul"},
		{"İ", "ai\u0307 İ i\u0307 i", "ai\u0307 [İ] [i\u0307] [i]"},
		{"a ab", "ab a", "[ab] [a]"},
		{"needle", long + "a needle here " + long, "…filler filler filler filler filler filler a [needle] here "},
		{"ſ", "ſo", "[ſ]o"},
		{"k", "\u212a", "[\u212a]"},
		{"stras", "Straße", "[Straß]e"},
		{"x", "\x1b[31m x\x00y", "[31m [x] y"},
	} {
		snippet, ranges, ok := Parse(c.query).Find(c.text)
		require.Equal(t, c.want != "", ok, "%s in %q", c.query, c.text)
		if got := marked(snippet, ranges); c.query == "needle" {
			require.True(t, strings.HasPrefix(got, c.want) && strings.HasSuffix(got, "…"), got)
			require.LessOrEqual(t, len(snippet), snippetBytes+6)
		} else if ok {
			require.Equal(t, c.want, got, "%s in %q", c.query, c.text)
		}
	}
	for _, none := range []string{"", "  ", `""`, `" - "`, "-- ..."} {
		require.True(t, Parse(none).Empty(), none)
	}
	// Where the words of a query are far from each other, the snippet has the most of them.
	snippet, ranges, ok := Parse("alpha beta gamma").Find("alpha " + long + " beta and gamma")
	require.True(t, ok)
	require.Contains(t, marked(snippet, ranges), "[beta] and [gamma]")
}

// TestIndexKnowsAllTexts: each text that has a query has the query's words in the index, in every script.
func TestIndexKnowsAllTexts(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	letters := []rune("abcABC_-./ \n\"'éÉßẞıİσςΣ漢字カﬁ\u0301\u0307🚀٣ДдKſ")
	text := func(n int) string {
		b := make([]rune, rnd.Intn(n)+1)
		for i := range b {
			b[i] = letters[rnd.Intn(len(letters))]
		}
		return string(b)
	}
	for range 60 {
		b := NewBuilder()
		var texts []string
		for range rnd.Intn(200) + 1 {
			texts = append(texts, text(60))
			b.Add(texts[len(texts)-1])
		}
		blocks := map[string][]byte{}
		var firsts []string
		for first, block := range b.Blocks() {
			blocks[first] = slices.Clone(block)
			firsts = append(firsts, first)
		}
		require.True(t, slices.IsSorted(firsts))
		for range 20 {
			q := Parse(text(8))
			if from := texts[rnd.Intn(len(texts))]; rnd.Intn(2) == 0 && len(from) > 3 {
				q = Parse(`"` + strings.ReplaceAll(from[:len(from)/2], `"`, " ") + `"`)
			}
			if q.Empty() {
				continue
			}
			all := NewSet(len(texts))
			for i := range texts {
				all.add(i)
			}
			for _, w := range q.Words() {
				set := NewSet(len(texts))
				for _, first := range firsts {
					_, err := w.Read(blocks[first], set)
					require.NoError(t, err)
				}
				all.And(set)
			}
			for i, text := range texts {
				if _, _, ok := q.Find(text); ok {
					require.True(t, all.Below(i+1) == i, fmt.Sprintf("%+v in %q", q, text))
				}
			}
		}
	}
}

func TestSet(t *testing.T) {
	s := NewSet(200)
	for _, doc := range []int{0, 63, 64, 199} {
		s.add(doc)
	}
	s.add(5000) // a damaged posting
	var got []int
	for doc := s.Below(200); doc >= 0; doc = s.Below(doc) {
		got = append(got, doc)
	}
	require.Equal(t, []int{199, 64, 63, 0}, got)
	require.Equal(t, -1, NewSet(0).Below(10))
	require.Equal(t, -1, Set(nil).Below(10))
}

// TestDamagedBlocks: no block of any bytes crashes a search.
func TestDamagedBlocks(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	b := NewBuilder()
	for i := range 50 {
		b.Add(fmt.Sprint("word", i, " words ", i%7))
	}
	for _, block := range b.Blocks() {
		for range 2000 {
			bad := slices.Clone(block)
			for range rnd.Intn(3) + 1 {
				bad[rnd.Intn(len(bad))] = byte(rnd.Intn(256))
			}
			_, _ = Word{Text: "word", Prefix: true}.Read(bad[:rnd.Intn(len(bad)+1)], NewSet(50))
		}
	}
}
