package program

import (
	"crypto/md5"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestChats lists a folder of chats with files of every shape.
func TestChats(t *testing.T) {
	config := t.TempDir()
	t.Setenv("CURSOR_CONFIG_DIR", config)
	none, err := Chats("/home/me/app")
	require.NoError(t, err)
	require.Empty(t, none, "no folder")
	folder := filepath.Join(config, "chats", fmt.Sprintf("%x", md5.Sum([]byte("/home/me/app"))))
	day := func(n int) time.Time { return time.Date(2026, 5, n, 12, 0, 0, 0, time.UTC) }
	for n, c := range []struct{ id, meta string }{
		{"plain", `{"title":" Two\nwords ","createdAt":1}`},
		{"named", `{"name":"By name","title":5}`},
		{"blank", `{"title":"  "}`},
		{"list", `[1,2]`},
		{"broken", `{"title":"x`},
		{"empty", ``},
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, c.id), 0o700))
		for _, name := range []string{"meta.json", "store.db"} {
			path := filepath.Join(folder, c.id, name)
			require.NoError(t, os.WriteFile(path, []byte(c.meta), 0o600))
			require.NoError(t, os.Chtimes(path, day(n+1), day(n+1)))
		}
	}
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "bare"), 0o700))
	require.NoError(t, os.Chtimes(filepath.Join(folder, "bare"), day(20), day(20)))
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "odd", "meta.json"), 0o700))
	require.NoError(t, os.Chtimes(filepath.Join(folder, "odd", "meta.json"), day(21), day(21)))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a file"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(folder, ".hidden"), 0o700))
	chats, err := Chats("/home/me/app")
	require.NoError(t, err)
	var got []string
	for _, c := range chats {
		got = append(got, fmt.Sprintf("%d %s %q", c.Updated.UTC().Day(), c.ID, c.Title))
	}
	require.Equal(t, []string{
		`21 odd ""`, `20 bare ""`, `6 empty ""`, `5 broken ""`, `4 list ""`, `3 blank ""`, `2 named "By name"`, `1 plain "Two words"`,
	}, got)
	require.False(t, ChatIsGone("/home/me/app", "plain"))
	require.True(t, ChatIsGone("/home/me/app", "gone"))
	require.False(t, ChatIsGone("/home/me/other", "plain"), "the agent may keep them elsewhere")
	require.False(t, ChatIsGone("/home/me/app", "../app"))
}
