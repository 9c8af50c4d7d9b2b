package rpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"cursord/daemon/api"
)

const (
	maxRunning = 64       // slow requests of one connection that run at the same time
	maxWaiting = 16 << 10 // requests of one connection that wait for an event
	drainLimit = 5 * time.Second
)

// An order says when a request runs, relative to the others of its connection.
type order int

const (
	// inOrder requests run one after the other, as they arrive: each sees what the one before has done. They are quick.
	inOrder order = iota
	// awaited requests are inOrder, but their methods may reply after they have returned: the next request waits for the reply.
	awaited
	// deferred requests begin in order, but the next request does not wait for the reply. It may wait for an event, such as a turn's end.
	deferred
	// concurrent requests run beside all others.
	concurrent
	// inLane requests run in order with those of their lane, and beside all others.
	inLane
	// deferredInLane requests begin as inLane requests do, but the next request of the lane does not wait for the reply.
	deferredInLane
)

// mayReplyLate reports whether a method may reply after it has returned.
func (o order) mayReplyLate() bool { return o == awaited || o == deferred || o == deferredInLane }

// A method says how a request's method is served.
type method struct {
	order order
	// lane returns the lane of an inLane or deferredInLane request.
	lane func(params json.RawMessage) string
	// serve calls reply once, from any goroutine, and before it returns unless the order says otherwise (mayReplyLate). The
	// context ends when the request is answered or cancelled, and soon after the connection has ended.
	serve func(ctx context.Context, params json.RawMessage, reply func(result any, err error))

	params, result reflect.Type // for the schema; nil if it has none
}

// A table is what a face serves.
type table struct {
	methods map[string]method
	// notified takes the notifications, in order with the inOrder requests; nil ignores them.
	notified func(method string, params json.RawMessage)
	// client returns the client's name for the log; may be nil.
	client func() string
	// ended is called once, after the last request and notification, and before the last messages are written; may be nil.
	ended func()
}

func (t *table) name() string {
	if t.client != nil {
		if name := t.client(); name != "" {
			return name
		}
	}
	return "without a name"
}

// A dispatcher is the server's side of a connection: it decides when each request runs, and makes sure that each is answered
// once.
type dispatcher struct {
	table  table
	log    *slog.Logger
	ctx    context.Context // context of the requests
	cancel context.CancelFunc
	slots  chan struct{} // taken by running requests that are concurrent or in a lane
	gate   *gate
	trace  tracing

	shutdown bool // owned by the reader
	running  sync.WaitGroup
	ending   sync.Once

	mu       sync.Mutex
	work     []func() // for the ordered worker
	working  bool     // the ordered worker is running
	lanes    map[string][]*call
	calls    map[*call]struct{} // unanswered calls
	byID     map[callKey]*call  // the same, by id; of two with one id, the later
	waits    int                // how many of calls wait for an event
	idle     chan struct{}      // set when draining; closed when all calls are answered
	draining bool
}

