// Package jsontext walks JSON as text, where decoding it would cost too much: End finds where a value ends and whether it is
// valid, and a Value gives its members, elements and texts in place. Nothing is copied until it is asked for, so that a line
// which holds whole files several levels deep, or a hostile object of a million members, costs little more than the walk.
//
// Quote and AppendQuoted write strings, as encoding/json does without its escapes for HTML.
//
// It owns no state and knows of no message. Where none of this matters, encoding/json is to be used.
package jsontext
