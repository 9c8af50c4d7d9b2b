// Package misuse has the error for wrong usage of a command. Such an error has an exit status of its own.
package misuse

import "fmt"

// An Error says how a command was used wrongly.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

// Errorf returns an Error with a formatted text.
func Errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }
