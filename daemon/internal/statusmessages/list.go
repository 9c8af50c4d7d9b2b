// Package statusmessages keeps messages for people about the daemon itself. It has the messages that apply at present, by
// topic, and the readers who get new ones. A message is about the daemon as a whole, or about one workspace: then only the
// readers get it who follow that workspace. Any goroutine may use a List. A List never waits for a reader: it calls readers
// one at a time, in the order of events, and they must neither block nor use the List.
package statusmessages

import (
	"log/slog"
	"maps"
	"slices"
	"sync"

	"cursord/daemon/api"
)

// A List has the present messages and the readers.
type List struct {
	mu       sync.Mutex
	standing map[string]message // by topic
	readers  map[*Reader]struct{}
}

type message struct {
	workspace string // "": the daemon as a whole
	level     slog.Level
	text      string
	quiet     bool // shown only in the daemon's status
}

// A Reader gets the messages of a List until Stop.
type Reader struct {
	of      *List
	take    func(slog.Level, string)
	follows map[string]bool // workspaces, and ""; guarded by of.mu
}

// New returns an empty list.
func New() *List {
	return &List{standing: map[string]message{}, readers: map[*Reader]struct{}{}}
}

// Post sets a message about a workspace, "" is the daemon as a whole, that applies until Withdraw is called for its topic.
func (l *List) Post(topic, workspace string, level slog.Level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := message{workspace: workspace, level: level, text: text}
	if l.standing[topic] == p {
		return
	}
	l.standing[topic] = p
	l.publish(p)
}

// Announce sends a message about a workspace to the present readers.
func (l *List) Announce(workspace string, level slog.Level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.publish(message{workspace: workspace, level: level, text: text})
}

// Keep sets a message that only the daemon's status shows; "" removes it.
func (l *List) Keep(topic string, level slog.Level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text == "" {
		delete(l.standing, topic)
		return
	}
	l.standing[topic] = message{level: level, text: text, quiet: true}
}

// Now returns the present messages, in the order of their topics.
func (l *List) Now() (list []api.StatusMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, topic := range slices.Sorted(maps.Keys(l.standing)) {
		p := l.standing[topic]
		list = append(list, api.StatusMessage{Level: api.LevelName(p.level), Message: p.text})
	}
	return list
}

// Withdraw removes a message that no longer applies. Readers who have seen it get text, if there is any.
func (l *List) Withdraw(topic, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, ok := l.standing[topic]
	if !ok {
		return
	}
	delete(l.standing, topic)
	if text != "" {
		l.publish(message{workspace: was.workspace, level: slog.LevelInfo, text: text})
	}
}

// publish sends a message to the readers whom it concerns; l.mu must be held.
func (l *List) publish(p message) {
	for r := range l.readers {
		if r.follows[p.workspace] {
			r.take(p.level, p.text)
		}
	}
}

// Read calls take at once with the messages about the daemon as a whole that apply at present, and later with each new one.
func (l *List) Read(take func(level slog.Level, text string)) *Reader {
	r := &Reader{of: l, take: take, follows: map[string]bool{}}
	l.mu.Lock()
	l.readers[r] = struct{}{}
	l.mu.Unlock()
	r.Follow("")
	return r
}

// Follow has the reader get the messages about a workspace, too: at once those that apply at present.
func (r *Reader) Follow(workspace string) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	if r.follows[workspace] {
		return
	}
	r.follows[workspace] = true
	for _, topic := range slices.Sorted(maps.Keys(r.of.standing)) {
		if p := r.of.standing[topic]; !p.quiet && p.workspace == workspace {
			r.take(p.level, p.text)
		}
	}
}

// Leave ends what Follow has begun.
func (r *Reader) Leave(workspace string) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	delete(r.follows, workspace)
}

// Stop ends the reading.
func (r *Reader) Stop() {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	delete(r.of.readers, r)
}
