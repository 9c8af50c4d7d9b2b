package copytree

import (
	"context"
	"path"
	"path/filepath"

	"cursord/daemon/internal/filestat"
)

// lstatAll returns the stats of paths below base; zero for a path that does not exist, or exists only through a link.
func lstatAll(ctx context.Context, base string, paths []string) ([]filestat.Stat, error) {
	stats, _ := filestat.All(len(paths), func(i int) string { return filepath.Join(base, filepath.FromSlash(paths[i])) },
		func() bool { return ctx.Err() != nil })
	real := realDirs{base: base, known: map[string]bool{".": true}}
	for i, p := range paths {
		if stats[i].Exists() && !real.has(path.Dir(p)) {
			stats[i] = filestat.Stat{}
		}
	}
	return stats, ctx.Err()
}

// realDirs caches which folders below base can be reached without a link.
type realDirs struct {
	base  string
	known map[string]bool
}

func (r realDirs) has(dir string) bool {
	is, known := r.known[dir]
	if !known {
		is = r.has(path.Dir(dir)) && filestat.Of(filepath.Join(r.base, filepath.FromSlash(dir))).Mode.IsDir()
		r.known[dir] = is
	}
	return is
}
