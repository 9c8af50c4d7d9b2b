package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func BenchmarkDecodeDelta(b *testing.B) {
	line := []byte(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":" some words"}]},"session_id":"4b1c7c4e-1d0f-4a57-9b6e-0d8e0c1f2a3b","timestamp_ms":1780000000000}`)
	d := NewDecoder()
	var events []Event
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		events = d.AppendLine(events[:0], line)
	}
}

func BenchmarkDecodeEdit100KB(b *testing.B) {
	source, _ := json.Marshal(strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"x: %w\", err)\n\t}\n", 800))
	line := fmt.Appendf(nil, `{"type":"tool_call","subtype":"completed","call_id":"a","tool_call":{"editToolCall":{"args":{"path":"/r/a.go"},`+
		`"result":{"success":{"path":"/r/a.go","beforeFullFileContent":%s,"afterFullFileContent":%s}}}}}`, source, source)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		NewDecoder().Line(line)
	}
}

// BenchmarkDecodeTurn decodes a long answer: deltas and the message that repeats them.
func BenchmarkDecodeTurn(b *testing.B) {
	const n = 100_000
	delta := []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"word "}]},"timestamp_ms":1}`)
	flush := []byte(`{"type":"assistant","message":{"content":[{"type":"text","text":"` + strings.Repeat("word ", n) + `"}]},"timestamp_ms":1,"model_call_id":"m"}`)
	b.ReportAllocs()
	for b.Loop() {
		d := NewDecoder()
		var events []Event
		for range n {
			events = d.AppendLine(events[:0], delta)
		}
		events = d.AppendLine(events[:0], flush)
		if len(events) != 1 {
			b.Fatal(events)
		}
	}
}
