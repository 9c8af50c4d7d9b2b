package zed

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const ours = `"cursord": { "type": "custom", "command": "cursord", "args": ["acp"] }`

// TestInstall: what is added stands where it belongs, and everything else stays; taking it out again leaves the text as it was.
func TestInstall(t *testing.T) {
	for name, one := range map[string]struct{ before, after, back string }{
		"nothing":         {"", "{\n  \"agent_servers\": {\n    " + ours + "\n  }\n}\n", "{\n}\n"},
		"comments":        {"// mine\n{\n  // a comment, with { and \"quotes\n  \"theme\": \"One\", /* } */\n}\n", "// mine\n{\n  \"agent_servers\": {\n    " + ours + "\n  },\n  // a comment, with { and \"quotes\n  \"theme\": \"One\", /* } */\n}\n", ""},
		"an empty object": {"{}\n", "{\n  \"agent_servers\": {\n    " + ours + "\n  }\n}\n", "{\n}\n"},
		"other agents":    {"{\n  \"agent_servers\": {\n    // one\n    \"other\": { \"command\": \"x\" }\n  }\n}\n", "{\n  \"agent_servers\": {\n    " + ours + ",\n    // one\n    \"other\": { \"command\": \"x\" }\n  }\n}\n", ""},
		"no agents":       {"{\n  \"agent_servers\": {},\n  \"a\": 1\n}\n", "{\n  \"agent_servers\": {\n    " + ours + "\n  },\n  \"a\": 1\n}\n", "{\n  \"a\": 1\n}\n"},
		"on one line":     {`{"a": {"agent_servers": 5}, "b": [1, 2, {}]}`, "{\n  \"agent_servers\": {\n    " + ours + "\n  },\n" + `"a": {"agent_servers": 5}, "b": [1, 2, {}]}`, "{\n\"a\": {\"agent_servers\": 5}, \"b\": [1, 2, {}]}"},
		"Windows":         {"{\r\n  \"a\": 1\r\n}\r\n", "{\r\n  \"agent_servers\": {\r\n    " + ours + "\r\n  },\r\n  \"a\": 1\r\n}\r\n", ""},
		"trailing commas": {"{\n  \"a\": [1, 2,],\n  \"b\": {\"c\": null,},\n}\n", "{\n  \"agent_servers\": {\n    " + ours + "\n  },\n  \"a\": [1, 2,],\n  \"b\": {\"c\": null,},\n}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			after, err := Install(one.before, "cursord")
			require.NoError(t, err)
			require.Equal(t, one.after, after)
			again, err := Install(after, "cursord")
			require.NoError(t, err)
			require.Equal(t, after, again)
			moved, err := Install(after, "/opt/cursord")
			require.NoError(t, err)
			require.Contains(t, moved, `"command": "/opt/cursord"`)
			back, err := Uninstall(after)
			require.NoError(t, err)
			want := one.back
			if want == "" {
				want = one.before
			}
			require.Equal(t, want, back)
			_, err = parse(back)
			require.NoError(t, err)
		})
	}
}

// TestRefused: settings that are not to be understood stay, and the person learns what to add.
func TestRefused(t *testing.T) {
	for name, text := range map[string]string{
		"cut off": "{\n  \"a\": 1", "an array": "[]", "no colon": `{"a" 1}`, "no comma": `{"a": 1 "b": 2}`, "no name": `{a: 1}`, "two": "{} {}", "a word": `{"a": yes}`,
		"an open string": `{"a": "b`, "an open comment": "{ /* ", "agents that are none": `{"agent_servers": []}`,
	} {
		_, err := Install(text, "cursord")
		require.ErrorContains(t, err, ours, name)
		require.ErrorContains(t, err, "by hand", name)
	}
	theirs := `{"agent_servers": {"cursord": {"type": "custom", "command": "ssh", "args": ["host", "cursord", "acp"]}}}`
	for _, text := range []string{theirs, `{"agent_servers": {"cursord": 5}}`} {
		now, err := Install(text, "cursord")
		require.ErrorIs(t, err, ErrTheirs)
		require.Equal(t, text, now)
		_, err = Uninstall(text)
		require.ErrorIs(t, err, ErrTheirs)
	}
	for _, text := range []string{"", "{}", `{"agent_servers": {"other": {}}}`} {
		now, err := Uninstall(text)
		require.NoError(t, err)
		require.Equal(t, text, now)
	}
}

// TestUninstallAmongOthers: the last and a middle agent are taken out with their commas.
func TestUninstallAmongOthers(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"agent_servers\": {\n    \"a\": {},\n    " + ours + "\n  }\n}\n":                 "{\n  \"agent_servers\": {\n    \"a\": {}\n  }\n}\n",
		"{\n  \"agent_servers\": {\n    \"a\": {},\n    " + ours + ",\n    \"b\": {}\n  }\n}\n": "{\n  \"agent_servers\": {\n    \"a\": {},\n    \"b\": {}\n  }\n}\n",
		`{"agent_servers": {"a": {}, ` + ours + `}}`:                                            `{"agent_servers": {"a": {} }}`,
		"{\n  \"agent_servers\": { // keep this\n    " + ours + "\n  }\n}\n":                    "{\n  \"agent_servers\": { // keep this\n  }\n}\n",
	} {
		now, err := Uninstall(text)
		require.NoError(t, err)
		require.Equal(t, want, now)
	}
}
