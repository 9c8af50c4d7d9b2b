// Package lsp is the daemon's face for editors that speak the Language Server Protocol: hunks are diagnostics with code
// actions, asking and reviewing are commands, and turns are progress. It is a client of the daemon like any other, and
// keeps nothing but what editors have open and what they were sent of it.
//
// What an editor is offered follows from the capabilities that it sends, never from its name or version. Every request
// is answered at once; what comes of a command is sent in notifications.
package lsp
