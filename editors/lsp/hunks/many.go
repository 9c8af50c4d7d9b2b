package hunks

import (
	"fmt"
	"slices"
	"strings"

	"cursord/agent/plaintext"
	"cursord/sessions"
)

// WithoutYours returns the chosen hunks that are certainly the agent's, and says which others there are; "" if there are none. The diffs
// are those under review, by path.
func WithoutYours(diffs map[string]*sessions.Diff, chosen []string) (rest []string, left string) {
	const shown = 5
	where := map[string]string{}
	for _, d := range diffs {
		yours := d.MaybeYours()
		for i := range d.Hunks {
			if h := &d.Hunks[i]; yours[h.ID] {
				where[h.ID] = fmt.Sprintf("%s:%d", d.Path, FirstChanged(h))
			}
		}
	}
	var places []string
	for _, id := range chosen {
		if at, yours := where[id]; yours {
			places = append(places, at)
		} else {
			rest = append(rest, id)
		}
	}
	n := len(places)
	if n == 0 {
		return rest, ""
	}
	if n > shown {
		places = append(places[:shown], fmt.Sprintf("and %d more", n-shown))
	}
	return rest, fmt.Sprintf("left %s that may be yours: %s (reject each by itself)", plaintext.Count(n, "hunk"), strings.Join(places, ", "))
}

// WithoutConflicts returns the chosen hunks without those whose lines the user has changed and not saved, and says how many these are.
func WithoutConflicts(diffs map[string]*sessions.Diff, chosen []string) (rest []string, left string) {
	n := 0
	for _, id := range chosen {
		if h := Find(diffs, id); h != nil && h.InConflict() {
			n++
		} else {
			rest = append(rest, id)
		}
	}
	if n > 0 {
		left = fmt.Sprintf("left %s whose lines you have changed too (decide each by itself)", plaintext.Count(n, "hunk"))
	}
	return rest, left
}

// Find returns the hunk with an id, or nil.
func Find(diffs map[string]*sessions.Diff, id string) *sessions.Hunk {
	for _, d := range diffs {
		for i := range d.Hunks {
			if d.Hunks[i].ID == id {
				return &d.Hunks[i]
			}
		}
	}
	return nil
}

// Conflicts counts the hunks of a diff whose lines the user has changed, too, and not saved; 0 for a nil diff.
func Conflicts(d *sessions.Diff) (n int) {
	if d == nil {
		return 0
	}
	for i := range d.Hunks {
		if d.Hunks[i].InConflict() {
			n++
		}
	}
	return n
}

// Left says what is left to review, if these are the newest states of some of the diffs.
func Left(diffs map[string]*sessions.Diff, newest []*sessions.Diff) string {
	count := map[string]int{}
	for path, d := range diffs {
		count[path] = len(d.Hunks)
	}
	for _, d := range newest {
		if count[d.Path] = 0; d.State == "pending" {
			count[d.Path] = len(d.Hunks)
		}
	}
	n, files := 0, 0
	for _, of := range count {
		n += of
		files += min(of, 1)
	}
	if n == 0 {
		return "none left"
	}
	return plaintext.Count(n, "hunk") + " left in " + plaintext.Count(files, "file")
}

// ButYours returns the end of a reject's title: how many hunks it leaves.
func ButYours(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" but %d that may be yours", n)
}

// OnlyListed returns the hunks that only the list shows: their files cannot be opened.
func OnlyListed(all []Placed) []Placed {
	return slices.DeleteFunc(all, func(p Placed) bool { return !p.Alone })
}

// ListsDecided reports whether a text of the list has hunks that are not pending.
func ListsDecided(diffs map[string]*sessions.Diff, text string) bool {
	return slices.ContainsFunc(ListedIn(text), func(one Listed) bool { return Find(diffs, one.ID) == nil })
}
