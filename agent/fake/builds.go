package fake

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What a build of the agent does that others do not, beside its options. The values are the names in history.
const (
	traitTimes      = "times of messages"
	traitModelCalls = "ids of model calls"
	traitNote       = "message of an edit"
	traitThinking   = "reasoning"
	traitBackground = "isBackground"
	traitTrust      = "trust"
	traitUnified    = "unified diffs"
	traitSiblings   = "siblings of the tool"
	traitUsage      = "usage"
	traitWaits      = "waits for background shells"
	traitNotifies   = "task_notification"
	traitTextFormat = "text is the default format"
	traitSandbox    = "sandbox"

	traitACP         = "acp"
	traitSessionList = "session/list"
	traitCancel      = "session/cancel"
	traitOpenEdits   = "open edits"
	traitSteers      = "prompts that steer"
)

// A fact says since which build something is so.
type fact struct {
	since string // a build's date or the beginning of one; "" where nothing says that there were builds without it
	name  string // an option, or a trait
	takes string // of an option: "value", "maybe" where its value may be left out, or ""
	what  string
}

// history is what differs between builds. A date is that of the first build of which somebody reports the thing, so
// that builds before it may have had it unnoticed. agent/testdata/README.md shows the dated rows.
var history = []fact{
	{"", "-p", "", ""}, {"", "--print", "", ""}, {"", "-v", "", ""}, {"", "--version", "", ""},
	{"", "-f", "", ""}, {"", "--force", "", ""}, {"", "--yolo", "", ""}, {"", "--approve-mcps", "", ""},
	{"", "--output-format", "value", ""}, {"", "--model", "value", ""}, {"", "--list-models", "", ""},
	{"", "--mode", "value", ""}, {"", "--plan", "", ""}, {"", "--workspace", "value", ""},
	{"", "--resume", "maybe", ""}, {"", "--continue", "", ""}, {"", "--browser", "", ""},
	{"", "--api-key", "value", ""}, {"", "-H", "value", ""}, {"", "--header", "value", ""},
	{"", "-e", "value", ""}, {"", "--endpoint", "value", ""}, {"", "--plugin-dir", "value", ""},
	{"", "-c", "", ""}, {"", "--cloud", "", ""}, {"", "-b", "", ""}, {"", "--background", "", ""},
	{"", "-w", "maybe", ""}, {"", "--worktree", "maybe", ""}, {"", "--worktree-base", "value", ""}, {"", "--skip-worktree-setup", "", ""},
	{"", "--format", "value", ""},

	{"2025.10", "--stream-partial-output", "", "text in pieces, which a flush before a tool call and the last message repeat"},
	{"2025.10", traitTimes, "", "pieces and messages before a tool call have `timestamp_ms`, the last message has none"},
	{"2025.10", traitModelCalls, "", "messages before a tool call, and calls, have `model_call_id`: a UUID, from 2026.01 the request's with a count"},
	{"2026.01", traitNote, "", "an edit's result has `message`, before it was `resultForModel`; its args have `streamContent`"},
	{"2026.01", "--sandbox", "value", "takes `enabled` or `disabled`; on Linux without effect in August 2026"},
	{"2026.02", "--trust", "", "trusts the folder for this run"},
	{"2026.02", traitTrust, "", "a folder that is not trusted ends the run before `init`, without `--trust` or `--force`"},
	{"2026.02", traitThinking, "", "`thinking/delta` and `thinking/completed`"},
	{"2026.02", traitBackground, "", "`isBackground` beside the outcome of a shell call"},
	{"2026.02", traitACP, "", "`acp` serves the Agent Client Protocol; ids of calls there are reused and may hold a newline, and inputs come after the announcement"},
	{"2026.04", traitUnified, "", "`diffString` has headers and hunks, with the absolute path behind `b/`; before, lines with a prefix"},
	{"2026.07", traitSiblings, "", "`toolCallId`, `startedAtMs`, `completedAtMs` and `hookAdditionalContexts` beside the tool's key"},
	{"2026.07", traitUsage, "", "`usage` in the result"},
	{"2026.08", traitWaits, "", "the run waits for shells in the background, without limit, before its result"},
	{"2026.08", traitSessionList, "", "`session/list` in ACP"},
	{"2026.08", traitCancel, "", "`session/cancel` in ACP; before, it is an unknown method (-32601)"},
	{"2026.08.25", traitSteers, "", "in ACP a prompt during a turn adds to it; before, it cancels the turn"},
	{"2026.08.31", traitOpenEdits, "", "edits in ACP stay `in_progress`"},
	{"2026.09.02", traitNotifies, "", "a shell that ends begins another turn of the same run, behind `system/task_notification`"},
	{"2026.09.02", "--background-shell-timeout", "value", "bounds that wait, in seconds from the turn's end, and says `system/background_shell_timeout`"},
	{"2026.09.15", "--single-turn", "", "does not wait for shells in the background"},
	{"2026.09.15", "--disable-auto-update", "", "without it a run may replace the program"},
	{"2026.09.15", "--new-session-id", "value", "the id of a new chat: a UUIDv4 that no chat has"},
	{"2026.09.15", "--auto-review", "", "a classifier decides; a call that it holds back never completes"},
	{"2026.09.15", "--add-dir", "value", "another folder, which must be trusted"},
	{"2026.09.15", traitSandbox, "", "`--sandbox enabled` holds commands, and ends the run where the system has no sandbox"},
	{"2026.10", traitTextFormat, "", "`--output-format` left out means `text`; before, the documents say `stream-json`"},
	{"2026.10", "--allowed-tools", "value", "hidden"}, {"2026.10", "--exclude-tools", "value", "hidden"},
	{"2026.10", "--show-thinking", "", "hidden"}, {"2026.10", "--disable-project-configs", "", "hidden"},
	{"2026.10", "--data-dir", "value", "hidden"}, {"2026.10", "--auth-token", "value", "hidden"},
	{"2026.10", "-k", "", "hidden"}, {"2026.10", "--insecure", "", "hidden"}, {"2026.10", "--printenv", "", "hidden"},
	{"2026.10", "--harness", "value", "hidden"}, {"2026.10", "--agent-endpoint", "value", "hidden"},
	{"2026.10", "--conversation-history-file", "value", "hidden, without effect"},
}

