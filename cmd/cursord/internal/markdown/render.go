package markdown

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"cursord/cmd/cursord/internal/term"
)

// A rendering is text with colours, and with the two marks that a wrapper understands. It ends at the first place that is not settled.
type rendering struct {
	source    []byte
	safe      int  // source before this offset is settled
	final     bool // all of it is
	columns   int
	out       strings.Builder
	separator string // what goes out before the next text
	stopped   bool
	starts    []start
	opener    []byte // the opening line of the block of code at the end
}

// A start is a place at which the source can be cut: all before it is rendered.
type start struct {
	source, out int    // offsets
	lead        string // the separator that was due there
	opener      []byte // source that must stay before it: the opening line of a code block
}

const (
	bold = "1"
	dim  = "2"
	code = "36"
)

// write puts out text in a style, which is "" or the parameters of an SGR sequence.
func (r *rendering) write(style, words string) {
	if r.stopped || words == "" {
		return
	}
	r.out.WriteString(r.separator)
	r.separator = ""
	if style == "" {
		r.out.WriteString(words)
		return
	}
	fmt.Fprintf(&r.out, "\x1b[%sm%s\x1b[0m", style, words)
}

// newline has the next text begin on a new line, behind prefix. Lines that are wrapped hang by the prefix's width.
func (r *rendering) newline(prefix string) { r.separator += "\n" + hanging(prefix) }

func hanging(prefix string) string {
	if prefix == "" {
		return ""
	}
	return hangMark + prefix + hangMark + prefix
}

// cut notes that the source may be cut at an offset.
func (r *rendering) cut(offset int, opener []byte) {
	if !r.stopped {
		r.starts = append(r.starts, start{offset, r.out.Len(), r.separator, opener})
	}
}

// lineStart returns the offset at which the line of an offset begins.
func (r *rendering) lineStart(offset int) int {
	return bytes.LastIndexByte(r.source[:offset], '\n') + 1
}

// complete reports whether the line with an offset is settled to its end.
func (r *rendering) complete(offset int) bool {
	return r.final || bytes.IndexByte(r.source[min(offset, len(r.source)):], '\n') >= 0
}

// blocks renders the blocks within a block. Each line begins with prefix.
func (r *rendering) blocks(parent ast.Node, prefix, style string) {
	for n := parent.FirstChild(); n != nil && !r.stopped; n = n.NextSibling() {
		if n.PreviousSibling() != nil {
			if _, item := n.(*ast.ListItem); r.afterBlank(n) || !item && apart(n) {
				r.separator += "\n" + strings.TrimRight(prefix, " ")
			}
			r.newline(prefix)
		}
		if parent.Kind() == ast.KindDocument && n.Pos() >= 0 {
			r.cut(r.lineStart(n.Pos()), nil)
		}
		r.block(n, prefix, style)
	}
}

// afterBlank reports whether an empty line is before a block. (HasBlankPreviousLines also counts one within the block before.)
func (r *rendering) afterBlank(n ast.Node) bool {
	if n.Pos() < 0 {
		return n.HasBlankPreviousLines()
	}
	end := r.lineStart(n.Pos())
	return end > 0 && len(bytes.Trim(r.source[r.lineStart(end-1):end], " \t>\n")) == 0
}

// apart reports whether an empty line goes before a block also if the agent has left none.
func apart(n ast.Node) bool {
	return n.Kind() == ast.KindHeading || n.PreviousSibling().Kind() == ast.KindHeading && n.Parent().Kind() == ast.KindDocument
}

func (r *rendering) block(n ast.Node, prefix, style string) {
	switch n := n.(type) {
	case *ast.Heading:
		if lines := n.Lines(); lines.Len() > 0 && r.complete(lines.At(0).Stop) {
			headed := bold
			if n.Level == 1 {
				headed = bold + ";4"
			}
			r.inlines(n, prefix, joined(style, headed))
		} else if !r.final {
			r.stopped = true
		}
	case *ast.FencedCodeBlock:
		r.fenced(n, prefix)
	case *ast.CodeBlock:
		r.code(n.Lines(), prefix, "", nil)
	case *ast.Blockquote:
		bar := "│ "
		r.separator += hangMark + prefix + bar + hangMark + bar
		r.blocks(n, prefix+bar, style)
	case *ast.List:
		r.list(n, prefix, style)
	case *ast.ThematicBreak:
		if r.complete(n.Pos()) {
			const width = 40
			r.write(dim, strings.Repeat("─", max(min(width, r.columns-term.Width(prefix)), 3)))
		} else {
			r.stopped = true
		}
	default: // a paragraph
		if t := tableOf(n.Lines(), r.source); t != nil {
			if last := n.Lines().At(n.Lines().Len() - 1); last.Stop <= r.safe {
				r.table(t, n, prefix)
				return
			}
		}
		r.inlines(n, prefix, style)
	}
}

