// Package config reads the user's configuration file, config.toml: its keys, their defaults and their allowed values. It
// keeps no state: the caller that loads a Config owns it. A value that is not allowed is an error that names file, line and
// key; an unknown key is a warning.
package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"cursord/daemon/config/similar"
	"cursord/daemon/copytree"
	"cursord/daemon/endpoint"
	"cursord/daemon/internal/atomicfile"
	"cursord/diffs"
)

// A Config has the values of the user's configuration file. The function settings has the keys, and the values that each may
// have.
type Config struct {
	Agent            string            // the agent's executable; "": look for it
	AgentBy          string            // the setting or variable that names Agent, for people
	FileAgent        string            // the file's value; CURSORD_AGENT overrides it
	ClientEnv        bool              // whether agents get the environment of the client that starts the turn; false: the daemon's
	Driver           string            // of sessions that name none: "print" or "acp"
	Model            string            // for sessions that name none; "": "auto"
	IdleExit         time.Duration     // end a daemon that nobody has used for this time; 0: never
	AgentIdleTimeout time.Duration     // an agent without output for this time counts as hung
	AgentToolTimeout time.Duration     // the same while one of its tools runs
	BackgroundGrace  time.Duration     // how long an agent that has finished its answer may wait for background commands
	AwaitBackground  bool              // such an agent may wait without limit
	ParallelTurns    int               // how many turns that may write run at once in a workspace
	TellRejections   bool              // report rejected hunks to the agent
	CommitAccepts    bool              // a person's commit accepts the changes that it contains
	RecapSize        int               // the most bytes of a transcript that a recap (turn/start) gives an agent
	HistorySize      int64             // the most bytes that a workspace keeps of what was accepted
	Keep             Retention         // which sessions are kept
	Sandbox          string            // of turns that name none: "enabled" or "disabled"; "": the agent's own settings decide
	AutoReview       bool              // for turns that do not set it
	AddDirs          []string          // for turns that name none; absolute paths
	Isolation        string            // of sessions that name none: "none" or "copy"
	IsolationOf      map[string]string // isolation of new sessions, by workspace
	Large            diffs.Limits      // limits above which a file is reviewed as a whole
	Overlays         bool              // isolated sessions get overlays where the system allows that, and copies elsewhere
	Copy             copytree.Options
	Copies           copytree.Bounds // limits for copies; copies with something to review are always kept
	SSH              []string        // the command that reaches other machines
	RemotePaths      []string        // HERE=THERE: folders whose paths differ on the other machine
	RemoteProgram    string          // how to run cursord on the other machine, for its shell
	AttemptCheck     string          // a command line for a shell, run in the copy of each attempt; "": none
	AttemptCheckTime time.Duration   // how long it may take
	OnTurnEnd        []string        // a command to run at the end of each turn; empty: none
	OnApproval       []string        // a command to run when the agent asks a person; empty: none
	ApprovalTimeout  time.Duration   // what nobody answers for this time is denied
	Approve          []Approve       // commands that the agent need not ask for
	LogLevel         slog.Level
}

// A Retention bounds the sessions that are kept; 0 is no bound. Sessions that are busy or under review are always kept.
type Retention struct {
	Age      time.Duration // since the last change
	Sessions int           // in all workspaces together
	Size     int64         // bytes
}

// Default returns the configuration without a file.
func Default() Config {
	return Config{
		Driver:           DriverPrint,
		IdleExit:         30 * time.Minute,
		AgentIdleTimeout: 30 * time.Minute,
		AgentToolTimeout: 2 * time.Hour,
		BackgroundGrace:  30 * time.Second,
		ApprovalTimeout:  30 * time.Minute,
		ParallelTurns:    1,
		TellRejections:   true,
		CommitAccepts:    true,
		RecapSize:        64 << 10,
		HistorySize:      64 << 20,
		Isolation:        IsolationNone,
		Large:            diffs.Limits{MaxBytes: 8 << 20, MaxLines: 200_000},
		Copy:             copytree.Options{MaxFiles: 200_000, MaxBytes: 8 << 30},
		Copies:           copytree.Bounds{Count: 20, Bytes: 50 << 30, Age: 30 * 24 * time.Hour},
		SSH:              []string{"ssh"},
		RemoteProgram:    "cursord",
		AttemptCheckTime: 10 * time.Minute,
		LogLevel:         slog.LevelInfo,
	}
}

