package diffs

import (
	"strings"

	"cursord/diffs/internal/gitform"
)

// QuotePath returns a path as git writes it in a patch: unchanged, or in double quotes with C's escapes if it holds quotes,
// backslashes, control characters or bytes outside ASCII.
func QuotePath(path string) string { return gitform.Quote(path) }

// headerPath returns a path for a "---" or "+++" line, which ends a name with blanks by a tab.
func headerPath(path string) string {
	quoted := QuotePath(path)
	if quoted == path && strings.Contains(path, " ") {
		return path + "\t"
	}
	return quoted
}
