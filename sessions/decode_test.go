package sessions

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions/internal/pagefile"
)

// FuzzDecodeStored: reading any stored value ends in an object or an error.
func FuzzDecodeStored(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("short"))
	f.Add(stored{flags: flagActive, seq: 7, json: []byte(`{"id":"t:0","turnId":"t","index":0,"startedAt":"2031-05-04T12:00:00.000Z"}`)}.encode())
	f.Add(stored{seq: 1, json: []byte(`{"id":3}`)}.encode())
	f.Add(holder{blobs: make([]blobKey, 2), state: []byte("s")}.encode())
	f.Add(changed{kind: KindItem, id: "t:0"}.encode())
	f.Add(turnRef{session: "s1", ordinal: 9}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := decodeStored(b); err == nil && intact(b) {
			require.Equal(t, b, s.encode())
		}
		for _, kind := range []Kind{KindSession, KindTurn, KindItem, KindDiff} {
			_ = soundFor(kind, b)
		}
		_, _ = decodeObject[Session](b)
		_, _ = decodeObject[Turn](b)
		_, _ = decodeObject[Item](b)
		_, _ = decodeObject[Diff](b)
		if h, err := decodeHolder(b); err == nil {
			again, err := decodeHolder(h.encode())
			require.NoError(t, err)
			require.Equal(t, h.blobs, again.blobs)
			require.True(t, bytes.Equal(h.state, again.state))
		}
		if c, ok := decodeChanged(b); ok {
			require.Equal(t, b, c.encode())
		}
		if r, ok := decodeTurnRef(b); ok {
			require.Equal(t, b, r.encode())
		}
		if turn, index, ok := splitItemID(string(b)); ok {
			require.Equal(t, string(b), ItemID(turn, int(index)))
		}
		if k, ok := parseBlobID(string(b)); ok {
			require.Len(t, k, len(b)/2)
		}
		_, _ = parseCursor(string(b))
	})
}

// FuzzWalkPages: the walk over a file's pages trusts none of its bytes.
func FuzzWalkPages(f *testing.F) {
	f.Add([]byte(nil), uint16(0), byte(0))
	f.Add([]byte("x"), uint16(4096), byte(1))
	whole := smallFile(f)
	f.Fuzz(func(t *testing.T, noise []byte, at uint16, page byte) {
		b := bytes.Clone(whole)
		copy(b[(2+int(page)%(len(b)/4096-2))*4096+int(at)%4096:], noise)
		pages, err := pagefile.Open(bytes.NewReader(b), int64(len(b)))
		require.NoError(t, err)
		_, err = pages.Walk(func([]string, []byte, []byte) {})
		require.NoError(t, err)
		pages, err = pagefile.Open(bytes.NewReader(noise), int64(len(noise)))
		if err == nil {
			_, _ = pages.Walk(nil)
		}
	})
}

func smallFile(f *testing.F) []byte {
	path := f.TempDir() + "/db"
	s, _, err := Open(path, Options{})
	require.NoError(f, err)
	for i := range 50 {
		id := string(rune('A' + i))
		s.Submit("/w", []Op{
			Put{Object: &Session{ID: id, Workspace: "/w", Seq: uint64(2*i + 1)}},
			Put{Object: &Turn{ID: id, SessionID: id, Prompt: string(make([]byte, 1000*(i%7))), Status: TurnCompleted, Seq: uint64(2*i + 2)}},
		}, nil)
	}
	require.NoError(f, s.Close())
	b, err := readUsed(path)
	require.NoError(f, err)
	return b
}
