package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

const (
	pngBytes = "\x89PNG\r\n\x1a\npicture"
	gifBytes = "GIF89a picture"
)

// prompts returns what the latest run of the agent was asked.
func (w *world) prompted() string {
	w.t.Helper()
	runs := w.runs()
	require.NotEmpty(w.t, runs)
	return runs[len(runs)-1].Prompt
}

// kept lists the files of images that came as bytes.
func (w *world) kept() []string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "state", "images", "*", "*"))
	require.NoError(w.t, err)
	return files
}

// TestImages sends images along, as paths and as bytes: the agent gets paths that it can read, and what is no image is
// refused before there is a turn.
func TestImages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("shot one.png", pngBytes)
	w.put("../far.gif", gifBytes)
	w.put("not.png", "text")
	w.start()
	e := w.opens()
	far := filepath.Join(w.dir, "far.gif")
	clip := obj{"kind": "image", "data": base64.StdEncoding.EncodeToString([]byte(gifBytes)), "mimeType": "image/png"}

	turn := e.turn(obj{"turnId": "first", "context": []obj{{"kind": "image", "path": "shot one.png"}, {"kind": "text", "text": "x"}, {"kind": "image", "path": far}, clip}})
	require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	require.Equal(t, "do it", turn.Prompt)
	kept := w.kept()
	require.Len(t, kept, 1)
	require.Equal(t, []string{w.path("shot one.png"), far, kept[0]}, turn.Images)
	require.Equal(t, "<context>\n<image path=\""+w.path("shot one.png")+"\" />\n<text>\nx\n</text>\n<image path=\""+far+"\" />\n"+
		"<image path=\""+kept[0]+"\" />\n</context>\n\ndo it", w.prompted())
	require.Equal(t, ".gif", filepath.Ext(kept[0]), "what the bytes are counts")
	content, err := os.ReadFile(kept[0])
	require.NoError(t, err)
	require.Equal(t, gifBytes, string(content))
	info, err := os.Stat(kept[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	// The transcript tells of them.
	shown, _, status := w.cursord("show", turn.SessionID)
	require.Zero(t, status)
	require.Contains(t, shown, "[image: "+far+"]")
	shown, _, status = w.cursord("export", turn.SessionID)
	require.Zero(t, status)
	require.Contains(t, shown, "[image: "+far+"]")
	e.turn(obj{"sessionId": turn.SessionID, "recap": true})
	require.Contains(t, w.prompted(), "[user]\ndo it\n\n[image: "+w.path("shot one.png")+"]")

	// A repetition finds its turn, though an image is gone, and keeps nothing more.
	require.NoError(t, os.Remove(far))
	e.must("turn/start", obj{"workspace": w.ws, "prompt": "do it", "turnId": "first", "context": []obj{{"kind": "image", "path": far}}}, nil)
	e.must("turn/start", obj{"workspace": w.ws, "prompt": "do it", "turnId": "first", "context": []obj{clip}}, nil)
	for _, test := range []struct {
		image obj
		kind  string
		field string
	}{
		{obj{"kind": "image", "path": "not.png"}, "invalid", "context[1].path"},
		{obj{"kind": "image", "path": "none.png"}, "invalid", "context[1].path"},
		{obj{"kind": "image", "path": "."}, "invalid", "context[1].path"},
		{obj{"kind": "image", "data": base64.StdEncoding.EncodeToString([]byte("text"))}, "invalid", "context[1].data"},
	} {
		failed := e.fails("turn/start", obj{"workspace": w.ws, "prompt": "do it", "context": []obj{clip, test.image}})
		require.Equal(t, test.kind, string(failed.Data.Kind))
		require.Equal(t, test.field, failed.Data.Field, "%v", test.image)
	}
	many := make([]obj, 33)
	for i := range many {
		many[i] = clip
	}
	require.Equal(t, "context[32]", e.fails("turn/start", obj{"workspace": w.ws, "prompt": "do it", "context": many}).Data.Field)
	require.Len(t, w.runs(), 2)
	require.Eventually(t, func() bool { return len(w.kept()) == 1 }, patience, 5e6)

	// Images go with their session, and a daemon that was killed leaves none behind that belong to none.
	other := e.turn(obj{"context": []obj{clip}})
	require.Len(t, w.kept(), 2)
	e.must("session/delete", obj{"sessionId": turn.SessionID}, nil)
	require.Equal(t, other.Images, w.kept())
	w.kill()
	stray := filepath.Join(w.dir, "state", "images", strings.Repeat("0", 32))
	require.NoError(t, os.MkdirAll(stray, 0o700))
	w.start()
	require.Eventually(t, func() bool { _, err := os.Stat(stray); return os.IsNotExist(err) }, patience, 5e6)
	require.Equal(t, other.Images, w.kept())
}

// TestImagesOfIsolatedSessions has the agent in a copy see images of the workspace: those of the copy, or, where git ignores
// them, copies of their own.
func TestImagesOfIsolatedSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.git("init", "-q")
	w.put(".gitignore", "ignored.png\n")
	w.put("shot.png", pngBytes)
	w.put("ignored.png", pngBytes)
	w.start()
	e := w.opens()
	session := e.isolates()
	turn := e.turn(obj{"sessionId": session.ID, "context": []obj{{"kind": "image", "path": "shot.png"}, {"kind": "image", "path": w.path("ignored.png")}}})
	require.Equal(t, sessions.TurnCompleted, turn.Status, "%+v", turn.Error)
	require.Equal(t, []string{w.path("shot.png"), w.path("ignored.png")}, turn.Images)
	kept := w.kept()
	require.Len(t, kept, 1)
	require.Equal(t, "<context>\n<image path=\""+filepath.Join(w.copyOf(session), "shot.png")+"\" />\n<image path=\""+kept[0]+"\" />\n</context>\n\ndo it", w.prompted())
	e.must("session/delete", obj{"sessionId": session.ID}, nil)
	require.Empty(t, w.kept())
}
