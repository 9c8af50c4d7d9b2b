package copytree

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A setting is one line of a repository's configuration; without a value, bare is set.
type setting struct {
	key   string // section, in small letters; subsection; name, in small letters
	value string
	bare  bool
}

// kept reports whether the copy has a setting as the original. What leads elsewhere stays behind: remotes, upstreams,
// work trees, hooks.
func kept(key string) bool {
	section, name, _ := strings.Cut(key, ".")
	switch section {
	case "user", "author", "committer", "filter", "diff", "merge", "status", "index", "i18n", "color":
		return true
	case "core":
		switch name {
		case "autocrlf", "eol", "safecrlf", "checkroundtripencoding", "filemode", "ignorecase", "symlinks",
			"precomposeunicode", "protectntfs", "protecthfs", "trustctime", "checkstat", "whitespace", "quotepath",
			"excludesfile", "attributesfile", "sparsecheckout", "sparsecheckoutcone", "bigfilethreshold", "abbrev",
			"commentchar", "commentstring", "preloadindex":
			return true
		}
	}
	return key == "extensions.objectformat"
}

// readConfig returns the repository's own settings that the copy is to have.
func readConfig(ctx context.Context, g git) ([]setting, error) {
	out, err := g.run(ctx, nil, "config", "--list", "-z", "--show-scope", "--includes")
	if err != nil {
		return nil, err
	}
	var list []setting
	for rest := string(out); rest != ""; {
		scope, tail, _ := strings.Cut(rest, "\x00")
		rec, tail, ok := strings.Cut(tail, "\x00")
		rest = tail
		if !ok || scope != "local" && scope != "worktree" {
			continue
		}
		key, value, hasValue := strings.Cut(rec, "\n")
		if kept(key) {
			list = append(list, setting{key: key, value: value, bare: !hasValue})
		}
	}
	return list, nil
}

// writeConfig writes the configuration of the copy's repository.
func writeConfig(list []setting) string {
	var b strings.Builder
	version := "0"
	for _, s := range list {
		if strings.HasPrefix(s.key, "extensions.") {
			version = "1"
		}
	}
	// Packing would take over all that is borrowed.
	b.WriteString("[core]\n\trepositoryformatversion = " + version + "\n\tbare = false\n\tlogallrefupdates = true\n\tfsmonitor = false\n" +
		"[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n")
	for _, s := range list {
		section, name, _ := strings.Cut(s.key, ".")
		sub := ""
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			sub = ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name[:dot]) + `"`
			name = name[dot+1:]
		}
		b.WriteString("[" + section + sub + "]\n\t" + name)
		if !s.bare {
			b.WriteString(` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(s.value) + `"`)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// alternatesDepth is how far git follows from one object store to the next.
const alternatesDepth = 5

// alternates names an object store and those from which it borrows: git takes no relative ones at second hand.
func alternates(objects string) string {
	var list []string
	var follow func(dir string, depth int)
	follow = func(dir string, depth int) {
		if depth > alternatesDepth || slices.Contains(list, dir) {
			return
		}
		list = append(list, dir)
		data, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
		if err != nil {
			return
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if line == "" || line[0] == '#' || line[0] == '"' {
				continue // a quoted one git finds by itself
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(dir, line)
			}
			follow(filepath.Clean(line), depth+1)
		}
	}
	follow(objects, 0)
	var b strings.Builder
	for _, dir := range list {
		if strings.ContainsAny(dir, "\n\"") {
			dir = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(dir) + `"`
		}
		b.WriteString(dir + "\n")
	}
	return b.String()
}
