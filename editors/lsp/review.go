package lsp

import (
	"fmt"
	"path/filepath"
	"strings"

	"cursord/daemon/paths"
)

// reviewURI returns where all that is to review in a folder can be read.
func (s *Server) reviewURI(w *workspace) string {
	return paths.URI(filepath.Join(s.stateFolderOf(w), reviewFile))
}

// reviewText returns all that is to review in a folder as a patch, and for each file the line where its part begins.
func reviewText(w *workspace) (string, map[string]int) {
	var b strings.Builder
	at := map[string]int{}
	for _, path := range w.paths() {
		d := w.diffs[path]
		at[path] = strings.Count(b.String(), "\n")
		old := d.OldPath
		if old == "" {
			old = d.Path
		}
		fmt.Fprintf(&b, "diff --cursord a/%s b/%s\n", old, d.Path)
		for i, h := range d.Hunks {
			if h.Kind != "text" {
				fmt.Fprintf(&b, "# %d/%d %s\n", i+1, len(d.Hunks), summary(d, &d.Hunks[i]))
			}
			if len(h.Lines) == 0 {
				continue
			}
			fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@ %s\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.ID)
			for _, line := range h.Lines {
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String(), at
}

// writeReview brings the file up to date, for the hunks that are shown in it.
func (s *Server) writeReview(w *workspace) {
	text, _ := reviewText(w)
	file, err := s.stateFile(w, reviewFile)
	if err == nil {
		err = putFile(file, text)
	}
	if err != nil {
		s.opts.Log.Warn("the list of changes cannot be written", "err", err)
	}
}

// placedInReview returns the hunks that are shown in the file that lists all, because they have no file of their own.
func (s *Server) placedInReview(w *workspace) (all []placed) {
	uri := s.reviewURI(w)
	_, at := reviewText(w)
	for _, path := range w.paths() {
		for _, p := range s.place(w, w.diffs[path]) {
			if p.uri == uri {
				p.from, p.to, p.text = at[path], at[path]+1, nil
				all = append(all, p)
			}
		}
	}
	return all
}

func (s *Server) diffCommand(t *target) (any, error) {
	w, err := s.folderOf(t)
	if err != nil {
		return nil, err
	}
	text, at := reviewText(w)
	if text == "" {
		s.show(levelInfo, "cursord: nothing to review")
		return nil, nil
	}
	line := 0
	if d := s.docs[s.touched.uri]; d != nil && d.workspace == w {
		line = at[d.path]
	}
	return nil, s.write(w, reviewFile, text, &Range{Start: Position{Line: line}, End: Position{Line: line}})
}
