package plaintext

import (
	"slices"
	"strconv"
	"strings"
)

// Chosen reads a list of choices, which are numbers from 1 on or names, with commas between or, if there is no comma, blanks. names has the names of
// each choice; those of another one win over a number. It returns the indexes of the choices, each once; nil if one of the words is no choice.
func Chosen(text string, names [][]string) (all []int) {
	words := []string{text}
	if strings.Contains(text, ",") {
		words = strings.Split(text, ",")
	} else if choice(strings.TrimSpace(text), names) < 0 {
		words = strings.Fields(text)
	}
	for _, word := range words {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		i := choice(word, names)
		if i < 0 {
			return nil
		}
		if !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	return all
}

func choice(word string, names [][]string) int {
	if i := slices.IndexFunc(names, func(of []string) bool {
		return slices.ContainsFunc(of, func(name string) bool { return strings.EqualFold(name, word) })
	}); i >= 0 {
		return i
	}
	if n, err := strconv.Atoi(word); err == nil && 0 < n && n <= len(names) {
		return n - 1
	}
	return -1
}
