// Package join connects a client to the daemon so that the connection outlives daemons: it answers initialize itself, passes
// messages on both ways as they are, and when a daemon ends goes on with the next one from where the client is. It owns what that
// takes: the requests without an answer, what the client has said of itself, and the last change that it got of each workspace. A
// client gets every change once and in order, and exactly one answer to each request.
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
)

const (
	// endLimit is how long a joiner whose stdin has ended waits for the daemon's last answers; it is longer than the
	// daemon itself waits for them.
	endLimit = 6 * time.Second
	// waitingRoom bounds the bytes of what the editor says while there is no daemon; then it is not read any more.
	waitingRoom = 64 << 20
	// takeLimit bounds how long a daemon may take to take a message.
	takeLimit = time.Minute
)

// A phase says what becomes of what the editor says.
type phase int

const (
	connecting   phase = iota // it waits for a daemon
	connected                 // it goes to the daemon
	unresponsive              // requests are refused: a daemon is there and says nothing
	failed                    // no daemon can be had: a request is worth another try
	resting                   // the daemon was stopped: a request starts another
	over                      // there will be none any more
)

// A joiner is what an editor sees of the daemon. It answers initialize itself, while it still connects, and from then on
// passes messages on both ways as they are. When the connection breaks it makes another and goes on from where the editor is.
//
//	editor -> fromEditor -> daemon
//	editor <- keepConnected <- daemon
type joiner struct {
	in      *rpc.FrameReader
	out     *editorEnd
	route   Access
	own     string           // what the ids of the joiner's own requests begin with; no editor has such
	pending *pendingRequests // requests of the editor without an answer
	done    chan struct{}    // closed when keepConnected has ended
	reset   chan struct{}    // closed when the editor must begin anew
	retry   chan struct{}    // holds a token when a failed joiner should try again

	ending atomic.Bool // the editor is going, or has gone: when the connection ends there is no other

	// Owned by fromEditor.
	greeted  bool // the first message but for refused initializes has come
	shutdown bool // the editor has asked for its end

	// order is held by whoever sends to the daemon, and guards what follows. changed is signalled when the phase changes.
	order    sync.Mutex
	changed  *sync.Cond
	phase    phase
	conn     io.ReadWriteCloser // while connected
	err      error              // why unresponsive, failed or over
	client   clientState
	waiting  [][]byte // what the editor has said while connecting
	waitSize int
}

// An Access says how to reach a daemon; Local is that of the user's own, remote.Host has that of another machine's.
type Access struct {
	// Version is what initialize answers as the version of the server.
	Version string
	// Dial connects to a daemon. The connection may have CloseWrite, which ends what is sent and not what is received;
	// SetWriteDeadline; and StartError, which says why a daemon that was started for it has ended before its first answer.
	Dial func(context.Context) (io.ReadWriteCloser, error)
	// Handshake is the first request on a connection. Any answer to it shows that the daemon lives.
	Handshake func() (method string, params json.RawMessage)
	// Environment returns what a daemon gets that wants its client's environment; nil: nothing.
	Environment func() rpc.EnvironmentParams
	// Silent says what to do about a daemon that does not answer.
	Silent func() string
	// Stopped reports whether the last daemon has ended because somebody wants none.
	Stopped func() bool
	// Starting reports whether a daemon that has not answered yet may still be starting.
	Starting func() bool
	// Hint says what to do where no daemon can be reached.
	Hint string
	// Outward and Inward change the messages to and from a daemon that has other names for things; nil: they stay.
	Outward, Inward func(body []byte) []byte
}

// An ending says why fromEditor has ended.
type ending int

const (
	inputEnded ending = iota
	inputBroken
	exitAsked
)

