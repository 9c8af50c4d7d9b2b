package rpc

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// A Tracer records the messages of connections: a line of JSON each, with its time, its connection and its direction ("in"
// is from the client). They hold everything that was said: prompts and contents of files.
type Tracer struct {
	running sync.WaitGroup // the goroutines of follow

	mu   sync.Mutex
	w    io.Writer
	last int   // connections so far
	err  error // why recording has stopped
}

// NewTracer returns a Tracer that writes to w. If a write fails it stops recording; the connections go on.
func NewTracer(w io.Writer) *Tracer { return &Tracer{w: w} }

// Wait waits until the messages of closed connections are recorded, and returns why recording has stopped, or nil.
func (t *Tracer) Wait() error {
	t.running.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// A traceLine is the record of a message, or of a connection's beginning or end.
type traceLine struct {
	Time       string          `json:"time"`
	Connection int             `json:"connection"`
	Direction  string          `json:"direction,omitempty"` // in or out
	Message    json.RawMessage `json:"message,omitempty"`
	Text       string          `json:"text,omitempty"`  // instead of a message that is no JSON
	Event      string          `json:"event,omitempty"` // opened, closed, or an error of the stream
}

func (t *Tracer) record(l traceLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return
	}
	l.Time = time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	raw, err := encode(l)
	if err == nil {
		_, err = t.w.Write(append(raw, '\n'))
	}
	t.err = err
}

// Conn returns rwc with its messages recorded.
func (t *Tracer) Conn(rwc io.ReadWriteCloser) io.ReadWriteCloser {
	return t.traced(rwc)
}

// Listener returns l with the messages of its connections recorded.
func (t *Tracer) Listener(l net.Listener) net.Listener { return tracedListener{l, t} }

type tracedListener struct {
	net.Listener
	t *Tracer
}

func (l tracedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return tracedConn{c, l.t.traced(c)}, nil
}

// A tracedConn is a net.Conn that reads, writes and closes through a tracedStream.
type tracedConn struct {
	net.Conn
	s *tracedStream
}

func (c tracedConn) Read(p []byte) (int, error)  { return c.s.Read(p) }
func (c tracedConn) Write(p []byte) (int, error) { return c.s.Write(p) }
func (c tracedConn) Close() error                { return c.s.Close() }

type tracedStream struct {
	io.ReadWriteCloser
	in, out *io.PipeWriter
	ended   func()
}

func (t *Tracer) traced(rwc io.ReadWriteCloser) *tracedStream {
	t.mu.Lock()
	t.last++
	n := t.last
	t.mu.Unlock()
	t.record(traceLine{Connection: n, Event: "opened"})
	in, inTo := io.Pipe()
	out, outTo := io.Pipe()
	var both sync.WaitGroup
	both.Go(func() { t.follow(in, n, "in") })
	both.Go(func() { t.follow(out, n, "out") })
	t.running.Go(func() {
		both.Wait()
		t.record(traceLine{Connection: n, Event: "closed"})
	})
	return &tracedStream{rwc, inTo, outTo, sync.OnceFunc(func() {
		inTo.Close()
		outTo.Close()
	})}
}

// follow records the messages of one direction. It reads any input to its end, so that nobody waits for it.
func (t *Tracer) follow(r *io.PipeReader, connection int, direction string) {
	frames := NewFrameReader(r, HardCap)
	for {
		body, err := frames.Read()
		l := traceLine{Connection: connection, Direction: direction}
		switch {
		case err == nil && json.Valid(body):
			l.Message = hideSecrets(body)
		case err == nil:
			l.Text = string(body)
		case errors.Is(err, ErrTooLong):
			l.Event = err.Error()
		default:
			if broken := (*FrameError)(nil); errors.As(err, &broken) {
				l.Event = broken.Message
				t.record(l)
			}
			_, _ = io.Copy(io.Discard, r) // ends when the other end is closed
			return
		}
		t.record(l)
	}
}

func (s *tracedStream) Read(p []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(p)
	_, _ = s.in.Write(p[:n]) // fails only at the end
	return n, err
}

func (s *tracedStream) Write(p []byte) (int, error) {
	n, err := s.ReadWriteCloser.Write(p)
	_, _ = s.out.Write(p[:n])
	return n, err
}

func (s *tracedStream) Close() error {
	err := s.ReadWriteCloser.Close()
	s.ended()
	return err
}
