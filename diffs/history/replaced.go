package history

import "slices"

// another reports whether a person has made another text where edits had deleted one, although a few of its lines may be in both: many texts
// have such lines. f is the history after the step, and gone are the edits.
func (t *taking) another(f *File, gone []int32) bool {
	count := func(f *File) (all, telling int) {
		for _, g := range f.Dead {
			for _, d := range g.Lines {
				if slices.Contains(gone, d.Del) {
					all, telling = all+1, telling+tells(d.Text)
				}
			}
		}
		return all, telling
	}
	was, old := count(t.c.f)
	left, rest := count(f)
	now := 0
	for _, e := range t.step.Edits {
		for _, a := range e.Added {
			now += tells(a.Text)
		}
	}
	return was > 0 && (left == was || 2*(old-rest) < min(old, now))
}

// tells returns 1 for a line that tells texts apart, and 0 for one that many texts have, such as an empty one.
func tells(line string) int {
	if key(line) == "" {
		return 0
	}
	return 1
}

// Taken reports whether a person's changes have taken from the file what some edits had made.
func (f *File) Taken(by func(int32) bool) bool {
	if f == nil || f.Asleep == nil {
		return false
	}
	for n := range f.Asleep.File.Edits() {
		if by(n) {
			return true
		}
	}
	return false
}

// Wakes reports whether a content with this sum is the one from before a person's changes, so that its lines are known again if it comes back.
func (f *File) Wakes(sum string) bool { return f != nil && f.Asleep != nil && f.Asleep.Sum == sum }
