package agent

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"cursord/agent/process"
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

func (e *RunError) Error() string { return e.Message }

// classify finds a known complaint in a text of one or more lines, with or without colours, wrapped or not. begun says that
// the agent had begun its work: complaints about its start are then somebody else's words, such as those of a server
// that it runs.
func classify(text string, begun bool) (*RunError, bool) {
	if i := complaintIn(text, begun); i < len(complaints) {
		return complaints[i].failure(text), true
	}
	return nil, false
}

// complaintIn returns the index of the first complaint that a text has, or their number.
func complaintIn(text string, begun bool) int {
	text = stripANSI(text)
	low := strings.ToLower(strings.Join(strings.Fields(text), " "))
	codes := errorCode.FindAllStringSubmatch(text, -1)
	for i, c := range complaints {
		if c.early && begun {
			continue
		}
		if c.codeIn(codes) != "" || len(c.words) > 0 && containsAll(low, c.words) {
			return i
		}
	}
	return len(complaints)
}

// failure says for people what is wrong by a text that has the complaint.
func (c complaint) failure(text string) *RunError {
	text = stripANSI(text)
	e := &RunError{Kind: c.kind, Message: c.say, Hint: c.hint}
	if code := c.codeIn(errorCode.FindAllStringSubmatch(text, -1)); code != "" {
		e.Message += " (" + code + ")"
		if line := complaintLine(text, strings.ToLower(code)); saysMore(line) {
			e.Message = line
		}
	} else if e.Message == "" {
		e.Message = complaintLine(text, c.words[0])
	}
	return e
}

// errorCode finds names such as OUTDATED_CLIENT, which the agent may write with ERROR_ in front.
var errorCode = regexp.MustCompile(`\b(?:ERROR_)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b`)

// codeIn returns the first of the codes that the complaint has.
func (c complaint) codeIn(found [][]string) string {
	for _, f := range found {
		for _, pattern := range c.codes {
			if ok, _ := path.Match(pattern, f[1]); ok {
				return f[1]
			}
		}
	}
	return ""
}

// saysMore reports whether a line with a code has a sentence, too.
func saysMore(line string) bool {
	words := 0
	for _, w := range strings.Fields(line) {
		if !errorCode.MatchString(w) && !strings.HasSuffix(w, ":") && !strings.HasPrefix(w, "[") && !strings.ContainsAny(w, "{}") {
			words++
		}
	}
	return words >= 3
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
	text = strings.Join(strings.Fields(text), " ") // it is wrapped
	if at := strings.Index(strings.ToLower(text), words); at > 0 && at < len(text) {
		text = text[strings.LastIndex(text[:at], ". ")+1:]
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
	exit     process.Exit
}

// signalled says what it means that a signal, and not of ours, ended the agent; nil if none did. The agent catches INT and TERM and then
// exits as a shell would say it.
func signalled(x process.Exit) *RunError {
	e := &RunError{Kind: kindCrashed, Message: fmt.Sprintf("the agent was ended from outside (%v)", x), Hint: hintEnded}
	switch x.Killer() {
	case "":
		return nil
	case "SIGKILL":
		e.Hint = hintKilled
	case "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGSEGV", "SIGSYS":
		e.Message, e.Hint = fmt.Sprintf("the agent crashed (%v)", x), hintCrashed
	}
	return e
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
		for i, text := range []string{end.result.Error, said, end.bare, end.stderr} {
			if e, ok := classify(text, i > 1); ok {
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
	rest := end.bare + "\n" + end.stderr
	if own, other := complaintIn(said, false), complaintIn(rest, end.objects); own < len(complaints) && own <= other {
		return complaints[own].failure(said)
	} else if other < len(complaints) {
		return complaints[other].failure(rest)
	}
	if len(end.failures) > 0 {
		return &RunError{Kind: kindFailed, Message: lastWords(said)}
	}
	if e := signalled(end.exit); e != nil {
		return e
	}
	switch {
	case end.exit.Code == 0:
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
