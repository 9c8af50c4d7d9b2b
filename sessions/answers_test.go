package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "cursord/sessions"
)

// TestAnswers: what workspaces know of commits is found by the commit, until it is dropped or its workspace is forgotten.
func TestAnswers(t *testing.T) {
	s, _ := openAt(t, dbPath(t))
	answer := func(commit string) map[string][]byte {
		of, err := s.Answer(commit)
		require.NoError(t, err)
		return of
	}
	must(t, s, PutAnswer{"c1", []byte("one")}, PutAnswer{"c2", []byte("two")}, DropAnswer{"c3"})
	require.NoError(t, submit(s, "/other", PutAnswer{"c1", []byte("other")}))
	require.Equal(t, map[string][]byte{root: []byte("one"), "/other": []byte("other")}, answer("c1"))
	all := map[string]string{}
	require.NoError(t, s.Answers(root, func(commit string, data []byte) { all[commit] = string(data) }))
	require.Equal(t, map[string]string{"c1": "one", "c2": "two"}, all)
	must(t, s, DropAnswer{"c1"}, PutAnswer{"c2", []byte("two again")})
	require.Equal(t, map[string][]byte{"/other": []byte("other")}, answer("c1"))
	require.Equal(t, map[string][]byte{root: []byte("two again")}, answer("c2"))
	must(t, s, Forget{})
	require.Empty(t, answer("c2"))
	must(t, s, Forget{}, PutAnswer{"c2", []byte("two")})
	require.Len(t, answer("c2"), 1)
	require.NoError(t, s.Answers("/unknown", nil))
}
