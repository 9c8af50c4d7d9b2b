package history

import "slices"

// matches pairs dead lines and lines that no edit has added, both in order, by their text.
func (t *taking) matches(dead []candidate, added []Added) (pairs [][2]int) {
	if len(dead) == 0 || !slices.ContainsFunc(added, func(a Added) bool { return a.By == 0 }) {
		return nil
	}
	can := func(d *candidate) bool {
		return !d.Copied || t.step.Who != Person || t.gone[trim(d.Text)] == d.Del
	}
	const exact = 1 << 18
	if len(dead)*len(added) > exact {
		at := map[string][]int{} // the places of each text among the dead lines
		for i := range dead {
			if text := trim(dead[i].Text); can(&dead[i]) {
				at[text] = append(at[text], i)
			}
		}
		from := 0
		for j, a := range added {
			places := at[trim(a.Text)]
			if k, _ := slices.BinarySearch(places, from); a.By == 0 && k < len(places) {
				pairs, from = append(pairs, [2]int{places[k], j}), places[k]+1
			}
		}
		return pairs
	}
	same := func(i, j int) bool {
		return added[j].By == 0 && trim(dead[i].Text) == trim(added[j].Text) && can(&dead[i])
	}
	length := make([][]int, len(dead)+1)
	for i := range length {
		length[i] = make([]int, len(added)+1)
	}
	for i := len(dead) - 1; i >= 0; i-- {
		for j := len(added) - 1; j >= 0; j-- {
			if length[i][j] = max(length[i+1][j], length[i][j+1]); same(i, j) {
				length[i][j] = max(length[i][j], length[i+1][j+1]+1)
			}
		}
	}
	for i, j := 0, 0; i < len(dead) && j < len(added); {
		switch {
		case same(i, j) && length[i][j] == length[i+1][j+1]+1:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return pairs
}
