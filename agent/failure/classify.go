package failure

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"

	"cursord/agent/plaintext"
	"cursord/agent/process"
)

// The kinds of an Error, as clients see them. KindCheck is that of a command that runs in place of an agent.
const (
	KindFailed       = "agentFailed"
	KindNotInstalled = "agentNotInstalled"
	KindNotLoggedIn  = "agentNotLoggedIn"
	KindModel        = "modelUnavailable"
	KindLimit        = "usageLimit"
	KindUntrusted    = "workspaceUntrusted"
	KindCrashed      = "agentCrashed"
	KindHung         = "agentHung"
	KindProtocol     = "protocol"
	KindCheck        = "checkFailed"
)

// Kinds returns all kinds of failures.
func Kinds() []string {
	return []string{KindFailed, KindNotInstalled, KindNotLoggedIn, KindModel, KindLimit, KindUntrusted, KindCrashed, KindHung, KindProtocol, KindCheck}
}

// An Error says why the agent, or a question to it, failed. Kind is one of Kinds.
type Error struct {
	Kind    string
	Message string // for people; says what to do next, if that is known
	Hint    string
	Detail  string // the end of stderr and the like, at most some 8 KiB
}

func (e *Error) Error() string { return e.Message }

// Classify finds a known complaint in a text of one or more lines, with or without colours and wrapping. begun says that the
// agent had begun its work: complaints about its start are then words of something else, such as a server that it runs.
func Classify(text string, begun bool) (*Error, bool) {
	if i := complaintIn(text, begun); i < len(complaints) {
		return complaints[i].failure(text), true
	}
	return nil, false
}

