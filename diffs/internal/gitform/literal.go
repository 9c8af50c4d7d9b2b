// Package gitform writes changes of files as git writes them in patches: hunks, contents, modes and paths.
package gitform

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"fmt"
)

const base85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

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

// blob returns git's name for a content; zeros if it does not exist.
func (s *Side) blob() string {
	if !s.Exists {
		return fmt.Sprintf("%040x", 0)
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(s.Data))
	h.Write(s.Data)
	return fmt.Sprintf("%x", h.Sum(nil))
}
