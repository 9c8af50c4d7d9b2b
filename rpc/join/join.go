// Package join connects a client to the daemon by a connection that outlives daemons, as cursord stdio needs it. A client gets
// every change once and in order, and exactly one answer to each request.
//
// The joiner answers initialize itself, passes other messages on as bytes, and reads as little of them as it can: pending.go keeps the
// requests without an answer, clientstate.go what the client has said about itself (initialize, documents, trace), cursor.go
// the last seq of each workspace and the last delta of each growing item. When the connection breaks, the joiner makes another. It
// sends the new daemon that state, repeats the requests that may be repeated, and subscribes from where the client is. Text of an item that the
// client has missed is sent as deltas, before the item's first item/changed. The first request on each connection is the handshake, daemon/join
// for the user's own daemon. Until its answer nothing else is sent, so no request is lost with a daemon that is about to end.
package join

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"cursord/daemon/api"
	"cursord/rpc"
	"cursord/rpc/nowait"
)

const (
	// endLimit is how long a joiner whose stdin has ended waits for the daemon's last answers; the daemon itself waits less
	// long for them.
	endLimit = 6 * time.Second
	// waitingRoom bounds what is kept of the editor's messages while there is no daemon, in bytes; above it the editor is
	// not read.
	waitingRoom = 64 << 20
	// writeLimit bounds how long a daemon may take to read a message.
	writeLimit = time.Minute
)

// A phase says what happens to the editor's messages.
type phase int

const (
	connecting   phase = iota // they wait for a daemon
	connected                 // they go to the daemon
	unresponsive              // requests are refused: the daemon does not answer
	failed                    // no daemon can be reached; a request is a reason to try again
	resting                   // the daemon was stopped on purpose; a request starts another
	over                      // there will be no other daemon
)

// A joiner is what an editor sees of the daemon; the package comment says what it does.
//
//	editor -> fromEditor -> daemon
//	editor <- keepConnected <- daemon
type joiner struct {
	in      *rpc.FrameReader
	out     *editorEnd
	access  Access
	ownIDs  string           // prefix of the ids of the joiner's own requests; no editor uses it
	pending *pendingRequests // unanswered requests of the editor
	done    chan struct{}    // closed when keepConnected has ended
	reset   chan struct{}    // closed when the editor must begin anew
	retry   chan struct{}    // holds a token when the next try is to follow at once

	ending atomic.Bool // the editor is leaving or has left: no other connection is made

	// Owned by fromEditor.
	greeted  bool // the first message has come; refused initializes do not count
	shutdown bool // the editor has sent shutdown

	// Whoever sends to the daemon holds order, so that messages stay in order. It also guards the fields below. changed is signalled when the
	// phase changes.
	order    sync.Mutex
	changed  *sync.Cond
	phase    phase
	conn     io.ReadWriteCloser // while connected
	err      error              // why the phase is unresponsive, failed or over
	client   clientState
	waiting  [][]byte // messages of the editor that wait for the connection
	waitSize int      // the sum of their sizes, in bytes
}

// An Access says how to reach a daemon: Local returns the one for the user's own, remote.Host the one for another machine's.
type Access struct {
	// Version is the server's version in the answer to initialize.
	Version string
	// Dial connects to a daemon. The connection may have these methods: CloseWrite, which ends only sending;
	// SetWriteDeadline; and StartError, which says why a daemon that was started for it has ended before its first answer.
	Dial func(context.Context) (io.ReadWriteCloser, error)
	// Handshake returns the first request of a connection. Any answer to it shows that the daemon is alive.
	Handshake func() (method string, params json.RawMessage)
	// Environment returns the parameters for a daemon that wants its client's environment; nil: it gets none.
	Environment func() rpc.EnvironmentParams
	// Silent returns advice about a daemon that does not answer.
	Silent func() string
	// Stopped reports whether the last daemon was stopped on purpose.
	Stopped func() bool
	// Starting reports whether a daemon that has not answered yet may still be starting.
	Starting func() bool
	// Ended reports whether the last daemon has ended; nil if only the connection's end can tell that.
	Ended func() bool
	// Hint says what to do if no daemon can be reached.
	Hint string
	// Outward and Inward change the messages to and from a daemon that has other paths; nil: no change.
	Outward, Inward func(body []byte) []byte
}

// An ending says why fromEditor has ended.
type ending int

const (
	inputEnded ending = iota
	inputBroken
	exitAsked
)

