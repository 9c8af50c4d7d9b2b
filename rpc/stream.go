package rpc

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"cursord/agent/jsontext"

	"github.com/sourcegraph/jsonrpc2"
)

// flushLimit bounds how long this end, when it is about to end, waits for the other to take what it is owed.
const flushLimit = 5 * time.Second

// A stream is the jsonrpc2.ObjectStream under every connection. The library reads only good messages from it; the
// others are answered here. Parameters and results pass by the library (received, sending), because it would decode
// and encode them again, and change them in doing so. A request's id travels through it as the raw JSON of the id
// inside a string, and so comes back as it was sent.
type stream struct {
	rwc    io.ReadWriteCloser
	reader *FrameReader
	box    *outbox
	hurry  <-chan struct{} // closed when this end is about to end, which waits for nobody for long
	ended  func()          // called once by the reader, when there is no more to read; may be nil
	closed chan struct{}   // closed when Close returns

	in  Message            // owned by the library's reader: the message that ReadObject returned
	out *jsonrpc2.Response // owned by the library's sender, under its lock
	req *jsonrpc2.Request  // likewise
}

// closeOnce is a connection that its reader's side and its outbox may both close.
type closeOnce struct {
	io.ReadWriteCloser
	once sync.Once
	err  error
}

func (c *closeOnce) Close() error {
	c.once.Do(func() { c.err = c.ReadWriteCloser.Close() })
	return c.err
}

func newStream(conn io.ReadWriteCloser, limit int, framing Framing, hurry <-chan struct{}) *stream {
	rwc := &closeOnce{ReadWriteCloser: conn}
	return &stream{
		rwc: rwc, reader: NewFrameReader(rwc, limit), box: newOutbox(rwc, framing), hurry: hurry, closed: make(chan struct{}),
	}
}

// options connects the stream's side channels with the library.
func (s *stream) options() []jsonrpc2.ConnOpt {
	return []jsonrpc2.ConnOpt{
		jsonrpc2.OnRecv(s.received),
		jsonrpc2.OnSend(s.sending),
		jsonrpc2.SetLogger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)),
	}
}

// ReadObject implements jsonrpc2.ObjectStream. It returns with the next good message, or with the connection's end,
// after s.ended.
func (s *stream) ReadObject(v any) error {
	for {
		m, _, err := s.reader.Next(s.reject)
		s.box.setFraming(s.reader.Framing())
		if broken := (*FrameError)(nil); errors.As(err, &broken) {
			err = io.EOF // for the library this is an end like others
		}
		if err != nil {
			return s.end(err)
		}
		if s.in = m; m.IsResponse() && !isNumber(m.ID) {
			continue // nobody here asks with such an id
		}
		if err := v.(json.Unmarshaler).UnmarshalJSON(skeleton(&m)); err != nil {
			return s.end(err) // never so far: skeleton is what the library takes
		}
		return nil
	}
}

func (s *stream) end(err error) error {
	if s.ended != nil {
		s.ended()
	}
	return err
}

func (s *stream) reject(id json.RawMessage, e *Error) {
	s.box.setFraming(s.reader.Framing())
	// Where this fails, the connection is at its end, and the next Read will say so.
	_ = s.box.send(AppendResponse(nil, id, nil, e))
}

// skeleton returns what the library has to know of a message.
func skeleton(m *Message) []byte {
	if m.IsResponse() {
		return append(append([]byte(`{"result":0,"id":`), m.ID...), '}')
	}
	var id json.RawMessage
	if m.ID != nil {
		id = jsontext.Quote(string(m.ID))
	}
	return AppendRequest(nil, id, m.Method, nil)
}

// isNumber reports whether id is one that jsonrpc2.Conn.Call may have used.
func isNumber(id json.RawMessage) bool {
	_, err := strconv.ParseUint(string(id), 10, 64)
	return err == nil
}

// received is called by the library between ReadObject and the handling of its message.
func (s *stream) received(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	if resp == nil {
		req.Params = nil
		if params := s.in.Params; params != nil {
			req.Params = &params
		}
	} else {
		resp.Result, resp.Error = nil, nil
		if s.in.Error != nil && string(s.in.Error) != "null" {
			resp.Error = libraryError(s.in.Error)
		} else if result := s.in.Result; result != nil {
			resp.Result = &result
		}
	}
	s.in = Message{} // nothing may keep its memory
}

// libraryError decodes an error for the library, which hands it through. Its data is the whole error, from which
// Client.Call makes an *Error.
func libraryError(raw json.RawMessage) *jsonrpc2.Error {
	var e Error
	if json.Unmarshal(raw, &e) != nil {
		e = Error{Code: CodeInternal, Message: "an error that cannot be read: " + string(raw)}
	}
	return &jsonrpc2.Error{Code: int64(e.Code), Message: e.Message, Data: &raw}
}

// sending is called by the library before WriteObject, under the same lock.
func (s *stream) sending(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	s.req, s.out = req, resp
}

// WriteObject implements jsonrpc2.ObjectStream; the message is what sending was called with. It never waits.
func (s *stream) WriteObject(any) error {
	if s.out != nil {
		id := json.RawMessage(s.out.ID.Str)
		if s.out.Error == nil {
			return s.box.send(appendResponse(nil, id, "result", *s.out.Result))
		}
		raw, err := encode(s.out.Error)
		if err != nil {
			return err
		}
		return s.box.send(appendResponse(nil, id, "error", raw))
	}
	var id, params json.RawMessage
	if !s.req.Notif {
		id = strconv.AppendUint(nil, s.req.ID.Num, 10)
	}
	if s.req.Params != nil {
		params = *s.req.Params
	}
	return s.box.send(AppendRequest(nil, id, s.req.Method, params))
}

// Close implements jsonrpc2.ObjectStream: what was written before is still sent, as slowly as the other end takes it,
// and within flushLimit where this end hurries.
func (s *stream) Close() error {
	defer close(s.closed)
	s.box.finish(s.hurry)
	return s.rwc.Close()
}