// Run connects in and out with the daemon that a leads to until in ends. It returns false where the daemon could not be
// reached, where the client must begin anew, or where "exit" came without "shutdown".
func Run(ctx context.Context, in io.Reader, out io.Writer, a Access) (ok bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	j := &joiner{
		in: rpc.NewFrameReader(in, rpc.MaxMessage), out: &editorEnd{w: out}, route: a,
		own: `"cursord stdio ` + rand.Text() + ` `, pending: newPendingRequests(),
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

// hangUp waits until the daemon has got everything and has given its last answers. It reports whether all went well.
func (j *joiner) hangUp(why ending) (ok bool) {
	j.ending.Store(true)
	j.order.Lock()
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
	for {
		m, body, err := j.in.Next(j.out.refuseFrom(j.in))
		j.out.setFraming(j.in.Framing())
		switch {
		case errors.As(err, new(*rpc.FrameError)):
			return inputBroken
		case err != nil:
			return inputEnded
		case m.IsResponse(): // the daemon asks nothing
			continue
		case !j.greeted && m.Method == "initialize" && m.ID != nil:
			j.greeted = j.greet(&m)
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

// The one is a notification and the other a request; what is neither has no effect.
func isExit(m *rpc.Message) bool     { return m.Method == "exit" && m.ID == nil }
func isShutdown(m *rpc.Message) bool { return m.Method == "shutdown" && m.ID != nil }

// greet answers initialize. It returns false where it refuses, since the editor may try another.
func (j *joiner) greet(m *rpc.Message) bool {
	result, refused := rpc.Initialize(m.Params, j.route.Version, api.AgentStatus{State: "unknown"})
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

// handle passes a message on, or keeps it until that can be done.
func (j *joiner) handle(m *rpc.Message, body []byte) {
	if isExit(m) || isShutdown(m) {
		j.ending.Store(true)
	}
	j.order.Lock()
	defer j.order.Unlock()
	for j.phase == connecting && j.waitSize > waitingRoom {
		j.changed.Wait()
	}
	if (j.phase == failed || j.phase == resting) && m.ID != nil && m.Method != "shutdown" {
		j.phase = connecting
		select {
		case j.retry <- struct{}{}:
		default:
		}
	}
	switch j.phase {
	case connecting:
		j.waiting = append(j.waiting, body)
		j.waitSize += len(body)
	case connected:
		j.pass(m, body)
	default:
		j.refuse(m)
	}
}

// pass sends the daemon what the editor has said. The order must be held.
func (j *joiner) pass(m *rpc.Message, body []byte) {
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

// refuse answers what cannot be passed on. The order must be held.
func (j *joiner) refuse(m *rpc.Message) {
	if m.ID == nil {
		j.client.record(m)
		return
	}
	j.out.send(refusal(m, j.err, j.route.Hint))
}

// sendToDaemon sends a message to the daemon. An error shows where the daemon's messages are read. The order must be held.
func (j *joiner) sendToDaemon(body []byte) {
	if j.route.Outward != nil {
		body = j.route.Outward(body)
	}
	if c, ok := j.conn.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = c.SetWriteDeadline(time.Now().Add(takeLimit)) // it may be none that has deadlines
	}
	if _, err := j.conn.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, body)); err != nil {
		j.conn.Close()
	}
}

// ownID returns the id of a request of the joiner's own.
func (j *joiner) ownID(name string) json.RawMessage { return json.RawMessage(j.own + name + `"`) }

func (j *joiner) say(level, message string) { j.out.send(logMessage(level, message)) }

// reply answers a request: with the error if there is one, else with the result.
func (j *joiner) reply(id json.RawMessage, result any, e *rpc.Error) {
	j.out.send(response(id, result, e))
}

// An editorEnd is where an editor reads. What is sent before it is known how the editor tells messages apart waits.
type editorEnd struct {
	mu      sync.Mutex
	w       io.Writer   // guarded by mu
	framing rpc.Framing // guarded by mu
	early   [][]byte    // guarded by mu
	buffer  []byte      // guarded by mu
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

// refuseFrom returns how what an editor says at in is refused.
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

// write writes whole frames. An error shows where the editor's messages are read.
func (e *editorEnd) write(frames []byte) { _, _ = e.w.Write(frames) }