// Run passes messages between a client on in and out and the daemon of a, until in ends or the client sends "exit". It returns false if the daemon
// could not be reached, if in broke off within a message, if the client must begin anew, or if "exit" came without "shutdown".
func Run(ctx context.Context, in io.Reader, out io.Writer, a Access) (ok bool) {
	return run(ctx, in, &editorEnd{w: out, now: nowait.NewWriter(out)}, a)
}

// Client returns a client in this process of the daemon of a. What the daemon sends reaches it by the goroutine that has read it.
func Client(ctx context.Context, a Access, onNotify func(method string, params json.RawMessage)) *rpc.Client {
	in, requests := io.Pipe()
	return rpc.NewFedClient(requests, func(c *rpc.Client) {
		run(ctx, in, &editorEnd{client: c}, a)
		in.Close()
	}, onNotify)
}

func run(ctx context.Context, in io.Reader, out *editorEnd, a Access) (ok bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	j := &joiner{
		in: rpc.NewFrameReader(in, rpc.MaxMessage), out: out, access: a,
		ownIDs: `"cursord stdio ` + rand.Text() + ` `, pending: newPendingRequests(),
		done: make(chan struct{}), reset: make(chan struct{}), retry: make(chan struct{}, 1),
	}
	j.changed = sync.NewCond(&j.order)
	go j.keepConnected(ctx)
	ended := make(chan ending, 1)
	go func() { ended <- j.fromEditor() }()
	select {
	case why := <-ended:
		return j.hangUp(why)
	case <-j.reset:
		return false
	}
}

// hangUp waits until the daemon has received everything and has sent its last answers. It reports whether both succeeded.
func (j *joiner) hangUp(why ending) (ok bool) {
	j.ending.Store(true)
	j.order.Lock()
	if j.phase == connecting {
		j.tryNow()
	}
	for j.phase == connecting {
		j.changed.Wait()
	}
	unserved := j.phase == unresponsive || j.phase == failed
	if j.phase == connected {
		half, ok := j.conn.(interface{ CloseWrite() error })
		if ok = ok && half.CloseWrite() == nil; !ok {
			j.conn.Close()
		}
		j.order.Unlock()
		select {
		case <-j.done:
		case <-time.After(endLimit):
		}
	} else {
		j.order.Unlock()
	}
	return !unserved && why != inputBroken && (why != exitAsked || j.shutdown)
}

// fromEditor passes the editor's messages on to the daemon.
func (j *joiner) fromEditor() ending {
	for framed := false; ; {
		m, body, err := j.in.Next(j.out.refuseFrom(j.in))
		if !framed { // only then: setFraming waits for an editor that does not read
			j.out.setFraming(j.in.Framing())
			framed = j.in.Framing() != rpc.FramingUnknown
		}
		switch {
		case errors.As(err, new(*rpc.FrameError)):
			return inputBroken
		case err != nil:
			return inputEnded
		case m.IsResponse(): // the daemon makes no requests
			continue
		case !j.greeted && m.Method == "initialize" && m.ID != nil:
			j.greeted = j.answerInitialize(&m)
			continue
		}
		j.greeted = true
		j.handle(&m, body)
		switch {
		case isShutdown(&m):
			j.shutdown = true
		case isExit(&m):
			return exitAsked
		}
	}
}

// "exit" must be a notification and "shutdown" a request; in the other form they do nothing.
func isExit(m *rpc.Message) bool     { return m.Method == "exit" && m.ID == nil }
func isShutdown(m *rpc.Message) bool { return m.Method == "shutdown" && m.ID != nil }

// answerInitialize answers initialize. It returns false if it refuses the request; the editor may then try another one.
func (j *joiner) answerInitialize(m *rpc.Message) bool {
	result, refused := rpc.Initialize(m.Params, j.access.Version, api.AgentStatus{State: "unknown"})
	j.reply(m.ID, result, refused)
	if refused != nil {
		return false
	}
	j.order.Lock()
	defer j.order.Unlock()
	j.client.initialize, j.client.greeted = m.Params, true
	if j.phase == connected {
		j.sendToDaemon(rpc.AppendRequest(nil, j.ownID("initialize"), "initialize", m.Params))
	}
	return true
}

