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

// DiffPath refuses a URI that names no local file. Every other text is a path.
func DiffPath(path string) error {
	if scheme, _, is := strings.Cut(path, "://"); is && !strings.Contains(scheme, "/") && !paths.IsURI(path) {
		e := Invalid("path", "%.300q is not a file:// URI", path)
		e.Hint = "send the diff's path, an absolute path, or a file:// URI"
		return e
	}
	if !paths.IsURI(path) {
		return nil
	}
	_, err := LocalPath("path", path)
	return err
}

// Check returns an error if the parameters contradict each other.
func (dec *Decision) Check() error {
	n := 0
	for _, given := range []bool{dec.Hunks != nil, dec.Path != "", dec.TurnID != "", dec.All} {
		if given {
			n++
		}
	}
	switch {
	case n != 1:
		return Invalid("hunks", "exactly one of hunks, path, turnId and all must be given")
	case dec.Hunks != nil && len(dec.Hunks) == 0:
		return Invalid("hunks", "must not be empty")
	case dec.Lines != nil && len(dec.Hunks) != 1:
		return Invalid("lines", "goes with a single hunk")
	case dec.Lines != nil && (dec.Lines.From < 0 || dec.Lines.To <= dec.Lines.From):
		return Invalid("lines", "from counts from 0, and to must be greater")
	case dec.Both && (!dec.Accept || dec.Hunks == nil):
		return Invalid("both", "needs an accept of hunks")
	case dec.Replace && (!dec.Accept || dec.Hunks == nil || dec.Lines != nil || dec.Both):
		return Invalid("replace", "needs an accept of whole hunks, without both")
	case dec.Rev != nil && dec.Hunks == nil && dec.Path == "":
		return Invalid("rev", "goes with hunks or path")
	}
	return NoNUL("comment", dec.Comment)
}
