//go:build unix

package pictures

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTypeOf(t *testing.T) {
	for head, want := range map[string]string{
		"\x89PNG\r\n\x1a\n\x00\x00": "png", "\xff\xd8\xff\xe0": "jpg", "GIF89a": "gif", "GIF87a,": "gif", "RIFF\x10\x00\x00\x00WEBPVP8 ": "webp",
		"": "", "\x89PNG": "", "GIF90a": "", "RIFF\x10\x00\x00\x00WAVE": "", "RIFF": "", "<svg>": "", "BM": "", "%PDF-1.7": "",
	} {
		require.Equal(t, want, typeOf([]byte(head)), "%q", head)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	large := put("large.png", "\x89PNG\r\n\x1a\n")
	require.NoError(t, os.Truncate(large, MaxBytes+1))
	most := put("most.png", "\x89PNG\r\n\x1a\n")
	require.NoError(t, os.Truncate(most, MaxBytes))
	pipe := filepath.Join(dir, "pipe.png")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink(most, filepath.Join(dir, "link")))
	for path, want := range map[string]string{
		most: "", put("misnamed.txt", "GIF89a"): "", filepath.Join(dir, "link"): "",
		put("no.png", "text"): "is no image", put("empty.png", ""): "is no image", large: "the limit is 20971520",
		pipe: "is not a regular file", dir: "is not a regular file", filepath.Join(dir, "none.png"): "cannot be opened",
		put("file", "x") + "/a.png": "cannot be opened", "/dev/zero": "is not a regular file",
	} {
		f, _, err := open("context[0].path", path)
		if want == "" {
			require.NoError(t, err, path)
			require.NoError(t, f.Close())
			continue
		}
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "context[0].path: ")
		require.Nil(t, f)
	}
}
