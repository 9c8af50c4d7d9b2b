package diffs

import "cursord/diffs/internal/gitform"

// QuotePath returns a path as git writes it in a patch: unchanged, or in double quotes with C's escapes if it holds quotes,
// backslashes, control characters or bytes outside ASCII.
func QuotePath(path string) string { return gitform.Quote(path) }
