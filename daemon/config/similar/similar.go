// Package similar suggests known names for an unknown word: "did you mean".
package similar

import "strings"

// DidYouMean returns "; did you mean a or b?" with the names that are most like an unknown word; "" if none is like it.
func DidYouMean(word string, names []string) string {
	word = strings.ToLower(word)
	best := 2 // the largest distance that counts as alike
	if len(strings.TrimLeft(word, "-")) < 4 {
		best = 1
	}
	var like []string
	for _, name := range names {
		n := distance(word, name)
		if len(word) > 2 && strings.HasPrefix(name, word) {
			n = 0
		}
		switch {
		case n < best:
			best, like = n, []string{name}
		case n == best:
			like = append(like, name)
		}
	}
	if len(like) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(like, " or ") + "?"
}

// distance returns how many letters must be inserted, removed, changed or swapped with their neighbour to turn a into b.
func distance(a, b string) int {
	const far = 64
	if len(a) > far || len(b) > far {
		return far
	}
	var rows [far + 1][far + 1]int
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			differ := 1
			if a[i-1] == b[j-1] {
				differ = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differ)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
