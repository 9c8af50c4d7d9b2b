package rpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	// MaxMessage is the size in bytes of the largest message that the daemon takes.
	MaxMessage = 16 << 20
	// HardCap is the size in bytes above which a message is not skipped but ends the connection.
	HardCap = 256 << 20

	maxHeader = 4 << 10
)

// A Framing is how messages are separated on a connection, in both directions.
type Framing int

const (
	FramingUnknown Framing = iota // nothing has been read yet
	FramingHeaders                // Content-Length headers, as in LSP
	FramingLines                  // one message a line
)

// ErrTooLong is returned by FrameReader.Read for a message over its limit. The message was skipped: the next Read returns
// the one after it.
var ErrTooLong = errors.New("message over the limit")

// A FrameError is returned by FrameReader.Read when the end of the present message cannot be known, so that nothing after it
// can be read.
type FrameError struct{ Message string }

func (e *FrameError) Error() string { return e.Message }

func frameErrorf(format string, args ...any) *FrameError {
	return &FrameError{Message: fmt.Sprintf(format, args...)}
}

// A FrameReader cuts a byte stream into messages. The first byte that is not white space chooses the framing: { or [ is
// FramingLines, anything else FramingHeaders.
type FrameReader struct {
	r       *bufio.Reader
	limit   int
	framing Framing
	skipped skipped
}

// NewFrameReader returns a reader of the messages in r, of at most limit bytes each.
func NewFrameReader(r io.Reader, limit int) *FrameReader {
	return &FrameReader{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// NewLineReader returns a reader of the messages in r, one a line whatever the first byte is, of at most limit bytes each.
func NewLineReader(r io.Reader, limit int) *FrameReader {
	f := NewFrameReader(r, limit)
	f.framing = FramingLines
	return f
}

// Framing returns the framing that the peer has chosen.
func (f *FrameReader) Framing() Framing { return f.framing }

// Ready reports whether a whole message has arrived, so that Read returns it without waiting. It may miss a message whose
// header differs from AppendFrame's.
func (f *FrameReader) Ready() bool {
	// A peek at buffered bytes cannot fail.
	buffered, _ := f.r.Peek(f.r.Buffered())
	if f.framing == FramingLines {
		return bytes.IndexByte(buffered, '\n') >= 0
	}
	header, length, ok := plainHeader(buffered)
	return ok && len(buffered)-header >= length
}

// plainHeader returns the lengths of the header at the beginning of b and of the body after it, if the header is as
// AppendFrame writes it.
func plainHeader(b []byte) (header, length int, ok bool) {
	rest, ok := bytes.CutPrefix(b, []byte("Content-Length: "))
	if !ok {
		return 0, 0, false
	}
	digits := 0
	for ; digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' && length <= HardCap; digits++ {
		length = 10*length + int(rest[digits]-'0')
	}
	rest, ok = bytes.CutPrefix(rest[digits:], []byte("\r\n\r\n"))
	return len(b) - len(rest), length, ok && digits > 0
}

// Read returns the next message, which belongs to the caller. Its errors are io.EOF at an end between two messages,
// io.ErrUnexpectedEOF at one inside a message, ErrTooLong, a *FrameError, or the stream's own error.
func (f *FrameReader) Read() ([]byte, error) {
	if f.framing == FramingUnknown {
		first, err := f.skipSpace()
		if err != nil {
			return nil, err
		}
		f.framing = FramingHeaders
		if first == '{' || first == '[' {
			f.framing = FramingLines
		}
	}
	if f.framing == FramingLines {
		return f.readLine()
	}
	return f.readHeadered()
}

// Next returns the next message and its bytes, which belong to the caller. For input that is no message it calls refuse with
// the error to answer and the id to answer to (nil for null), and reads on. Its errors are those of Read except ErrTooLong; before it
// returns a *FrameError, it has called refuse.
func (f *FrameReader) Next(refuse func(id json.RawMessage, e *Error)) (Message, []byte, error) {
	for {
		body, err := f.Read()
		switch broken := (*FrameError)(nil); {
		case errors.Is(err, ErrTooLong):
			refuse(nil, notRequest("a message over the limit of "+strconv.Itoa(f.limit)+" bytes"))
			continue
		case errors.As(err, &broken):
			refuse(nil, &Error{Code: CodeParse, Message: broken.Message + "; closing the connection"})
		}
		if err != nil {
			return Message{}, nil, err
		}
		m, bad := ParseMessage(body)
		if bad == nil {
			return m, body, nil
		}
		refuse(m.ID, bad)
	}
}

// skipSpace reads white space and returns the byte after it, unread.
func (f *FrameReader) skipSpace() (byte, error) {
	for {
		c, err := f.r.ReadByte()
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, f.r.UnreadByte()
		}
	}
}

