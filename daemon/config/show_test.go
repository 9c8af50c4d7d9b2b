package config

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryKeyHasAValue: the shown value of each key can stand in the file, and means the same there.
func TestEveryKeyHasAValue(t *testing.T) {
	t.Parallel()
	odd, _, err := Parse("c", []byte(`agent = "/opt/cursor agent"
agent_env = "client"
background = "wait"
idle_exit = "1h30m15s"
keep_age = "36h"
keep_size = "1500"
sandbox = "enabled"
add_dirs = ["/a b", "/c\"d"]
log_level = "debug"
[isolation_of]
"/x y" = "copy"
`))
	require.NoError(t, err)
	for _, c := range []Config{Default(), odd} {
		for _, key := range Keys() {
			text, ok := c.Text(key)
			require.True(t, ok, key)
			if text == `""` {
				continue // stands for a missing setting; some settings must not be empty
			}
			again, _, err := Parse("c", []byte(key+" = "+text))
			require.NoError(t, err, key+" = "+text)
			same, _ := again.Text(key)
			require.Equal(t, text, same, key)
		}
	}
	agent, _ := odd.Text("agent")
	require.Equal(t, `"/opt/cursor agent"`, agent)
	_, ok := odd.Text("nothing")
	require.False(t, ok)
}

// TestEveryKeyIsExplainedOnceEverywhere: "cursord config" and the page of the settings use the same words.
func TestEveryKeyIsExplainedOnceEverywhere(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../cmd/cursord/README.md")
	require.NoError(t, err)
	for _, key := range Keys() {
		require.NotEmpty(t, Means(key), key)
		if !regexp.MustCompile(`(?m)^\[?` + key + `(\]| =).* # ` + regexp.QuoteMeta(Means(key)) + "(; see below)?$").Match(page) {
			t.Errorf("cmd/cursord/README.md, Settings, has no line of %s with the words of its row in config.go: %s = … # %s", key, key, Means(key))
		}
	}
	require.Empty(t, Means("nothing"))
}

// TestChoices: each choice of a key is allowed, and keys without a short list of values have none.
func TestChoices(t *testing.T) {
	t.Parallel()
	for _, s := range settings(&Config{}) {
		for _, choice := range s.choices {
			_, err := Set("c", nil, s.key, choice)
			require.NoError(t, err, s.key)
			require.Contains(t, s.allowed, choice, s.key)
		}
	}
	require.Equal(t, []string{"true", "false"}, Choices("auto_review"))
	require.ElementsMatch(t, []string{"end", "wait"}, Choices("background"))
	require.Equal(t, []string{"none", "copy"}, Choices("isolation"))
	for _, key := range []string{"model", "idle_exit", "copies", "isolation_of", "nothing"} {
		require.Empty(t, Choices(key), key)
	}
}

// TestSetRepairsAWrongValue: Set replaces a value that is not allowed, and leaves other mistakes as they are.
func TestSetRepairsAWrongValue(t *testing.T) {
	t.Parallel()
	const wrong = "idle_exit = \"5x\" # soon\nkeep_sessions = -1\nisolation = \"yes\"\nmodel = \"m\"\n"
	c, _, err := Parse("c", []byte(wrong))
	var all Mistakes
	require.ErrorAs(t, err, &all)
	require.Len(t, all, 3)
	require.True(t, all.Of("idle_exit"))
	require.False(t, all.Of("model"))
	require.ErrorContains(t, err, "c:1: idle_exit must be")
	require.ErrorContains(t, err, "c:2: keep_sessions must be")
	usual := Default()
	usual.Model = "m"
	require.Equal(t, usual, c, "wrong values have no effect")

	_, err = Set("c", []byte(wrong), "idle_exit", "6x")
	require.ErrorContains(t, err, "idle_exit must be")
	data := []byte(wrong)
	for _, pair := range [][2]string{{"idle_exit", "30m"}, {"keep_sessions", "0"}, {"isolation", "copy"}} {
		data, err = Set("c", data, pair[0], pair[1])
		require.NoError(t, err, pair)
	}
	require.Equal(t, "idle_exit = \"30m\" # soon\nkeep_sessions = 0\nisolation = \"copy\"\nmodel = \"m\"\n", string(data))
	_, _, err = Parse("c", data)
	require.NoError(t, err)
}