func (r *rendering) list(list *ast.List, prefix, style string) {
	number := list.Start
	for n := list.FirstChild(); n != nil && !r.stopped; n = n.NextSibling() {
		if n.PreviousSibling() != nil {
			if r.afterBlank(n) {
				r.separator += "\n" + strings.TrimRight(prefix, " ")
			}
			r.newline(prefix)
			if list.Parent().Kind() == ast.KindDocument && n.Pos() >= 0 {
				r.cut(r.lineStart(n.Pos()), nil)
			}
		}
		marker := "• "
		if list.IsOrdered() {
			marker = fmt.Sprintf("%d%c ", number, list.Marker)
			number++
		}
		inner := prefix + strings.Repeat(" ", term.Width(marker))
		r.separator += hangMark + inner + hangMark + marker
		if n.FirstChild() == nil && r.final { // an empty item
			empty := r.separator
			r.separator = ""
			r.write("", empty)
		}
		r.blocks(n, inner, style)
	}
}

func (r *rendering) fenced(n *ast.FencedCodeBlock, prefix string) {
	lang := strings.ToLower(string(n.Language(r.source)))
	opener := []byte(nil)
	if n.Parent().Kind() == ast.KindDocument && n.Pos() >= 0 {
		if end := bytes.IndexByte(r.source[n.Pos():], '\n'); end >= 0 {
			opener = bytes.Clone(r.source[r.lineStart(n.Pos()) : n.Pos()+end+1])
			if n.NextSibling() == nil {
				r.opener = bytes.Clone(opener)
			}
		}
	}
	if !r.complete(n.Pos()) {
		r.stopped = true
		return
	}
	r.code(n.Lines(), prefix, lang, opener)
}

// code renders lines as they are. The source may be cut before each of them if opener then goes ahead.
func (r *rendering) code(lines *text.Segments, prefix, lang string, opener []byte) {
	for i := 0; i < lines.Len() && !r.stopped; i++ {
		if i > 0 {
			r.separator += "\n"
		}
		line := lines.At(i)
		if !r.final && (line.Stop == 0 || r.source[line.Stop-1] != '\n') {
			r.stopped = true
			return
		}
		words := strings.TrimSuffix(string(line.Value(r.source)), "\n")
		if i > 0 {
			if words != "" {
				r.separator += prefix
			}
			if opener != nil {
				r.cut(r.lineStart(line.Start), opener)
			}
		}
		style := code
		if lang == "diff" || lang == "patch" {
			style = diffStyle(words)
		}
		if r.separator += verbatimMark; words == "" { // an empty line is one, too
			r.write("", verbatimMark)
		}
		r.write(style, words)
	}
}

func diffStyle(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return "32"
	case strings.HasPrefix(line, "-"):
		return "31"
	case strings.HasPrefix(line, "@@"):
		return code
	}
	return ""
}

// inlines renders the text of a block. Text without a style goes out as far as it is settled; what has one goes out whole.
func (r *rendering) inlines(parent ast.Node, prefix, style string) {
	for n := parent.FirstChild(); n != nil && !r.stopped; n = n.NextSibling() {
		r.inline(n, prefix, style)
	}
}

func (r *rendering) inline(n ast.Node, prefix, style string) {
	switch n := n.(type) {
	case *ast.Text:
		segment := n.Segment
		if style == "" && segment.Stop > r.safe {
			segment.Stop = max(r.safe, segment.Start)
			r.write("", plain(n, segment.Value(r.source)))
			r.stopped = true
			return
		}
		if segment.Stop > r.safe || style != "" && segment.Stop == r.safe && r.safe < len(r.source) {
			r.stopped = true // what closes it may close something else, or more
			return
		}
		r.write(style, plain(n, segment.Value(r.source)))
		ends := n.NextSibling() == nil && n.Parent().Type() == ast.TypeBlock
		if (n.SoftLineBreak() || n.HardLineBreak()) && !ends {
			r.newline(prefix)
		}
	case *ast.String:
		r.write(style, term.CleanText(string(n.Value)))
	case *ast.CodeSpan:
		r.inlines(n, prefix, joined(style, code))
	case *ast.Emphasis:
		added := "3"
		if n.Level > 1 {
			added = bold
		}
		r.inlines(n, prefix, joined(style, added))
	case *ast.AutoLink:
		r.write(joined(style, "4"), term.Clean(string(n.Label(r.source))))
	case *ast.Link:
		r.link(n, string(n.Destination), prefix, style)
	case *ast.Image:
		r.link(n, string(n.Destination), prefix, style)
	default:
		r.inlines(n, prefix, style)
	}
}

// link shows where a link leads, beside its text.
func (r *rendering) link(n ast.Node, to, prefix, style string) {
	from := r.out.Len()
	r.inlines(n, prefix, joined(style, "4"))
	if to = term.Clean(to); r.out.Len() == from || !strings.Contains(r.out.String()[from:], to) {
		r.write(joined(style, dim), " ("+to+")")
	}
}

// plain returns text as it is meant. An entity can mean a character that must not reach a terminal.
func plain(n *ast.Text, value []byte) string {
	if n.IsRaw() || n.Parent().Kind() == ast.KindCodeSpan {
		return term.CleanText(string(value))
	}
	var b []byte
	for from := 0; from < len(value); {
		to := from
		for to < len(value) && !escapes(value[to:]) {
			to++
		}
		b = append(b, util.ResolveEntityNames(util.ResolveNumericReferences(value[from:to]))...)
		if from = to; to < len(value) {
			b = append(b, value[to+1])
			from = to + 2
		}
	}
	return term.CleanText(string(b))
}

// escapes reports whether text begins with a character that \ keeps from having a meaning.
func escapes(text []byte) bool { return len(text) > 1 && text[0] == '\\' && util.IsPunct(text[1]) }

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ";" + b
}
