package daemon

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
)

// A board holds what people should know of the daemon itself: what is so at present, for those who come, and who is to
// be told of what comes up. Its methods may be called from anywhere and do not block.
type board struct {
	mu       sync.Mutex
	standing map[string]posting // by topic
	readers  map[*reader]struct{}
}

type posting struct {
	level slog.Level
	text  string
}

type reader struct{ take func(slog.Level, string) }

func newBoard() *board {
	return &board{standing: map[string]posting{}, readers: map[*reader]struct{}{}}
}

// post puts up what is so until take is called for the topic.
func (b *board) post(topic string, level slog.Level, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := posting{level, text}
	if b.standing[topic] == p {
		return
	}
	b.standing[topic] = p
	b.tell(p)
}

// mention tells everybody who is here now.
func (b *board) mention(level slog.Level, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tell(posting{level, text})
}

// take takes down what is so no longer; text, if any, says so to those who were told.
func (b *board) take(topic, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.standing[topic]; !ok {
		return
	}
	delete(b.standing, topic)
	if text != "" {
		b.tell(posting{slog.LevelInfo, text})
	}
}

// tell tells everybody; b.mu must be held.
func (b *board) tell(p posting) {
	for r := range b.readers {
		r.take(p.level, p.text)
	}
}

// Messages has take called with what people should know of the daemon itself: at once with what is so at present, later
// with what comes up, until stop is called. It must not block.
func (d *Daemon) Messages(take func(level slog.Level, text string)) (stop func()) {
	b := d.board
	r := &reader{take}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readers[r] = struct{}{}
	for _, topic := range slices.Sorted(maps.Keys(b.standing)) {
		p := b.standing[topic]
		take(p.level, p.text)
	}
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.readers, r)
	}
}

// polls tells people how files under review are noticed.
func (w *workspace) polls(why string) {
	topic := "watch " + w.root
	if why == "" {
		w.d.board.take(topic, "files under review in "+w.root+" are watched again")
		return
	}
	w.d.board.post(topic, slog.LevelWarn, "files under review in "+w.root+" cannot be watched, and are looked at every other second: "+why)
}
