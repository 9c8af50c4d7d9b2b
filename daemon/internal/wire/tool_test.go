package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent/plaintext"
	"cursord/sessions"
)

func TestCutTool(t *testing.T) {
	long := strings.Repeat("x", 5000)
	files := strings.Repeat("\t\"line\" é\n\U0001f600", 10000)
	cutFiles, _ := cutOutput(files)
	for _, c := range []struct {
		name      string
		in        sessions.Tool
		want      sessions.Tool
		hasDetail bool
	}{
		{"short", sessions.Tool{Output: "a", Args: json.RawMessage(`{"a":1}`)}, sessions.Tool{Output: "a", Args: json.RawMessage(`{"a":1}`)}, false},
		{
			"long output keeps both ends",
			sessions.Tool{Output: strings.Repeat("a", 8192) + "middle" + strings.Repeat("b", 8192)},
			sessions.Tool{Output: strings.Repeat("a", 8192) + strings.Repeat("b", 8192), OutputTruncated: true}, true,
		},
		{
			"ends on whole characters",
			sessions.Tool{Output: strings.Repeat("é", 8192*2)},
			sessions.Tool{Output: strings.Repeat("é", 8192), OutputTruncated: true}, true,
		},
		{
			"long strings anywhere",
			sessions.Tool{Args: json.RawMessage(`{"n":12345678901234567890,"l":[{"s":"` + long + `"}],"ok":"<b>"}`)},
			sessions.Tool{Args: json.RawMessage(`{"n":12345678901234567890,"l":[{"s":"` + long[:1024] + `…(5000 bytes)"}],"ok":"<b>"}`)}, true,
		},
		{
			"many short strings stay",
			sessions.Tool{Result: json.RawMessage(`["` + strings.Repeat(`abc","`, 2000) + `"]`)},
			sessions.Tool{Result: json.RawMessage(`["` + strings.Repeat(`abc","`, 2000) + `"]`)}, false,
		},
		{
			"output that is in the result",
			sessions.Tool{Output: files, Result: json.RawMessage(`{"a":"` + long + `","k":` + string(Encode(files)) + `}`)},
			sessions.Tool{
				Output: cutFiles, OutputTruncated: true,
				Result: json.RawMessage(`{"a":"` + long[:1024] + `…(5000 bytes)","k":` + string(Encode(plaintext.Cut(files, 1024)+"…(150000 bytes)")) + `}`),
			}, true,
		},
		{
			"a long key, escapes at the limit",
			sessions.Tool{Args: json.RawMessage(`{"` + long + `" : "` + strings.Repeat(`\ud83d\ude00`, 1025) + `", "b":"` + strings.Repeat(`\"`, 4096) + `"}`)},
			sessions.Tool{Args: json.RawMessage(`{"` + long + `" : "` + strings.Repeat("\U0001f600", 256) + `…(4100 bytes)", "b":"` + strings.Repeat(`\"`, 4096) + `"}`)}, true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cut, detail := CutTool(&c.in)
			require.Equal(t, c.want, *cut)
			require.Equal(t, c.hasDetail, detail != nil)
			if detail != nil {
				whole, err := DecodeTool(detail)
				require.NoError(t, err)
				if whole.Args != nil {
					require.JSONEq(t, string(c.in.Args), string(whole.Args))
					whole.Args = c.in.Args
				}
				require.Equal(t, c.in, *whole)
			}
		})
	}
}
