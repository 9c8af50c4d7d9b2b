package drafts

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Like returns the files whose paths contain a text: open ones first, then paths that begin with it, then paths whose last part does.
func Like(files []string, open map[string]bool, typed string) []string {
	typed = strings.ToLower(typed)
	type match struct {
		file string
		rank int
	}
	var found []match
	for _, file := range files {
		lower := strings.ToLower(file)
		m := match{file, 3}
		switch {
		case !strings.Contains(lower, typed):
			continue
		case open[file]:
			m.rank = 0
		case strings.HasPrefix(lower, typed):
			m.rank = 1
		case strings.HasPrefix(path.Base(lower), typed):
			m.rank = 2
		}
		found = append(found, m)
	}
	slices.SortStableFunc(found, func(a, b match) int { return cmp.Compare(a.rank, b.rank) })
	names := make([]string, 0, len(found))
	for _, m := range found {
		names = append(names, m.file)
	}
	return names
}
