// Package misuse has the error that says that a command was called wrongly, which its exit status tells apart from what fails.
package misuse

import "fmt"

// An Error is wrong usage, as its text says.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

// Errorf returns an Error.
func Errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }
