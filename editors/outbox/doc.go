// Package outbox writes the messages for one editor in the order in which they were sent. Nobody who sends waits for the editor:
// a goroutine writes, or, on Linux, the sender, as far as the editor's pipe or socket has room. The memory is bounded, although an
// editor may stop reading: a notification with a key replaces one with the same key that has not been written yet, and a sender that
// has no keys can wait for room.
package outbox
