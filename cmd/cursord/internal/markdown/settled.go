package markdown

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// settled returns the offset up to which nothing that may follow changes what the source means.
func settled(root ast.Node, source []byte) int {
	leaf := lastBlock(root)
	if leaf == nil {
		return 0
	}
	safe := len(source)
	line := bytes.LastIndexByte(source, '\n') + 1
	if begun := strings.TrimLeft(string(source[line:]), " \t>"); strings.Trim(begun, "-*+#=|`~_:.)0123456789 \t") == "" {
		safe = line // it may become another kind of block yet
	}
	if leaf.Kind() != ast.KindParagraph && leaf.Kind() != ast.KindTextBlock {
		return safe
	}
	lines := leaf.Lines()
	if lines.Len() == 0 {
		return safe
	}
	if bytes.Count(source[lines.At(lines.Len()-1).Stop-1:], []byte("\n")) > 1 {
		return len(source) // an empty line has ended the paragraph
	}
	for i := range lines.Len() {
		if l := lines.At(i); bytes.IndexByte(l.Value(source), '|') >= 0 {
			safe = min(safe, l.Start) // a table, perhaps
			break
		}
	}
	safe = min(safe, len(bytes.TrimRight(source, "*_`[]()<>&\\! \t\n")))
	return min(safe, opened(leaf, source, safe))
}

// lastBlock returns the block that text which follows may belong to.
func lastBlock(n ast.Node) ast.Node {
	var last ast.Node
	for n = n.LastChild(); n != nil && n.Type() == ast.TypeBlock; n = n.LastChild() {
		last = n
	}
	return last
}

// opened returns the offset of the first character in a block's text that something which follows may still pair with, or safe.
func opened(leaf ast.Node, source []byte, safe int) int {
	for n := leaf.FirstChild(); n != nil; n = n.NextSibling() {
		t, ok := n.(*ast.Text)
		if !ok {
			continue
		}
		for at := t.Segment.Start; at < min(t.Segment.Stop, safe); at++ {
			if source[at] == '\\' {
				at++
			} else if pairs(source, at) {
				return at
			}
		}
	}
	return safe
}

// pairs reports whether the character at an offset, which has no meaning yet, may still get one.
func pairs(source []byte, at int) bool {
	next := source[at+1:]
	switch source[at] {
	case '`':
		return true
	case '*', '_':
		if len(next) > 0 && (next[0] == ' ' || next[0] == '\n') {
			return false
		}
		return source[at] == '*' || at == 0 || !alphanumeric(source[at-1])
	case '[':
		end := bytes.IndexByte(next, ']')
		return end < 0 || end+1 >= len(next) || next[end+1] == '('
	case '!':
		return len(next) > 0 && next[0] == '[' && pairs(source, at+1)
	case '<':
		return !bytes.ContainsAny(next, "> \n")
	case '&':
		end := bytes.IndexFunc(next, func(r rune) bool { return r != '#' && (r > 0x7f || !alphanumeric(byte(r))) })
		return end < 0
	}
	return false
}

func alphanumeric(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}