// Load reads a configuration file in TOML; a missing file counts as empty. The variable CURSORD_AGENT overrides the file's
// agent. Unknown keys give warnings and no errors, so that an older version can read a newer file. Errors name the file, the
// key and the allowed values. If the error is Mistakes, the Config has the defaults of their keys.
func Load(path string) (Config, []string, error) {
	data, err := endpoint.ReadConfig(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil, fmt.Errorf("configuration: %w", err)
	}
	c, warnings, wrong := parseConfig(path, data)
	if wrong != nil && !errors.As(wrong, new(Mistakes)) {
		return Config{}, nil, wrong
	}
	if c.Agent != "" {
		c.AgentBy = "the setting agent in " + path
	}
	if v := os.Getenv(EnvAgent); v != "" {
		c.AgentBy = EnvAgent + " in the daemon's environment"
		if c.Agent, err = Executable(v); err != nil {
			return Config{}, nil, fmt.Errorf("CURSORD_AGENT is %q: it must be an absolute path, or a name to find on PATH", v)
		}
	}
	return c, warnings, wrong
}

// EnvAgent is the variable that names the agent.
const EnvAgent = "CURSORD_AGENT"

// A setting is one key of the file.
type setting struct {
	key     string
	means   string
	allowed string // completes "must be …"
	value
}

