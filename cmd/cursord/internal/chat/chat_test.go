package chat

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"
)

// TestFeed writes as screens do, and looks at what goes above the prompt and what stands right above it.
func TestFeed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		written []string
		lines   []string
		live    string
	}{
		"nothing":              {nil, nil, ""},
		"a part of a line":     {[]string{"Here"}, nil, "Here"},
		"its end":              {[]string{"Here", ".\n"}, []string{"Here."}, ""},
		"an empty line":        {[]string{"a\n\nb\n"}, []string{"a", "", "b"}, ""},
		"taken back":           {[]string{"… works", "\r\x1b[K", "done\n"}, []string{"done"}, ""},
		"a colour":             {[]string{"\x1b[2ma\nb\x1b[0m\n"}, []string{"\x1b[2ma\x1b[0m", "\x1b[2mb\x1b[0m"}, ""},
		"wraps at the words":   {[]string{"one two three four\n"}, []string{"one two", "three four"}, ""},
		"wide characters wrap": {[]string{"漢字漢字漢字\n"}, []string{"漢字漢字漢", "字"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFeed()
			for _, text := range tt.written {
				_, _ = f.Write([]byte(text))
			}
			require.Nil(t, f.next(), "nobody draws yet")
			f.fits(10, 100)
			f.draws(true)
			var lines []string
			var live []string
			for msg := f.next(); msg != nil; msg = f.next() {
				lines, live = append(lines, msg.(aboveMsg).lines...), msg.(aboveMsg).live
			}
			require.Equal(t, tt.lines, lines)
			require.Equal(t, tt.live, strings.Join(live, "\n"))
		})
	}
}

// TestFeedOfMuch prints no more at once than there is room for, and drops what a terminal that is away for long cannot get.
func TestFeedOfMuch(t *testing.T) {
	t.Parallel()
	f := newFeed()
	f.fits(10, 3)
	f.draws(true)
	fmt.Fprintf(f, "%s\nlast\n", strings.Repeat("x", 95))
	f.post(quitMsg{})
	var rows []string
	var msg tea.Msg
	for msg = f.next(); msg != (quitMsg{}); msg = f.next() {
		require.LessOrEqual(t, len(msg.(aboveMsg).lines), 3)
		rows = append(rows, msg.(aboveMsg).lines...)
	}
	require.Equal(t, strings.Repeat("x", 95)+"last", strings.Join(rows, ""))

	f.draws(false)
	for range 3000 {
		fmt.Fprintln(f, strings.Repeat("yes ", 250))
	}
	require.Less(t, f.size, feedLimit+2000)
	f.draws(true)
	last := ""
	for msg = f.next(); msg != nil; msg = f.next() {
		if lines := msg.(aboveMsg).lines; len(lines) > 0 {
			last = lines[len(lines)-1]
		}
	}
	require.Regexp(t, `^\(\d{4} lines left out; cursord show has them\)$`, last)

	// What another program came before is the next again.
	fmt.Fprintln(f, "late")
	late := f.next().(aboveMsg)
	f.draws(false)
	require.False(t, f.takes(late))
	require.Nil(t, f.next())
	f.draws(true)
	require.Equal(t, []string{"late"}, f.next().(aboveMsg).lines)
}

// TestHistory is kept by folder, each text once and for no other user to read, and grows only so long.
func TestHistory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history", "x")
	h := openHistory(path)
	for _, entry := range []string{"one", "two\nlines", " ", "one", strings.Repeat("z", historyEntry+1)} {
		h.add(entry)
	}
	require.Equal(t, []string{"two\nlines", "one"}, openHistory(path).entries)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0), info.Mode().Perm()&0o077)
	require.Equal(t, 1, h.older(2, "o"))
	require.Equal(t, 0, h.older(1, "o"))
	require.Equal(t, -1, h.older(0, "o"))

	other := openHistory(path) // at the same time
	other.add("by another")
	h.add("by this")
	require.Equal(t, []string{"two\nlines", "one", "by another", "by this"}, openHistory(path).entries)

	require.NoError(t, os.WriteFile(path, []byte("no JSON\n"+strings.Repeat(`"a"`+"\n", 2*historyMost)+"\"b\"\n\"cut o"), 0o600))
	require.Equal(t, []string{"a", "b"}, openHistory(path).entries)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "\"a\"\n\"b\"\n", string(raw), "what is not kept has left the file")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("x", historyFile)+"\n\"kept\"\n"), 0o600))
	require.Equal(t, []string{"kept"}, openHistory(path).entries)

	nowhere := openHistory("")
	nowhere.add("kept in memory")
	require.Equal(t, []string{"kept in memory"}, nowhere.entries)
}

// TestSplit takes the arguments of commands apart.
func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                 nil,
		" a  b\t":          {"a", "b"},
		`'a b' "c d"`:      {"a b", "c d"},
		`a\ b ""`:          {"a b", ""},
		`'src/**/*.go' x"`: nil,
		`it\'s`:            {"it's"},
	} {
		got, err := split(text)
		require.Equal(t, strings.HasSuffix(text, `x"`), err != nil, "%q", text)
		require.Equal(t, want, got, "%q", text)
	}
}

// TestSlashed tells commands from paths and prompts.
func TestSlashed(t *testing.T) {
	t.Parallel()
	for text, command := range map[string]string{
		"/help": "help", "/": "", "/mode ask": "mode", "/my-own_2 x\ny": "my-own_2",
		"/etc/hosts": "-", "/a.b": "-", " /help": "-", "what /help": "-", "//": "-",
	} {
		if name, _, is := slashed(text); is {
			require.Equal(t, command, name, text)
		} else {
			require.Equal(t, "-", command, text)
		}
	}
}
