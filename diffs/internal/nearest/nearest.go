// Package nearest finds, among lines with the same key, the one that is nearest to a place, each once. However many have the same key, that
// takes hardly longer than looking one up.
package nearest

import "slices"

// A Set has lines at places, by their keys. The zero Set is empty.
type Set[K comparable] struct{ of map[K]*list }

// A list has the lines with one key.
type list struct {
	at    []int // ascending
	lines []int // the numbers that the caller knows them by
	above []int // see free; line i is at i+1, and 0 is above all
	below []int // the same downwards, with line i at i
}

// Add adds a line. Those with one key come in the order of their places.
func (s *Set[K]) Add(key K, at, line int) {
	if s.of == nil {
		s.of = map[K]*list{}
	}
	l := s.of[key]
	if l == nil {
		l = &list{above: []int{0}, below: []int{0}}
		s.of[key] = l
	}
	l.at, l.lines = append(l.at, at), append(l.lines, line)
	l.above, l.below = append(l.above, len(l.above)), append(l.below, len(l.below))
}

// Take takes out the line with a key that is nearest to a place and that can be taken, the first one of several. It returns false if there is
// none.
func (s *Set[K]) Take(key K, to int, can func(line int) bool) (line int, ok bool) {
	l := s.of[key]
	if l == nil {
		return 0, false
	}
	from, _ := slices.BinarySearch(l.at, to)
	best, far := -1, 0
	for i := free(l.below, from); i < len(l.at); i = free(l.below, i+1) {
		if can(l.lines[i]) {
			best, far = i, l.at[i]-to
			break
		}
	}
	for i := free(l.above, from) - 1; i >= 0 && (best < 0 || to-l.at[i] <= far); i = free(l.above, i) - 1 {
		if can(l.lines[i]) {
			best, far = i, to-l.at[i]
		}
	}
	if best < 0 {
		return 0, false
	}
	l.below[best], l.above[best+1] = best+1, best
	return l.lines[best], true
}

// free follows the ways past taken lines from one on, and shortens them.
func free(ways []int, i int) int {
	for ways[i] != i {
		ways[i] = ways[ways[i]]
		i = ways[i]
	}
	return i
}
