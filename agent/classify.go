package agent

import (
	"fmt"
	"strings"
)

// The kinds of a RunError.
const (
	kindFailed       = "agentFailed"
	kindNotInstalled = "agentNotInstalled"
	kindNotLoggedIn  = "agentNotLoggedIn"
	kindModel        = "modelUnavailable"
	kindLimit        = "usageLimit"
	kindUntrusted    = "workspaceUntrusted"
	kindCrashed      = "agentCrashed"
	kindHung         = "agentHung"
	kindProtocol     = "protocol"
)

const (
	hintLogin   = "run `cursor-agent login`, or set CURSOR_API_KEY"
	hintModel   = "choose one of the models that `cursor-agent models` lists, or \"auto\""
	hintInstall = "install it with `curl https://cursor.com/install -fsS | bash`, or set CURSORD_AGENT to where it is"
)

func (e *RunError) Error() string { return e.Message }

// A complaint is a text of the agent that says why it does not go on.
type complaint struct {
	words []string // all of them, in lower case
	kind  string
	say   string // for people; "" takes the agent's own words
	hint  string
}

// complaints are looked for in this order, so that the cause comes before what only follows from it.
func complaints() []complaint {
	return []complaint{
		{[]string{"authentication required"}, kindNotLoggedIn, "cursor-agent is not logged in", hintLogin},
		{[]string{"not logged in"}, kindNotLoggedIn, "cursor-agent is not logged in", hintLogin},
		{[]string{"api key is invalid"}, kindNotLoggedIn, "cursor-agent refused the API key", "set CURSOR_API_KEY to a valid key, or unset it and run `cursor-agent login`"},
		{[]string{"invalid api key"}, kindNotLoggedIn, "cursor-agent refused the API key", "set CURSOR_API_KEY to a valid key, or unset it and run `cursor-agent login`"},
		{[]string{"[unauthenticated]"}, kindNotLoggedIn, "cursor-agent is not logged in", hintLogin},
		{[]string{"hit your usage limit"}, kindLimit, "", "wait until the limit resets, or raise it in Cursor's settings"},
		{[]string{"spend limit"}, kindLimit, "", "wait until the limit resets, or raise it in Cursor's settings"},
		{[]string{"usage limit"}, kindLimit, "", "wait until the limit resets, or raise it in Cursor's settings"},
		{[]string{"named models unavailable"}, kindModel, "", "choose the model \"auto\""},
		{[]string{"free plans can only use auto"}, kindModel, "", "choose the model \"auto\""},
		{[]string{"cannot use this model"}, kindModel, "", hintModel},
		{[]string{"workspace trust required"}, kindUntrusted, "cursor-agent does not trust this directory", "run `cursord trust` in it"},
		{[]string{"workspace directory does not exist"}, kindFailed, "", ""},
		{[]string{"agent looping detected"}, kindFailed, "the agent stopped because it was going round in circles", "say the request differently or choose another model"},
		{[]string{"nonretriableerror:"}, kindFailed, "", ""},
		{[]string{"retriableerror:"}, kindFailed, "", "try again later"},
		{[]string{"actionrequirederror:"}, kindFailed, "", ""},
		{[]string{"enoent", "cli-config.json"}, kindFailed, "cursor-agent lost a race for its own configuration file", "try again"},
		{[]string{"allowed choices are"}, kindFailed, "", ""},
		{[]string{"invalid --new-session-id"}, kindFailed, "", ""},
		{[]string{"is already in use"}, kindFailed, "", ""},
	}
}

// classify finds a known complaint in a text of one or more lines.
func classify(text string) (*RunError, bool) {
	low := strings.ToLower(text)
	for _, c := range complaints() {
		if !containsAll(low, c.words) {
			continue
		}
		e := &RunError{Kind: c.kind, Message: c.say, Hint: c.hint}
		if e.Message == "" {
			e.Message = complaintLine(text, c.words[0])
		}
		return e, true
	}
	return nil, false
}

func containsAll(low string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(low, w) {
			return false
		}
	}
	return true
}

