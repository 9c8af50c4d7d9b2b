package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/copytree"
	"cursord/daemon/internal/allow"
	"cursord/diffs"
)

func ruleOf(t *testing.T, command string) allow.Rule {
	rule, err := allow.Parse(command)
	require.NoError(t, err)
	return rule
}

func TestConfig(t *testing.T) {
	with := func(change func(*Config)) Config {
		c := Default()
		change(&c)
		return c
	}
	turnEnd := func(words ...string) Config { return with(func(c *Config) { c.OnTurnEnd = words }) }
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	tests := []struct {
		name, file string
		want       Config
		warnings   []string
		err        string
	}{
		{name: "empty", want: Default()},
		{name: "all", want: Config{
			Agent: "/opt/agent", FileAgent: "/opt/agent", ClientEnv: true, Driver: DriverACP, Model: "m", IdleExit: time.Hour, AgentIdleTimeout: time.Second,
			AgentToolTimeout: 90 * time.Minute, BackgroundGrace: 5 * time.Second, AwaitBackground: true, ParallelTurns: 3, TellRejections: true, CommitAccepts: true, RecapSize: 2 << 10, HistorySize: 128 << 20,
			Keep: Retention{Age: 90 * 24 * time.Hour, Sessions: 500, Size: 3 << 30}, Large: diffs.Limits{MaxBytes: 1 << 20, MaxLines: 5000},
			SSH: []string{"ssh", "-p", "2222"}, RemotePaths: []string{"/here=/there"}, RemoteProgram: "~/bin/cursord", AttemptCheck: "make test", AttemptCheckTime: time.Hour,
			LogLevel: slog.LevelDebug,
			Sandbox:  "enabled", AutoReview: true, AddDirs: []string{"/src/lib", filepath.Join(home, "lib")},
			Isolation: "copy", Overlays: true, IsolationOf: map[string]string{"/some/where": "none", filepath.Join(home, "no such"): "copy"},
			Copy:   copytree.Options{Include: []string{".env", "web/node_modules"}, MaxFiles: 1000, MaxBytes: 1 << 30},
			Copies: copytree.Bounds{Count: 3, Bytes: 5 << 30, Age: 48 * time.Hour},

			OnTurnEnd: []string{"notify-send", "{summary}"}, OnApproval: []string{"notify-send", "{title}"}, ApprovalTimeout: 5 * time.Minute,
			Approve: []Approve{
				{Command: "go test", Rule: ruleOf(t, "go test")},
				{Command: "cd web && npm test", Rule: ruleOf(t, "cd web && npm test"), Folder: filepath.Join(home, "no such")},
			},
		}, file: `
			# a comment
			agent = "/opt/agent"
			agent_env = "client"
			driver = "acp"
			model = "m"
			idle_exit = "1h"
			agent_idle_timeout = "1s"
			agent_tool_timeout = "1h30m"
			background = "wait"
			background_grace = "5s"
			parallel_turns = 3
			tell_rejections = true
			commit_accepts = true
			recap_size = "2KB"
			history_size = "128MB"
			keep_age = "90d"
			keep_sessions = 500
			keep_size = "3 GiB"
			large_size = "1MB"
			large_lines = 5000
			isolation = "copy"
			isolation_tree = "auto"
			sandbox = "enabled"
			auto_review = true
			add_dirs = ["/src/lib/", "~/lib"]
			copy_include = [".env", "web/node_modules"]
			copy_files = 1000
			copy_size = "1GB"
			copies = 3
			copies_size = "5GB"
			copies_age = "2d"
			ssh = ["ssh", "-p", "2222"]
			remote_paths = ["/here=/there"]
			remote_program = "~/bin/cursord"
			attempt_check = " make test "
			attempt_check_timeout = "1h"
			log_level = "debug"
			on_turn_end = ["notify-send", "{summary}"]
			on_approval = ["notify-send", "{title}"]
			approval_timeout = "5m"
			[isolation_of]
			"/some/where" = "none"
			"~/no such" = "copy"
			[[approve]]
			command = "go test"
			[[approve]]
			command = "cd web && npm test"
			folder = "~/no such/"`},
		{name: "off", file: "tell_rejections = false\ncommit_accepts = false",
			want: with(func(c *Config) { c.TellRejections, c.CommitAccepts = false, false })},
		{name: "no truth", file: `commit_accepts = "no"`, err: "c.toml:1: commit_accepts must be true or false"},
		{name: "never idle", file: `idle_exit = "0"`, want: with(func(c *Config) { c.IdleExit = 0 })},
		{name: "below home", file: `agent = "~/bin/a"`, want: with(func(c *Config) { c.Agent = filepath.Join(home, "bin/a"); c.FileAgent = c.Agent })},
		{name: "a name", file: `agent = "agent"`, want: with(func(c *Config) { c.Agent, c.FileAgent = "agent", "agent" })},
		{name: "level in capitals", file: `log_level = "WARN"`, want: with(func(c *Config) { c.LogLevel = slog.LevelWarn })},
		{name: "unknown keys", file: "modle = 1\n\n[turns]\nmax = 2\n", want: Default(), warnings: []string{
			`c.toml:1: unknown key "modle"; did you mean model? ("cursord config" lists all keys)`,
			`c.toml:3: unknown key "turns" ("cursord config" lists all keys)`,
		}},

		{name: "a shell that gets words of others as a program", file: `on_turn_end = ["sh", "-c", "echo {title} >> log"]`,
			err: `c.toml:1: on_turn_end has {title} in the program that sh gets, which would run what others have written; give it as an argument`},
		{name: "a login shell", file: `on_turn_end = ["/usr/bin/env", "A=b", "/bin/bash", "-o", "pipefail", "-lc", "echo '{summary}'"]`, err: `on_turn_end has {summary} in the program that bash gets`},
		{name: "another language", file: `on_turn_end = ["python3.12", "-c", "print('{workspace}')"]`, err: `on_turn_end has {workspace} in the program that python3.12 gets`},
		{name: "tmux", file: `on_turn_end = ["tmux", "display-message", "{title}"]`, err: `on_turn_end has {title} in what tmux expands`},
		{name: "words of others as arguments", file: `on_turn_end = ["sh", "-ec", "echo \"$1\" {status}", "_", "{title}"]`, want: turnEnd("sh", "-ec", `echo "$1" {status}`, "_", "{title}")},
		{name: "a script of one's own", file: `on_turn_end = ["bash", "mine.sh", "-c", "{title}"]`, want: turnEnd("bash", "mine.sh", "-c", "{title}")},
		{name: "tmux that expands nothing", file: `on_turn_end = ["tmux", "display-message", "-l", "{title}"]`, want: turnEnd("tmux", "display-message", "-l", "{title}")},

		{name: "a shell that gets what an agent asks", file: `on_approval = ["sh", "-c", "echo {summary}"]`,
			err: `as in ["sh", "-c", "echo \"$1\" >> ~/approvals.log", "_", "{title}"], or read the approval from stdin, which has it as JSON`},
		{name: "an unknown word", file: `on_approval = ["notify-send", "{bogus}"]`,
			err: `c.toml:1: on_approval has {bogus}, for which nothing is put in; the words are {kind}, {approval}, {title}, {summary}, {prompt}, {status}, {workspace}, {session}, {turn}`},
		{name: "a misspelt word", file: `on_turn_end = ["notify-send", "a: {titel}"]`, err: `on_turn_end has {titel}, for which nothing is put in; did you mean {title}?`},
		{name: "a word of the other setting", file: `on_turn_end = ["notify-send", "{kind}"]`, err: `on_turn_end has {kind}, for which nothing is put in`},
		{name: "braces of languages", file: `on_turn_end = ["sh", "-c", "jq {result}", "${HOME}", "{}"]`, want: turnEnd("sh", "-c", "jq {result}", "${HOME}", "{}")},
		{name: "a program with braces", file: `on_turn_end = ["jq", "{result}"]`, want: turnEnd("jq", "{result}")},
		{name: "days", file: `approval_timeout = "2d"`, want: with(func(c *Config) { c.ApprovalTimeout = 48 * time.Hour })},

		{name: "no approvals", file: `approve = []`, want: Default()},
		{name: "a rule that is no table", file: `approve = ["go test"]`, err: `c.toml:1: approve must be tables [[approve]]`},
		{name: "one table for all rules", file: "[approve]\ncommand = \"go test\"", err: `c.toml:1: approve must be tables [[approve]]`},
		{name: "a rule without a command", file: "[[approve]]\nfolder = \"/x\"", err: `c.toml:1: approve number 1 has the command "", which names no command; write the beginning of a command line`},
		{name: "a rule that is a script", file: "[[approve]]\ncommand = \"a\"\n[[approve]]\ncommand = \"if a; then b; fi\"", err: `c.toml:3: approve number 2 has the command "if a; then b; fi", which is more than simple commands`},
		{name: "a rule for a relative folder", file: "[[approve]]\ncommand = \"a\"\nfolder = \"src\"", err: `approve number 1 has the folder "src", which is not an absolute path`},
		{name: "a rule with a misspelt folder", file: "[[approve]]\ncommand = \"a\"\nfoldr = \"/src\"", err: `approve number 1 has "foldr", which this version does not know`},
		{name: "an approval in no time", file: `approval_timeout = "0"`, err: `approval_timeout must be a duration of at least "1s"`},
		{name: "no TOML", file: "\nagent = what", err: "c.toml:2: "},
		{name: "a type", file: "agent = 7", err: `c.toml:1: agent must be the agent's executable, such as`},
		{name: "a relative path", file: `agent = "bin/a"`, err: `agent must be`},
		{name: "a table", file: "[model]\nx = 1", err: `c.toml:1: model must be the id of a model`},
		{name: "a number for a duration", file: "idle_exit = 30", err: `idle_exit must be a duration such as "30m", or "0" for never`},
		{name: "a duration without unit", file: `idle_exit = "30"`, err: `idle_exit must be a duration`},
		{name: "a negative duration", file: `idle_exit = "-1s"`, err: `idle_exit must be a duration`},
		{name: "a zero timeout", file: `agent_idle_timeout = "0"`, err: `agent_idle_timeout must be a duration of at least "1ms"`},
		{name: "a background that is neither", file: `background = "keep"`, err: `background must be "end" or "wait"`},
		{name: "no grace", file: `background_grace = "0s"`, err: `background_grace must be a duration of at least "1ms"`},
		{name: "a zero tool timeout", file: `agent_tool_timeout = "0"`, err: `agent_tool_timeout must be a duration of at least "1ms"`},
		{name: "a check that ends at once", file: `attempt_check_timeout = "0"`, err: `attempt_check_timeout must be a duration of at least "1s"`},
		{name: "no turns", file: `parallel_turns = 0`, err: `c.toml:1: parallel_turns must be a number from 1 to 64, not 0`},
		{name: "many turns", file: `parallel_turns = 65`, err: `parallel_turns must be a number from 1 to 64`},
		{name: "half a turn", file: `parallel_turns = 1.5`, err: `parallel_turns must be a number from 1 to 64`},
		{name: "a long recap", file: `recap_size = "2MB"`, err: `recap_size must be a size from "1KB" to "1MB"`},
		{name: "a size without unit", file: `recap_size = "2048"`, want: with(func(c *Config) { c.RecapSize = 2048 })},
		{name: "a number for a size", file: `keep_size = 5`, err: `keep_size must be a size such as "2GB", or "0" for no limit`},
		{name: "an odd unit", file: `keep_size = "5 miles"`, err: `keep_size must be a size`},
		{name: "a huge size", file: `keep_size = "9999999999GB"`, err: `keep_size must be a size`},
		{name: "an age in hours", file: `keep_age = "36h"`, want: with(func(c *Config) { c.Keep.Age = 36 * time.Hour })},
		{name: "an age too short", file: `keep_age = "5s"`, err: `keep_age must be a duration of at least "1h", such as "90d", or "0" for ever`},
		{name: "a long age", file: `keep_age = "999999999d"`, err: `keep_age must be a duration`},
		{name: "fewer than none", file: `keep_sessions = -1`, err: `keep_sessions must be a number of at least 1, or 0 for no limit, not -1`},
		{name: "a copy without files", file: `copy_files = 0`, err: `copy_files must be a number of at least 1, not 0`},
		{name: "a copy without bytes", file: `copy_size = "0"`, err: `copy_size must be a size of at least "1B", such as "8GB", not "0"`},
		{name: "a driver", file: `driver = "lsp"`, err: `driver must be "print" or "acp"`},
		{name: "an isolation", file: `isolation = "yes"`, err: `isolation must be "none" or "copy"`},
		{name: "a sandbox", file: `sandbox = "on"`, err: `sandbox must be "enabled" or "disabled"`},
		{name: "a review that is no truth", file: `auto_review = "yes"`, err: `auto_review must be true or false`},
		{name: "a relative folder", file: `add_dirs = ["lib"]`, err: `add_dirs must be a list of absolute paths of folders`},
		{name: "one folder", file: `add_dirs = "/lib"`, err: `add_dirs must be a list`},
		{name: "a relative workspace", file: "[isolation_of]\n\"app\" = \"copy\"", err: `isolation_of must be a table of workspaces' absolute paths`},
		{name: "a workspace's isolation", file: "[isolation_of]\n\"/app\" = \"yes\"", err: `isolation_of must be a table`},
		{name: "no table", file: "isolation_of = 3", err: `isolation_of must be a table of workspaces' absolute paths, each "none" or "copy", not 3`},
		{name: "one name", file: `copy_include = ".env"`, err: `copy_include must be a list of names`},
		{name: "a level", file: "\n\nlog_level = \"loud\"", err: `c.toml:3: log_level must be "debug", "info", "warn" or "error", not "loud"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, key := range Keys() {
				if test.name == "all" && !regexp.MustCompile(`(?m)^\s*\[*`+key+`( =|\])`).MatchString(test.file) {
					t.Errorf("sets no %s: add it to the file of this test and to want", key)
				}
			}
			c, warnings, err := parseConfig("c.toml", []byte(test.file))
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.warnings, warnings)
			for _, key := range Keys() { // one line for each, before all of both
				want, _ := test.want.Text(key)
				if is, _ := c.Text(key); is != want {
					t.Errorf("%s is %s, want %s", key, is, want)
				}
			}
			if !t.Failed() {
				require.Equal(t, test.want, c)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CURSORD_AGENT", "")
	c, warnings, err := Load(filepath.Join(dir, "none", "config.toml"))
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, Default(), c)

	path := filepath.Join(dir, "config.toml")
	require.NoError(t, os.WriteFile(path, []byte(`parallel_turns = 2`), 0o600))
	c, _, err = Load(path)
	require.NoError(t, err)
	require.Equal(t, 2, c.ParallelTurns)
	require.Empty(t, c.AgentBy)
	require.NoError(t, os.WriteFile(path, []byte(`agent = "/opt/other"`), 0o600))
	c, _, err = Load(path)
	require.NoError(t, err)
	require.Equal(t, "the setting agent in "+path, c.AgentBy)

	t.Setenv("CURSORD_AGENT", "/opt/agent")
	c, _, err = Load(path)
	require.NoError(t, err)
	require.Equal(t, "/opt/agent", c.Agent)
	require.Equal(t, "CURSORD_AGENT in the daemon's environment", c.AgentBy)
	t.Setenv("CURSORD_AGENT", "bin/agent")
	_, _, err = Load(path)
	require.ErrorContains(t, err, `CURSORD_AGENT is "bin/agent"`)

	_, _, err = Load(dir)
	require.ErrorContains(t, err, dir)
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte("agent = \"a\"\nidle_exit = \"1m\"\nparallel_turns = 2\nlog_level = \"info\"\n"))
	f.Add([]byte("[model]\nx.y = [1, {a = 2}]\n"))
	f.Add([]byte("agent = \"\"\"\nagent = 1\"\"\"\n\"model\" = 'm'"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := parseConfig("c.toml", data)
		if err != nil {
			require.Regexp(t, `^c\.toml(:\d+)?: `, err.Error())
			return
		}
		require.GreaterOrEqual(t, c.IdleExit, time.Duration(0))
		require.Positive(t, c.AgentIdleTimeout)
		require.Positive(t, c.AgentToolTimeout)
		require.GreaterOrEqual(t, c.ParallelTurns, 1)
		require.LessOrEqual(t, c.ParallelTurns, 64)
	})
}

// TestReadmeHasEverySetting: the command line's README shows every setting with its default, and the shown file loads.
func TestReadmeHasEverySetting(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "cmd", "cursord", "README.md"))
	require.NoError(t, err)
	for _, s := range settings(new(Config)) {
		if !regexp.MustCompile(`(?m)^(` + s.key + ` = |\[` + s.key + `\])`).Match(readme) {
			t.Errorf("cmd/cursord/README.md, Settings, does not show %s", s.key)
		}
	}
	_, block, found := strings.Cut(string(readme), "```toml\n")
	require.True(t, found)
	block, _, _ = strings.Cut(block, "```")
	shown, warnings, err := parseConfig("config.toml", []byte(block))
	require.NoError(t, err)
	require.Empty(t, warnings)
	usual := Default()
	for _, key := range Keys() {
		if slices.Contains([]string{"agent", "isolation_of", "sandbox"}, key) { // these have no default
			continue
		}
		is, _ := shown.Text(key)
		want, _ := usual.Text(key)
		require.Equal(t, want, is, "%s: the page shows another value than holds without the file", key)
	}
}

// TestMend says how a person mends the file, and nothing about what no edit of the file mends.
func TestMend(t *testing.T) {
	for file, want := range map[string]string{
		"idle_exit = 30":                 "mend it with: cursord config set idle_exit VALUE, cursord config unset idle_exit, or cursord config edit",
		"idle_exit = 30\ncopies = \"x\"": "mend the file with: cursord config edit",
		"isolation_of = 3":               "mend the file with: cursord config edit",
		"model = what":                   "mend the file with: cursord config edit",
		"":                               "",
	} {
		_, _, err := Parse("c.toml", []byte(file))
		require.Equal(t, want, Mend("c.toml", err), file)
	}
	require.Empty(t, Mend("c.toml", os.ErrPermission))
}
