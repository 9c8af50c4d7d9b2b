package daemon

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"cursord/daemon/api"
)

// statusMessages are what people should know about the daemon: what holds at present, for those who come, and who is to
// hear of what comes up. Its methods may be called from anywhere and do not block.
type statusMessages struct {
	mu       sync.Mutex
	standing map[string]statusMessage // by topic
	readers  map[*reader]struct{}
}

type statusMessage struct {
	level slog.Level
	text  string
	quiet bool // only who asks for the daemon's status sees it
}

type reader struct{ take func(slog.Level, string) }

func newStatusMessages() *statusMessages {
	return &statusMessages{standing: map[string]statusMessage{}, readers: map[*reader]struct{}{}}
}

// post puts up what is so until take is called for the topic.
func (b *statusMessages) post(topic string, level slog.Level, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := statusMessage{level: level, text: text}
	if b.standing[topic] == p {
		return
	}
	b.standing[topic] = p
	b.publish(p)
}

// announce tells everybody who is here now.
func (b *statusMessages) announce(level slog.Level, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.publish(statusMessage{level: level, text: text})
}

// keep puts up what only those see who ask for the daemon's status; "" takes it down.
func (b *statusMessages) keep(topic string, level slog.Level, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text == "" {
		delete(b.standing, topic)
		return
	}
	b.standing[topic] = statusMessage{level: level, text: text, quiet: true}
}

// now returns what is up, in the order of the topics.
func (b *statusMessages) now() (list []api.StatusMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, topic := range slices.Sorted(maps.Keys(b.standing)) {
		p := b.standing[topic]
		list = append(list, api.StatusMessage{Level: LevelName(p.level), Message: p.text})
	}
	return list
}

// withdraw takes down what is so no longer; text, if any, says so to those who have seen it.
func (b *statusMessages) withdraw(topic, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.standing[topic]; !ok {
		return
	}
	delete(b.standing, topic)
	if text != "" {
		b.publish(statusMessage{level: slog.LevelInfo, text: text})
	}
}

// LevelName returns a level as log/message names it.
func LevelName(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "error"
	case level >= slog.LevelWarn:
		return "warning"
	case level >= slog.LevelInfo:
		return "info"
	}
	return "debug"
}

// NoteConfiguration has the daemon's status tell what is wrong with the configuration that it follows; none is nothing.
func (d *Daemon) NoteConfiguration(warnings []string) {
	d.messages.keep("configuration", slog.LevelWarn, strings.Join(warnings, "\n"))
}

// publish tells everybody; b.mu must be held.
func (b *statusMessages) publish(p statusMessage) {
	for r := range b.readers {
		r.take(p.level, p.text)
	}
}

// Messages has take called with what people should know of the daemon itself: at once with what is so at present, later
// with what comes up, until stop is called. It must not block.
func (d *Daemon) Messages(take func(level slog.Level, text string)) (stop func()) {
	b := d.messages
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

// polls tells people how files under review are noticed.
func (w *workspace) polls(why string) {
	topic := "watch " + w.root
	if why == "" {
		w.d.messages.withdraw(topic, "files under review in "+w.root+" are watched again")
		return
	}
	w.d.messages.post(topic, slog.LevelWarn, "files under review in "+w.root+" cannot be watched, and are looked at every other second: "+why)
}
