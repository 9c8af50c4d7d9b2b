// Package mailbox has a queue whose senders never wait. It has no bound of its own: its senders must bound what they put
// into it.
package mailbox

import "sync"

// A Box is a queue that never blocks its senders. It is ready for use after Init.
type Box[T any] struct {
	Ready chan struct{} // holds a token while the box has values

	mu    sync.Mutex
	items []T // guarded by mu
}

// Init makes the box ready for use.
func (m *Box[T]) Init() { m.Ready = make(chan struct{}, 1) }

// Put appends a value.
func (m *Box[T]) Put(v T) {
	m.mu.Lock()
	m.items = append(m.items, v)
	m.mu.Unlock()
	select {
	case m.Ready <- struct{}{}:
	default:
	}
}

// Take removes and returns all values, the oldest first.
func (m *Box[T]) Take() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	items := m.items
	m.items = nil
	return items
}
