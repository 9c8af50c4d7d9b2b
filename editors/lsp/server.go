package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"cursord/editors/lsp/client"
	"cursord/editors/lsp/found"
	"cursord/editors/lsp/protocol"
	"cursord/editors/lsp/typing"
	"cursord/editors/outbox"
	"cursord/rpc"
)

// Codes of LSP beside those of JSON-RPC.
const (
	codeNotInitialized  = -32002
	codeRequestFailed   = -32803
	codeContentModified = -32801
)

// flushLimit bounds how long the end waits for an editor to read the last messages.
const flushLimit = 5 * time.Second

// Options are the surroundings of a server.
type Options struct {
	Version  string
	StateDir string // for the files that editors are shown
	Greeted  func() // called after the answer to initialize, for work that the answer must not wait for; may be nil
	// Dial returns a client of the daemon, or of the next one when that ends. It does not wait for a daemon.
	Dial func(onNotify func(method string, params json.RawMessage)) *rpc.Client
	// Running reports whether a daemon runs. Folders returns all folders that the daemon knows, and those with pending hunks,
	// without starting a daemon. If no daemon runs and no hunk is pending, the server dials at the first command, or in a folder
	// that the daemon knows, at the first hover or search. If Running is nil, it dials at once.
	Running func() bool
	Folders func(ctx context.Context) (all, pending []string, err error)
	// Transcript returns a session as Markdown.
	Transcript func(ctx context.Context, client *rpc.Client, session string) (found.Transcript, error)
	// Files lists the files of a folder for completion, by paths with slashes; nil: no completion.
	Files func(ctx context.Context, dir string) ([]string, error)
	Log   *slog.Logger
}

// A Server serves one editor. Its loop owns everything: the editor's messages, the daemon's messages and timers are
// functions that it runs one after the other. None of them waits.
type Server struct {
	opts   Options
	out    *outbox.Outbox
	inbox  chan func()
	ended  chan struct{} // closed when the loop has ended
	ctx    context.Context
	cancel context.CancelFunc

	phase     phase
	client    client.Client   // what is known of the editor
	answering json.RawMessage // the id of the request that is being handled
	roots     []string        // the URIs of the folders that the editor named in initialize
	daemon    *link
	asked     map[string]func(rpc.Message) // requests to the editor that have no answer yet, by id
	askedID   int

	docs       map[string]*document // by URI
	folders    []*workspace
	touched    touched
	showedAt   time.Time // when it last showed a message
	typing     typing.Pause
	applying   int // edits that the editor is making for the server
	tokens     int
	menus      int         // the number of menus that have counted hunks
	looking    bool        // it is finding out whether a daemon is needed
	looked     bool        // none was needed
	lookAgain  *time.Timer // for a daemon that somebody else starts
	clean      bool        // exit came after shutdown
	refreshing bool
	compose    map[string]*draft // by path
}

type phase int

const (
	fresh phase = iota
	serving
	shutDown
	exited
)

