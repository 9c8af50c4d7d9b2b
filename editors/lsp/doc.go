// Package lsp is the daemon's face for editors that speak the Language Server Protocol: hunks are diagnostics with code
// actions, asking and reviewing are commands, and turns are progress. It is a client of the daemon like any other, and
// keeps nothing but what editors have open and what they were sent of it.
//
// What an editor is offered follows from the capabilities that it sends, never from its name or version. Every request
// is answered at once; what comes of a command is sent in notifications.
//
// One goroutine, the loop, owns all; what the editor and the daemon say, and timers, are functions that run there. link.go is
// the way to the daemon, by the same joiner as cursord stdio, in the process. place.go finds hunks in the editor's own texts,
// so that what is shown follows from text alone; edits.go accepts by edits what was made apart, compare.go has both sides of a
// file for editors that show them. Before initialize is answered there is no other goroutine, so that it waits for none. LSP's
// types are own structs of the few fields that matter: the library of all of them that was measured adds 1.4 MB. Tests:
// cmd/cursord/tests/lsp, client_test.go is their editor.
package lsp
