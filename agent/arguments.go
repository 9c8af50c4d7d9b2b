package agent

import (
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cursord/agent/failure"
	"cursord/agent/plaintext"
	"cursord/agent/program"
)

// An argument is an option of the agent's command line.
type argument struct {
	words []string // the option, and its value where it has one
	// spare says that the turn works as well without the option: a build that does not know it gets none. An option that
	// decides what may be written, read or run is never spare.
	spare bool
}

func needed(words ...string) argument { return argument{words: words} }
func spare(words ...string) argument  { return argument{words: words, spare: true} }

// name returns the option without a value that is joined to it.
func (a argument) name() string { return optionName(a.words[0]) }

func optionName(word string) string {
	name, _, _ := strings.Cut(word, "=")
	return name
}

// arguments returns all options of a run, whatever the build knows.
func (r *Request) arguments() []argument {
	model := r.Model
	if model == "" {
		model = "auto"
	}
	list := []argument{
		needed("-p"), needed("--output-format", "stream-json"),
		spare("--stream-partial-output"), // the Decoder takes both
		spare("--trust"),                 // a build without it asks for no trust
		needed("--model", model), needed("--workspace", r.Dir),
		spare("--disable-auto-update"), // else another build may run the next turn
	}
	if !r.AwaitBackground {
		list = append(list, spare("--background-shell-timeout", strconv.Itoa(graceSeconds(r.BackgroundGrace))))
	}
	if r.Mode != "" && r.Mode != "agent" {
		list = append(list, needed("--mode", r.Mode))
	}
	if r.Force {
		list = append(list, needed("--force"))
	}
	if r.Sandbox != "" {
		list = append(list, needed("--sandbox", r.Sandbox))
	}
	if r.AutoReview {
		list = append(list, needed("--auto-review"))
	}
	for _, dir := range r.AddDirs {
		list = append(list, needed("--add-dir", dir))
	}
	switch id := r.Resume; {
	case strings.HasPrefix(id, "-"): // the agent would take it for an option
		list = append(list, needed("--resume="+id))
	case id != "":
		list = append(list, needed("--resume", id))
	}
	return list
}

// defaultGrace is how long an agent waits for its background commands when the request does not say.
const defaultGrace = 30 * time.Second

// graceSeconds returns a grace in whole seconds, as --background-shell-timeout takes it.
func graceSeconds(grace time.Duration) int {
	if grace <= 0 {
		grace = defaultGrace
	}
	return int((grace + time.Second - 1) / time.Second)
}

// knowsTimeout reports whether the arguments have an option by which the agent itself ends its background commands.
func (r *run) knowsTimeout() bool {
	return slices.ContainsFunc(r.args, func(a argument) bool { return a.name() == "--background-shell-timeout" })
}

// command makes the command line, without the spare options that the build is known to lack.
func (r *run) command() (*exec.Cmd, error) {
	var args []string
	for _, a := range r.args {
		args = append(args, a.words...)
	}
	cmd := exec.Command(r.req.Bin, args...)
	cmd.Dir = r.req.Dir
	cmd.Env = append(append(program.Environment(r.req.Base), "PWD="+r.req.Dir), r.req.Env...)
	if r.req.Enter != nil {
		return cmd, r.req.Enter(cmd)
	}
	return cmd, nil
}

// without returns the arguments less the spare ones that the build lacks.
func without(args []argument, lacks []string) []argument {
	return slices.DeleteFunc(args, func(a argument) bool { return a.spare && slices.Contains(lacks, a.name()) })
}

// unknownOption matches the agent's complaint about an option that it does not know (the words are those of its library,
// commander).
var unknownOption = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)unknown option ['"‘’` + "`" + `]?(-[^\s'"‘’` + "`" + `]+)`)
})

// refused returns the argument that the agent did not know, if it ended for that reason before it said anything.
func (r *run) refused(out Outcome) (argument, bool) {
	if out.Status != Failed || r.dec.heard {
		return argument{}, false
	}
	for _, said := range []string{r.stderr.String(), r.bare.String()} {
		m := unknownOption().FindStringSubmatch(plaintext.StripANSI(said))
		if m == nil {
			continue
		}
		for _, a := range r.args {
			if a.name() == optionName(m[1]) {
				return a, true
			}
		}
	}
	return argument{}, false
}

// lacking returns the failure of a turn that needs an option which the build does not know.
func (r *Request) lacking(option, detail string) *failure.Error {
	build := "this build"
	if r.Version != "" {
		build = r.Version
	}
	return &failure.Error{
		Kind: failure.KindFailed, Message: "cursor-agent " + build + " does not know the option " + option + ", which this turn needs",
		Hint: "update it with `cursor-agent update`, or start the turn without " + option, Detail: detail,
	}
}