// Serve serves the editor at in and out until the editor leaves. It reports whether it left as LSP says: by the end of in,
// or by exit after shutdown.
func Serve(ctx context.Context, in io.Reader, out io.Writer, opts Options) (ok bool) {
	s := newServer(ctx, out, opts)
	defer s.cancel()
	r := rpc.NewFrameReader(in, rpc.MaxMessage)
	// Until initialize is answered this is the only goroutine, so the answer waits for no other.
	for s.phase == fresh {
		m, err := s.next(r)
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		s.guard("", func() { s.take(m) })
	}
	if s.phase == exited {
		return s.clean
	}
	s.out.Start()
	if opts.Greeted != nil {
		opts.Greeted()
	}
	s.begin()
	gone := make(chan bool, 1)
	go s.read(r, gone)
	ok = s.loop(gone)
	s.giveUp()
	for _, w := range s.folders {
		w.offered.Remove()
	}
	close(s.ended)
	s.cancel()
	if s.daemon != nil {
		s.daemon.client.Close()
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
		opts: opts, out: outbox.New(out), inbox: make(chan func(), 256), ended: make(chan struct{}),
		asked: map[string]func(rpc.Message){}, docs: map[string]*document{}, compose: map[string]*draft{},
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.typing = typing.Pause{Wait: typingPause, After: s.after, Begun: s.typingPaused}
	return s
}

// begin does the work that the answer to initialize must not wait for.
func (s *Server) begin() {
	if s.phase != serving {
		return
	}
	for _, uri := range s.roots {
		s.addFolder(uri)
	}
	if s.opts.Running == nil {
		s.dial()
		return
	}
	s.lookForDaemon()
}

// read hands the editor's messages to the loop. It sends to gone at the end: true for the end of input.
func (s *Server) read(r *rpc.FrameReader, gone chan<- bool) {
	for {
		m, err := s.next(r)
		if err != nil {
			gone <- errors.Is(err, io.EOF)
			return
		}
		if !s.post(func() { s.take(m) }) {
			return
		}
	}
}

// next returns the editor's next message. It answers input that is not a message. After an error there is no more input.
func (s *Server) next(r *rpc.FrameReader) (rpc.Message, error) {
	m, _, err := r.Next(func(id json.RawMessage, bad *rpc.Error) {
		s.out.SetFraming(r.Framing())
		s.reply(id, nil, bad)
	})
	s.out.SetFraming(r.Framing())
	return m, err
}

// post runs f in the loop. It returns false if the loop has ended.
func (s *Server) post(f func()) bool {
	select {
	case s.inbox <- f:
		return true
	case <-s.ended:
		return false
	}
}

func (s *Server) loop(gone <-chan bool) (ok bool) {
	for {
		select {
		case f := <-s.inbox:
			s.guard("", f)
			if s.phase == exited {
				return s.clean
			}
			continue
		case ok = <-gone:
		case <-s.ctx.Done():
			return false
		}
		// Messages that came before the end are handled.
		for s.phase != exited {
			select {
			case f := <-s.inbox:
				s.guard("", f)
			default:
				return ok
			}
		}
		return s.clean
	}
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

// after runs f in the loop after a while.
func (s *Server) after(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { s.post(f) })
}

// take handles a message of the editor.
func (s *Server) take(m rpc.Message) {
	if typing.Shows(m.Method, m.Params) {
		s.typing.Sign()
	}
	switch {
	case m.IsResponse():
		if f := s.asked[string(m.ID)]; f != nil {
			delete(s.asked, string(m.ID))
			f(m)
		}
	case m.ID == nil:
		s.notified(&m)
	default:
		var result any
		var err error
		s.answering = m.ID
		if s.guard(m.Method, func() { result, err = s.request(&m) }) {
			err = &rpc.Error{Code: rpc.CodeInternal, Message: m.Method + " failed: an internal error"}
		}
		if err == errLater {
			return
		}
		s.reply(m.ID, result, err)
	}
}

// request answers a request.
func (s *Server) request(m *rpc.Message) (any, error) {
	switch {
	case s.phase == shutDown:
		return nil, protocol.InvalidRequest("shut down: nothing but exit is served any more")
	case m.Method == "initialize":
		return s.initialize(m.Params)
	case m.Method == "shutdown" && s.phase != fresh:
		s.phase = shutDown
		return nil, nil
	}
	f := requests[m.Method]
	switch {
	case s.phase == fresh: // LSP 3.17 wants this error for every request
		return nil, &rpc.Error{Code: codeNotInitialized, Message: m.Method + " came before initialize"}
	case f == nil:
		return nil, &rpc.Error{Code: rpc.CodeMethodNotFound, Message: "no such method: " + m.Method}
	}
	return f(s, m.Params)
}

// errLater is returned by a handler that answers later, by reply.
var errLater = errors.New("later")

// A handler answers the requests of one method without waiting.
type handler func(s *Server, params json.RawMessage) (any, error)

// answering makes a handler of a method with typed parameters.
func answering[P, R any](f func(*Server, *P) (R, error)) handler {
	return func(s *Server, params json.RawMessage) (any, error) {
		var p P
		if err := rpc.DecodeParams(params, &p); err != nil {
			return nil, err
		}
		return f(s, &p)
	}
}

var requests map[string]handler

// The table refers to functions that refer to it.
func init() {
	requests = map[string]handler{
		"textDocument/completion":  answering((*Server).completion),
		"textDocument/codeAction":  answering((*Server).codeActions),
		"textDocument/hover":       answering((*Server).hover),
		"textDocument/definition":  answering((*Server).definition),
		"textDocument/codeLens":    answering((*Server).codeLenses),
		"textDocument/inlayHint":   answering((*Server).inlayHints),
		"textDocument/diagnostic":  answering((*Server).pullDocument),
		"workspace/diagnostic":     answering((*Server).pullWorkspace),
		"workspace/symbol":         answering((*Server).symbols),
		"workspace/executeCommand": answering((*Server).executeCommand),
		"cursord/changes":          answering((*Server).changes),
		"cursord/compare":          answering((*Server).compare),
	}
}

// notified handles a notification. Notifications cannot be answered: unknown and wrong ones are ignored.
func (s *Server) notified(m *rpc.Message) {
	switch m.Method {
	case "exit":
		s.exit()
		return
	case "initialized":
		s.initialized()
		return
	}
	if f := notifications[m.Method]; f != nil && s.phase == serving {
		if err := f(s, m.Params); err != nil {
			s.opts.Log.Warn("ignored", "method", m.Method, "err", err)
		}
	}
}

var notifications = map[string]func(s *Server, params json.RawMessage) error{
	"textDocument/didOpen":                noting((*Server).didOpen),
	"textDocument/didChange":              noting((*Server).didChange),
	"textDocument/didSave":                noting((*Server).didSave),
	"textDocument/didClose":               noting((*Server).didClose),
	"workspace/didChangeWorkspaceFolders": noting((*Server).didChangeFolders),
	"workspace/didChangeWatchedFiles":     noting((*Server).didChangeWatchedFiles),
	"workspace/didChangeConfiguration":    noting((*Server).didChangeConfiguration),
	"window/workDoneProgress/cancel":      noting((*Server).cancelProgress),
}

func noting[P any](f func(*Server, *P)) func(*Server, json.RawMessage) error {
	return func(s *Server, params json.RawMessage) error {
		var p P
		if err := rpc.DecodeParams(params, &p); err != nil {
			return err
		}
		f(s, &p)
		return nil
	}
}
