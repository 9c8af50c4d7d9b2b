package rpc

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"cursord/agent/jsontext"

	"github.com/sourcegraph/jsonrpc2"
)

// flushLimit bounds how long this end, before it ends, waits for the other end to read what is left.
const flushLimit = 5 * time.Second

// A stream is the jsonrpc2.ObjectStream of a connection that is served. It passes only well-formed messages to the library and
// answers the others itself. Parameters and results bypass the library (received, sending), which would decode and encode them again and
// thereby change them. A request's id passes through the library as a string that holds the id's raw JSON, and so comes back
// unchanged.
type stream struct {
	conn   io.Closer
	reader *FrameReader
	box    *outbox
	hurry  <-chan struct{} // closed when this end is about to end and waits for nobody
	ended  func()          // called once by the reader, when there is nothing more to read; may be nil
	closed chan struct{}   // closed when Close returns

	in  Message            // owned by the library's reader: the message that ReadObject returned
	out *jsonrpc2.Response // owned by the library's sender, under its lock
}

// closeOnce is the end of a connection to which is written, which the reader's side and the outbox may both close.
type closeOnce struct {
	io.WriteCloser
	once sync.Once
	err  error
}

func (c *closeOnce) Close() error {
	c.once.Do(func() { c.err = c.WriteCloser.Close() })
	return c.err
}

func newStream(conn io.ReadWriteCloser, limit int, framing Framing, hurry <-chan struct{}) *stream {
	out := &closeOnce{WriteCloser: conn}
	return &stream{
		conn: out, reader: NewFrameReader(conn, limit), box: newOutbox(out, framing), hurry: hurry, closed: make(chan struct{}),
	}
}

// options returns the options by which the library calls received and sending.
func (s *stream) options() []jsonrpc2.ConnOpt {
	return []jsonrpc2.ConnOpt{
		jsonrpc2.OnRecv(s.received),
		jsonrpc2.OnSend(s.sending),
		jsonrpc2.SetLogger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)),
	}
}

// ReadObject implements jsonrpc2.ObjectStream. It returns with the next good message or, after s.ended, with the
// connection's end.
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
		if m.IsResponse() {
			continue // this side makes no requests
		}
		s.in = m
		if err := v.(json.Unmarshaler).UnmarshalJSON(skeleton(&m)); err != nil {
			return s.end(err) // has never happened: the library can decode skeleton
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
	// If this fails, the connection has ended, and the next Read says so.
	_ = s.box.send(AppendResponse(nil, id, nil, e))
}

// skeleton returns the part of a request or notification that the library needs.
func skeleton(m *Message) []byte {
	var id json.RawMessage
	if m.ID != nil {
		id = jsontext.Quote(string(m.ID))
	}
	return AppendRequest(nil, id, m.Method, nil)
}

// The library calls received between ReadObject and the handling of its message.
func (s *stream) received(req *jsonrpc2.Request, _ *jsonrpc2.Response) {
	req.Params = nil
	if params := s.in.Params; params != nil {
		req.Params = &params
	}
	s.in = Message{} // frees the message's memory
}

// The library calls sending before WriteObject, under the same lock.
func (s *stream) sending(_ *jsonrpc2.Request, resp *jsonrpc2.Response) { s.out = resp }

// WriteObject implements jsonrpc2.ObjectStream; the message is the response that sending got. It never waits.
func (s *stream) WriteObject(any) error {
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

// Close implements jsonrpc2.ObjectStream. What was written before is still sent, as slowly as the other end reads, or within
// flushLimit if this end is in a hurry.
func (s *stream) Close() error {
	defer close(s.closed)
	s.box.finish(s.hurry)
	return s.conn.Close()
}
