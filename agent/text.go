package agent

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf16"

	"cursord/agent/jsontext"
)

// boundary ends the text with which later messages are compared.
func (d *Decoder) boundary() {
	d.said.boundary()
	d.streamed = false
}

// chunk adds a piece of text that is never a repetition. delta says that the agent streams in pieces, so that a message
// without a time repeats them.
func (d *Decoder) chunk(dst []Event, text string, delta bool) []Event {
	if text == "" {
		return dst
	}
	d.said.add(text)
	d.streamed = d.streamed || delta
	d.thinking = false
	return append(dst, Text{text})
}

// piece is chunk for a string of the stream.
func (d *Decoder) piece(dst []Event, v jsontext.Value, delta bool) []Event {
	return d.chunk(dst, d.half.join(v), delta)
}

// settle adds what is left of a character that no piece has completed.
func (d *Decoder) settle(dst []Event) []Event {
	if d.half == 0 {
		return dst
	}
	d.half = 0
	return d.chunk(dst, "\uFFFD", false)
}

// A half is the first half of a UTF-16 surrogate pair at the end of a piece: agents count in UTF-16 and may cut there. The
// next piece begins with the other half.
type half rune

// join returns the content of a string after the pieces before it.
func (h *half) join(v jsontext.Value) string {
	low, high := v.Torn()
	if *h == 0 && high == 0 {
		return v.Text()
	}
	text := v.Text()
	if first := rune(*h); first != 0 && low != 0 {
		text = string(utf16.DecodeRune(first, low)) + strings.TrimPrefix(text, "\uFFFD")
	} else if first != 0 {
		text = "\uFFFD" + text
	}
	if *h = half(high); high != 0 {
		text = strings.TrimSuffix(text, "\uFFFD")
	}
	return text
}

// consolidated adds the part of the message m that was not said since the boundary, and sets the next boundary. If m shares
// nothing with what was said, it adds all of m: repeated words are better than lost ones.
func (d *Decoder) consolidated(dst []Event, m string) []Event {
	if m == "" {
		return dst
	}
	if d.said.sinceStarts(m) {
		d.half = 0 // the message has the character whole
	} else if d.half != 0 {
		dst = d.settle(dst)
	}
	switch {
	case d.said.sinceStarts(m):
		dst = d.chunk(dst, m[d.said.since():], false)
	case d.said.repeats(m):
	case d.said.starts(m):
		dst = d.chunk(dst, m[d.said.all:], false)
	default:
		dst = d.chunk(append(dst, TextEnd{}), m, false)
	}
	d.boundary()
	return append(dst, TextEnd{})
}

// assistant decodes an assistant event. It is a piece, or the agent's own message about all pieces since the boundary: one
// with a model call, or one without a time after pieces that had one.
func (d *Decoder) assistant(dst []Event, e *event) []Event {
	timed := e.get("timestamp_ms") != nil
	content := e.get("message")
	if content.IsObject() {
		content = content.Get("content", "text")
	}
	if content == nil {
		if text := e.get("text"); text.IsString() {
			return d.piece(dst, text, true)
		}
		content = e.get("content")
	}
	flush := e.get("model_call_id").Name() != "" || !timed && d.streamed
	if e.subtype == "delta" {
		flush, timed = false, true
	}
	if content.IsString() {
		if flush {
			return d.consolidated(dst, content.Text())
		}
		return d.piece(dst, content, timed)
	}
	if !flush || d.said.since() == 0 && hasOther(content) {
		// Nothing to compare with: the blocks in their order.
		var only jsontext.Value
		blocks := 0
		for block := range content.Elements() {
			blocks++
			if text, ok := textBlock(block); ok {
				only = text
				dst = d.piece(dst, text, timed)
			} else {
				dst = d.block(dst, block)
			}
		}
		if flush {
			d.boundary()
			dst = append(dst, TextEnd{})
		} else if blocks == 1 && only != nil {
			d.last.learn(e.raw, only, e.get("timestamp_ms"))
		}
		return dst
	}
	dst = d.consolidated(dst, joinedText(content))
	for block := range content.Elements() {
		if _, ok := textBlock(block); !ok {
			dst = d.block(dst, block)
		}
	}
	return dst
}

// textBlock returns the text of a message's block, if it is one of text.
func textBlock(block jsontext.Value) (jsontext.Value, bool) {
	if block.IsString() {
		return block, true
	}
	switch word(block.Get("type")) {
	case "text", "output_text", "":
		text := block.Get("text")
		return text, text.IsString()
	}
	return nil, false
}

func hasOther(content jsontext.Value) bool {
	for block := range content.Elements() {
		if _, ok := textBlock(block); !ok {
			return true
		}
	}
	return false
}

func joinedText(content jsontext.Value) string {
	var joined strings.Builder
	for block := range content.Elements() {
		text, _ := textBlock(block)
		joined.WriteString(text.Text())
	}
	return joined.String()
}

// block decodes a message's block that is no text.
func (d *Decoder) block(dst []Event, block jsontext.Value) []Event {
	e := &event{raw: block, top: block.Object(nil), typ: "assistant", subtype: block.Get("type").Text()}
	switch e.subtype {
	case "thinking":
		return d.thinkOnce(dst, e.text("thinking", "text", "content"))
	case "tool_use":
		return d.toolStart(dst, callOf(e))
	case "tool_result":
		return d.toolEnd(dst, callOf(e), block)
	}
	return append(dst, Unknown{Type: unknownType(e), Raw: block.Copy()})
}

// think decodes reasoning: pieces, then an end without text of its own.
func (d *Decoder) think(dst []Event, e *event) []Event {
	switch e.subtype {
	case "completed":
		text := e.text("text", "content")
		d.thoughtHalf = 0
		dst = d.thinkOnce(dst, text)
		if d.thinking {
			d.thinking = false
			dst = append(dst, ThinkingEnd{})
		}
		return dst
	case "delta", "":
		text := d.thoughtHalf.join(e.string("text", "content"))
		if text == "" {
			return dst
		}
		return d.thinks(dst, text)
	}
	return append(dst, Unknown{Type: unknownType(e), Raw: e.raw.Copy()})
}

// thinkOnce adds a whole block of reasoning unless it came in pieces before.
func (d *Decoder) thinkOnce(dst []Event, text string) []Event {
	if text == "" || bytes.Contains(d.thought, []byte(text)) {
		return dst
	}
	return d.thinks(dst, text)
}

func (d *Decoder) thinks(dst []Event, text string) []Event {
	d.thinking = true
	if d.thought = append(d.thought, text...); len(d.thought) > 4*maxKept { // a repetition of what is cut off is not recognised
		d.thought = slices.Delete(d.thought, 0, len(d.thought)-maxKept)
	}
	return append(dst, Thinking{text})
}

// word is v.Text, without an allocation for the commonest words of a stream.
func word(v jsontext.Value) string {
	switch string(v) {
	case `"assistant"`:
		return "assistant"
	case `"text"`:
		return "text"
	}
	return v.Text()
}
