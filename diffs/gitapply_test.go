package diffs

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A node is a file in git's terms: its mode in octal, and its content or, for a link, its target.
type node struct{ mode, data string }

// nodeOf returns nil for a file that does not exist.
func nodeOf(c Content) *node {
	switch {
	case !c.Exists:
		return nil
	case c.Target != "":
		return &node{"120000", c.Target}
	case c.Mode&0o111 != 0:
		return &node{"100755", string(c.Data)}
	}
	return &node{"100644", string(c.Data)}
}

// A section is the part of a patch about one file. A nil path is /dev/null.
type section struct {
	old, now         *string
	oldMode, newMode string // "" where the patch says nothing
	indexMode        string
	blobs            [2]string // names of the contents
	hunks            []string  // as "@@" and the lines after it
	literals         []string  // the new content and the old one
}

// gitApply applies a patch in git's format to tree. It shares no code with the writer of patches and is stricter than git:
// everything in the patch must match to the byte.
func gitApply(tree map[string]node, patch string, reverse bool) error {
	var sections []section
	in := &patchReader{rest: patch}
	for in.rest != "" {
		s, err := in.section()
		if err != nil {
			return fmt.Errorf("before %.60q: %w", in.rest, err)
		}
		sections = append(sections, s)
	}
	if reverse {
		slices.Reverse(sections)
	}
	for _, s := range sections {
		if err := s.apply(tree, reverse); err != nil {
			return err
		}
	}
	return nil
}

type patchReader struct{ rest string }

// line takes the next line if it begins with prefix, and returns the rest of the line.
func (p *patchReader) line(prefix string) (string, bool) {
	line, rest, ended := strings.Cut(p.rest, "\n")
	if !ended || !strings.HasPrefix(line, prefix) {
		return "", false
	}
	p.rest = rest
	return line[len(prefix):], true
}

func (p *patchReader) section() (s section, err error) {
	head, ok := p.line("diff --git ")
	if !ok {
		return s, errors.New("no file begins")
	}
	created, deleted := false, false
	var from, to string
	renamed := false
	for {
		if v, ok := p.line("old mode "); ok {
			s.oldMode = v
		} else if v, ok := p.line("new mode "); ok {
			s.newMode = v
		} else if v, ok := p.line("new file mode "); ok {
			s.newMode, created = v, true
		} else if v, ok := p.line("deleted file mode "); ok {
			s.oldMode, deleted = v, true
		} else if v, ok := p.line("rename from "); ok {
			from, renamed = unquotePath(v), true
		} else if v, ok := p.line("rename to "); ok {
			to = unquotePath(v)
		} else if v, ok := p.line("index "); ok {
			names, mode, _ := strings.Cut(v, " ")
			s.indexMode = mode
			s.blobs[0], s.blobs[1], _ = strings.Cut(names, "..")
		} else {
			break
		}
	}
	if !renamed {
		// Both names are the same, so they are the halves of the line.
		half := len(head) / 2
		from, to = unquotePath(head[:half]), unquotePath(head[half+1:])
		if head[half] != ' ' || !strings.HasPrefix(from, "a/") || !strings.HasPrefix(to, "b/") || from[2:] != to[2:] {
			return s, fmt.Errorf("%q does not name one file twice", head)
		}
		from, to = from[2:], to[2:]
	}
	s.old, s.now = &from, &to
	if created {
		s.old = nil
	}
	if deleted {
		s.now = nil
	}
	if name, ok := p.line("--- "); ok {
		if err := named(name, "a/", s.old); err != nil {
			return s, err
		}
		name, _ := p.line("+++ ")
		if err := named(name, "b/", s.now); err != nil {
			return s, err
		}
		return s, p.hunks(&s)
	}
	if _, ok := p.line("GIT binary patch"); ok {
		for range 2 {
			data, err := p.literal()
			if err != nil {
				return s, err
			}
			s.literals = append(s.literals, data)
		}
	}
	return s, nil
}

func named(name, prefix string, want *string) error {
	full := "/dev/null"
	if want != nil {
		full = prefix + *want
	}
	if got := unquotePath(strings.TrimSuffix(name, "\t")); got != full {
		return fmt.Errorf("the lines are of %q, not of %q", got, full)
	}
	return nil
}

