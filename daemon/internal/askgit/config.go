package askgit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A Setting is one line of a configuration; without a value, Bare is set.
type Setting struct {
	Key   string // section, in small letters; subsection; name, in small letters
	Value string
	Bare  bool
}

// on reports whether a setting is true.
func (s Setting) on() bool {
	switch strings.ToLower(s.Value) {
	case "true", "yes", "on", "1":
		return true
	}
	return s.Bare
}

// data reports whether a setting of a repository only determines how its files are stored.
func (s Setting) data() bool {
	section, name, _ := strings.Cut(s.Key, ".")
	if section == "core" {
		switch name {
		case "autocrlf", "eol", "safecrlf", "checkroundtripencoding", "filemode", "ignorecase", "symlinks", "precomposeunicode",
			"protectntfs", "protecthfs", "trustctime", "checkstat", "sparsecheckout", "sparsecheckoutcone", "bigfilethreshold":
			return true
		}
	}
	return s.extension() || s.Key == "index.sparse"
}

func (s Setting) extension() bool {
	return s.Key == "extensions.objectformat" || s.Key == "extensions.refstorage" && s.Value != "files" // old builds of git do not know these
}

// claims reports whether a setting names a program, or a file elsewhere, that git would use for the questions of this
// package.
func (s Setting) claims() bool {
	return strings.HasPrefix(s.Key, "filter.") || s.Key == "core.excludesfile" || s.Key == "core.attributesfile"
}

func (s Setting) claim() string { return s.Key + " = " + s.Value }

// parsed caches the settings of configurations, by the hash of their texts.
var parsed struct {
	mu sync.Mutex
	by map[[sha256.Size]byte][]Setting
}

// parseConfig returns the settings of a configuration, without those that it includes.
func parseConfig(ctx context.Context, data []byte, out []string) ([]Setting, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	key := sha256.Sum256(data)
	parsed.mu.Lock()
	list, known := parsed.by[key]
	parsed.mu.Unlock()
	if known {
		return list, nil
	}
	c := command{dir: os.TempDir(), env: []string{"GIT_DIR=" + os.DevNull}, in: bytes.NewReader(data), most: 8 * configBytes, out: out}
	said, err := c.git(ctx, "config", "--file", "-", "--no-includes", "--list", "-z")
	if err != nil {
		return nil, err
	}
	for rec := range strings.SplitSeq(strings.TrimSuffix(string(said), "\x00"), "\x00") {
		key, value, has := strings.Cut(rec, "\n")
		list = append(list, Setting{Key: key, Value: value, Bare: !has})
	}
	parsed.mu.Lock()
	defer parsed.mu.Unlock()
	if len(parsed.by) > 100 || parsed.by == nil {
		parsed.by = map[[sha256.Size]byte][]Setting{}
	}
	parsed.by[key] = list
	return list, nil
}

// readConfig returns the settings of a repository's own configuration: of the part for all its work trees, and of the part
// for this one.
func readConfig(ctx context.Context, r Repository, common string, out []string) (list []Setting, err error) {
	for _, name := range []string{filepath.Join(common, "config"), filepath.Join(r.Dir, "config.worktree")} {
		data, err := readFile(name, configBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		more, err := parseConfig(ctx, data, out)
		if err != nil {
			return nil, err
		}
		worktrees := false
		for _, s := range more {
			if s.Key == "extensions.worktreeconfig" {
				worktrees = s.on()
			}
		}
		if list = append(list, more...); !worktrees {
			break
		}
	}
	return list, nil
}

// FormatConfig returns the text of a configuration file.
func FormatConfig(list []Setting) string {
	var b strings.Builder
	for _, s := range list {
		section, name, _ := strings.Cut(s.Key, ".")
		sub := ""
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			sub = ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name[:dot]) + `"`
			name = name[dot+1:]
		}
		b.WriteString("[" + section + sub + "]\n\t" + name)
		if !s.Bare {
			b.WriteString(` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(s.Value) + `"`)
		}
		b.WriteString("\n")
	}
	return b.String()
}
