package rpc

import (
	"sync"

	"cursord/daemon"
)

// A subscriber is a subscription of a connection, from workspace/subscribe until it is replaced or ended, or the connection
// ends.
type subscriber struct {
	box *outbox

	mu   sync.Mutex
	off  bool                 // nothing is sent any longer
	room bool                 // resume was called before attach
	sub  *daemon.Subscription // nil until Subscribe has returned
}

// newSubscriber returns a subscriber that box resumes when there is room again.
func newSubscriber(box *outbox) *subscriber {
	return &subscriber{box: box}
}

// sink is the subscription's daemon.Sink.
func (s *subscriber) sink(n *daemon.Notification) bool {
	s.mu.Lock()
	off := s.off
	s.mu.Unlock()
	return off || s.box.notify(n, s)
}

// attach gives the subscriber the result of daemon.Subscribe, which may come after the first notifications.
func (s *subscriber) attach(sub *daemon.Subscription) {
	if sub == nil {
		return
	}
	s.mu.Lock()
	s.sub = sub
	off, room := s.off, s.room
	s.mu.Unlock()
	if off {
		sub.Close()
	} else if room {
		sub.Resume()
	}
}

// resume lets a subscription that has fallen behind go on.
func (s *subscriber) resume() {
	s.mu.Lock()
	s.room = s.sub == nil
	sub, off := s.sub, s.off
	s.mu.Unlock()
	if sub != nil && !off {
		sub.Resume()
	}
}

// mute drops everything from now on. It may be called from the workspace's loop, where close may not be.
func (s *subscriber) mute() {
	s.mu.Lock()
	s.off = true
	s.mu.Unlock()
}

// close ends the subscription.
func (s *subscriber) close() {
	s.mute()
	s.box.forget(s)
	s.mu.Lock()
	sub := s.sub
	s.mu.Unlock()
	if sub != nil {
		sub.Close()
	}
}
