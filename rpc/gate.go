package rpc

import "sync"

const (
	gateRoom      = 64 << 20 // bytes of requests and notifications of one connection that are read but not yet served
	messageWeight = 4 << 10  // what a message counts beside its params
)

// A gate holds the reader back while too much of what it has read is not yet served.
type gate struct {
	mu     sync.Mutex
	left   *sync.Cond // signalled when a message leaves
	inside int        // the weight of the messages that have entered and not left
}

func newGate() *gate {
	g := &gate{}
	g.left = sync.NewCond(&g.mu)
	return g
}

// enter waits until there is room for a message with so many bytes of params. It returns the weight with which leave is to be called.
func (g *gate) enter(size int) int {
	weight := size + messageWeight
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.inside > 0 && g.inside+weight > gateRoom {
		g.left.Wait()
	}
	g.inside += weight
	return weight
}

func (g *gate) leave(weight int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside -= weight
	g.left.Signal()
}
