package acp

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/editors/acp/protocol"
)

// TestFileOf: what names a file, and lines in it.
func TestFileOf(t *testing.T) {
	for uri, want := range map[string]struct {
		path     string
		from, to int // from 1; 0: none
	}{
		"file:///a/b.go": {"/a/b.go", 0, 0}, "/a/b.go": {"/a/b.go", 0, 0}, "FILE:///a%20b": {"/a b", 0, 0}, "file:///a#L3": {"/a", 3, 3}, "file:///a#L3-7": {"/a", 3, 7},
		"file:///a#L3:7": {"/a", 3, 7}, "file:///a#L3-L7": {"/a", 3, 7}, "file:///a#L0": {"/a", 0, 0}, "file:///a#L7-3": {"/a", 0, 0}, "file:///a#x": {"/a", 0, 0},
		"file:///a#L3-": {"/a", 0, 0}, "file://localhost/a": {"/a", 0, 0}, "file://host/a": {}, "file://a": {}, "https://example.org/a": {}, "": {}, "a.go": {}, "file:///%": {}, "zed:///agent/file?path=x": {},
	} {
		path, lines, ok := fileOf(uri)
		require.Equal(t, want.path, path, uri)
		require.Equal(t, want.path != "", ok, uri)
		if want.from == 0 {
			require.Nil(t, lines, uri)
			continue
		}
		require.Equal(t, &api.Range{Start: api.Position{Line: want.from - 1}, End: api.Position{Line: want.to}}, lines, uri)
	}
}

// TestBlobs: a blob that is a text or an image goes along, one of a file is left to the file, and any other is refused.
func TestBlobs(t *testing.T) {
	encoded := func(s string) *string {
		s = base64.StdEncoding.EncodeToString([]byte(s))
		return &s
	}
	broken := "%"
	for name, one := range map[string]struct {
		resource     protocol.Resource
		words, along string // along: the kind of what goes along, and its text
	}{
		"a text":           {protocol.Resource{URI: "zed:///x", Blob: encoded("words\n")}, "See the context.", "text words\n"},
		"a text of a file": {protocol.Resource{URI: "file:///ws/a.txt", Blob: encoded("words\n")}, "@a.txt", "text words\n"},
		"an image":         {protocol.Resource{URI: "zed:///x", MimeType: "image/png", Blob: encoded("\x89PNG")}, "See the context.", "image "},
		"bytes of a file":  {protocol.Resource{URI: "file:///ws/a.pdf", Blob: encoded("%PDF\x00")}, "@a.pdf", "file "},
		"bytes":            {protocol.Resource{URI: "zed:///x.pdf", Blob: encoded("%PDF\x00")}, "", ""},
		"no base64":        {protocol.Resource{Blob: &broken}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			words, context, members, err := contentOf("/ws", "/ws", []protocol.Block{{Type: "resource", Resource: &one.resource}})
			if one.words == "" {
				require.ErrorContains(t, err, "prompt[0].resource")
				return
			}
			require.NoError(t, err)
			require.Equal(t, one.words, words)
			require.Len(t, context, 1)
			require.Equal(t, []string{"prompt[0].resource"}, members)
			text := ""
			if context[0].Text != nil {
				text = *context[0].Text
			}
			require.Equal(t, one.along, context[0].Kind+" "+text)
		})
	}
}

// TestBlocksDoNotGrowTogether: words and names of files keep apart, also where the editor has put no blank between them.
func TestBlocksDoNotGrowTogether(t *testing.T) {
	text := func(s string) protocol.Block { return protocol.Block{Type: "text", Text: s} }
	link := func(s string) protocol.Block { return protocol.Block{Type: "resource_link", URI: s} }
	for want, blocks := range map[string][]protocol.Block{
		"see @f.txt and @g.txt":  {text("see"), link("file:///ws/f.txt"), text("and"), link("file:///ws/g.txt")},
		"see @f.txt, and":        {text("see "), link("file:///ws/f.txt"), text(", and")},
		"(@f.txt) @g.txt @h.txt": {text("("), link("file:///ws/f.txt"), text(") "), link("file:///ws/g.txt"), link("file:///ws/h.txt")},
		"one\n@f.txt\ntwo":       {text("one\n"), link("file:///ws/f.txt"), text("\ntwo")},
		"see https://x.org":      {text("see"), link("https://x.org")},
	} {
		words, _, _, err := contentOf("/ws", "/ws", blocks)
		require.NoError(t, err)
		require.Equal(t, want, words)
	}
}

// TestEdited: edits are made from the end, and characters are counted in UTF-16.
func TestEdited(t *testing.T) {
	at := func(line, character int) api.Position { return api.Position{Line: line, Character: character} }
	edit := func(from, to api.Position, text string) api.TextEdit {
		return api.TextEdit{Range: api.Range{Start: from, End: to}, NewText: text}
	}
	for _, one := range []struct {
		text, want string
		edits      []api.TextEdit
	}{
		{"a\nb\nc\n", "x\nb\ny\nz\n", []api.TextEdit{edit(at(0, 0), at(1, 0), "x\n"), edit(at(2, 0), at(3, 0), "y\nz\n")}},
		{"a\nb", "a\nc", []api.TextEdit{edit(at(1, 0), at(1, 1), "c")}},
		{"😀é!\n", "😀é?\n", []api.TextEdit{edit(at(0, 3), at(0, 4), "?")}},
		{"", "new\n", []api.TextEdit{edit(at(0, 0), at(0, 0), "new\n")}},
		{"a\n", "a\nb\n", []api.TextEdit{edit(at(9, 9), at(9, 9), "b\n")}},
	} {
		got, changed := edited(one.text, []api.DocumentEdits{{Path: "other", Edits: one.edits}, {Path: "f", Edits: one.edits}}, "f")
		require.True(t, changed)
		require.Equal(t, one.want, got)
	}
	_, changed := edited("a", nil, "f")
	require.False(t, changed)
}
