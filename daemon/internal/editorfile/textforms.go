package editorfile

import (
	"bytes"
	"strings"
)

const byteOrderMark = "\ufeff"

// LikeFile returns an editor's text in the form of the file. Editors that know a file's line ends and byte order mark may
// leave them out of the text that they send.
func LikeFile(text string, file []byte) string {
	if crlf := bytes.Count(file, []byte("\r\n")); crlf > 0 && crlf == bytes.Count(file, []byte("\n")) && !strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if bytes.HasPrefix(file, []byte(byteOrderMark)) && !strings.HasPrefix(text, byteOrderMark) {
		text = byteOrderMark + text
	}
	return text
}

// LikeText returns a file's content in the form of an editor's text.
func LikeText(file, text string) string {
	if !strings.HasPrefix(text, byteOrderMark) {
		file = strings.TrimPrefix(file, byteOrderMark)
	}
	if strings.Contains(text, "\n") && !strings.Contains(text, "\r") {
		file = strings.ReplaceAll(file, "\r\n", "\n")
	}
	return file
}
