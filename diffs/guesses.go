package diffs

// known counts the lines that are not of so few letters that they may be anywhere.
func known(lines []string) (n int) {
	for _, l := range lines {
		if linkKey(l) != "" {
			n++
		}
	}
	return n
}

// replaced reports whether a text was replaced as a whole by another with which it has some lines in common: those may be there because
// many texts have such lines. It takes numbers of known lines.
func replaced(old, now, common int) bool { return 2*common < min(old, now) }

// Tell returns the origins of a text without those guesses (ByText) that its lines do not bear out: somebody else may have typed them. A guess
// needs a line with at least twelve letters and digits that is there once. It counts for the lines of the same turn above and below too, also
// beyond lines of few letters, such as a brace.
func Tell(origins []Origin, text string) (told []Origin) {
	lines, count := splitLines(text), map[string]int{}
	for i, l := range lines {
		lines[i] = trimEnd(l)
		count[lines[i]]++
	}
	for i := 0; i < len(origins); {
		if !origins[i].ByText {
			told = append(told, origins[i])
			i++
			continue
		}
		known, end := false, i
		for k := i; k < len(origins); k++ {
			o := &origins[k]
			of := lines[min(o.From, len(lines)):min(o.To, len(lines))]
			switch {
			case o.ByText && o.Source.TurnID == origins[i].Source.TurnID:
				for _, l := range of {
					known = known || telling(l) && count[l] == 1
				}
				end = k + 1
				continue
			case o.Source == nil && len(of) == 1 && linkKey(of[0]) == "":
				continue
			}
			break
		}
		for ; i < end; i++ {
			o := origins[i]
			if o.ByText && !known {
				o = Origin{From: o.From, To: o.To}
			}
			if n := len(told) - 1; n >= 0 && told[n].like(&o) {
				told[n].To = o.To
			} else {
				told = append(told, o)
			}
		}
	}
	return told
}
