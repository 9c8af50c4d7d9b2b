package copytree

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTranslator(t *testing.T) {
	tr := NewTranslator("/copies/x/ws", "/home/ada/ws")
	spaced := NewTranslator("/copies/x/my ws", "/home/ada/my ws+ü")
	for _, c := range []struct {
		tr       *Translator
		in, want string
	}{
		{tr, "/copies/x/ws", "/home/ada/ws"},
		{tr, "/copies/x/ws/a/b.go:12:3", "/home/ada/ws/a/b.go:12:3"},
		{tr, `"/copies/x/ws" '/copies/x/ws' (/copies/x/ws), /copies/x/ws: x`, `"/home/ada/ws" '/home/ada/ws' (/home/ada/ws), /home/ada/ws: x`},
		{tr, "in /copies/x/ws. And /copies/x/ws... /copies/x/ws.", "in /home/ada/ws. And /home/ada/ws... /home/ada/ws."},
		{tr, "/copies/x/ws2 /copies/x/ws-2 /copies/x/ws.bak/x /copies/x/ws_ /copies/x/w", "/copies/x/ws2 /copies/x/ws-2 /copies/x/ws.bak/x /copies/x/ws_ /copies/x/w"},
		{tr, "/y/copies/x/ws ./copies/x/ws ~/copies/x/ws", "/y/copies/x/ws ./copies/x/ws ~/copies/x/ws"},
		{tr, "-I/copies/x/ws/include --dir=/copies/x/ws +/copies/x/ws/a -/copies/x/ws/b @/copies/x/ws/c", "-I/home/ada/ws/include --dir=/home/ada/ws +/home/ada/ws/a -/home/ada/ws/b @/home/ada/ws/c"},
		{tr, "在/copies/x/ws中", "在/home/ada/ws中"},
		{tr, `"a\n/copies/x/ws\n"`, `"a\n/home/ada/ws\n"`},
		{tr, "file:///copies/x/ws/a file:///copies/x/ws2", "file:///home/ada/ws/a file:///copies/x/ws2"},
		{tr, "/copies/x/ws/copies/x/ws", "/home/ada/ws/copies/x/ws"},
		{tr, "/copies/x/ws:/copies/x/ws/bin:/bin", "/home/ada/ws:/home/ada/ws/bin:/bin"},
		{spaced, "cd '/copies/x/my ws/a'", "cd '/home/ada/my ws+ü/a'"},
		{spaced, "file:///copies/x/my%20ws/a", "file:///home/ada/my%20ws+%C3%BC/a"},
		{spaced, "/copies/x/my%20ws", "/home/ada/my%20ws+%C3%BC"},
		{spaced, "/copies/x/my ws%20x", "/copies/x/my ws%20x"},
		{spaced.Back(), "file:///home/ada/my%20ws%2B%C3%BC/a", "file:///copies/x/my%20ws/a"},
		{tr.Back(), "please look at /home/ada/ws/a, not /home/ada/ws-old", "please look at /copies/x/ws/a, not /home/ada/ws-old"},
		{NewTranslator("/private/x/ws", "/ws", "/x/ws"), "/x/ws/a /private/x/ws/b", "/ws/a /ws/b"},
	} {
		require.Equal(t, c.want, c.tr.String(c.in))
	}
}

func TestTranslatorFollowsLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "real"), link); err != nil {
		t.Skip(err)
	}
	tr := NewTranslator(link, "/ws")
	require.Equal(t, "/ws/a /ws/b", tr.String(filepath.Join(dir, "real", "a")+" "+filepath.Join(link, "b")))
}

func TestTranslatorJSON(t *testing.T) {
	tr := NewTranslator("/copies/x/ws", `/home/"ada"/ws`)
	for in, want := range map[string]string{
		`{"path": "/copies/x/ws/a",  "n": 1.50, "k\/":"<\u00e9>" }`: `{"path": "/home/\"ada\"/ws/a",  "n": 1.50, "k\/":"<\u00e9>" }`,
		`["\/copies\/x\/ws","\u002fcopies/x/ws <b>"]`:               `["/home/\"ada\"/ws","/home/\"ada\"/ws <b>"]`,
		`{"/copies/x/ws/a":{"deep":["x /copies/x/ws\n"]}}`:          `{"/home/\"ada\"/ws/a":{"deep":["x /home/\"ada\"/ws\n"]}}`,
		`"/copies/x/ws2"`:        `"/copies/x/ws2"`,
		`"a \" /copies/x/ws"`:    `"a \" /home/\"ada\"/ws"`,
		`not json "/copies/x/ws`: `not json "/copies/x/ws`,
		``:                       ``, `null`: `null`,
	} {
		require.Equal(t, want, string(tr.JSON(json.RawMessage(in))))
	}
	win := NewTranslator(`C:\copies\ws`, `D:\ws`)
	require.Equal(t, `{"p":"D:\\ws\\a"}`, string(win.JSON(json.RawMessage(`{"p":"C:\\copies\\ws\\a"}`))))
}

// anyText draws text with many paths, and with strings that almost are paths.
func anyText() *rapid.Generator[string] {
	part := rapid.OneOf(rapid.SampledFrom([]string{
		"/copies/x/ws", "/copies/x/w", "file://", "file:///copies/x/ws", "/copies/x/my%20ws", "/copies", "s", "2", ".", "..", "...",
		"/", " ", "\n", "\"", "\\n", "-I", "%20", "/copies/x/ws/a", "é", "\xff", "f", "fi",
	}), rapid.StringN(0, 3, -1))
	return rapid.Map(rapid.SliceOfN(part, 0, 12), func(p []string) string { return strings.Join(p, "") })
}

// TestStreamIsString cuts text anywhere: the translated pieces add up to the translated whole, and few bytes are held back.
func TestStreamIsString(t *testing.T) {
	translators := []*Translator{NewTranslator("/copies/x/ws", "/home/ada/w s"), NewTranslator("/copies/x/my ws", "/h")}
	rapid.Check(t, func(rt *rapid.T) {
		tr := rapid.SampledFrom(translators).Draw(rt, "translator")
		text := anyText().Draw(rt, "text")
		s, out, in := tr.Stream(), "", 0
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 9)).Draw(rt, "cut")
			out += s.Write(rest[:n])
			in, rest = in+n, rest[n:]
			require.LessOrEqual(rt, len(s.held), len("file:///copies/x/my%20ws")+dots)
		}
		out += s.Flush()
		require.Equal(rt, tr.String(text), out)
	})
}

func FuzzStream(f *testing.F) {
	f.Add("see file:///copies/x/ws/a and /copies/x/ws.", 3)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		tr := NewTranslator("/copies/x/ws", "/home/ada/ws")
		cut = max(0, min(cut, len(text)))
		s := tr.Stream()
		require.Equal(t, tr.String(text), s.Write(text[:cut])+s.Write(text[cut:])+s.Flush())
	})
}
