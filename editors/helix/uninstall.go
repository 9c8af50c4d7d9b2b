package helix

import (
	"slices"
	"strings"
)

// Uninstall plans to take out of the configuration in dir the parts that Install added. Without a manifest it takes out the
// parts that can only be cursord's.
func Uninstall(dir string) (*Plan, error) {
	p, err := open(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{languagesFile, configFile} {
		err := p.change(name, func(e *editing) error {
			if p.Installed() {
				return nil
			}
			return p.undo(e, recognized(e.document))
		})
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

// undo takes pieces out of a file, the last one first. A piece that somebody has changed stays, and is noted.
func (p *Plan) undo(e *editing, pieces []piece) error {
	for _, piece := range slices.Backward(pieces) {
		var err error
		switch piece.What {
		case "item":
			err = e.dropServer(piece.Path)
		case "pair":
			err = p.dropPair(e, piece)
		case "element":
			err = p.dropElement(e, piece)
		case "table":
			var done bool
			if done, err = e.removeTable(piece); err == nil && !done && e.defines(piece.Path) {
				p.note("kept [%s]: it has more than cursord wrote", dotted(piece.Path))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dropServer takes cursord out of a language's list.
func (e *editing) dropServer(path []string) error {
	_, list := e.language(path[1])
	if list == nil {
		return nil
	}
	if i := e.serverAt(list.value); i >= 0 {
		return e.removeItem(list.value, i)
	}
	return nil
}

// dropElement takes a language out of the list of inline tables. A changed one only loses cursord.
func (p *Plan) dropElement(e *editing, piece piece) error {
	list := e.inlineLanguages()
	own, _ := e.language(piece.Path[1])
	if list == nil || own == nil || own.inline == nil {
		return nil // somebody has removed it
	}
	if e.raw(*own.inline) != piece.Text {
		p.note("removed only cursord from the servers of %s: they were changed since", piece.Path[1])
		return e.dropServer(piece.Path)
	}
	i := slices.IndexFunc(list.items, func(v value) bool { return v.start == own.inline.start })
	return e.removeItem(*list, i)
}

func (p *Plan) dropPair(e *editing, piece piece) error {
	s := e.find(piece.Path)
	if piece.Path[0] == "language" {
		own, list := e.language(piece.Path[1])
		s = spot{pair: list, exists: list != nil}
		if own != nil {
			s.table, s.inline = own.table, own.inline
		}
	}
	switch {
	case !s.exists:
		return nil // somebody has removed it
	case e.raw(s.pair.value) == piece.Text:
		return e.removePair(s)
	case piece.Path[0] == "language":
		p.note("removed only cursord from the servers of %s: they were changed since", piece.Path[1])
		return e.dropServer(piece.Path)
	}
	p.note("kept %s = %s: it was changed since", dotted(piece.Path), e.raw(s.pair.value))
	return nil
}

// recognized returns the parts of a file that are cursord's, whoever wrote them: the server, its entries in lists of
// servers, and keys with its commands.
func recognized(d *document) (pieces []piece) {
	for i := range d.tables {
		t := &d.tables[i]
		end := t.end
		if n := len(t.pairs); n > 0 {
			end = t.pairs[n-1].end
		}
		switch {
		case i > 0 && slices.Equal(t.path, []string{"language-server", ServerName}):
			pieces = append(pieces, piece{What: "table", Path: t.path, Text: d.text[t.start:end]})
		}
		for j := range t.pairs {
			path := t.pairs[j].path(t)
			if command := d.str(t.pairs[j].value); path[0] == "keys" && strings.Contains(command, ":lsp-workspace-command cursord.") {
				pieces = append(pieces, piece{What: "pair", Path: path, Text: d.raw(t.pairs[j].value)})
			}
		}
	}
	for _, own := range d.ownLanguages() {
		pieces = append(pieces, piece{What: "item", Path: []string{"language", own.name, "language-servers"}})
	}
	if s := d.find([]string{"language-server", ServerName}); s.exists {
		pieces = append(pieces, piece{What: "pair", Path: []string{"language-server", ServerName}, Text: d.raw(s.pair.value)})
	}
	return pieces
}
