package agent

import "bytes"

// boundary says that what follows is compared with nothing that came before.
func (d *Decoder) boundary() {
	d.mark, d.streamed = len(d.said), false
}

// chunk says a piece of text that is no repetition whatever it reads. delta says that the agent streams in pieces,
// so that a message without a time repeats them.
func (d *Decoder) chunk(dst []Event, text string, delta bool) []Event {
	if text == "" {
		return dst
	}
	d.said = append(d.said, text...)
	d.streamed = d.streamed || delta
	d.thinking = false
	return append(dst, Text{text})
}

// consolidated says what of the message m was not yet said since the boundary, and sets the next one. Where m has
// nothing to do with what was said it is said whole, because a repeated word is better than a lost one.
func (d *Decoder) consolidated(dst []Event, m string) []Event {
	if m == "" {
		return dst
	}
	since := d.said[d.mark:]
	switch {
	case startsWith(m, since):
		dst = d.chunk(dst, m[len(since):], false)
	case bytes.HasPrefix(since, []byte(m)), bytes.HasSuffix(since, []byte(m)):
	case startsWith(m, d.said):
		dst = d.chunk(dst, m[len(d.said):], false)
	default:
		dst = d.chunk(append(dst, TextEnd{}), m, false)
	}
	d.boundary()
	return append(dst, TextEnd{})
}

// startsWith reports whether s begins with prefix; it does not copy.
func startsWith(s string, prefix []byte) bool {
	return len(s) >= len(prefix) && s[:len(prefix)] == string(prefix)
}

// assistant decodes an assistant event. It is a chunk, or the agent's own consolidated message about all chunks
// since the boundary: one with a model call, or one without time after chunks with time.
func (d *Decoder) assistant(dst []Event, e *event) []Event {
	timed := e.get("timestamp_ms") != nil
	content := e.get("message")
	if content.isObject() {
		content = content.get("content", "text")
	}
	if content == nil {
		if text := e.get("text"); text.isString() {
			return d.chunk(dst, text.text(), true)
		}
		content = e.get("content")
	}
	flush := e.get("model_call_id").name() != "" || !timed && d.streamed
	if e.subtype == "delta" {
		flush, timed = false, true
	}
	if content.isString() {
		if flush {
			return d.consolidated(dst, content.text())
		}
		return d.chunk(dst, content.text(), timed)
	}
	if !flush || len(d.said) == d.mark && hasOther(content) {
		// Nothing to compare with: the blocks in their order.
		for block := range content.elems() {
			if text, ok := textBlock(block); ok {
				dst = d.chunk(dst, text, timed)
			} else {
				dst = d.block(dst, block)
			}
		}
		if flush {
			d.boundary()
			dst = append(dst, TextEnd{})
		}
		return dst
	}
	dst = d.consolidated(dst, joinedText(content))
	for block := range content.elems() {
		if _, ok := textBlock(block); !ok {
			dst = d.block(dst, block)
		}
	}
	return dst
}

// textBlock returns the text of a block of a message, if that is what it is.
func textBlock(block value) (string, bool) {
	if block.isString() {
		return block.text(), true
	}
	switch block.get("type").word() {
	case "text", "output_text", "":
		text := block.get("text")
		return text.text(), text.isString()
	}
	return "", false
}

func hasOther(content value) bool {
	for block := range content.elems() {
		if _, ok := textBlock(block); !ok {
			return true
		}
	}
	return false
}

func joinedText(content value) string {
	var joined string
	for block := range content.elems() {
		text, _ := textBlock(block)
		joined += text
	}
	return joined
}

// block decodes a block of a message that is no text.
func (d *Decoder) block(dst []Event, block value) []Event {
	e := &event{raw: block, top: block.object(nil), typ: "assistant", subtype: block.get("type").text()}
	switch e.subtype {
	case "thinking":
		return d.thinkOnce(dst, e.text("thinking", "text", "content"))
	case "tool_use":
		return d.toolStart(dst, callOf(e))
	case "tool_result":
		return d.toolEnd(dst, callOf(e), block)
	}
	return append(dst, Unknown{Type: unknownType(e), Raw: block.raw()})
}

// think decodes reasoning: pieces, then an end that has no text of its own.
func (d *Decoder) think(dst []Event, e *event) []Event {
	text := e.text("text", "content")
	switch e.subtype {
	case "completed":
		dst = d.thinkOnce(dst, text)
		if d.thinking {
			d.thinking = false
			dst = append(dst, ThinkingEnd{})
		}
		return dst
	case "delta", "":
		if text == "" {
			return dst
		}
		d.thinking = true
		d.thought = append(d.thought, text...)
		return append(dst, Thinking{text})
	}
	return append(dst, Unknown{Type: unknownType(e), Raw: e.raw.raw()})
}

// thinkOnce adds a whole block of reasoning unless it came in pieces before.
func (d *Decoder) thinkOnce(dst []Event, text string) []Event {
	if text == "" || bytes.Contains(d.thought, []byte(text)) {
		return dst
	}
	d.thinking = true
	d.thought = append(d.thought, text...)
	return append(dst, Thinking{text})
}
