package updates

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/rpc"
)

var update = flag.Bool("update", false, "write the golden files")

// A line is a notification of the daemon, as it is in testdata.
type line struct {
	Method string
	Params json.RawMessage
}

// play gives a session the notifications of a recording, each as often as times, and returns its updates.
func play(t *testing.T, recorded []line, times int) (out []byte) {
	t.Helper()
	s := NewSession("/ws", func(update json.RawMessage) {
		require.NotContains(t, string(update), "\n")
		out = append(append(out, update...), '\n')
	})
	for _, l := range recorded {
		if l.Method == "item/delta" {
			d := &rpc.DeltaParams{}
			require.NoError(t, json.Unmarshal(l.Params, d))
			s.Delta(d)
			continue
		}
		for range times {
			switch l.Method {
			case "turn/changed":
				n := &rpc.TurnChanged{}
				require.NoError(t, json.Unmarshal(l.Params, n))
				if !n.Turn.Status.Final() || s.Knows(n.Turn.ID) {
					s.Turn(n.Turn)
				}
			case "item/changed":
				n := &rpc.ItemChanged{}
				require.NoError(t, json.Unmarshal(l.Params, n))
				s.Item(n.Item, false)
			}
		}
	}
	return out
}

func recording(t *testing.T, path string) (all []line) {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	for in := bufio.NewScanner(bytes.NewReader(raw)); in.Scan(); {
		var l line
		require.NoError(t, json.Unmarshal(in.Bytes(), &l))
		all = append(all, l)
	}
	return all
}

// TestRecordings: recorded turns become the updates of the golden files, also where each object comes twice. The tests of processes
// hold these files against the published schema.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.in.ndjson")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			golden := strings.TrimSuffix(file, ".in.ndjson") + ".out.ndjson"
			all := recording(t, file)
			got := play(t, all, 1)
			if *update {
				require.NoError(t, os.WriteFile(golden, got, 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
			require.Equal(t, string(want), string(play(t, all, 2)), "each object twice")
		})
	}
}