// complaintIn returns the index of the first complaint in a text, or the number of complaints.
func complaintIn(text string, begun bool) int {
	text = plaintext.StripANSI(text)
	low := strings.ToLower(strings.Join(strings.Fields(text), " "))
	codes := errorCode().FindAllStringSubmatch(text, -1)
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

// failure returns the Error for a text that has the complaint.
func (c complaint) failure(text string) *Error {
	text = plaintext.StripANSI(text)
	e := &Error{Kind: c.kind, Message: c.say, Hint: c.hint}
	if code := c.codeIn(errorCode().FindAllStringSubmatch(text, -1)); code != "" {
		e.Message += " (" + code + ")"
		if line := complaintLine(text, strings.ToLower(code)); saysMore(line) {
			e.Message = line
		}
	} else if e.Message == "" {
		e.Message = complaintLine(text, c.words[0])
	}
	return e
}

// errorCode matches names such as OUTDATED_CLIENT, which the agent may write with ERROR_ in front.
var errorCode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:ERROR_)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b`) })

// codeIn returns the first of the found codes that the complaint has.
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

// saysMore reports whether a line with a code also has a sentence.
func saysMore(line string) bool {
	words := 0
	for _, w := range strings.Fields(line) {
		if !errorCode().MatchString(w) && !strings.HasSuffix(w, ":") && !strings.HasPrefix(w, "[") && !strings.ContainsAny(w, "{}") {
			words++
		}
	}
	return words >= 3
}

// containsAll reports whether a text in lower case has all the words.
func containsAll(low string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(low, w) {
			return false
		}
	}
	return true
}

// complaintLine returns the line with the words, without the agent's decoration and without long lists.
func complaintLine(text, words string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(strings.ToLower(line), words) {
			return Plain(line)
		}
	}
	text = strings.Join(strings.Fields(text), " ") // it is wrapped
	if at := strings.Index(strings.ToLower(text), words); at > 0 && at < len(text) {
		text = text[strings.LastIndex(text[:at], ". ")+1:]
	}
	return Plain(text)
}

// Plain makes a line of the agent's output fit for a message.
func Plain(line string) string {
	line = strings.TrimSpace(plaintext.StripANSI(line))
	for _, prefix := range []string{"⚠", "Warning:", "Error:", "✗", "❌"} {
		line = strings.TrimSpace(strings.TrimPrefix(line, prefix))
	}
	if i := strings.Index(line, "Available models:"); i > 0 {
		line = strings.TrimSpace(line[:i])
	}
	const most = 500
	if len(line) > most {
		line = plaintext.Cut(line, most) + "…"
	}
	return line
}

// lastWords returns the line that most likely says what went wrong: the last that calls itself an error, else the last.
func lastWords(text string) string {
	var last, lastError string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(plaintext.StripANSI(line)); line == "" {
			continue
		}
		last = line
		if low := strings.ToLower(line); strings.HasPrefix(low, "error") || strings.Contains(low, "error:") {
			lastError = line
		}
	}
	if lastError != "" {
		return Plain(lastError)
	}
	return Plain(last)
}

// An Ending is everything that is known about a run without a successful result.
type Ending struct {
	Result   *string  // the error of the failed result; nil if there was none
	Failures []string // errors in the stream, in order
	Bare     string   // lines of stdout that were no JSON
	Stderr   string
	Objects  bool // the stream had at least one JSON object
	Exit     process.Exit
}

// signalled returns the Error for an agent that a signal ended which we did not send; nil if none did. The agent catches INT
// and TERM and then exits with a shell's code for them.
func signalled(x process.Exit) *Error {
	e := &Error{Kind: KindCrashed, Message: fmt.Sprintf("another program ended the agent (%v)", x), Hint: hintEnded}
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

// Explain returns why a run failed.
func (end Ending) Explain() *Error {
	e := end.cause()
	e.Detail = Detail(end.Bare + "\n" + end.Stderr)
	return e
}

// Detail returns the end of the agent's output, at most 8 KiB.
func Detail(text string) string {
	text = strings.TrimSpace(plaintext.StripANSI(text))
	const most = 8 << 10
	if over := len(text) - most; over > 0 {
		text = "…" + strings.ToValidUTF8(text[over:], "")
	}
	return text
}

func (end Ending) cause() *Error {
	said := strings.Join(end.Failures, "\n")
	if end.Result != nil {
		for i, text := range []string{*end.Result, said, end.Bare, end.Stderr} {
			if e, ok := Classify(text, i > 1); ok {
				return e
			}
		}
		for _, text := range []string{*end.Result, lastWords(said), lastWords(end.Stderr)} {
			if text != "" {
				return &Error{Kind: KindFailed, Message: text}
			}
		}
		return &Error{Kind: KindFailed, Message: "the agent reported a failure without a reason", Hint: "look at what it did and try again"}
	}
	rest := end.Bare + "\n" + end.Stderr
	if own, other := complaintIn(said, false), complaintIn(rest, end.Objects); own < len(complaints) && own <= other {
		return complaints[own].failure(said)
	} else if other < len(complaints) {
		return complaints[other].failure(rest)
	}
	if len(end.Failures) > 0 {
		return &Error{Kind: KindFailed, Message: lastWords(said)}
	}
	if e := signalled(end.Exit); e != nil {
		return e
	}
	switch {
	case end.Exit.Code == 0:
		return &Error{Kind: KindProtocol, Message: "the agent ended without a result", Hint: "look at what it did and try again"}
	case end.Stderr == "" && !end.Objects && end.Bare != "" && !strings.Contains(strings.ToLower(end.Bare), "error"):
		return &Error{Kind: KindProtocol, Message: "the program did not speak cursor-agent's protocol: " + lastWords(end.Bare),
			Hint: "check that CURSORD_AGENT names cursor-agent"}
	case strings.TrimSpace(end.Stderr) != "":
		return &Error{Kind: KindFailed, Message: lastWords(end.Stderr)}
	case end.Bare != "":
		return &Error{Kind: KindFailed, Message: lastWords(end.Bare)}
	}
	return &Error{Kind: KindCrashed, Message: fmt.Sprintf("the agent crashed without output (%v)", end.Exit), Hint: "try again"}
}

// LostRace reports whether a text says that a start of the agent lost the configuration file to another start.
func LostRace(text string) bool {
	return containsAll(strings.ToLower(text), []string{"enoent", "cli-config.json"})
}
