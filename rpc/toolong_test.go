package rpc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSkippedID: of a request over the limit the id is known, wherever it stands beside the parameters.
func TestSkippedID(t *testing.T) {
	text := strings.Repeat(`\"id\":9,{`, 20_000)
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"m","params":{"text":"` + text + `"}}`:                       "7",
		`{"id":"a b","method":"m","params":{"id":9,"text":"` + text + `"}}`:                            `"a b"`,
		`{"jsonrpc":"2.0","method":"m","params":{"id":9,"text":"` + text + `"},"id":-3}`:               "-3",
		`{"jsonrpc":"2.0","method":"m","params":{"text":"` + text + `","id":9}}`:                       "null",
		`{"jsonrpc":"2.0","method":"m","params":{"text":"` + text + `"}}`:                              "null",
		`{"jsonrpc":"2.0","id":null,"method":"m","params":{"text":"` + text + `"}}`:                    "null",
		`{"method":"m","params":{"text":"` + text + `"},  "id" : 4 , "jsonrpc":"2.0"}`:                 "null",
		`{"id":1,"method":"m","params":{"text":"` + text[:90_000] + strings.Repeat("x", 9_970) + `"}}`: "1",
		`{"params":{"text":"` + text + `"}, "id" : "x"  }  `:                                           `"x"`,
		`{"text":{"id":9,"text":"` + text + `"},"jsonrpc":"2.0","params":{"id":5},"id":6} `:            "6",
	} {
		r := NewFrameReader(strings.NewReader(line+"\n"+`{"method":"next"}`+"\n"), 100_000)
		_, err := r.Read()
		require.ErrorIs(t, err, ErrTooLong, line[:60])
		found := string(r.SkippedID())
		if found == "" {
			found = "null"
		}
		require.Equal(t, want, found, line[:60])
		next, err := r.Read()
		require.NoError(t, err)
		require.Equal(t, `{"method":"next"}`, string(next))
	}
}
