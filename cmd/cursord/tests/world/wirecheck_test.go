//go:build unix

package world

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheWireCheckSeesMistakes proves that the check finds mistakes.
func TestTheWireCheckSeesMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		messages []string // "> " from the client, "< " from the daemon
		fails    bool
	}{
		{"a request and its answer", []string{`> {"id":1,"method":"session/delete","params":{"sessionId":"s"}}`, `< {"id":1,"result":{}}`}, false},
		{"null for what may be absent", []string{`> {"id":1,"method":"session/list","params":{"limit":null}}`, `< {"id":1,"result":{"sessions":[]}}`}, false},
		{"a null result", []string{`> {"id":"x","method":"shutdown"}`, `< {"id":"x","result":null}`}, false},
		{"a result that should be null", []string{`> {"id":1,"method":"shutdown"}`, `< {"id":1,"result":{}}`}, true},
		{"wrong parameters that are refused", []string{`> {"id":1,"method":"session/delete"}`, `< {"id":1,"error":{"code":-32602,"message":"no","data":{"kind":"invalid"}}}`}, false},
		{"wrong parameters that are taken", []string{`> {"id":1,"method":"session/delete"}`, `< {"id":1,"result":{}}`}, true},
		{"a method that nobody knows", []string{`> {"id":1,"method":"no/such"}`, `< {"id":1,"result":{}}`}, true},
		{"a result without a member", []string{`> {"id":1,"method":"session/list"}`, `< {"id":1,"result":{}}`}, true},
		{"an error of a kind that nobody knows", []string{`< {"id":null,"error":{"code":-1,"message":"m","data":{"kind":"odd"}}}`}, true},
		{"a level that nobody knows", []string{`< {"method":"log/message","params":{"level":"loud","message":"m"}}`}, true},
		{"a notification that nobody knows", []string{`< {"method":"no/such","params":{}}`}, true},
		{"a change without a text", []string{`> {"method":"document/didChange","params":{"uri":"file:///a","version":1}}`}, true},
		{"a notification of another protocol", []string{`> {"method":"textDocument/didOpen","params":{}}`}, false},
		{"a time that is none", []string{`< {"method":"turn/changed","params":{"workspace":"/","seq":1,"turn":{"createdAt":"now"}}}`}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := &errorsSeen{TB: t}
			check := &wireCheck{t: seen, asked: map[string]askedFor{}}
			for _, m := range c.messages {
				check.message(m[0] == '>', json.RawMessage(m[2:]))
			}
			require.Equal(t, c.fails, len(seen.texts) > 0, "%q", seen.texts)
		})
	}
}

// errorsSeen is a testing.TB that records errors.
type errorsSeen struct {
	testing.TB
	texts []string
}

func (s *errorsSeen) Errorf(format string, args ...any) {
	s.texts = append(s.texts, fmt.Sprintf(format, args...))
}
