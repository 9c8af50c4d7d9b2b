package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// readAll returns the messages in input, and the name of the error at its end.
func readAll(r io.Reader, limit int) (bodies []string, framing Framing, end string) {
	f := NewFrameReader(r, limit)
	for {
		body, err := f.Read()
		var broken *FrameError
		switch {
		case err == nil:
			bodies = append(bodies, string(body))
		case errors.Is(err, ErrTooLong):
			bodies = append(bodies, "TOO LONG")
		case errors.As(err, &broken):
			return bodies, f.Framing(), broken.Message
		default:
			return bodies, f.Framing(), err.Error()
		}
	}
}

func TestFrameReader(t *testing.T) {
	const limit = 10
	for _, test := range []struct {
		name, input string
		framing     Framing
		bodies      []string
		end         string // a part of the error
	}{
		{"nothing", "", FramingUnknown, nil, "EOF"},
		{"blanks only", " \r\n\t", FramingUnknown, nil, "EOF"},
		{"lines", "{1}\n[2]\n", FramingLines, []string{"{1}", "[2]"}, "EOF"},
		{"array first", "[2]\n{1}\n", FramingLines, []string{"[2]", "{1}"}, "EOF"},
		{"blanks before lines", "\r\n \t{1}\n", FramingLines, []string{"{1}"}, "EOF"},
		{"CRLF lines", "{1}\r\n{2}\r\n", FramingLines, []string{"{1}", "{2}"}, "EOF"},
		{"blank lines", "{1}\n\n \t\r\n\r\n{2}\n", FramingLines, []string{"{1}", "{2}"}, "EOF"},
		{"last line open", "{1}\n{2}", FramingLines, []string{"{1}", "{2}"}, "EOF"},
		{"line at the limit", "{12345678}\n{2}\n", FramingLines, []string{"{12345678}", "{2}"}, "EOF"},
		{"line at the limit, CRLF", "{12345678}\r\n", FramingLines, []string{"{12345678}"}, "EOF"},
		{"line over the limit", "{123456789}\n{2}\n", FramingLines, []string{"TOO LONG", "{2}"}, "EOF"},
		{"line far over the limit", "{" + strings.Repeat("x", 200_000) + "}\n{2}\n", FramingLines, []string{"TOO LONG", "{2}"}, "EOF"},
		{"last line over the limit", "{1}\n{123456789}", FramingLines, []string{"{1}", "TOO LONG"}, "EOF"},
		{"header in lines", "{1}\nContent-Length: 3\n{2}\n", FramingLines, []string{"{1}", "TOO LONG", "{2}"}, "EOF"},

		{"header", "Content-Length: 3\r\n\r\n{1}Content-Length: 4\r\n\r\n{22}", FramingHeaders, []string{"{1}", "{22}"}, "EOF"},
		{"lower case", "content-length: 3\r\n\r\n{1}", FramingHeaders, []string{"{1}"}, "EOF"},
		{"odd case, no blank", "CONTENT-lengTH:3\r\n\r\n{1}", FramingHeaders, []string{"{1}"}, "EOF"},
		{"LF only", "Content-Length: 3\n\n{1}Content-Length: 3\n\n{2}", FramingHeaders, []string{"{1}", "{2}"}, "EOF"},
		{"Content-Type", "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 3\r\n\r\n{1}", FramingHeaders, []string{"{1}"}, "EOF"},
		{"unknown header", "Content-Length: 3\r\nX-Thing: a:b\r\n\r\n{1}", FramingHeaders, []string{"{1}"}, "EOF"},
		{"blanks before header", " \r\n\r\nContent-Length: 3\r\n\r\n{1}\r\n\r\nContent-Length: 3\r\n\r\n{2}", FramingHeaders, []string{"{1}", "{2}"}, "EOF"},
		{"empty body", "Content-Length: 0\r\n\r\nContent-Length: 3\r\n\r\n{2}", FramingHeaders, []string{"", "{2}"}, "EOF"},
		{"trailing blanks counted", "Content-Length: 6\r\n\r\n{1}  \n", FramingHeaders, []string{"{1}  \n"}, "EOF"},
		{"leading zeros", "Content-Length: 0003\r\n\r\n{1}", FramingHeaders, []string{"{1}"}, "EOF"},
		{"the same length twice", "Content-Length: 3\r\nContent-Length: 3\r\n\r\n{1}", FramingHeaders, []string{"{1}"}, "EOF"},
		{"at the limit", "Content-Length: 10\r\n\r\n{12345678}", FramingHeaders, []string{"{12345678}"}, "EOF"},
		{"over the limit", "Content-Length: 11\r\n\r\n{123456789}Content-Length: 3\r\n\r\n{2}", FramingHeaders, []string{"TOO LONG", "{2}"}, "EOF"},
		{"end in a header", "Content-Length: 3\r\n", FramingHeaders, nil, "unexpected EOF"},
		{"end in a body", "Content-Length: 5\r\n\r\n{1}", FramingHeaders, nil, "unexpected EOF"},
		{"end in a long body", "Content-Length: 50\r\n\r\n{1}", FramingHeaders, nil, "unexpected EOF"},

		{"no length", "X-Thing: 1\r\n\r\n{1}", FramingHeaders, nil, "without Content-Length"},
		{"no colon", "hello\r\n", FramingHeaders, nil, "not a header line"},
		{"not a name", "he llo: 3\r\n", FramingHeaders, nil, "not a header line"},
		{"no name", ": 3\r\n", FramingHeaders, nil, "not a header line"},
		{"BOM", "\xef\xbb\xbf{\"a\":1}\n", FramingHeaders, nil, "not a header line"},
		{"quoted JSON", "\"a\": 1\n", FramingHeaders, nil, "not a header line"},
		{"negative", "Content-Length: -1\r\n\r\n", FramingHeaders, nil, "no number"},
		{"signed", "Content-Length: +3\r\n\r\n{1}", FramingHeaders, nil, "no number"},
		{"hexadecimal", "Content-Length: 0x3\r\n\r\n{1}", FramingHeaders, nil, "no number"},
		{"fraction", "Content-Length: 3.0\r\n\r\n{1}", FramingHeaders, nil, "no number"},
		{"empty length", "Content-Length: \r\n\r\n{1}", FramingHeaders, nil, "no number"},
		{"list", "Content-Length: 3, 3\r\n\r\n{1}", FramingHeaders, nil, "no number"},
		{"conflicting", "Content-Length: 3\r\nContent-Length: 4\r\n\r\n{1}", FramingHeaders, nil, "two different"},
		{"over 64 bits", "Content-Length: 99999999999999999999\r\n\r\n", FramingHeaders, nil, "hard cap"},
		{"over the hard cap", "Content-Length: 268435457\r\n\r\n", FramingHeaders, nil, "hard cap"},
		{"long header", "X: " + strings.Repeat("x", 5000) + "\r\n", FramingHeaders, nil, "header over 4096"},
		{"many headers", strings.Repeat("X: 1\r\n", 1000), FramingHeaders, nil, "header over 4096"},
		{"endless header", strings.Repeat("X", 100_000), FramingHeaders, nil, "header over 4096"},
		{"braces after a header message", "Content-Length: 3\r\n\r\n{1}{2}\n", FramingHeaders, []string{"{1}"}, "not a header line"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(test.input), "bytewise": iotest.OneByteReader(strings.NewReader(test.input)),
			} {
				bodies, framing, end := readAll(r, limit)
				require.Equal(t, test.bodies, bodies, name)
				require.Equal(t, test.framing, framing, name)
				require.Contains(t, end, test.end, name)
			}
		})
	}
}

