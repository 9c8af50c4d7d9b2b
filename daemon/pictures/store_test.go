package pictures

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

const gif = "GIF89a and more"

func ids(err error, list ...string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, id := range list {
			if !yield(id, nil) {
				return
			}
		}
		if err != nil {
			yield("", err)
		}
	}
}

// TestStore follows images from a client's request to the end of their sessions.
func TestStore(t *testing.T) {
	root, s := t.TempDir(), Store{filepath.Join(t.TempDir(), "images")}
	require.Empty(t, s.Folders())
	require.NoError(t, os.WriteFile(filepath.Join(root, "shot"), []byte(gif), 0o600))
	context := []api.Context{{Kind: "text", Text: "x"}, {Kind: Kind, Path: "./shot"}, {Kind: Kind, Data: []byte(gif)}}
	taken, err := s.Take(context, root, "one")
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(root, "shot"), context[2].Path}, taken.Paths)
	require.Nil(t, context[2].Data)
	have, err := os.ReadFile(context[2].Path)
	require.NoError(t, err)
	require.Equal(t, gif, string(have))

	// After an error for one image, the images stored before it are removed.
	_, err = s.Take([]api.Context{{Kind: Kind, Data: []byte(gif)}, {Kind: Kind, Data: []byte("<svg>")}}, root, "two")
	require.ErrorContains(t, err, "context[1].data: is no image")
	require.Len(t, s.Folders(), 1)

	other, err := s.Take([]api.Context{{Kind: Kind, Data: []byte(gif)}}, root, "two")
	require.NoError(t, err)
	require.Len(t, s.Folders(), 2)
	require.ErrorIs(t, s.Sweep(s.Folders(), ids(os.ErrClosed, "one")), os.ErrClosed)
	require.Len(t, s.Folders(), 2, "not all sessions are known")
	require.NoError(t, s.Sweep(s.Folders(), ids(nil, "one", "three")))
	require.NoFileExists(t, other.Paths[0])
	require.FileExists(t, context[2].Path)
	require.NoError(t, s.Drop("one"))
	require.Empty(t, s.Folders())
	require.FileExists(t, filepath.Join(root, "shot"))
}

// TestPlaced gives the agent an image of the workspace in the copy, and in the store if the copy lacks it.
func TestPlaced(t *testing.T) {
	root, copied, s := t.TempDir(), t.TempDir(), Store{t.TempDir()}
	put := func(dir, name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(gif), 0o600))
		return path
	}
	both, ignored, beside := put(root, "both"), put(root, "ignored"), put(t.TempDir(), "beside")
	there := put(copied, "both")
	context := []api.Context{
		{Kind: Kind, Path: both}, {Kind: Kind, Path: ignored}, {Kind: Kind, Path: beside}, {Kind: "file", Path: both},
		{Kind: Kind, Path: filepath.Join(root, "gone")},
	}
	var told []string
	placed := s.Placed(context, "one", root, copied, func(text string) { told = append(told, text) })
	require.Equal(t, there, placed[0].Path)
	require.Equal(t, s.of("one"), filepath.Dir(placed[1].Path))
	require.Equal(t, beside, placed[2].Path)
	require.Equal(t, both, placed[3].Path)
	require.Len(t, told, 1)
	require.Contains(t, told[0], "the agent cannot see the image gone: ")
	require.Equal(t, both, context[0].Path, "what the turn has stays")
	require.NoError(t, errors.Join(os.Remove(there), s.Drop("one")))
}
