// Package acp is the daemon's face for editors that speak the Agent Client Protocol: cursord is their agent. It is a client of the daemon
// like any other. It keeps the sessions that the editor has opened, and of their turns what the editor has been told.
//
// A turn outlives the editor. Everything that the editor gets of a turn comes before the answer to its prompt, because both go one
// way: the daemon's notifications, in their order, to the outbox.
//
// One mutex guards everything: messages of the editor and of the daemon are functions that run under it (Server.post), each in the goroutine
// that has read the message, and none of them waits. So a word of the agent passes as few goroutines as possible.
// Before initialize is answered there is no other goroutine. An editor that does not read holds up the goroutine that reads from the
// daemon, and nobody else; the daemon then catches up with it later (link.go). Package updates says what happens in a session
// (updates/session.go), package protocol has the messages. Tests: cmd/cursord/tests/acp.
package acp