// readLine returns the next line that is not blank. A last line without LF counts, because scripts end that way.
func (f *FrameReader) readLine() ([]byte, error) {
	for {
		var line []byte
		size := 0
		f.skipped = skipped{}
		for {
			part, err := f.r.ReadSlice('\n')
			size += len(part)
			if size > HardCap {
				return nil, frameErrorf("a line over the hard cap of %d bytes", HardCap)
			}
			// Two bytes more than the limit allow for CR LF; the exact size is known at the end of the line.
			if size <= f.limit+2 {
				line = append(line, part...)
			} else {
				f.skipped.add(line, part)
				line = nil
			}
			if err == nil || err == io.EOF && size > 0 {
				break
			}
			if err != bufio.ErrBufferFull {
				return nil, err
			}
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if size > f.limit+2 || len(line) > f.limit {
			if line != nil {
				f.skipped.add(line, line)
			}
			return nil, ErrTooLong
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
	}
}

func (f *FrameReader) readHeadered() ([]byte, error) {
	// Some clients end a body with a newline that they do not count.
	if _, err := f.skipSpace(); err != nil {
		return nil, err
	}
	// A peek at buffered bytes cannot fail.
	buffered, _ := f.r.Peek(f.r.Buffered())
	if header, length, ok := plainHeader(buffered); ok && length <= min(f.limit, len(buffered)-header) {
		body := bytes.Clone(buffered[header : header+length])
		_, err := f.r.Discard(header + length)
		return body, err
	}
	length, err := f.readHeader()
	if err != nil {
		return nil, err
	}
	if length > HardCap {
		return nil, frameErrorf("a message of %d bytes, over the hard cap of %d", length, HardCap)
	}
	if length > int64(f.limit) {
		f.skipped = skipped{}
		if _, err := io.CopyN(io.Discard, f.r, length); err != nil {
			return nil, unexpectedEOF(err)
		}
		return nil, ErrTooLong
	}
	// The buffer grows with what arrives, so that a header alone does not cost its length in memory.
	body := bytes.NewBuffer(make([]byte, 0, min(length, 64<<10)))
	if _, err := io.CopyN(body, f.r, length); err != nil {
		return nil, unexpectedEOF(err)
	}
	return body.Bytes(), nil
}

// readHeader reads a header block and returns its Content-Length.
func (f *FrameReader) readHeader() (int64, error) {
	length := int64(-1)
	for size := 0; ; {
		line, err := f.headerLine(maxHeader - size)
		if err != nil {
			return 0, err
		}
		size += len(line)
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			if length < 0 {
				return 0, frameErrorf("a header without Content-Length")
			}
			return length, nil
		}
		name, value, ok := strings.Cut(text, ":")
		name = strings.TrimSpace(name)
		if !ok || !isToken(name) {
			return 0, frameErrorf("not a header line: %.60q", text)
		}
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		n, err := parseLength(strings.TrimSpace(value))
		if err != nil {
			return 0, err
		}
		if length >= 0 && n != length {
			return 0, frameErrorf("two different Content-Length headers: %d and %d", length, n)
		}
		length = n
	}
}

// headerLine returns the next line with its LF. It reads at most room bytes.
func (f *FrameReader) headerLine(room int) ([]byte, error) {
	var line []byte
	for {
		c, err := f.r.ReadByte()
		if err != nil {
			return nil, unexpectedEOF(err)
		}
		if line = append(line, c); c == '\n' {
			return line, nil
		}
		if len(line) >= room {
			return nil, frameErrorf("a header over %d bytes", maxHeader)
		}
	}
}

func parseLength(s string) (int64, error) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, frameErrorf("Content-Length is no number: %.60q", s)
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, frameErrorf("a Content-Length over the hard cap of %d bytes", HardCap)
	}
	if err != nil {
		return 0, frameErrorf("Content-Length is no number: %.60q", s)
	}
	return n, nil
}

// isToken reports whether s can be the name of a header.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

func unexpectedEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// AppendFrame appends one message to dst. A body for FramingLines must not contain LF.
func AppendFrame(dst []byte, framing Framing, body []byte) []byte {
	if framing == FramingLines {
		return append(append(dst, body...), '\n')
	}
	return append(appendHeader(dst, len(body)), body...)
}

func appendHeader(dst []byte, length int) []byte {
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(length), 10)
	return append(dst, "\r\n\r\n"...)
}