// settings returns all keys, in the order in which "cursord config" lists them. Their set functions change c.
func settings(c *Config) []setting {
	agent, model := text(&c.Agent, Executable), text(&c.Model, trimmed)
	agent.get = func() any { return c.FileAgent }
	model.get = func() any { return cmp.Or(c.Model, "auto") }
	return []setting{
		{"agent", "the agent's program; else cursor-agent, or Cursor's agent, on PATH; CURSORD_AGENT overrides it", `the agent's executable, such as "~/.local/bin/cursor-agent": a path, or a name to find on PATH`, agent},
		{"agent_env", `"client": agents get the environment of the client that starts the turn`, `"daemon" or "client": whose environment agents get`, either(&c.ClientEnv, EnvClient, EnvDaemon)},
		{"driver", `of new sessions; "acp": the agent asks you for permission, and its questions`, `"print" or "acp"`, text(&c.Driver, CheckDriver).of(DriverPrint, DriverACP)},
		{"model", "for sessions that name none", `the id of a model, such as "auto"`, model},
		{"idle_exit", `the daemon ends when nobody has used it for so long; "0": never`, `a duration such as "30m", or "0" for never`, span(&c.IdleExit, 0)},
		{"agent_idle_timeout", "an agent that says nothing for so long is ended", `a duration of at least "1ms", such as "30m"`, span(&c.AgentIdleTimeout, time.Millisecond)},
		{"agent_tool_timeout", "the same while a tool runs", `a duration of at least "1ms", such as "2h"`, span(&c.AgentToolTimeout, time.Millisecond)},
		{"background", `"end": commands left in the background are ended after the agent's last word; "wait": the turn waits for them`, `"end" or "wait"`, either(&c.AwaitBackground, "wait", "end")},
		{"background_grace", `how long nothing may have come after that word before "end" ends them`, `a duration of at least "1ms", such as "30s"`, span(&c.BackgroundGrace, time.Millisecond)},
		{"parallel_turns", "turns that may write in a work tree at once; isolated sessions have trees of their own", "a number from 1 to 64", count(&c.ParallelTurns, 1, 64)},
		{"tell_rejections", "the next prompt says briefly what you rejected", "true or false", truth(&c.TellRejections)},
		{"commit_accepts", "committing a hunk accepts it", "true or false", truth(&c.CommitAccepts)},
		{"recap_size", "of the transcript that --recap gives the agent", `a size from "1KB" to "1MB", such as "64KB"`, size(&c.RecapSize, 1<<10, 1<<20)},
		{"history_size", "of what was accepted and committed in a workspace, for rewind and why; the oldest goes first", `a size such as "64MB"`, size(&c.HistorySize, 0, math.MaxInt64)},
		{"keep_age", `"90d": sessions that have not changed for so long are deleted; "0": never`, `a duration of at least "1h", such as "90d", or "0" for ever`, age(&c.Keep.Age)},
		{"keep_sessions", "the latest so many are kept; 0: all", "a number of at least 1, or 0 for no limit", count(&c.Keep.Sessions, 0, math.MaxInt32)},
		{"keep_size", `"2GB": the latest that take so much are kept; "0": all`, `a size such as "2GB", or "0" for no limit`, size(&c.Keep.Size, 0, math.MaxInt64)},
		{"large_size", "a larger file is reviewed as a whole, not by lines", `a size from "1KB" to "64MB", such as "8MB"`, size(&c.Large.MaxBytes, 1<<10, atomicfile.MaxSize)},
		{"large_lines", "a file with more lines is reviewed as a whole as well", "a number of at least 1", count(&c.Large.MaxLines, 1, math.MaxInt32)},
		{"isolation", `"copy": agents of new sessions work in copies of their workspaces`, `"none" or "copy"`, text(&c.Isolation, CheckIsolation).of(IsolationNone, "copy")},
		{"isolation_of", "isolation, by workspace", `a table of workspaces' absolute paths, each "none" or "copy"`, isolations(&c.IsolationOf)},
		{"isolation_tree", `"auto": overlays, which are new, where the system allows that`, `"auto" or "copy"`, either(&c.Overlays, "auto", "copy")},
		{"sandbox", `the agent's sandbox, "enabled" or "disabled"; without it the agent's own settings decide`, `"enabled" or "disabled"`, text(&c.Sandbox, CheckSandbox).of("enabled", "disabled")},
		{"auto_review", "true: a classifier of the agent's decides on commands that would be denied", "true or false", truth(&c.AutoReview)},
		{"add_dirs", `["~/src/lib"]: folders that agents may work in beside the workspace; each must be trusted`, `a list of absolute paths of folders, such as ["~/src/lib"]`, list(&c.AddDirs, folders)},
		{"copy_include", `ignored files and folders that copies get: [".env", "web/node_modules"]; folders are linked`, `a list of names, such as [".env"]`, list(&c.Copy.Include, anything)},
		{"copy_files", "a workspace with more files is not copied", "a number of at least 1", count(&c.Copy.MaxFiles, 1, math.MaxInt32)},
		{"copy_size", "a workspace that is larger is not copied", `a size of at least "1B", such as "8GB"`, size(&c.Copy.MaxBytes, 1, math.MaxInt64)},
		{"copies", "the latest so many copies are kept, and those with something to review; 0: all", "a number of at least 1, or 0 for no limit", count(&c.Copies.Count, 0, math.MaxInt32)},
		{"copies_size", "the same, by their size", `a size such as "50GB", or "0" for no limit`, size(&c.Copies.Bytes, 0, math.MaxInt64)},
		{"copies_age", "the same, by their last use", `a duration of at least "1h", such as "30d", or "0" for ever`, age(&c.Copies.Age)},
		{"ssh", "for --host: the command, with options of yours", `a list of a command and its options, such as ["ssh", "-p", "2222"]`, list(&c.SSH, notEmpty)},
		{"remote_paths", `["/home/me/src=/srv/src"]: folders that have other paths on the other machine`, `a list of pairs of paths, here and there, such as ["/home/me/src=/srv/src"]`, list(&c.RemotePaths, anything)},
		{"remote_program", "cursord on the other machine", `cursord on other machines, such as "~/bin/cursord"`, text(&c.RemoteProgram, asItIs)},
		{"attempt_check", `"make test": a command that is run in the copy of each attempt (cursord run --attempts)`, `a command line such as "make test", or "" for none`, text(&c.AttemptCheck, trimmed)},
		{"attempt_check_timeout", "a check that takes longer is ended", `a duration of at least "1s", such as "10m"`, span(&c.AttemptCheckTime, time.Second)},
		{"on_turn_end", `["notify-send", "{title}", "{summary}"]: a command that is run at the end of each turn`, `a list of a program, an absolute path or a name to find on PATH, and its arguments, such as ["notify-send", "{title}", "{summary}"]`, list(&c.OnTurnEnd, turnEnd)},
		{"on_approval", "the same, when the agent asks you something", `a list of a program, an absolute path or a name to find on PATH, and its arguments, such as ["notify-send", "{title}", "{summary}"]`, list(&c.OnApproval, onApproval)},
		{"approval_timeout", "what nobody answers for so long is denied", `a duration of at least "1s", such as "30m" or "1d"`, span(&c.ApprovalTimeout, time.Second)},
		{"approve", "commands that the agent need not ask for", `tables [[approve]], each with a command, the beginning of a command line, and perhaps a folder, an absolute path`, approvals(&c.Approve)},
		{"log_level", "what the daemon writes to its log", `"debug", "info", "warn" or "error"`, logLevel(&c.LogLevel)},
	}
}

