package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// transcript decodes a stream, and returns its events and the decoder.
func transcript(stream string) (got []string, d *Decoder) {
	d = NewDecoder()
	var events []Event
	for line := range strings.Lines(stream) {
		events = d.AppendLine(events, []byte(line))
	}
	for _, ev := range d.Rest(events) {
		got = append(got, transcribe(ev))
	}
	return got, d
}

// TestCutLines decodes lines that a raw newline in a string has cut, and lines that only look so.
func TestCutLines(t *testing.T) {
	const (
		said = `{"type":"assistant","message":{"content":[{"type":"text","text":"`
		end  = `"}]},"timestamp_ms":1}` + "\n"
		edit = `{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"editToolCall":{"args":{"path":"a"},"result":{"success":{`
	)
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"in a text", said + "one\ntwo" + end + said + "." + end, []string{`text "one\ntwo"`, `text "."`}},
		{"more than once, with empty lines and spaces at the cuts", said + "one \n\n\n  two\n " + end, []string{`text "one \n\n\n  two\n "`}},
		{"right behind the first quote and right before the last", said + "\n" + end, []string{`text "\n"`}},
		{"CRLF and a tab, which such an agent does not escape either", said + "one\r\n\ttwo" + end, []string{`text "one\r\n\ttwo"`}},
		{"an escaped quote and an escaped backslash at the cut", said + `say \"x\\` + "\n" + `\"` + end, []string{`text "say \"x\\\n\""`}},
		{"lines that look like the ends of JSON", said + "func f() {\n}\n{}\n[]}\nx" + end, []string{`text "func f() {\n}\n{}\n[]}\nx"`}},
		{"a last line that begins with a brace", said + "so:\n{" + end, []string{`text "so:\n{"`}},
		{"in two strings of one line", edit + `"beforeFullFileContent":"a` + "\nb\n" + `","afterFullFileContent":"a` + "\nB}\n" + `"}}}}}` + "\n",
			[]string{`completed c edit/edit "Edit a" paths=a change=a("a\nb\n"->"a\nB}\n")`}},
		{"behind another object of the same line", `{"type":"x"}` + said + "one\ntwo" + end, []string{"unknown x", `text "one\ntwo"`}},
		{"behind the name of the stream", "stdout: " + said + "one\ntwo" + end, []string{`text "one\ntwo"`}},
		{"the last line, without a newline", said + "one\ntwo" + strings.TrimSuffix(end, "\n"), []string{`text "one\ntwo"`}},
		{"what follows is an event of its own", said + "one\n" + said + "two" + end,
			[]string{fmt.Sprintf("unreadable %q", said+"one"), `text "two"`}},
		{"what follows is cut, too", said + "one\n" + said + "two\nthree" + end,
			[]string{fmt.Sprintf("unreadable %q", said+"one"), `text "two\nthree"`}},
		{"nothing follows", said + "one\n", []string{fmt.Sprintf("unreadable %q", said+"one")}},
		{"words follow, and then an event", said + "one\nwords\n{}\n[1]\n" + said + "two" + end,
			[]string{fmt.Sprintf("unreadable %q", said+"one"), `unreadable "words"`, "unknown untyped", `unreadable "[1]"`, `text "two"`}},
		{"the whole is no JSON", said + "one\ntwo\"}\n" + said + "x" + end,
			[]string{fmt.Sprintf("unreadable %q", said+"one"), `unreadable "two\"}"`, `text "x"`}},
		{"the whole is more than one object", said + "one\ntwo" + strings.TrimSuffix(end, "\n") + " {}\n",
			[]string{fmt.Sprintf("unreadable %q", said+"one"), `unreadable "two\"}]},\"timestamp_ms\":1} {}"`}},
		{"cut behind a backslash", said + `one\` + "\n" + "ntwo" + end,
			[]string{fmt.Sprintf("unreadable %q", said+`one\`), `unreadable "ntwo\"}]},\"timestamp_ms\":1}"`}},
		{"cut outside of strings", "{\"type\":\"text\",\n\"text\":\"x\"}\n", []string{`unreadable "{\"type\":\"text\","`, `unreadable "\"text\":\"x\"}"`}},
		{"a tab alone stays what it is", said + "\t" + end, []string{fmt.Sprintf("unreadable %q", strings.TrimSpace(said+"\t"+end))}},
		{"no object", "say \"one\ntwo\"\n", []string{`unreadable "say \"one"`, `unreadable "two\""`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := transcript(tt.stream)
			require.Equal(t, tt.want, got)
		})
	}
}

// TestCutLinesAreBounded sends endless cut lines: the decoder holds no more than its bounds, and releases them in the order
// in which they came.
func TestCutLinesAreBounded(t *testing.T) {
	const said = `{"type":"assistant","message":"`
	d := NewDecoder()
	require.Empty(t, d.Line([]byte(said)))
	var got []Event
	for i := range maxCutLines + 5 {
		if got = append(got, d.Line(fmt.Appendf(nil, "%d\n", i))...); len(got) == 0 {
			require.Less(t, i, maxCutLines)
		}
	}
	require.Len(t, got, maxCutLines+6)
	require.Equal(t, Unreadable{Line: fmt.Sprint(maxCutLines + 4)}, got[len(got)-1])

	require.Empty(t, d.Line([]byte(said)))
	line := []byte(strings.Repeat("x", 1<<20))
	for range maxCutBytes>>20 - 1 {
		require.Empty(t, d.Line(line))
	}
	require.Len(t, d.Line(line), maxCutBytes>>20+1)
	require.LessOrEqual(t, cap(d.cut.text), maxCutBytes)

	require.Empty(t, d.Line([]byte(said)))
	for range maxCutTries - 1 {
		require.Empty(t, d.Line([]byte(`"}}`)))
	}
	require.Len(t, d.Line([]byte(`"}}`)), maxCutTries+1, "it is not read again and again")
}

// TestCutAnywhere cuts the strings of a line at every place that JSON allows: the event stays the same.
func TestCutAnywhere(t *testing.T) {
	text := "a \\ \"q\" {\n}\t\r\né\U0001F600\n"
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	line := fmt.Sprintf(`{"type":"text","text":%s,"timestamp_ms":1}`, quoted)
	raw := strings.ReplaceAll(line, `\n`, "\n") + "\n"
	require.Greater(t, strings.Count(raw, "\n"), 3)
	got, d := transcript(raw + raw + line + "\n")
	require.Equal(t, strings.Repeat(fmt.Sprintf("text %q ", text), 3), strings.Join(got, " ")+" ")
	require.Zero(t, d.cut.lines)
}
