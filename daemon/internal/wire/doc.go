// Package wire makes the JSON in which objects are stored and sent, and cuts what of them is too long for that.
//
// A tool call has texts of any length: what a client is sent of it is bounded ([CutTool]), and the whole is kept apart, in a
// form that holds a long output once. The package is pure. No text that it returns holds on to a larger one, except that what
// need not be cut is returned as it is.
package wire
