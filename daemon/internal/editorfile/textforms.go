package editorfile

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

const byteOrderMark = "\ufeff"

// LikeFile returns an editor's text in the form of the file. Editors that know a file's line ends and byte order mark may
// leave them out of the text that they send. With ends, the editor is known to send line ends: then a text without CR has none.
// If the file is in Windows-1252 or Latin-1 and the text is all that it says, LikeFile returns the file's bytes.
func LikeFile(text string, file []byte, ends bool) string {
	if !ends && AllCR(file) && !strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if bytes.HasPrefix(file, []byte(byteOrderMark)) && !strings.HasPrefix(text, byteOrderMark) {
		text = byteOrderMark + text
	}
	if !utf8.Valid(file) && len(text) < 3*len(file) {
		if as, err := charmap.Windows1252.NewEncoder().String(text); err == nil && as == string(file) {
			return as
		}
	}
	return text
}

// AllCR reports whether a file has lines, all of which end with CR LF.
func AllCR(file []byte) bool {
	crlf := bytes.Count(file, []byte("\r\n"))
	return crlf > 0 && crlf == bytes.Count(file, []byte("\n"))
}

// A Form is what an editor's text leaves out that its file has.
type Form struct {
	Ends bool // CR at the ends of lines, which all have one
	Mark bool // the byte order mark
}

// FormOf returns that of a text that was read from file.
func FormOf(text string, file []byte) (f Form) {
	f.Ends = AllCR(file) && !strings.Contains(text, "\r")
	f.Mark = bytes.HasPrefix(file, []byte(byteOrderMark)) && !strings.HasPrefix(text, byteOrderMark)
	return f
}

// Text returns a file's content as an editor with texts of this form has it.
func (f Form) Text(file string) string {
	if f.Mark {
		file = strings.TrimPrefix(file, byteOrderMark)
	}
	if f.Ends {
		file = strings.ReplaceAll(file, "\r\n", "\n")
	}
	return file
}
