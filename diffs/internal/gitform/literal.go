// Package gitform has the forms in which git writes contents and paths in patches.
package gitform

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"fmt"
)

const base85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// Binary writes a change as git's binary patch, with both contents, so that the patch applies in both directions. names are those of their
// blobs, and mode is that of both sides, or "".
func Binary(b *bytes.Buffer, names [2]string, mode string, old, now []byte) {
	fmt.Fprintf(b, "index %s..%s", names[0], names[1])
	if mode != "" {
		fmt.Fprintf(b, " %s", mode)
	}
	b.WriteString("\nGIT binary patch\n")
	literal(b, now)
	literal(b, old)
}

// literal writes a whole content, compressed, in lines of at most 52 bytes each.
func literal(b *bytes.Buffer, data []byte) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(data) // writing to a bytes.Buffer cannot fail
	z.Close()
	fmt.Fprintf(b, "literal %d\n", len(data))
	for packed.Len() > 0 {
		line := packed.Next(52)
		if n := len(line); n <= 26 {
			b.WriteByte(byte('A' + n - 1))
		} else {
			b.WriteByte(byte('a' + n - 27))
		}
		for len(line) > 0 {
			var quad [4]byte
			line = line[copy(quad[:], line):]
			v := uint32(quad[0])<<24 | uint32(quad[1])<<16 | uint32(quad[2])<<8 | uint32(quad[3])
			var five [5]byte
			for i := 4; i >= 0; i-- {
				five[i], v = base85[v%85], v/85
			}
			b.Write(five[:])
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

// Blob returns git's name for a content; zeros if it does not exist.
func Blob(exists bool, text string) string {
	if !exists {
		return fmt.Sprintf("%040x", 0)
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00%s", len(text), text)
	return fmt.Sprintf("%x", h.Sum(nil))
}
