// Package markdown shows the Markdown that agents write on a terminal while it comes. Text goes out as soon as nothing that may follow
// can change how it looks; text that is out is never written again.
package markdown

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"cursord/cmd/cursord/internal/term"
)

// A Stream renders one text. Columns returns the terminal's width, or 0 if it is unknown; lines are then not wrapped.
//
// Line breaks stay where the agent puts them. HTML, reference links and underlined headings show as they are written: their meaning
// may change by what follows much later.
type Stream struct {
	Columns func() int

	source   []byte // from the first block that is not written completely
	lead     string // separates that block from the one before
	written  string // the part of the rendering of source that is written
	wrap     wrapper
	held     bool   // the rendering stops before the end of source
	lineEnds bool   // the next text of the rendering begins a line
	opener   []byte // the opening line of the block of code in which source ends
}

// parse is all of Markdown that a Stream knows, but for tables.
var parse = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
		),
	)
})

// mostHeld bounds the source that is parsed again for each delta. A longer block is written as if it ended there.
const mostHeld = 16 << 10

// Add takes the next part of the text and returns what to write to the terminal now.
func (s *Stream) Add(more string) string {
	s.source = append(s.source, term.CleanText(more)...)
	if len(s.source) > mostHeld {
		return s.Break()
	}
	out := s.wrap.add(s.render(false), s.Columns())
	if s.lineEnds {
		out += s.wrap.rest(s.Columns())
	}
	return out
}

// Held reports whether text waits for what follows it.
func (s *Stream) Held() bool { return s.held || s.wrap.width > 0 }

// Break returns the text that is held, because something else is to be shown. A block of code goes on behind it; other text that
// follows begins a block.
func (s *Stream) Break() string {
	out := s.render(true)
	if bytes.HasSuffix(s.source, []byte("\n")) {
		out += "\n"
	}
	out = s.wrap.add(out, s.Columns()) + s.wrap.rest(s.Columns())
	opener := s.opener
	if marks := bytes.TrimLeft(opener, " "); len(marks) > 0 {
		last := bytes.TrimSpace(s.source[bytes.LastIndexByte(bytes.TrimRight(s.source, "\n"), '\n')+1:])
		if len(last) >= 3 && len(bytes.Trim(last, string(marks[:1]))) == 0 && len(s.source) > len(opener) {
			opener = nil // it is closed
		}
	}
	*s = Stream{Columns: s.Columns, source: opener, opener: opener}
	return out
}

// End is Break for the end of the text. The Stream is then as new.
func (s *Stream) End() string {
	out := s.Break()
	*s = Stream{Columns: s.Columns}
	return out
}

// Text renders a whole text for a terminal with a number of columns; 0: they are unknown.
func Text(text string, columns int) string {
	s := &Stream{Columns: func() int { return columns }}
	return s.Add(text) + s.End()
}

// render returns the part of the rendering that was not written yet, and forgets the blocks that are written completely.
func (s *Stream) render(final bool) string {
	if len(s.source) == 0 {
		return ""
	}
	root := parse().Parse(text.NewReader(s.source))
	r := &rendering{source: s.source, safe: len(s.source), final: final, columns: s.Columns(), separator: s.lead}
	if !final {
		r.safe = settled(root, s.source)
	}
	r.blocks(root, "", "")
	now := r.out.String()
	s.held, s.opener = r.stopped, r.opener
	s.lineEnds = strings.Contains(r.separator, "\n") || !r.stopped && bytes.HasSuffix(s.source, []byte("\n"))
	if strings.HasPrefix(s.written, now) {
		return ""
	}
	out, follows := strings.CutPrefix(now, s.written)
	if !follows { // the text has changed its meaning after all
		same := 0
		for same < min(len(now), len(s.written)) && now[same] == s.written[same] {
			same++
		}
		out = "\n" + now[strings.LastIndexByte(now[:same], '\n')+1:]
	}
	s.written = now
	if last := len(r.starts) - 1; last >= 0 && !final {
		at := r.starts[last]
		s.source = append(at.opener, s.source[at.source:]...)
		s.written, s.lead = now[at.out:], at.lead
	}
	return out
}
