package diffs

import (
	"bytes"
	"crypto/sha1"
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
	h := sha1.New()
	text := c.body().text
	fmt.Fprintf(h, "blob %d\x00%s", len(text), text)
	return fmt.Sprintf("%x", h.Sum(nil))
}
