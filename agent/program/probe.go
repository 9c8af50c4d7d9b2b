package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"cursord/agent/failure"
	"cursord/agent/jsontext"
	"cursord/agent/plaintext"
	"cursord/agent/process"
)

// probeTime is how long the agent may take to answer a question about itself.
const probeTime = 20 * time.Second

// lateTime is how long processes of the agent may hold its pipes after its end.
const lateTime = 500 * time.Millisecond

// An Account is what the agent says about its login.
type Account struct {
	LoggedIn bool
	Name     string // the address or name; "" where the agent does not say
	APIKey   bool   // CURSOR_API_KEY is set; the agent's answer does not say whether the key is valid
	Message  string // the agent's own words, one line
}

// A Model is a model that the agent offers.
type Model struct {
	ID      string // what --model takes
	Name    string
	Current bool // used if no model is named
}

// A Program is the agent's program and the environment in which it runs.
type Program struct {
	Path string
	Env  []string // "K=V"; nil: this process's
}

// Version returns the agent's version. Errors of this and of the other questions are *RunError.
func (p Program) Version(ctx context.Context) (string, error) {
	out, err := p.ask(ctx, "--version")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" {
			return strings.ToValidUTF8(plaintext.Cut(line, maxVersion), "\uFFFD"), nil
		}
	}
	return "", &failure.Error{Kind: failure.KindProtocol, Message: "the agent does not print its version", Hint: "look at what `" + p.Path + " --version` says: it must be cursor-agent"}
}

// Status returns whether somebody is logged in; the login may have expired. Not being logged in is no error.
func (p Program) Status(ctx context.Context) (Account, error) {
	out, err := p.ask(ctx, "status")
	var failed *failure.Error
	if errors.As(err, &failed) && failed.Kind == failure.KindNotLoggedIn {
		out, err = failed.Message, nil
	}
	if err != nil {
		return Account{}, err
	}
	account := parseStatus(out)
	hasKey := slices.ContainsFunc(Environment(p.Env), func(kv string) bool { return strings.HasPrefix(kv, "CURSOR_API_KEY=") })
	account.APIKey = hasKey
	return account, nil
}

// Models returns the models that Cursor's server offers, in its order. An answer proves that the login is valid.
func (p Program) Models(ctx context.Context) ([]Model, error) {
	out, err := p.ask(ctx, "models")
	if err != nil {
		return nil, err
	}
	models := parseModels(out)
	if e, known := failure.Classify(out, false); known && len(models) == 0 {
		return nil, e
	}
	return models, nil
}

// parseStatus reads the answer to status, a text or JSON. An answer that it does not know counts as not logged in.
func parseStatus(out string) Account {
	text := strings.TrimSpace(out)
	if v := jsontext.Value(text); v.IsObject() && json.Valid(v) {
		return statusObject(v)
	}
	var a Account
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		low := strings.ToLower(line)
		if strings.Contains(low, "not logged in") || strings.Contains(low, "not authenticated") {
			return Account{Message: failure.Plain(line)}
		}
		for _, words := range []string{"logged in as", "authenticated as"} {
			if i := strings.Index(low, words); i >= 0 && len(low) == len(line) {
				a = Account{LoggedIn: true, Name: strings.Trim(line[i+len(words):], " :."), Message: failure.Plain(line)}
			}
		}
		if !a.LoggedIn && strings.Contains(low, "logged in") {
			a = Account{LoggedIn: true, Message: failure.Plain(line)}
		}
	}
	if a.Message == "" {
		a.Message = plaintext.OneLine("", text)
	}
	return a
}

func statusObject(v jsontext.Value) Account {
	o := v.Object(nil)
	a := Account{Name: o.Text("email", "userEmail", "account", "user", "name"), Message: o.Text("message")}
	if user := o.Get("userInfo", "user", "account"); a.Name == "" && user.IsObject() {
		a.Name = user.Object(nil).Text("email", "name")
	}
	is, said := o.Get("isAuthenticated", "loggedIn", "isLoggedIn", "authenticated", "logged_in").Bool()
	if status := strings.ToLower(o.Text("status")); !said && status != "" {
		is, said = status == "authenticated" || status == "logged_in" || status == "logged in", true
	}
	a.LoggedIn = is || !said && a.Name != ""
	return a
}

// parseModels reads the answer to models: a heading, lines "id - name (current, default)", and a tip.
func parseModels(out string) []Model {
	models := []Model{}
	for line := range strings.Lines(out) {
		id, name, ok := strings.Cut(strings.TrimSpace(line), " - ")
		if id = strings.TrimSpace(id); !ok || id == "" || strings.ContainsAny(id, " \t:") {
			continue
		}
		m := Model{ID: id, Name: strings.TrimSpace(name)}
		if open := strings.LastIndexByte(m.Name, '('); open >= 0 && strings.HasSuffix(m.Name, ")") {
			marks, known := strings.Split(m.Name[open+1:len(m.Name)-1], ","), true
			for _, mark := range marks {
				mark = strings.TrimSpace(mark)
				known = known && (mark == "current" || mark == "default")
			}
			if known {
				m.Current = strings.Contains(m.Name[open:], "current")
				m.Name = strings.TrimSpace(m.Name[:open])
			}
		}
		models = append(models, m)
	}
	return models
}

// ask runs the agent for a short answer and returns it without terminal sequences.
func (p Program) ask(ctx context.Context, args ...string) (string, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Env = Environment(p.Env)
	cmd.WaitDelay = lateTime
	var stdout, stderr capped
	cmd.Stdout, cmd.Stderr = &stdout, &stderr

	err := process.Run(ctx, cmd)
	out := plaintext.StripANSI(stdout.String())
	var exited *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return out, nil
	case ctx.Err() != nil:
		return "", &failure.Error{Kind: failure.KindHung, Message: fmt.Sprintf("the agent did not answer %q within %v", args[0], time.Since(began).Round(100*time.Millisecond))}
	case errors.As(err, &exited):
		end := failure.Ending{Bare: out, Stderr: stderr.String(), Exit: process.ExitOf(exited.ProcessState)}
		return "", end.Explain()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrPermission):
		return "", CannotRun(p.Path, err)
	}
	return "", &failure.Error{Kind: failure.KindFailed, Message: "cannot start the agent: " + err.Error(), Hint: failure.HintStart}
}

// capped keeps the first MiB that is written to it.
type capped struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write is io.Writer; it never fails.
func (c *capped) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if room := 1<<20 - c.buf.Len(); room > 0 {
		c.buf.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}

func (c *capped) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.buf.String()
}
