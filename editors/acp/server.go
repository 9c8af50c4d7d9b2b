package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"cursord/editors/acp/protocol"
	"cursord/editors/outbox"
	"cursord/rpc"
)

const (
	// flushLimit bounds how long the end waits for an editor to read the last messages.
	flushLimit = 5 * time.Second
	// answerLimit bounds how long the end waits for the answers to requests that the editor has sent before.
	answerLimit = 5 * time.Second
)

// Options are the surroundings of a server.
type Options struct {
	Version string
	Greeted func() // called after the first message, for work that its answer must not wait for; may be nil
	// Dial returns a client of the daemon, or of the next one when that ends. It does not wait for a daemon. onNotify is as in
	// rpc.NewClient.
	Dial func(onNotify func(method string, params json.RawMessage)) *rpc.Client
	Log  *slog.Logger // editors show what is on stderr as an error, so it gets panics only
}

// A Server serves one editor.
type Server struct {
	opts   Options
	out    *outbox.Outbox
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex    // guards all fields below, and what they lead to
	ended    bool          // nothing is done any more
	settled  chan struct{} // closed when nothing is waited for, once the input has ended; nil before
	greeted  bool          // initialize was answered
	client   protocol.ClientCapabilities
	name     string                       // of the editor, for the daemon
	open     map[string]*request          // requests of the editor that have no answer yet, by id
	lines    map[string][]*request        // those that are carried out one after the other, by session; see inOrder
	asked    map[string]func(rpc.Message) // requests to the editor that have no answer yet, by id
	askedID  int
	link     *link               // nil: the daemon was not needed yet
	folders  map[string]*folder  // by the daemon's path
	sessions map[string]*session // that the editor has opened, by id
	models   models
	trusting map[string]*trusting // questions for trust in a folder, by the folder
	prompted int                  // how many prompts there were
}

// Serve serves the editor at in and out until in ends. It returns false if something else ended it: ctx, or a broken input.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts Options) (ok bool) {
	s := newServer(ctx, out, opts)
	defer s.cancel()
	r := rpc.NewLineReader(in, rpc.MaxMessage)
	// The first message waits for no other goroutine.
	body, err := s.next(r)
	if err != nil {
		return errors.Is(err, io.EOF)
	}
	s.post(func() { s.take(body) })
	s.out.Start()
	if opts.Greeted != nil {
		opts.Greeted()
	}
	gone := make(chan bool, 1)
	go s.read(r, gone)
	select {
	case ok = <-gone:
		// Requests that came before the end get their results. Nobody waits for turns: they go on.
		select {
		case <-s.whenSettled():
		case <-time.After(answerLimit):
		case <-s.ctx.Done():
			ok = false
		}
	case <-s.ctx.Done():
	}
	s.mu.Lock()
	for _, r := range s.open {
		r.answer(nil, &rpc.Error{Code: rpc.CodeCancelled, Message: "the connection has ended; a turn that has begun goes on"})
	}
	s.ended = true
	l := s.link
	s.mu.Unlock()
	s.cancel()
	if l != nil {
		l.client.Close()
	}
	flushed := make(chan struct{})
	go func() {
		s.out.Close()
		close(flushed)
	}()
	select {
	case <-flushed:
	case <-time.After(flushLimit):
	}
	return ok
}