func newDispatcher(t table, log *slog.Logger) *dispatcher {
	d := &dispatcher{
		table: t, log: log,
		slots: make(chan struct{}, maxRunning), gate: newGate(),
		lanes: map[string][]*call{}, calls: map[*call]struct{}{}, byID: map[callKey]*call{},
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Handle implements jsonrpc2.Handler. It runs in the reader, so that a cancellation overtakes the requests that wait.
func (d *dispatcher) Handle(_ context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	if req.Notif {
		d.trace.notification(req.Method, params)
	}
	switch {
	case !req.Notif:
		d.request(conn, req.Method, req.ID, params)
	case req.Method == "$/setTrace":
		d.trace.setFrom(params, "value")
	case req.Method == "$/cancelRequest":
		d.cancelRequest(params)
	case req.Method == "exit":
		d.drain()
		// An error means that the connection has ended already.
		_ = conn.Close()
	case d.table.notified != nil && !d.shutdown:
		d.notification(req.Method, params)
	}
}

func (d *dispatcher) request(conn *jsonrpc2.Conn, name string, id jsonrpc2.ID, params json.RawMessage) {
	c := &call{d: d, conn: conn, id: id, name: name, method: d.table.methods[name], params: params, began: time.Now()}
	d.trace.request(c)
	if name == "initialize" {
		d.trace.setFrom(params, "trace")
	}
	c.ctx, c.cancel = context.WithCancel(d.ctx)
	d.mu.Lock()
	d.calls[c] = struct{}{}
	d.byID[c.key()] = c
	draining := d.draining
	d.mu.Unlock()
	switch {
	case draining:
		c.reply(nil, cancelled("the connection is about to end"))
	case d.shutdown:
		c.reply(nil, notRequest("shut down: nothing but exit is served any more"))
	case name == "shutdown":
		d.shutdown = true
		c.reply(nil, nil)
	case c.method.serve == nil:
		c.reply(nil, &Error{Code: CodeMethodNotFound, Message: "no such method: " + name})
	default:
		weight := d.gate.enter(len(params))
		d.enqueue(func() { d.begin(c, func() { d.gate.leave(weight) }) })
	}
}

func (d *dispatcher) notification(name string, params json.RawMessage) {
	weight := d.gate.enter(len(params))
	d.enqueue(func() {
		defer d.gate.leave(weight)
		defer func() {
			if p := recover(); p != nil {
				d.log.Error("panic in a notification", "method", name, "panic", p, "stack", string(debug.Stack()))
			}
		}()
		d.table.notified(name, params)
	})
}

func (d *dispatcher) cancelRequest(params json.RawMessage) {
	var p CancelParams
	if json.Unmarshal(params, &p) != nil || p.ID == nil {
		return
	}
	d.mu.Lock()
	c := d.byID[keyOf(p.ID)]
	d.mu.Unlock()
	if c != nil {
		c.giveUp("cancelled")
	}
}

// enqueue hands f to the ordered worker, which runs while there is work.
func (d *dispatcher) enqueue(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.work = append(d.work, f)
	if d.working {
		return
	}
	d.working = true
	d.running.Go(func() {
		for {
			d.mu.Lock()
			if len(d.work) == 0 {
				d.working, d.work = false, nil
				d.mu.Unlock()
				return
			}
			next := d.work[0]
			d.work[0] = nil // frees what is done
			d.work = d.work[1:]
			d.mu.Unlock()
			next()
		}
	})
}

// begin runs in the ordered worker. It calls done when the call no longer needs its room in the gate.
func (d *dispatcher) begin(c *call, done func()) {
	switch c.method.order {
	case inOrder:
		defer done()
		c.run()
	case awaited:
		defer done()
		c.run()
		<-c.ctx.Done()
	case deferred:
		defer done()
		if d.mayWait(c) {
			c.run()
		}
	case concurrent:
		d.running.Go(func() {
			defer done()
			c.runInSlot()
		})
	case inLane, deferredInLane:
		d.enterLane(c, done)
	}
}

// mayWait notes that c waits for an event, so that the connection's end gives it up at once. If c must not wait, because there are too many or
// the connection is about to end, mayWait answers it and returns false.
func (d *dispatcher) mayWait(c *call) bool {
	d.mu.Lock()
	draining, full := d.draining, d.waits >= maxWaiting
	if !draining && !full && !c.answered {
		d.waits++
		c.waits = true
	}
	d.mu.Unlock()
	if draining {
		c.giveUp("the connection is about to end")
	} else if full {
		c.reply(nil, &api.Error{Kind: api.KindBusy, Message: "too many requests of this connection are waiting"})
	}
	return !draining && !full
}

func (d *dispatcher) enterLane(c *call, done func()) {
	c.done = done
	lane := c.method.lane(c.params)
	d.mu.Lock()
	defer d.mu.Unlock()
	queue, busy := d.lanes[lane]
	d.lanes[lane] = append(queue, c)
	if busy {
		return
	}
	d.running.Go(func() {
		for {
			d.mu.Lock()
			queue := d.lanes[lane]
			if len(queue) == 0 {
				delete(d.lanes, lane)
				d.mu.Unlock()
				return
			}
			next := queue[0]
			d.lanes[lane] = queue[1:]
			d.mu.Unlock()
			next.runInSlot()
			next.done()
		}
	})
}

// drain ends the connection's requests: it gives up those that wait for an event, and the others after drainLimit. It returns when all
// are answered. It may be called more than once.
func (d *dispatcher) drain() {
	d.ending.Do(func() {
		d.mu.Lock()
		d.draining = true
		idle := make(chan struct{})
		d.idle = idle
		var waits []*call
		for c := range d.calls {
			if c.waits {
				waits = append(waits, c)
			}
		}
		d.wakeDrainLocked()
		d.mu.Unlock()
		for _, c := range waits {
			c.giveUp("the connection is about to end")
		}
		timer := time.NewTimer(drainLimit)
		defer timer.Stop()
		select {
		case <-idle:
		case <-timer.C:
		}
		d.giveUpAll()
		d.cancel()
		if d.table.ended == nil {
			return
		}
		ended := make(chan struct{})
		d.enqueue(func() {
			defer close(ended)
			d.table.ended()
		})
		select {
		case <-ended:
		case <-time.After(drainLimit):
		}
	})
}

func (d *dispatcher) giveUpAll() {
	d.mu.Lock()
	var rest []*call
	for c := range d.calls {
		rest = append(rest, c)
	}
	d.mu.Unlock()
	for _, c := range rest {
		c.giveUp("the connection has ended")
	}
}

// wakeDrainLocked wakes drain when all calls are answered. d.mu must be held.
func (d *dispatcher) wakeDrainLocked() {
	if d.idle != nil && len(d.calls) == 0 {
		close(d.idle)
		d.idle = nil
	}
}
