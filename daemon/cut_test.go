package daemon

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/sessions"
)

func TestCutTool(t *testing.T) {
	long := strings.Repeat("x", 5000)
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
			sessions.Tool{Args: json.RawMessage(`{"l":[{"s":"` + long[:1024] + `…(5000 bytes)"}],"n":12345678901234567890,"ok":"<b>"}`)}, true,
		},
		{
			"many short strings stay",
			sessions.Tool{Result: json.RawMessage(`["` + strings.Repeat(`abc","`, 2000) + `"]`)},
			sessions.Tool{Result: json.RawMessage(`["` + strings.Repeat(`abc","`, 2000) + `"]`)}, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cut, detail := cutTool(&c.in)
			require.Equal(t, c.want, *cut)
			require.Equal(t, c.hasDetail, detail != nil)
			if detail != nil {
				var whole sessions.Tool
				require.NoError(t, json.Unmarshal(detail, &whole))
				require.Equal(t, c.in.Output, whole.Output)
			}
		})
	}
}
