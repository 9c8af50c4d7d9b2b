// Package statusmessages keeps what people should know about the daemon itself: what is so at present, by topic, for those
// who come later, and who is to be told of what comes up. Any goroutine may use a Board, which never waits for a reader:
// readers are called one at a time, in the order of what happened, and must neither block nor use the Board.
package statusmessages

import (
	"log/slog"
	"maps"
	"slices"
	"sync"

	"cursord/daemon/api"
)

// A Board has what is so, and its readers.
type Board struct {
	mu       sync.Mutex
	standing map[string]message // by topic
	readers  map[*reader]struct{}
}

type message struct {
	level slog.Level
	text  string
	quiet bool // only who asks for the daemon's status sees it
}

type reader struct{ take func(slog.Level, string) }

// New returns an empty board.
func New() *Board {
	return &Board{standing: map[string]message{}, readers: map[*reader]struct{}{}}
}

// Post puts up what is so until Withdraw is called for the topic.
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

// Announce tells everybody who is here now.
func (b *Board) Announce(level slog.Level, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.publish(message{level: level, text: text})
}

// Keep puts up what only those see who ask for the daemon's status; "" takes it down.
func (b *Board) Keep(topic string, level slog.Level, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text == "" {
		delete(b.standing, topic)
		return
	}
	b.standing[topic] = message{level: level, text: text, quiet: true}
}

// Now returns what is up, in the order of the topics.
func (b *Board) Now() (list []api.StatusMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, topic := range slices.Sorted(maps.Keys(b.standing)) {
		p := b.standing[topic]
		list = append(list, api.StatusMessage{Level: api.LevelName(p.level), Message: p.text})
	}
	return list
}

// Withdraw takes down what is so no longer; text, if any, says so to those who have seen it.
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

// publish tells everybody; b.mu must be held.
func (b *Board) publish(p message) {
	for r := range b.readers {
		r.take(p.level, p.text)
	}
}

// Read has take called with what people should know: at once with what is so at present, later with what comes up, until
// stop is called.
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
