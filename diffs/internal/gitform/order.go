package gitform

// order returns the order in which a patch has the changes of files, so that git apply takes it in both directions: the change after which a
// name is free comes before the one that gives the name to another file. gone has the name that a change frees, come the one that it gives;
// "" for none. Other changes stay in their order.
func order(gone, come []string) (order []int) {
	frees := map[string]int{}
	for i, name := range gone {
		if name != "" {
			frees[name] = i
		}
	}
	done := make([]bool, len(gone))
	var put func(i int)
	put = func(i int) {
		if done[i] {
			return
		}
		done[i] = true // also before the one that it waits for: two files may change names
		if first, waits := frees[come[i]]; waits {
			put(first)
		}
		order = append(order, i)
	}
	for i := range gone {
		put(i)
	}
	return order
}
