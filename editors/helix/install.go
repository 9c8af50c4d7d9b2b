// Package helix adds cursord to a user's Helix configuration, and takes it out again.
//
// It edits the text of the user's files: everything that is not cursord's stays byte for byte. A manifest beside them lists
// the parts that were added, so that exactly these can be taken out.
//
// toml.go finds the places of keys and values in a TOML text, edit.go adds and removes text, manifest.go has the manifest, and
// defaults.go reads Helix's own languages from its program. Tests with real Helixes: cmd/cursord/tests/helix.
package helix

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"cursord/editors/settingsfile"
)

// The files of a configuration that cursord changes.
const (
	languagesFile = "languages.toml"
	configFile    = "config.toml"
)

// ServerName is the name of cursord's server in languages.toml.
const ServerName = "cursord"

// PlainText is the language that is added for *.txt files. Helix has none for them; it gives a language with the name "text"
// no servers.
const PlainText = "plaintext"

const plainText = `[[language]]
name = "plaintext"
scope = "text.plain"
file-types = ["txt"]
`

const comment = "# Written by \"cursord editor install helix\", as are the other lines that name cursord; \"uninstall\" removes them.\n"

// serverTable is the table by which Helix starts cursord. The agent works in a copy, because Helix does not load files again
// that others have written, and refuses to save over them.
const serverTable = `[language-server.cursord]
command = %s
args = ["lsp"]
config = { isolation = "copy", completion = true }
`

const serverInline = `{ command = %s, args = ["lsp"], config = { isolation = "copy", completion = true } }`

// entryOf returns the first entry of a language's list of servers, with the features that the server has for that language. Prompts, in
// which it completes paths, and transcripts, in which it finds the places that agents name, are Markdown.
func entryOf(language string, helix Version) string {
	more := ""
	if language == "markdown" {
		more = `, "completion"`
	}
	if (language == "markdown" || language == "diff") && helix.joinsDefinitions() {
		more += `, "goto-definition"`
	}
	return `{ name = "cursord", only-features = ["diagnostics", "code-action", "hover", "workspace-command", "workspace-symbols"` + more + `] }`
}

// A Request describes an installation.
type Request struct {
	Version   string    // of cursord
	Helix     Version   // of Helix
	Defaults  *Defaults // of this Helix
	Program   string    // the command by which Helix starts cursord
	Languages []string  // languages to add to those that have it, Markdown and diff; nil, if none were ever named, means all
	All       bool      // all languages that Helix knows
	NoKeys    bool
}

// always are the languages of the files that cursord shows. They always have the server.
var always = []string{"markdown", "diff"}

// A Plan has the changes of a configuration's files.
type Plan struct {
	Dir       string
	Files     []File // the changed ones
	Notes     []string
	Languages []string // the languages that then have cursord
	LeftOut   string   // the keys that the configuration has no room for, as TOML to put elsewhere; "": none, or none were wanted
	manifest  *manifest
	was       *manifest

	installing bool
}

// A File is a changed file. Gone says that it is to be removed.
type File struct {
	Name     string
	Old, New string
	Created  bool
	Gone     bool
}

// Install plans an installation into the configuration in dir. It takes out the parts of an earlier installation first.
func Install(dir string, r Request) (*Plan, error) {
	p, err := open(dir)
	if err != nil {
		return nil, err
	}
	p.manifest.Version, p.installing = r.Version, true
	if r.Languages != nil || r.All {
		p.manifest.Chosen = true
	} else if p.was.Chosen {
		r.Languages = []string{}
	}
	err = p.change(languagesFile, func(e *editing) error { return p.installLanguages(e, r) })
	if err != nil {
		return nil, err
	}
	err = p.change(configFile, func(e *editing) error { return p.installKeys(e, r) })
	return p, err
}

