package editorfile

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLikeFile(t *testing.T) {
	for _, c := range []struct {
		name, text, file string
		ends             bool
		want             string
	}{
		{"line ends that the editor leaves out", "a\nb\n", "a\r\nc\r\n", false, "a\r\nb\r\n"},
		{"line ends that the editor sends", "a\nb\n", "a\r\nc\r\n", true, "a\nb\n"},
		{"a byte order mark", "a\n", "\ufeffb\n", false, "\ufeffa\n"},
		{"the text of a file in Windows-1252", "café – €\n", "caf\xe9 \x96 \x80\n", false, "caf\xe9 \x96 \x80\n"},
		{"another text than that of such a file", "café!\n", "caf\xe9\n", false, "café!\n"},
		{"a text that such a file cannot hold", "猫\n", "caf\xe9\n", false, "猫\n"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, LikeFile(c.text, []byte(c.file), c.ends)) })
	}
}
