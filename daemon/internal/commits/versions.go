package commits

import (
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cursord/daemon/internal/filestat"
	"cursord/daemon/internal/git"
	"cursord/diffs"
)

// A Changed is a file that a turn's commands have changed.
type Changed struct {
	Path string
	Rev  uint64 // of its review
	Size int
}

// Bounds of a look at what commits have written before the turn.
const (
	mostChanged  = 50      // files
	mostSize     = 1 << 20 // of a file
	mostVersions = 50      // of a file
	mostTexts    = 16 << 20
	mostStashes  = 20
	versionsTime = 3 * time.Second // for each of two questions
)

// versions returns, by path, what commits and stashes from before the turn have written in files, the oldest first: commands such as
// "git checkout other -- file" and "git stash pop" bring such texts, and HEAD's log has nothing about them. It leaves out files that have not
// changed since it was asked for them. Where git takes too long, it asks once more, at the turn's end.
func (l *Log) versions(all bool, changed []Changed) map[string][]diffs.Version {
	if l.slow && !all {
		return nil
	}
	var paths []string
	sizes := map[string]int{}
	for _, c := range changed {
		if rev, seen := l.seen[c.Path]; len(paths) < mostChanged && c.Size <= mostSize && (!seen || rev != c.Rev) {
			paths, sizes[c.Path] = append(paths, c.Path), c.Size
			l.seen[c.Path] = c.Rev
		}
	}
	if len(paths) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionsTime)
	defer cancel()
	list, err := l.tree.Versions(ctx, l.stashes, paths, mostVersions*len(paths))
	if err != nil && ctx.Err() != nil {
		l.slow = true
		clear(l.seen)
	}
	young := maps.Clone(l.noted) // what HEAD has had since the turn began, and stashes of the turn
	ahead := l.heads
	for _, n := range ahead.read() { // git notes a commit before others see it
		young[n.id] = true
	}
	for _, id := range l.stashed() {
		young[id] = young[id] || !slices.Contains(l.stashes, id)
	}
	left, count := mostTexts, map[string]int{}
	blobs := map[string]string{}
	list = slices.DeleteFunc(list, func(v git.Version) bool {
		late := v.At.Unix() - l.began.Unix()
		if late > 0 || late == 0 && young[v.Commit] || count[v.Path] == mostVersions || left < sizes[v.Path] {
			return true
		}
		if _, known := blobs[v.OID]; !known {
			blobs[v.OID] = v.OID
			left -= sizes[v.Path]
		}
		count[v.Path]++
		return false
	})
	ctx, cancel = context.WithTimeout(context.Background(), versionsTime)
	defer cancel()
	data := l.tree.Blobs(ctx, blobs, false)
	texts, known := map[string][]diffs.Version{}, map[[2]string]bool{}
	for _, v := range slices.Backward(list) {
		key := [2]string{v.Path, v.OID}
		if text := data[v.OID]; len(text) > 0 && len(text) <= mostSize && !known[key] && utf8.Valid(text) {
			known[key] = true
			texts[v.Path] = append(texts[v.Path], diffs.Version{Commit: v.Commit, Text: string(text), Perhaps: true})
		}
	}
	return texts
}

// stashed returns the latest stashes of the repository.
func (l *Log) stashed() (ids []string) {
	name := filepath.Join(l.common, "logs", "refs", "stash")
	f, _, err := filestat.OpenRegular(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, mostLog))
	for line := range strings.Lines(string(text)) {
		if of := strings.Fields(line); len(of) > 1 && !strings.HasPrefix(of[1], "-") {
			ids = append(ids, of[1])
		}
	}
	return ids[max(0, len(ids)-mostStashes):]
}