func newServer(ctx context.Context, out io.Writer, opts Options) *Server {
	s := &Server{
		opts: opts, out: outbox.New(out), open: map[string]*request{}, lines: map[string][]*request{},
		asked: map[string]func(rpc.Message){}, folders: map[string]*folder{}, sessions: map[string]*session{}, trusting: map[string]*trusting{},
	}
	s.out.SetFraming(rpc.FramingLines)
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// next returns the editor's next line. It answers lines that are too long.
func (s *Server) next(r *rpc.FrameReader) ([]byte, error) {
	for {
		body, err := r.Read()
		if errors.Is(err, rpc.ErrTooLong) {
			s.reply(r.SkippedID(), nil, &rpc.Error{Code: rpc.CodeInvalidRequest, Message: "the message is over the limit of " + strconv.Itoa(rpc.MaxMessage) + " bytes: send less, or name a file instead of its content"})
			continue
		}
		return body, err
	}
}

// read takes the editor's messages. It sends to gone at the end: true for the end of input.
func (s *Server) read(r *rpc.FrameReader, gone chan<- bool) {
	for {
		body, err := s.next(r)
		if err != nil {
			gone <- errors.Is(err, io.EOF)
			return
		}
		if !s.post(func() { s.take(body) }) {
			return
		}
	}
}

// post runs f, one after the other: it is called by the goroutines that read, and by those that wait. It returns false if the server has
// ended.
func (s *Server) post(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.guard("", f)
	for id := range s.lines {
		s.advance(id)
	}
	if s.settled != nil && !s.waited() {
		close(s.settled)
		s.settled = nil
	}
	return true
}

// whenSettled returns a channel that is closed when no request waits for its answer.
func (s *Server) whenSettled() <-chan struct{} {
	settled := make(chan struct{})
	s.mu.Lock()
	s.settled = settled
	s.mu.Unlock()
	s.post(func() {})
	return settled
}

// waited reports whether a request has no answer yet that does not wait for a turn or a person.
func (s *Server) waited() bool {
	for _, r := range s.open {
		if !r.patient {
			return true
		}
	}
	return false
}

// guard runs f and contains its panic.
func (s *Server) guard(what string, f func()) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			panicked = true
			s.opts.Log.Error("panic", "in", what, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	f()
	return false
}

// take handles a message of the editor.
func (s *Server) take(body []byte) {
	m, bad := parse(body)
	switch {
	case bad != nil:
		s.reply(m.ID, nil, bad)
	case m.IsResponse():
		if f := s.asked[string(m.ID)]; f != nil {
			delete(s.asked, string(m.ID))
			f(m)
		}
	case m.ID == nil:
		if f := notifications[m.Method]; f != nil && s.greeted {
			s.guard(m.Method, func() { f(s, m.Params) })
		}
	default:
		s.serve(&request{s: s, id: m.ID, method: m.Method, params: m.Params})
	}
}

// parse is rpc.ParseMessage, and takes null for the id of a request, as ACP does.
func parse(body []byte) (rpc.Message, *rpc.Error) {
	m, bad := rpc.ParseMessage(body)
	if bad == nil || bad.Code != rpc.CodeInvalidRequest {
		return m, bad
	}
	var nameless struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(body, &nameless) != nil || string(nameless.ID) != "null" || nameless.Method == "" {
		return m, bad
	}
	return rpc.Message{ID: nameless.ID, Method: nameless.Method, Params: nameless.Params}, nil
}

// reply answers a request, with the error if there is one, else with the result.
func (s *Server) reply(id json.RawMessage, result any, err *rpc.Error) {
	var raw json.RawMessage
	if err == nil {
		raw = protocol.Encode(result)
	}
	s.out.Send("", rpc.AppendResponse(nil, id, raw, err))
}

// ask sends the editor a request, and calls then with the answer. It returns the request's id.
func (s *Server) ask(method string, params any, then func(rpc.Message)) (id string) {
	s.askedID++
	id = strconv.Itoa(s.askedID)
	s.asked[id] = then
	s.out.Send("", rpc.AppendRequest(nil, json.RawMessage(id), method, protocol.Encode(params)))
	return id
}

// withdraw tells the editor that a request needs no answer any more. A late answer is dropped.
func (s *Server) withdraw(id string) {
	if s.asked[id] == nil {
		return
	}
	delete(s.asked, id)
	s.out.Send("", rpc.AppendRequest(nil, nil, "$/cancel_request", protocol.Encode(protocol.CancelParams{RequestID: json.RawMessage(id)})))
}
