package atomicfile

import "slices"

// Order returns in which order to carry out n changes; of returns each, or nil, and the folder that it is in. Files to delete come first, because
// they make room, and a file to be moved comes last where another one is to be: that one is not to give way.
func Order(n int, of func(i int) (in any, c *Change)) []int {
	type place struct {
		in   any
		name string
	}
	stays, order := map[place]bool{}, make([]int, n)
	for i := range order {
		order[i] = i
		if in, c := of(i); c != nil && c.From == c.To && c.After.Exists {
			stays[place{in, c.To}] = true
		}
	}
	rank := func(i int) int {
		switch in, c := of(i); {
		case c == nil:
			return 1
		case c.Before.Exists && !c.After.Exists:
			return 0
		case c.From != c.To && stays[place{in, c.To}]:
			return 2
		}
		return 1
	}
	ranks, least := make([]int, n), map[place]int{}
	for i := range ranks {
		ranks[i] = rank(i)
		if in, c := of(i); c != nil && c.From == c.To && c.Writes() {
			at := place{in, c.To}
			ranks[i] = max(ranks[i], least[at])
			least[at] = ranks[i]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return ranks[a] - ranks[b] })
	return order
}
