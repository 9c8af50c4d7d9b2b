// Package lsp is the daemon's face for editors that speak the Language Server Protocol: hunks are diagnostics with code
// actions, asking and reviewing are commands, and turns are progress. It is a client of the daemon like any other. It keeps
// only the documents that editors have open and what it has sent of them.
//
// The capabilities that an editor sends decide what it is offered, never its name or version. Every request is answered at
// once; the results of a command follow as notifications.
//
// One goroutine, the loop, owns everything: messages of the editor and of the daemon, and timers, are functions that run
// there. Before initialize is answered there is no other goroutine, so that the answer waits for none. link.go is the way to
// the daemon, by the same joiner as cursord stdio, in this process. place.go shows hunks where the daemon says that the
// editor's texts have them, edits.go makes decisions as edits of open documents, and compare.go gives both sides of a file to
// editors that show them side by side. Package protocol has own types for LSP's messages, since the library with all of them
// adds 1.4 MB to the program. Tests: cmd/cursord/tests/lsp, where client_test.go is the editor.
package lsp