// knownBuilds are builds that are known by their whole name.
var knownBuilds = []string{
	"2026.02.13-41ac335", "2026.08.04-aaa8809", "2026.08.11-e8db854", "2026.08.25-3e8eec8", "2026.09.02-c22c1a3",
	"2026.09.10-fd3934a", "2026.09.28-64d2043", "2026.10.01-e373342",
}

// A build is the build of the agent that the stand-in behaves like.
type build struct {
	version string // as --version prints it
	chosen  bool   // somebody asked for it; otherwise the stand-in knows what the newest does and refuses less
}

func (b build) has(name string) bool {
	i := slices.IndexFunc(history, func(f fact) bool { return f.name == name })
	return i >= 0 && history[i].since <= b.version
}

// option returns what an option of the build takes, if the build knows it.
func (b build) option(name string) (takes string, known bool) {
	if !strings.HasPrefix(name, "-") || !b.has(name) {
		return "", false
	}
	i := slices.IndexFunc(history, func(f fact) bool { return f.name == name })
	return history[i].takes, true
}

var buildName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^20\d\d\.(0[1-9]|1[0-2])(\.\d\d(-[0-9a-f]{7})?)?$`)
})

// parseBuild understands "2026.09.28-64d2043", "2026.09.28" and "2026.09". What is left out is made up, unless a
// known build has that date.
func parseBuild(name string) (build, error) {
	if !buildName().MatchString(name) {
		return build{}, fmt.Errorf("fake-agent: %q names no build: write it like 2026.09.28 or 2026.09.28-64d2043", name)
	}
	if len(name) == len("2026.09") {
		name += ".01"
	}
	if len(name) == len("2026.09.28") {
		i := slices.IndexFunc(knownBuilds, func(known string) bool { return strings.HasPrefix(known, name) })
		if i >= 0 {
			name = knownBuilds[i]
		} else {
			name += "-fa4e000"
		}
	}
	return build{version: name, chosen: true}, nil
}

// buildOf takes --build off the front of the arguments. Without it CURSORD_FAKE_BUILD names the build.
func buildOf(args []string) (build, []string, error) {
	if len(args) > 0 {
		name, given := strings.CutPrefix(args[0], "--build=")
		switch {
		case given:
			args = args[1:]
		case args[0] == "--build" && len(args) == 1:
			return build{}, nil, fmt.Errorf("fake-agent: --build needs the name of a build, like 2026.09.28")
		case args[0] == "--build":
			name, args, given = args[1], args[2:], true
		}
		if given {
			b, err := parseBuild(name)
			return b, args, err
		}
	}
	name := os.Getenv("CURSORD_FAKE_BUILD")
	if name == "" {
		return build{version: Version}, args, nil
	}
	if strings.ContainsRune(name, filepath.Separator) {
		b, err := installedBuild(name, args)
		return b, args, err
	}
	b, err := parseBuild(name)
	return b, args, err
}

// installedBuild reads the build from the first line of a file. A headless run that may update the program takes that
// line off, as long as another build follows.
func installedBuild(path string, args []string) (build, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return build{}, err
	}
	name, next, _ := strings.Cut(string(data), "\n")
	b, err := parseBuild(strings.TrimSpace(name))
	if err != nil {
		return b, err
	}
	headless := slices.Contains(args, "-p") || slices.Contains(args, "--print")
	if headless && strings.TrimSpace(next) != "" && !slices.Contains(args, "--disable-auto-update") {
		beside := path + ".new"
		if err := os.WriteFile(beside, []byte(next), 0o600); err != nil {
			return b, err
		}
		return b, os.Rename(beside, path)
	}
	return b, nil
}
