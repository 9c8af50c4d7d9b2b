package conformance

import (
	"context"
	"encoding/json"
	"net"
	"sync"
	"time"

	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/rpc/dial"
)

// A proxy is where clients find the daemon. A watcher sees all messages.
type proxy struct {
	listener net.Listener
	daemon   string // the path of its socket
	watch    *watcher

	mu     sync.Mutex
	free   chan struct{} // closed while messages pass
	conns  map[net.Conn]bool
	closed bool
}

func newProxy(path, daemon string, w *watcher) (*proxy, error) {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, daemon: daemon, watch: w, free: make(chan struct{}), conns: map[net.Conn]bool{}}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(conn)
		}
	}()
	return p, nil
}

// hold lets nothing more come from the daemon, and no connection begin, until pass.
func (p *proxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.free:
		p.free = make(chan struct{})
	default:
	}
}

func (p *proxy) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.free:
	default:
		close(p.free)
	}
}

// wait returns once messages pass; false: the proxy is closed.
func (p *proxy) wait() bool {
	for {
		p.mu.Lock()
		free, closed := p.free, p.closed
		p.mu.Unlock()
		if closed {
			return false
		}
		<-free
		p.mu.Lock()
		same := free == p.free
		p.mu.Unlock()
		if same {
			return true
		}
	}
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		conn.Close()
	}
}

func (p *proxy) close() {
	p.listener.Close()
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.pass()
	p.cut()
}

// keep has cut end a connection; false: the proxy is closed.
func (p *proxy) keep(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.conns[conn] = true
	}
	return !p.closed
}

func (p *proxy) drop(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
	conn.Close()
}

// serve passes on what a client and the daemon say, until one of them ends.
func (p *proxy) serve(conn net.Conn) {
	defer p.drop(conn)
	if !p.wait() || !p.keep(conn) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), dial.StartLimit)
	defer cancel()
	daemon, err := endpoint.Dial(ctx, p.daemon)
	for err != nil && ctx.Err() == nil {
		time.Sleep(dial.StartPoll)
		daemon, err = endpoint.Dial(ctx, p.daemon)
	}
	if err != nil {
		return
	}
	defer p.drop(daemon)
	if !p.keep(daemon) {
		return
	}
	seen := p.watch.connected()
	in := rpc.NewFrameReader(conn, rpc.HardCap)
	var framing sync.Once
	chosen := make(chan rpc.Framing, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer p.drop(conn)
		out := rpc.NewFrameReader(daemon, rpc.HardCap)
		as := <-chosen
		for {
			body, err := out.Read()
			if err != nil || !p.wait() {
				return
			}
			for _, one := range seen.fromDaemon(body) {
				if _, err := conn.Write(rpc.AppendFrame(nil, as, one)); err != nil {
					return
				}
			}
		}
	}()
	defer func() {
		// A client that only stops writing still gets its answers.
		framing.Do(func() { chosen <- rpc.FramingLines })
		if half, ok := daemon.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			<-done
		}
	}()
	for {
		m, body, err := in.Next(func(_ json.RawMessage, e *rpc.Error) { p.watch.faultf("it sent what is no message: %s", e.Message) })
		if err != nil {
			return
		}
		framing.Do(func() { chosen <- in.Framing() })
		seen.fromClient(m)
		if _, err := daemon.Write(rpc.AppendFrame(nil, in.Framing(), body)); err != nil {
			return
		}
	}
}
