//go:build unix

package agentruns

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestImages sends images as paths and as bytes. The agent gets paths that it can read. A file that is no image is refused
// before there is a turn.
func TestImages(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("shot one.png", world.PNGBytes)
	w.Put("../far.gif", world.GIFBytes)
	w.Put("not.png", "text")
	w.Start()
	e := w.Opens()
	far := filepath.Join(w.Dir, "far.gif")
	clip := world.Obj{"kind": "image", "data": base64.StdEncoding.EncodeToString([]byte(world.GIFBytes)), "mimeType": "image/png"}

	turn := e.Turn(world.Obj{"turnId": "first", "context": []world.Obj{{"kind": "image", "path": "shot one.png"}, {"kind": "text", "text": "x"}, {"kind": "image", "path": far}, clip}})
	require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	require.Equal(t, "do it", turn.Prompt)
	kept := w.Kept()
	require.Len(t, kept, 1)
	require.Equal(t, []string{w.Path("shot one.png"), far, kept[0]}, turn.Images)
	require.Equal(t, "<context>\n<image path=\""+w.Path("shot one.png")+"\" />\n<text>\nx\n</text>\n<image path=\""+far+"\" />\n"+
		"<image path=\""+kept[0]+"\" />\n</context>\n\ndo it", w.Prompted())
	require.Equal(t, ".gif", filepath.Ext(kept[0]), "what the bytes are counts")
	content, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	require.Equal(t, world.GIFBytes, string(content))
	info, err := os.Stat(kept[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	// The transcript names them.
	shown, _, status := w.Cursord("show", turn.SessionID)
	require.Zero(t, status)
	require.Contains(t, shown, "[image: "+far+"]")
	shown, _, status = w.Cursord("export", turn.SessionID)
	require.Zero(t, status)
	require.Contains(t, shown, "[image: "+far+"]")
	e.Turn(world.Obj{"sessionId": turn.SessionID, "recap": true})
	require.Contains(t, w.Prompted(), "[user]\ndo it\n\n[image: "+w.Path("shot one.png")+"]")

	// A repetition finds its turn, though an image is gone, and keeps nothing more.
	require.NoError(t, os.Remove(far))
	e.Must("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it", "turnId": "first", "context": []world.Obj{{"kind": "image", "path": far}}}, nil)
	e.Must("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it", "turnId": "first", "context": []world.Obj{clip}}, nil)
	for _, test := range []struct {
		image world.Obj
		kind  string
		field string
	}{
		{world.Obj{"kind": "image", "path": "not.png"}, "invalid", "context[1].path"},
		{world.Obj{"kind": "image", "path": "none.png"}, "invalid", "context[1].path"},
		{world.Obj{"kind": "image", "path": "."}, "invalid", "context[1].path"},
		{world.Obj{"kind": "image", "data": base64.StdEncoding.EncodeToString([]byte("text"))}, "invalid", "context[1].data"},
	} {
		failed := e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it", "context": []world.Obj{clip, test.image}})
		require.Equal(t, test.kind, string(failed.Data.Kind))
		require.Equal(t, test.field, failed.Data.Field, "%v", test.image)
	}
	many := make([]world.Obj, 33)
	for i := range many {
		many[i] = clip
	}
	require.Equal(t, "context[32]", e.Fails("turn/start", world.Obj{"workspace": w.Root, "prompt": "do it", "context": many}).Data.Field)
	require.Len(t, w.Runs(), 2)
	require.Eventually(t, func() bool { return len(w.Kept()) == 1 }, world.Patience, 5e6)

	// Images are removed with their session. After a kill the next daemon removes images that belong to no session.
	other := e.Turn(world.Obj{"context": []world.Obj{clip}})
	require.Len(t, w.Kept(), 2)
	e.Must("session/delete", world.Obj{"sessionId": turn.SessionID}, nil)
	require.Equal(t, other.Images, w.Kept())
	w.Kill()
	stray := filepath.Join(w.Dir, "state", "images", strings.Repeat("0", 32))
	require.NoError(t, os.MkdirAll(stray, 0o700))
	w.Start()
	require.Eventually(t, func() bool { _, err := os.Stat(stray); return os.IsNotExist(err) }, world.Patience, 5e6)
	require.Equal(t, other.Images, w.Kept())
}

// TestImagesOfIsolatedSessions: the agent in a copy gets the copy's images; images that git ignores are copied for it. In an overlay it has
// them.
func TestImagesOfIsolatedSessions(t *testing.T) {
	t.Parallel()
	for _, copies := range []bool{true, false} {
		t.Run(fmt.Sprint("copies ", copies), func(t *testing.T) { imagesOfIsolated(t, copies) })
	}
}

func imagesOfIsolated(t *testing.T, copies bool) {
	w := world.New(t)
	w.Overlays = !copies
	w.Git("init", "-q")
	w.Put(".gitignore", "ignored.png\n")
	w.Put("shot.png", world.PNGBytes)
	w.Put("ignored.png", world.PNGBytes)
	w.Start()
	e := w.Opens()
	session := e.Isolates()
	turn := e.Turn(world.Obj{"sessionId": session.ID, "context": []world.Obj{{"kind": "image", "path": "shot.png"}, {"kind": "image", "path": w.Path("ignored.png")}}})
	require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	require.Equal(t, []string{w.Path("shot.png"), w.Path("ignored.png")}, turn.Images)
	ignored := w.Path("ignored.png")
	if !w.OnOverlay(session) {
		kept := w.Kept()
		require.Len(t, kept, 1)
		ignored = kept[0]
	}
	require.Equal(t, "<context>\n<image path=\""+filepath.Join(w.CopyOf(session), "shot.png")+"\" />\n<image path=\""+ignored+"\" />\n</context>\n\ndo it", w.Prompted())
	e.Must("session/delete", world.Obj{"sessionId": session.ID}, nil)
	require.Empty(t, w.Kept())
}
