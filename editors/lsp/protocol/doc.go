// Package protocol has the messages of the Language Server Protocol 3.17, with the fields that are used here, and the text of a
// document with its positions. It is pure. A field that LSP calls optional is omitted when it is empty, unless an empty value
// says something.
package protocol