// change removes cursord's known parts from a file, and adds those of do. A file whose meaning would not change stays as it
// is.
func (p *Plan) change(name string, do func(*editing) error) error {
	old, exists, err := settingsfile.Read(filepath.Join(p.Dir, name))
	if err != nil {
		return err
	}
	var meaning map[string]any
	if _, err := toml.Decode(old, &meaning); err != nil {
		return fmt.Errorf("%s is not valid TOML: %w\n  nothing was changed; mend it, and run this again", filepath.Join(p.Dir, name), explained(err))
	}
	e, err := edit(old)
	if err != nil {
		return fmt.Errorf("%s cannot be changed safely: %w", filepath.Join(p.Dir, name), err)
	}
	was, notes := p.was.Files[name], p.Notes
	if err := p.undo(e, was.Pieces); err != nil {
		return err
	}
	if p.installing {
		p.Notes = notes
	}
	e.pieces = nil
	clean := e.text
	if err := do(e); err != nil {
		return err
	}
	var now map[string]any
	if _, err := toml.Decode(e.text, &now); err != nil {
		return fmt.Errorf("%s cannot be changed safely: %w\n  nothing was changed; add this by hand:\n\n%s", filepath.Join(p.Dir, name), err, e.added())
	}
	if exists && equal(meaning, now) && len(e.pieces) > 0 {
		return nil // and the manifest still describes its text
	}
	entry := fileEntry{Created: was.Created || !exists, Pieces: e.pieces}
	if len(e.pieces) == 0 {
		delete(p.manifest.Files, name)
		if !exists {
			return nil
		}
	} else {
		p.manifest.Files[name] = entry
	}
	f := File{Name: name, Old: old, New: e.text, Created: !exists}
	f.Gone = entry.Created && clean == "" && e.text == ""
	if f.Old != f.New || f.Gone {
		p.Files = append(p.Files, f)
	}
	return nil
}

func (p *Plan) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(p.Notes, text) {
		p.Notes = append(p.Notes, text)
	}
}

// explained adds the line of a TOML file's error to the error.
func explained(err error) error {
	if e := (toml.ParseError{}); errors.As(err, &e) {
		line := e.Position.Line
		if strings.Contains(e.Message, `got '\n'`) {
			line-- // the error is after that newline
		}
		return fmt.Errorf("line %d: %s", line, e.Message)
	}
	return err
}

func (p *Plan) installLanguages(e *editing, r Request) error {
	if err := p.installServer(e, r); err != nil {
		return err
	}
	names, err := chosen(e.document, r, p.languages())
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := p.attach(e, r, name); err != nil {
			return err
		}
	}
	p.Languages = names
	return nil
}

// installServer adds the server: as a table, or in the form of the file's other servers, if these are inline tables or
// dotted keys.
func (p *Plan) installServer(e *editing, r Request) error {
	path := []string{"language-server", ServerName}
	if e.defines(path) {
		p.note("%s has a language server %q of yours, which stays as it is", languagesFile, ServerName)
		return nil
	}
	if at := e.find(path); at.inline != nil || at.pair != nil {
		_, err := e.set(path, fmt.Sprintf(serverInline, quote(r.Program)))
		return err
	}
	return e.addTable(path, fmt.Sprintf(serverTable, quote(r.Program)), comment)
}

// defines reports whether the file has a table or value at a path.
func (d *document) defines(path []string) bool {
	s := d.find(append(slices.Clone(path), "?"))
	if s.blocked {
		return true
	}
	if s.inline != nil {
		return len(s.rest) == 1 // an inline table on the way to the path is not enough
	}
	if s.pair != nil && shared(path, s.pair.path(s.table)) == len(path) {
		return true
	}
	return s.table != nil && slices.Equal(s.table.path, path)
}

// chosen returns the languages that get cursord, each once: the user's own, then in the order of Helix's list. Languages
// that had it keep it.
func chosen(d *document, r Request, had []string) ([]string, error) {
	var names []string
	text := PlainText
	for _, own := range d.ownLanguages() {
		if r.Defaults.find(own.name) == nil && !slices.Contains(names, own.name) {
			names = append(names, own.name)
		}
		for _, p := range own.pairs {
			if slices.Equal(p.key, []string{"file-types"}) && slices.ContainsFunc(p.value.items, func(v value) bool { return d.str(v) == "txt" }) {
				text = own.name
			}
		}
	}
	for _, l := range r.Defaults.Languages {
		names = append(names, l.Name)
	}
	if !slices.Contains(names, text) {
		names = append(names, text)
	}
	wanted := map[string]bool{}
	for _, name := range r.Languages {
		if name == "text" || name == "txt" || name == PlainText {
			name = text
		}
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("there is no language %q in Helix %s; \"hx --health languages\" lists them", name, r.Helix)
		}
		wanted[name] = true
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return r.Languages != nil && !r.All && !wanted[name] && !slices.Contains(had, name) && !slices.Contains(always, name)
	}), nil
}