// complaintLine returns the line with the words, without the agent's own decoration and long lists.
func complaintLine(text, words string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(strings.ToLower(line), words) {
			return plain(line)
		}
	}
	return plain(text)
}

// plain makes a line of the agent's output fit for a message.
func plain(line string) string {
	line = strings.TrimSpace(stripANSI(line))
	for _, prefix := range []string{"⚠", "Warning:", "Error:", "✗", "❌"} {
		line = strings.TrimSpace(strings.TrimPrefix(line, prefix))
	}
	if i := strings.Index(line, "Available models:"); i > 0 {
		line = strings.TrimSpace(line[:i])
	}
	const most = 500
	if len(line) > most {
		line = cutAt(line, most) + "…"
	}
	return line
}

// lastWords picks the line that most likely says what went wrong: the last that calls itself an error, else the last.
func lastWords(text string) string {
	var last, lastError string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(stripANSI(line)); line == "" {
			continue
		}
		last = line
		if low := strings.ToLower(line); strings.HasPrefix(low, "error") || strings.Contains(low, "error:") {
			lastError = line
		}
	}
	if lastError != "" {
		return plain(lastError)
	}
	return plain(last)
}

// An ending is all that is known about a run that gave no successful result.
type ending struct {
	result   *Result  // the failed result, or nil
	failures []string // errors in the stream, in order
	bare     string   // lines of stdout that were no JSON
	stderr   string
	objects  bool // the stream had at least one JSON object
	exit     exit
}

// An exit is how the process ended.
type exit struct {
	code   int    // as the shell counts it, 128+n for a signal; -1 if unknown
	signal string // the name of the signal that ended it, or ""
}

func (x exit) String() string {
	if x.signal != "" {
		return "signal " + x.signal
	}
	return fmt.Sprintf("exit code %d", x.code)
}

// explain says why a run failed.
func (end ending) explain() *RunError {
	e := end.cause()
	e.Detail = detail(end.bare + "\n" + end.stderr)
	return e
}

// detail keeps the end of what the agent said, in 8 KiB.
func detail(text string) string {
	text = strings.TrimSpace(stripANSI(text))
	const most = 8 << 10
	if over := len(text) - most; over > 0 {
		text = "…" + strings.ToValidUTF8(text[over:], "")
	}
	return text
}

func (end ending) cause() *RunError {
	said := strings.Join(end.failures, "\n")
	if end.result != nil {
		for _, text := range []string{end.result.Error, said, end.bare, end.stderr} {
			if e, ok := classify(text); ok {
				return e
			}
		}
		for _, text := range []string{end.result.Error, lastWords(said), lastWords(end.stderr)} {
			if text != "" {
				return &RunError{Kind: kindFailed, Message: text}
			}
		}
		return &RunError{Kind: kindFailed, Message: "the agent reported a failure and did not say which"}
	}
	if e, ok := classify(strings.Join([]string{said, end.bare, end.stderr}, "\n")); ok {
		return e
	}
	if len(end.failures) > 0 {
		return &RunError{Kind: kindFailed, Message: lastWords(said)}
	}
	killed := end.exit.signal != "" || end.exit.code > 128
	switch {
	case killed:
		return &RunError{Kind: kindCrashed, Message: fmt.Sprintf("the agent was ended from outside (%v)", end.exit), Hint: "try again"}
	case end.exit.code == 0:
		return &RunError{Kind: kindProtocol, Message: "the agent ended without saying how its work ended", Hint: "look at what it did and try again"}
	case end.stderr == "" && !end.objects && end.bare != "" && !strings.Contains(strings.ToLower(end.bare), "error"):
		return &RunError{Kind: kindProtocol, Message: "the program did not speak cursor-agent's protocol: " + lastWords(end.bare),
			Hint: "check that CURSORD_AGENT names cursor-agent"}
	case strings.TrimSpace(end.stderr) != "":
		return &RunError{Kind: kindFailed, Message: lastWords(end.stderr)}
	case end.bare != "":
		return &RunError{Kind: kindFailed, Message: lastWords(end.bare)}
	}
	return &RunError{Kind: kindCrashed, Message: fmt.Sprintf("the agent died without a word (%v)", end.exit), Hint: "try again"}
}
