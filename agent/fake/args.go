package fake

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// An invocation is the agent's command line, understood.
type invocation struct {
	build   build
	now     func() time.Time
	words   []string // what is no option
	print   bool
	version bool
	models  bool
	partial bool
	trust   bool
	force   bool
	review  bool // --auto-review
	single  bool // --single-turn
	output  string
	format  string // of what status and about say
	sandbox string
	ending  atomic.Bool   // a signal ends the agent
	patient time.Duration // how long it waits for shells in the background; negative: without limit
	dir     string        // absolute
	fresh   string        // --new-session-id
	session string
	model   string
	mode    string
	prompt  string
}

// parseArgs understands the options that a build knows, and refuses others as it does.
func parseArgs(build build, args []string) (*invocation, error) {
	r := &invocation{build: build, model: "auto", mode: "agent", patient: -1}
	if build.chosen && !build.has(traitTextFormat) {
		r.output = "stream-json"
	}
	workspace := ""
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			r.words = append(r.words, args...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			r.words = append(r.words, arg)
			continue
		}
		name, value, given := strings.Cut(arg, "=")
		takes, known := build.option(name)
		if !known {
			return nil, fmt.Errorf("error: unknown option '%s'", name)
		}
		switch {
		case given || takes == "":
		case takes == "maybe" && (len(args) == 0 || strings.HasPrefix(args[0], "-")):
		case len(args) == 0:
			return nil, fmt.Errorf("error: option '%s' argument missing", name)
		default:
			value, args = args[0], args[1:]
		}
		if name == "--workspace" {
			workspace = value
		} else if err := r.set(name, value); err != nil {
			return nil, err
		}
	}
	if r.format != "" && (r.print || len(r.words) == 0 || !slices.Contains([]string{"status", "whoami", "about"}, r.words[0])) {
		return nil, errors.New("error: unknown option '--format'")
	}
	dir, err := filepath.Abs(workspace)
	if err != nil {
		return nil, fmt.Errorf("Error: %w", err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("Error: Workspace directory does not exist: %s", workspace)
	}
	r.dir = dir
	return r, r.open()
}

func (r *invocation) set(name, value string) error {
	on := map[string]*bool{
		"-p": &r.print, "--print": &r.print, "-v": &r.version, "--version": &r.version, "--list-models": &r.models,
		"-f": &r.force, "--force": &r.force, "--yolo": &r.force, "--trust": &r.trust, "--auto-review": &r.review,
		"--single-turn": &r.single, "--stream-partial-output": &r.partial,
	}
	text := map[string]*string{
		"--output-format": &r.output, "--format": &r.format, "--model": &r.model, "--resume": &r.session, "--new-session-id": &r.fresh,
	}
	switch {
	case on[name] != nil:
		*on[name] = true
		return nil
	case text[name] != nil:
		*text[name] = value
		return nil
	}
	switch name {
	case "--plan":
		r.mode = "plan"
	case "--mode":
		if value != "plan" && value != "ask" {
			return fmt.Errorf("error: option '--mode <mode>' argument '%s' is invalid. allowed choices are plan, ask", value)
		}
		r.mode = value
	case "--sandbox":
		if r.build.chosen && value != "enabled" && value != "disabled" {
			return fmt.Errorf("error: option '--sandbox <mode>' argument '%s' is invalid. allowed choices are enabled, disabled", value)
		}
		r.sandbox = value
	case "--background-shell-timeout":
		s, err := strconv.ParseFloat(value, 64)
		if err != nil || s < 0 || s > 1e6 {
			return complaint(fmt.Sprintf("error: option '--background-shell-timeout <seconds>' argument '%s' is invalid.", value))
		}
		r.patient = time.Duration(s * float64(time.Second))
	}
	return nil
}

// A complaint is an error in the agent's own words, full stop and all.
type complaint string

func (c complaint) Error() string { return string(c) }

var uuid4 = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$`)
})

// open settles the chat's id. Ids that a caller chose are remembered below CURSOR_CONFIG_DIR, where that is set, since no
// two chats may have the same.
func (r *invocation) open() error {
	if r.fresh != "" {
		if !uuid4().MatchString(r.fresh) {
			return complaint(fmt.Sprintf("Error: Invalid --new-session-id \"%s\": expected a UUIDv4.", r.fresh))
		}
		if config := os.Getenv("CURSOR_CONFIG_DIR"); config != "" {
			taken := filepath.Join(config, "fake-chats", r.fresh)
			if _, err := os.Stat(taken); err == nil {
				return complaint(fmt.Sprintf("Error: Session ID \"%s\" is already in use.", r.fresh))
			}
			if err := os.MkdirAll(taken, 0o700); err != nil {
				return fmt.Errorf("Error: %w", err)
			}
		}
		r.session = r.fresh
	}
	if r.session == "" {
		r.session = newUUID()
	}
	return nil
}
