package api

import (
	"errors"
	"strings"

	"cursord/daemon/paths"
)

// LocalPath is paths.Local of a request's field, with the error that clients get.
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

// NoNUL refuses a text with a NUL byte, which no argument and no file name can have.
func NoNUL(field, text string) error {
	if strings.ContainsRune(text, 0) {
		return Invalid(field, "must not contain a NUL character")
	}
	return nil
}
