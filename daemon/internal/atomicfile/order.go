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
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	return order
}
