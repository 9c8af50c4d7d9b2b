package api

import (
	"errors"
	"strings"

	"cursord/daemon/paths"
)

// LocalPath is paths.Local for a field of a request; it returns the error for clients.
func LocalPath(field, path string) (string, error) {
	local, err := paths.Local(path)
	var e *paths.Error
	if errors.As(err, &e) {
		refused := Invalid(field, "%s", e.Problem)
		refused.Hint = e.Hint
		return "", refused
	}
	return local, err
}

// NoNUL returns an error if a text has a NUL byte, because no argument and no file name can have one.
func NoNUL(field, text string) error {
	if strings.ContainsRune(text, 0) {
		return Invalid(field, "must not contain a NUL character")
	}
	return nil
}