// parseConfig reads data, the content of the file at path.
func parseConfig(path string, data []byte) (Config, []string, error) {
	var values map[string]toml.Primitive
	meta, err := toml.Decode(string(data), &values)
	if err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return Config{}, nil, fmt.Errorf("%s:%d: %s", path, parse.Position.Line, parse.Message)
		}
		return Config{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	c := Default()
	var wrong Mistakes
	known := settings(&c)
	names := make([]string, len(known))
	for i, s := range known {
		names[i] = s.key
		value, ok := values[s.key]
		if !ok {
			continue
		}
		if err := s.set(func(to any) error { return meta.PrimitiveDecode(value, to) }); err != nil {
			why := fmt.Sprintf("%s must be %s%s", s.key, s.allowed, not(meta, value))
			t := trap{}
			if errors.As(err, &t) {
				why = s.key + " " + t.reason
			}
			wrong = append(wrong, Mistake{s.key, position(path, data, s.key, t.table) + ": " + why, t})
		}
	}
	var warnings []string
	for key := range values {
		if !slices.Contains(names, key) {
			warnings = append(warnings, fmt.Sprintf("%s: unknown key %q%s (\"cursord config\" lists all keys)",
				position(path, data, key, 0), key, similar.DidYouMean(key, names)))
		}
	}
	slices.Sort(warnings)
	c.FileAgent = c.Agent
	if wrong != nil {
		return c, warnings, wrong
	}
	return c, warnings, nil
}

// not names a value that is not allowed, if it is short.
func not(meta toml.MetaData, value toml.Primitive) string {
	const short = 60
	var v any
	if meta.PrimitiveDecode(value, &v) != nil {
		return ""
	}
	if text := valueText(v); len(text) <= short && !strings.Contains(text, "\n") {
		return ", not " + text
	}
	return ""
}

// A Mistake is a value that its key does not allow. Text names the file, the key, what is allowed, and the value.
type Mistake struct {
	Key, Text string
	trap      trap
}

// Mistakes are all values of a file that are not allowed.
type Mistakes []Mistake

func (m Mistakes) Error() string {
	texts := make([]string, len(m))
	for i, one := range m {
		texts[i] = one.Text
	}
	return strings.Join(texts, "\n")
}

// Of reports whether a key has one of the mistakes.
func (m Mistakes) Of(key string) bool {
	return slices.ContainsFunc(m, func(one Mistake) bool { return one.Key == key })
}

// Mend says how to mend the file after an error of Load or Parse; "" if the error is not about what the file holds.
func Mend(path string, err error) string {
	var wrong Mistakes
	switch {
	case errors.As(err, &wrong):
		const set = "mend it with: cursord config set %s VALUE, cursord config unset %[1]s, or cursord config edit"
		if len(wrong) > 1 || isTable(wrong[0].Key) {
			return "mend the file with: cursord config edit"
		}
		return fmt.Sprintf(set, wrong[0].Key)
	case err != nil && strings.HasPrefix(err.Error(), path+":"):
		return "mend the file with: cursord config edit"
	}
	return ""
}

// position returns path, with the number of the line that begins with key, behind nth such lines, if there is one.
func position(path string, data []byte, key string, nth int) string {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimLeft(line, " \t[\"'")
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok && bytes.IndexAny(rest, " \t=].\"'") == 0 {
			if nth--; nth >= 0 {
				continue
			}
			return fmt.Sprintf("%s:%d", path, n)
		}
	}
	return path
}