// blanks is an endless line.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '{'
	}
	return len(p), nil
}

func TestFrameReaderHardCapOfLines(t *testing.T) {
	_, _, end := readAll(endless{}, 10)
	require.Contains(t, end, "hard cap")
}

func TestAppendFrame(t *testing.T) {
	for _, framing := range []Framing{FramingHeaders, FramingLines} {
		var wire []byte
		want := []string{`{"a":"ä"}`, `[]`, `{}`}
		for _, body := range want {
			wire = AppendFrame(wire, framing, []byte(body))
		}
		if framing == FramingLines {
			wire = append([]byte(" "), wire...)
		}
		bodies, got, end := readAll(bytes.NewReader(wire), 100)
		require.Equal(t, want, bodies)
		require.Equal(t, framing, got)
		require.Equal(t, "EOF", end)
	}
}

func FuzzFrameReader(f *testing.F) {
	for _, seed := range []string{
		"{}\n{}\n", "Content-Length: 2\r\n\r\n{}", "content-length:2\n\n{}\n", " [1]\r\n\n{", "Content-Length: 99\r\n\r\n{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		const limit = 50
		bodies, framing, end := readAll(bytes.NewReader(input), limit)
		require.NotEmpty(t, end)
		for _, body := range bodies {
			require.LessOrEqual(t, len(body), limit)
		}
		slow, slowFraming, slowEnd := readAll(iotest.OneByteReader(bytes.NewReader(input)), limit)
		require.Equal(t, bodies, slow)
		require.Equal(t, framing, slowFraming)
		require.Equal(t, end, slowEnd)
	})
}

// TestNext refuses broken messages with the id for the answer, and goes on behind them where their end is known.
func TestNext(t *testing.T) {
	r := NewFrameReader(strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"a"}`+"\n"+
			"{nonsense\n"+
			`[]`+"\n"+
			`{"jsonrpc":"2.0","id":2,"method":`+strings.Repeat(" ", 100)+`"long"}`+"\n"+
			`{"jsonrpc":"2.0","id":"three"}`+"\n"+
			`{"jsonrpc":"2.0","method":"b"}`+"\n"), 100)
	var refused []string
	refuse := func(id json.RawMessage, e *Error) {
		refused = append(refused, fmt.Sprintf("%s %d %s", id, e.Code, e.Message))
	}
	m, body, err := r.Next(refuse)
	require.NoError(t, err)
	require.Equal(t, "a", m.Method)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"method":"a"}`, string(body))
	require.Empty(t, refused)
	m, _, err = r.Next(refuse)
	require.NoError(t, err)
	require.Equal(t, "b", m.Method)
	require.Len(t, refused, 4)
	require.Equal(t, " -32700 malformed JSON", refused[0])
	require.Equal(t, " -32600 batch not supported", refused[1])
	require.Equal(t, " -32600 a message over the limit of 100 bytes", refused[2])
	require.True(t, strings.HasPrefix(refused[3], `"three" -32600 `), refused[3])
	_, _, err = r.Next(refuse)
	require.ErrorIs(t, err, io.EOF)
	require.Len(t, refused, 4)

	refused = nil
	r = NewFrameReader(strings.NewReader("Content-Length: many\r\n\r\n{}"), 100)
	_, _, err = r.Next(refuse)
	require.ErrorAs(t, err, new(*FrameError))
	require.Equal(t, []string{` -32700 Content-Length is no number: "many"; closing the connection`}, refused)
}
