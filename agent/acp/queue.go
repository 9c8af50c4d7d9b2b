package acp

import "sync"

// A queue holds things for one goroutine. Putting never waits.
type queue[T any] struct {
	ready chan struct{} // has a value while there is something to take, or the queue was closed

	mu     sync.Mutex
	list   []T  // guarded by mu
	closed bool // guarded by mu
}

func newQueue[T any]() *queue[T] { return &queue[T]{ready: make(chan struct{}, 1)} }

// put returns false if the queue is closed.
func (q *queue[T]) put(one T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.list = append(q.list, one)
	q.wake()
	return true
}

func (q *queue[T]) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take returns what was put since the last call.
func (q *queue[T]) take() (list []T, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list, q.list = q.list, nil
	return list, q.closed
}

func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}