// handle passes a message on, keeps it until that is possible, or refuses it, as the phase says.
func (j *joiner) handle(m *rpc.Message, body []byte) {
	if isExit(m) || isShutdown(m) {
		j.ending.Store(true)
	}
	j.order.Lock()
	defer j.order.Unlock()
	for j.phase == connecting && j.waitSize > waitingRoom {
		j.changed.Wait()
	}
	if j.phase == unresponsive && j.hasEnded() {
		j.phase = connecting
	}
	if (j.phase == failed || j.phase == resting) && m.ID != nil && m.Method != "shutdown" {
		j.phase = connecting
	}
	switch j.phase {
	case connecting:
		if m.ID != nil {
			j.tryNow()
		}
		j.waiting = append(j.waiting, body)
		j.waitSize += len(body)
	case connected:
		j.passOn(m, body)
	default:
		j.refuse(m)
	}
}

func (j *joiner) hasEnded() bool { return j.access.Ended != nil && j.access.Ended() }

// passOn sends the daemon a message of the editor, and notes what another daemon must hear of it. The order must be held.
func (j *joiner) passOn(m *rpc.Message, body []byte) {
	switch {
	case m.ID != nil:
		j.pending.add(newRequest(m, body))
	case m.Method == "$/cancelRequest":
		var p struct{ ID json.RawMessage }
		if json.Unmarshal(m.Params, &p) == nil {
			j.pending.cancel(p.ID)
		}
	default:
		j.client.record(m)
	}
	j.sendToDaemon(body)
}

// refuse answers a request that cannot be passed on, and notes what a notification says for the next daemon. The order must be held.
func (j *joiner) refuse(m *rpc.Message) {
	if m.ID == nil {
		j.client.record(m)
		return
	}
	j.out.send(refusal(m, j.err, j.access.Hint))
}

// sendToDaemon sends a message to the daemon. If that fails, it closes the connection, so that the goroutine that reads from it ends. The
// order must be held.
func (j *joiner) sendToDaemon(body []byte) {
	if j.access.Outward != nil {
		body = j.access.Outward(body)
	}
	if c, ok := j.conn.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = c.SetWriteDeadline(time.Now().Add(writeLimit)) // the connection may have no deadlines
	}
	if _, err := j.conn.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, body)); err != nil {
		j.conn.Close()
	}
}

// ownID returns the id of a request of the joiner itself.
func (j *joiner) ownID(name string) json.RawMessage { return json.RawMessage(j.ownIDs + name + `"`) }

// say sends the editor a log/message.
func (j *joiner) say(level, message string) { j.out.send(logMessage(level, message)) }

// reply answers a request, with the error if there is one, else with the result.
func (j *joiner) reply(id json.RawMessage, result any, e *rpc.Error) {
	j.out.send(response(id, result, e))
}

// An editorEnd is the connection to an editor, or to a client in this process. What is sent before the editor's framing is known
// waits.
type editorEnd struct {
	client *rpc.Client // takes the messages; nil: they are written to w

	mu      sync.Mutex
	w       io.Writer      // guarded by mu
	now     *nowait.Writer // to w, guarded by mu
	framing rpc.Framing    // guarded by mu
	early   [][]byte       // what waits for the framing; guarded by mu
	buffer  []byte         // memory for the next frames; guarded by mu
}

func (e *editorEnd) setFraming(f rpc.Framing) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.framing != rpc.FramingUnknown || f == rpc.FramingUnknown {
		return
	}
	e.framing = f
	for _, body := range e.early {
		e.write(rpc.AppendFrame(nil, f, body))
	}
	e.early = nil
}

// refuseFrom returns a function that sends the editor the errors about its input in, for FrameReader.Next.
func (e *editorEnd) refuseFrom(in *rpc.FrameReader) func(json.RawMessage, *rpc.Error) {
	return func(id json.RawMessage, refused *rpc.Error) {
		e.setFraming(in.Framing())
		e.send(response(id, nil, refused))
	}
}

// send sends whole messages.
func (e *editorEnd) send(bodies ...[]byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.client != nil {
		for _, body := range bodies {
			e.client.Feed(body)
		}
		return
	}
	if e.framing == rpc.FramingUnknown {
		e.early = append(e.early, bodies...)
		return
	}
	frames := e.buffer[:0]
	for _, body := range bodies {
		frames = rpc.AppendFrame(frames, e.framing, body)
	}
	if e.write(frames); cap(frames) <= 2*batchSize {
		e.buffer = frames
	}
}

// write writes whole frames. A failure shows when the goroutine that reads from the editor gets the end of its input.
func (e *editorEnd) write(frames []byte) {
	if rest := frames[e.now.Write(frames):]; len(rest) > 0 {
		_, _ = e.w.Write(rest)
	}
}
