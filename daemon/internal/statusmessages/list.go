// Package statusmessages keeps messages for people about the daemon itself. It has the messages that apply at present, by
// topic, and the readers who get new ones. Any goroutine may use a List. A List never waits for a reader: it calls readers
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
	readers  map[*reader]struct{}
}

type message struct {
	level slog.Level
	text  string
	quiet bool // shown only in the daemon's status
}

type reader struct{ take func(slog.Level, string) }

// New returns an empty list.
func New() *List {
	return &List{standing: map[string]message{}, readers: map[*reader]struct{}{}}
}

// Post sets a message that applies until Withdraw is called for its topic.
func (l *List) Post(topic string, level slog.Level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := message{level: level, text: text}
	if l.standing[topic] == p {
		return
	}
	l.standing[topic] = p
	l.publish(p)
}

// Announce sends a message to the present readers.
func (l *List) Announce(level slog.Level, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.publish(message{level: level, text: text})
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
	if _, ok := l.standing[topic]; !ok {
		return
	}
	delete(l.standing, topic)
	if text != "" {
		l.publish(message{level: slog.LevelInfo, text: text})
	}
}

// publish sends a message to all readers; l.mu must be held.
func (l *List) publish(p message) {
	for r := range l.readers {
		r.take(p.level, p.text)
	}
}

// Read calls take at once with the messages that apply at present, and later with each new one, until stop is called.
func (l *List) Read(take func(level slog.Level, text string)) (stop func()) {
	r := &reader{take}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.readers[r] = struct{}{}
	for _, topic := range slices.Sorted(maps.Keys(l.standing)) {
		if p := l.standing[topic]; !p.quiet {
			take(p.level, p.text)
		}
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.readers, r)
	}
}
