package diffs

import (
	"bytes"
	"fmt"

	"cursord/diffs/internal/gitform"
)

// writeBinary writes a change as git's binary patch, with both contents, so that the patch applies in both directions.
func writeBinary(b *bytes.Buffer, old, now Content) {
	fmt.Fprintf(b, "index %s..%s", blobName(old), blobName(now))
	if mode := now.gitMode(); old.Exists && now.Exists && mode == old.gitMode() {
		fmt.Fprintf(b, " %s", mode)
	}
	b.WriteString("\nGIT binary patch\n")
	gitform.Literal(b, now.Data)
	gitform.Literal(b, old.Data)
}

// blobName returns git's name for a content; zeros if it is absent.
func blobName(c Content) string {
	if !c.Exists {
		return fmt.Sprintf("%040x", 0)
	}
	return gitform.Blob(c.body().text)
}
