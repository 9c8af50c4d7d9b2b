// Package wire makes the JSON in which objects are stored and sent, and cuts texts that are too long for it.
//
// A tool call has texts of any length. What a client gets is bounded ([CutTool]); the whole is kept apart, in a form that
// holds a long output once. The package is pure. No text that it cuts shares memory with the whole text.
package wire
