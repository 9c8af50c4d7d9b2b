package review

import (
	"cmp"

	"cursord/daemon/api"
	"cursord/daemon/paths"
)

// Places returns the places of hunks in a client's open texts of a path. It finds lines by their authors, not by their
// words. If a text differs from the file, a hunk's place is where its lines are in the text.
func (r *Reviewer) Places(client api.ClientID, path string) (list []api.PlacedDocument, err error) {
	stopped := r.call(func() {
		if why := paths.TooLongIn(r.setup.Root, path); why != "" {
			err = api.Invalid("path", "%s", why)
			return
		}
		if err = api.DiffPath(path); err != nil {
			return
		}
		files := r.at(r.named(path))
		for _, f := range files {
			r.affected[f] = true
		}
		r.refreshAll(files)
		byPath := map[string]int{}
		for _, f := range files {
			doc := r.setup.Documents.Opened(client, r.absolute(f))
			if doc == nil || f.Review == nil || f.outside() {
				continue
			}
			at, known := byPath[f.realPath()]
			if !known {
				at = len(list)
				byPath[f.realPath()] = at
				list = append(list, api.PlacedDocument{Path: f.realPath(), Version: doc.Version, Hunks: []api.PlacedHunk{}})
			}
			list[at].Hunks = append(list[at].Hunks, f.Placed(doc)...)
		}
	})
	return list, cmp.Or(stopped, err)
}