// attach puts cursord first into a language's list of servers. A user's list replaces Helix's; if the user has none, the
// default one is written out.
func (p *Plan) attach(e *editing, r Request, name string) error {
	path := []string{"language", name, "language-servers"}
	own, list := e.language(name)
	switch {
	case list != nil && list.value.kind != '[':
		p.note("%s: the servers of %s are no list, and stay as they are", languagesFile, name)
		return nil
	case list != nil:
		if e.serverAt(list.value) >= 0 {
			return nil // the user added it
		}
		return e.addItem(path, list.value, entryOf(name, r.Helix))
	}
	servers := []string{entryOf(name, r.Helix)}
	l := r.Defaults.find(name)
	if l != nil {
		servers = append(servers, l.Servers...)
	}
	value := "[" + strings.Join(servers, ", ") + "]"
	line := "language-servers = " + value
	unknown := name == PlainText && l == nil
	switch all := e.inlineLanguages(); {
	case own != nil && own.inline != nil:
		e.pieces = append(e.pieces, piece{What: "pair", Path: path, Text: value})
		last := own.pairs[len(own.pairs)-1]
		return e.replace(last.value.end, last.value.end, ", "+line)
	case own == nil && all != nil:
		text := "{ name = " + quote(name) + ", " + line + " }"
		if unknown {
			text = "{ " + strings.Join(strings.Split(strings.TrimSpace(plainText), "\n")[1:], ", ") + ", " + line + " }"
		}
		return e.addElement(path, *all, text)
	case own == nil:
		text := "[[language]]\nname = " + quote(name) + "\n"
		if unknown {
			text = plainText
		}
		if err := e.addTable(path[:2], text, ""); err != nil {
			return err
		}
		own, _ = e.language(name)
	}
	e.pieces = append(e.pieces, piece{What: "pair", Path: path, Text: value})
	return e.addLine(own.table, &own.pairs[len(own.pairs)-1], line)
}

// language returns the user's table of a language and its list of servers, if there are any. Of several, the last one
// counts.
func (d *document) language(name string) (own *ownLanguage, list *pair) {
	for _, one := range d.ownLanguages() {
		if one.name != name {
			continue
		}
		if own == nil {
			own = &one
		}
		for j := range one.pairs {
			if slices.Equal(one.pairs[j].key, []string{"language-servers"}) {
				own, list = &one, &one.pairs[j]
			}
		}
	}
	return own, list
}

// serverAt returns the index of cursord in a list of servers, or -1.
func (d *document) serverAt(list value) int {
	return slices.IndexFunc(list.items, func(v value) bool {
		if v.kind != '{' {
			return d.str(v) == ServerName
		}
		return slices.ContainsFunc(v.pairs, func(p pair) bool {
			return slices.Equal(p.key, []string{"name"}) && d.str(p.value) == ServerName
		})
	})
}

func (p *Plan) installKeys(e *editing, r Request) error {
	for _, s := range settings(r) {
		done, err := e.set(s.path, s.value)
		if !done && err == nil && s.path[0] == "keys" && e.find(s.path).blocked {
			if p.LeftOut == "" {
				p.LeftOut = "[keys.normal.space.C]\n"
			}
			p.LeftOut += s.path[len(s.path)-1] + " = " + s.value + "\n"
		}
		if err != nil {
			return err
		}
		if done {
			continue
		}
		at := e.find(s.path)
		if at.blocked && at.pair != nil {
			p.note("%s: %s is yours and stays; so what cursord would put below it is left out", configFile, dotted(at.pair.path(at.table)))
		} else {
			p.note("%s: %s is set otherwise, and stays so; cursord would have it %s", configFile, dotted(s.path), s.value)
		}
	}
	return nil
}

// quote writes a string as TOML.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, "\\u%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }
