// Package jsontext walks JSON as text, where decoding would cost too much. End finds where a value ends and whether it is
// valid; a Value gives its members, elements and texts in place. It copies nothing until it is asked to, so a line that
// holds whole files several levels deep, or a hostile object of a million members, costs little more than the walk.
//
// Quote and AppendQuoted write strings as encoding/json does, without its escapes for HTML.
//
// The package has no state and knows no message. Use encoding/json wherever speed does not matter.
package jsontext
