//go:build unix

package agent

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what TestFixtures sees into testdata")

// A fixture is a stream of a build with its expected events. Its second file has three parts: the end of the process, the
// events, the outcome.
type fixture struct {
	name   string // build/name
	stream string // the path of the stream
	notes  []string
	end    string // exit N, signal NAME, or stays
	stderr string
	want   string // events and outcome
}

// fixtures reads testdata.
func fixtures(t *testing.T) []fixture {
	paths, err := filepath.Glob("testdata/*/*.ndjson")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var list []fixture
	for _, path := range paths {
		name, _ := strings.CutSuffix(strings.TrimPrefix(path, "testdata/"), ".ndjson")
		data, err := os.ReadFile("testdata/" + name + ".want")
		require.NoError(t, err)
		f := fixture{name: name, stream: path}
		head, want, _ := strings.Cut(string(data), "\n--\n")
		f.want = want
		for line := range strings.SplitSeq(head, "\n") {
			kind, rest, _ := strings.Cut(line, " ")
			switch kind {
			case "#":
			case "exit", "signal", "stays":
				f.end = line
			case "stderr":
				f.stderr += rest + "\n"
			default:
				require.Fail(t, "not known", "%s.want: %s", name, line)
			}
			f.notes = append(f.notes, line)
		}
		require.NotEmpty(t, f.end, "%s.want says no end of the process", name)
		list = append(list, f)
	}
	return list
}

// TestFixtures plays each stream as a process, and compares the result with the file beside it.
func TestFixtures(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			stream, err := filepath.Abs(f.stream)
			require.NoError(t, err)
			stderr := filepath.Join(t.TempDir(), "stderr")
			require.NoError(t, os.WriteFile(stderr, []byte(f.stderr), 0o600))
			script := "cat >/dev/null\ncat '" + stderr + "' >&2\ncat '" + stream + "'\n"
			switch kind, what, _ := strings.Cut(f.end, " "); kind {
			case "exit":
				script += "exit " + what + "\n"
			case "signal":
				script += "kill -" + what + " $$\n"
			case "stays":
				script += "exec sleep 1000\n"
			}
			agent := newFake(t, script)
			// With a much shorter grace a busy machine would look suspended, and the wait would begin again.
			agent.req.BackgroundGrace = time.Second
			out, events := agent.run(t.Context(), nil)
			got := strings.Join(append(events, "--"), "\n") + "\n" + transcribeOutcome(out)
			if *update {
				text := strings.Join(f.notes, "\n") + "\n--\n" + got
				require.NoError(t, os.WriteFile("testdata/"+f.name+".want", []byte(text), 0o644))
				return
			}
			require.Equal(t, f.want, got)
		})
	}
}

// TestFixturesInPieces reads the streams in pieces of several sizes: the events are the same.
func TestFixturesInPieces(t *testing.T) {
	for _, f := range fixtures(t) {
		data, err := os.ReadFile(f.stream)
		require.NoError(t, err)
		whole := decodeIn(t, data, len(data)+1)
		for _, size := range []int{1, 2, 3, 7, 64, 1000, 4096} {
			require.Equal(t, whole, decodeIn(t, data, size), "%s in pieces of %d bytes", f.name, size)
		}
		crlf := strings.ReplaceAll(string(data), "\n", "\r\n")
		require.Equal(t, whole, decodeIn(t, []byte(crlf), 5), "%s with CRLF", f.name)
		require.Equal(t, whole, decodeIn(t, []byte(strings.TrimSuffix(string(data), "\n")), 5), "%s without the last newline", f.name)
	}
}

// TestFixturesAreListed compares the table beside the fixtures with their folders.
func TestFixturesAreListed(t *testing.T) {
	page, err := os.ReadFile("testdata/README.md")
	require.NoError(t, err)
	var there, listed []string
	for _, f := range fixtures(t) {
		there = append(there, filepath.Dir(f.name))
	}
	for line := range strings.Lines(string(page)) {
		if rest, ok := strings.CutPrefix(line, "| ["); ok {
			name, _, _ := strings.Cut(rest, "]")
			listed = append(listed, name)
		}
	}
	require.Equal(t, slices.Compact(there), listed)
}

// A slowReader returns at most size bytes at a time.
type slowReader struct {
	data []byte
	size int
}

// Read is io.Reader.
func (s *slowReader) Read(b []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), s.size)], s.data)
	s.data = s.data[n:]
	return n, nil
}

func decodeIn(t *testing.T, data []byte, size int) (events []string) {
	lines, d := newLineReader(&slowReader{data, size}, 64<<20), NewDecoder()
	for {
		line, skipped, err := lines.next()
		require.Zero(t, skipped)
		said := d.Line(line)
		if err != nil {
			require.Equal(t, io.EOF, err)
			said = d.Rest(said)
		}
		for _, ev := range said {
			events = append(events, transcribe(ev))
		}
		if err != nil {
			return events
		}
	}
}

// transcribeOutcome returns an outcome as a few lines.
func transcribeOutcome(out Outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", out.Status)
	for _, id := range []string{out.SessionID, out.RequestID} {
		if id != "" {
			b.WriteString(" " + id)
		}
	}
	if u := out.Usage; u != nil {
		fmt.Fprintf(&b, " usage=%d/%d/%d/%d", u.Input, u.Output, u.CacheRead, u.CacheWrite)
	}
	b.WriteString("\n")
	if out.Result != nil {
		fmt.Fprintf(&b, "result %q\n", *out.Result)
	}
	if f := out.Failure; f != nil {
		fmt.Fprintf(&b, "%s: %s\n", f.Kind, f.Message)
		if f.Hint != "" {
			fmt.Fprintf(&b, "hint: %s\n", f.Hint)
		}
	}
	for _, typ := range slices.Sorted(maps.Keys(out.Unknown)) {
		fmt.Fprintf(&b, "unknown %s: %d\n", typ, out.Unknown[typ])
	}
	return b.String()
}