// hunks takes the number of lines that the headers name.
func (p *patchReader) hunks(s *section) error {
	for strings.HasPrefix(p.rest, "@@ ") {
		head, _ := p.line("")
		old, now, err := header(head)
		if err != nil {
			return err
		}
		text := head + "\n"
		for old[1] > 0 || now[1] > 0 || strings.HasPrefix(p.rest, "\\") {
			l, ok := p.line("")
			if !ok || l == "" {
				return errors.New("a hunk ends early")
			}
			switch l[0] {
			case ' ':
				old[1]--
				now[1]--
			case '-':
				old[1]--
			case '+':
				now[1]--
			case '\\':
				if l != `\ No newline at end of file` {
					return fmt.Errorf("a remark %q", l)
				}
			default:
				return fmt.Errorf("a line %q", l)
			}
			text += l + "\n"
		}
		if old[1] != 0 || now[1] != 0 {
			return errors.New("a hunk has more lines of one side than its header says")
		}
		s.hunks = append(s.hunks, text)
	}
	if s.hunks == nil {
		return errors.New("no hunk")
	}
	return nil
}

// literal takes a content in base 85.
func (p *patchReader) literal() (string, error) {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	size, ok := p.line("literal ")
	if !ok {
		return "", errors.New("no literal")
	}
	var packed []byte
	for {
		l, ok := p.line("")
		if !ok {
			return "", errors.New("a literal without end")
		}
		if l == "" {
			break
		}
		count := 1 + strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", l[0])
		if count == 0 || (count+3)/4*5 != len(l)-1 {
			return "", fmt.Errorf("a line of %d characters for %d bytes", len(l)-1, count)
		}
		var line []byte
		for i := 1; i < len(l); i += 5 {
			value := uint64(0)
			for _, c := range []byte(l[i : i+5]) {
				digit := strings.IndexByte(digits, c)
				if digit < 0 {
					return "", fmt.Errorf("a character %q", c)
				}
				value = 85*value + uint64(digit)
			}
			if value > 1<<32-1 {
				return "", errors.New("five characters that are too much")
			}
			line = append(line, byte(value>>24), byte(value>>16), byte(value>>8), byte(value))
		}
		packed = append(packed, line[:count]...)
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(z)
	if err == nil && strconv.Itoa(len(data)) != size {
		err = fmt.Errorf("%d bytes, where %s are said to be", len(data), size)
	}
	return string(data), err
}

// unquotePath decodes a name as git does.
func unquotePath(s string) string {
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	// Go's escapes include git's, which writes bytes in octal.
	name, err := strconv.Unquote(s)
	if err != nil {
		return "cannot be read: " + s
	}
	return name
}

func (s section) apply(tree map[string]node, reverse bool) error {
	from, to, fromMode, toMode := s.old, s.now, s.oldMode, s.newMode
	if reverse {
		from, to, fromMode, toMode = to, from, toMode, fromMode
		slices.Reverse(s.literals)
		s.blobs[0], s.blobs[1] = s.blobs[1], s.blobs[0]
	}
	var was node
	if from != nil {
		var ok bool
		if was, ok = tree[*from]; !ok {
			return fmt.Errorf("%q is not there", *from)
		}
		delete(tree, *from)
		if fromMode != "" && was.mode != fromMode || s.indexMode != "" && was.mode != s.indexMode {
			return fmt.Errorf("%q has mode %s, not %s%s", *from, was.mode, fromMode, s.indexMode)
		}
	}
	is := was
	if toMode != "" {
		is.mode = toMode
	}
	switch {
	case s.literals != nil:
		if s.literals[1] != was.data {
			return fmt.Errorf("%q holds something else", *from)
		}
		is.data = s.literals[0]
	case s.hunks != nil:
		data, err := applied(strings.Join(s.hunks, ""), splitAfter(was.data), reverse)
		if err != nil {
			return err
		}
		is.data = data
	}
	for i, side := range []struct {
		path *string
		node
	}{{from, was}, {to, is}} {
		name := strings.Repeat("0", 40)
		if side.path != nil {
			name = fmt.Sprintf("%x", sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(side.data), side.data))))
		}
		if s.blobs[i] != "" && s.blobs[i] != name {
			return fmt.Errorf("a content is %s, not %s", name, s.blobs[i])
		}
	}
	if to == nil {
		if is.data != "" {
			return fmt.Errorf("%q is deleted, but for %q", *from, is.data)
		}
		return nil
	}
	if _, there := tree[*to]; there {
		return fmt.Errorf("%q is there already", *to)
	}
	tree[*to] = is
	return nil
}

func splitAfter(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines
}

// treeOf returns a tree of one file and the others.
func treeOf(path string, c Content, others map[string]node) map[string]node {
	tree := maps.Clone(others)
	if n := nodeOf(c); n != nil {
		tree[path] = *n
	}
	return tree
}
