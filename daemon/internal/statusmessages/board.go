// Package statusmessages keeps messages for people about the daemon itself. It has the messages that apply at present, by
// topic, and the readers who get new ones. Any goroutine may use a Board. A Board never waits for a reader: it calls readers
// one at a time, in the order of events, and they must neither block nor use the Board.
package statusmessages

import (
	"log/slog"
	"maps"
	"slices"
	"sync"

	"cursord/daemon/api"
)

// A Board has the present messages and the readers.
type Board struct {
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

// New returns an empty board.
func New() *Board {
	return &Board{standing: map[string]message{}, readers: map[*reader]struct{}{}}
}

// Post sets a message that applies until Withdraw is called for its topic.
func (b *Board) Post(topic string, level slog.Level, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := message{level: level, text: text}
	if b.standing[topic] == p {
		return
	}
	b.standing[topic] = p
	b.publish(p)
}

// Announce sends a message to the present readers.
func (b *Board) Announce(level slog.Level, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.publish(message{level: level, text: text})
}

// Keep sets a message that only the daemon's status shows; "" removes it.
func (b *Board) Keep(topic string, level slog.Level, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text == "" {
		delete(b.standing, topic)
		return
	}
	b.standing[topic] = message{level: level, text: text, quiet: true}
}

// Now returns the present messages, in the order of their topics.
func (b *Board) Now() (list []api.StatusMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, topic := range slices.Sorted(maps.Keys(b.standing)) {
		p := b.standing[topic]
		list = append(list, api.StatusMessage{Level: api.LevelName(p.level), Message: p.text})
	}
	return list
}

// Withdraw removes a message that no longer applies. Readers who have seen it get text, if there is any.
func (b *Board) Withdraw(topic, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.standing[topic]; !ok {
		return
	}
	delete(b.standing, topic)
	if text != "" {
		b.publish(message{level: slog.LevelInfo, text: text})
	}
}

// publish sends a message to all readers; b.mu must be held.
func (b *Board) publish(p message) {
	for r := range b.readers {
		r.take(p.level, p.text)
	}
}

// Read calls take at once with the messages that apply at present, and later with each new one, until stop is called.
func (b *Board) Read(take func(level slog.Level, text string)) (stop func()) {
	r := &reader{take}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readers[r] = struct{}{}
	for _, topic := range slices.Sorted(maps.Keys(b.standing)) {
		if p := b.standing[topic]; !p.quiet {
			take(p.level, p.text)
		}
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.readers, r)
	}
}