// TestSet changes a value in its place and keeps all other bytes.
func TestSet(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, key, value, want string }{
		"empty":               {"", "model", "gpt-5", "model = \"gpt-5\"\n"},
		"no line end":         {"# mine", "model", "gpt-5", "# mine\nmodel = \"gpt-5\"\n"},
		"with a comment":      {"a = 1\nmodel = \"x # y\"  # why\nidle_exit = \"1h\"\n", "model", "z", "a = 1\nmodel = \"z\"  # why\nidle_exit = \"1h\"\n"},
		"a number":            {"parallel_turns=1", "parallel_turns", "2", "parallel_turns = 2"},
		"a duration":          {"idle_exit = '5m'\r\n", "idle_exit", "30m", "idle_exit = \"30m\"\r\n"},
		"zero in quotes":      {"", "keep_age", "0", "keep_age = \"0\"\n"},
		"TOML":                {"", "add_dirs", `["/a", "/b"]`, "add_dirs = [\"/a\", \"/b\"]\n"},
		"a list of lines":     {"add_dirs = [\n  \"/a\", # one\n]\nmodel = \"m\"\n", "add_dirs", "[]", "add_dirs = []\nmodel = \"m\"\n"},
		"before tables":       {"model = \"m\"\n\n[isolation_of]\n\"/model\" = \"copy\"\n", "sandbox", "enabled", "model = \"m\"\nsandbox = \"enabled\"\n\n[isolation_of]\n\"/model\" = \"copy\"\n"},
		"a key in quotes":     {"\"model\" = \"m\"\n", "model", "n", "model = \"n\"\n"},
		"not in another text": {"remote_program = '''\nmodel = \"m\"\n'''\n", "model", "n", "remote_program = '''\nmodel = \"m\"\n'''\nmodel = \"n\"\n"},
		"quotes in a text":    {"", "model", `a"b`, "model = \"a\\\"b\"\n"},
	} {
		got, err := Set("c", []byte(tt.before), tt.key, tt.value)
		require.NoError(t, err, name)
		require.Equal(t, tt.want, string(got), name)
	}
	for _, tt := range [][3]string{
		{"", "parallel_turns", "many"}, {"", "sandbox", "on"}, {"", "isolation_of", "{}"}, {"model = ", "model", "x"}, {"", "modle", "x"},
	} {
		_, err := Set("c", []byte(tt[0]), tt[1], tt[2])
		require.Error(t, err, tt)
	}
}

// TestUnset removes a key with its whole lines, and leaves the rest.
func TestUnset(t *testing.T) {
	for _, c := range []struct {
		name, file, key, want string
		there                 bool
		err                   string
	}{
		{"one of several", "# a\nmodel = \"m\" # why\ncopies = 3\n", "model", "# a\ncopies = 3\n", true, ""},
		{"of several lines", "ssh = [\n \"ssh\",\n]\ncopies = 3", "ssh", "copies = 3", true, ""},
		{"a wrong value", "copies = \"x\"\nmodel = 3\n", "copies", "model = 3\n", true, ""},
		{"not a setting", "modle = 1\n", "modle", "", true, ""},
		{"not there", "model = \"m\"\n", "copies", "model = \"m\"\n", false, ""},
		{"no file", "", "copies", "", false, ""},
		{"a table", "[isolation_of]\n\"/x\" = \"copy\"\n", "isolation_of", "", false, "isolation_of is a table: edit the file"},
		{"no TOML", "model = what", "model", "", false, "c.toml:1: "},
	} {
		got, there, err := Unset("c.toml", []byte(c.file), c.key)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, string(got), c.name)
		require.Equal(t, c.there, there, c.name)
	}
}
