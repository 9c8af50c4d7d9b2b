package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"cursord/agent/failure"
)

// A NotFound says why there is no agent to run.
type NotFound struct {
	Why    string // one sentence
	Named  bool   // a wrong program is named; cursor-agent may still be installed
	Silent string // the path of a program that may be Cursor's and has not said so in time; or ""
}

func (n *NotFound) Error() string {
	if n.Named || n.Silent != "" {
		return n.Why
	}
	return "cursor-agent is not installed: " + n.Why
}

// HintNamed says what to do if the named program is not cursor-agent.
const HintNamed = "make it name cursor-agent, or remove it so that PATH is searched; to install cursor-agent: " + failure.CommandInstall

// Hint says what to do.
func (n *NotFound) Hint() string {
	switch {
	case n.Named:
		return HintNamed
	case n.Silent != "":
		return "try again in a moment; if it never answers, check `" + n.Silent + " --version` says, or " +
			"set CURSORD_AGENT to where cursor-agent is"
	}
	return failure.HintInstall
}

// wrong says what is wrong with the program that is named.
func (at Place) wrong(why string) *NotFound {
	return &NotFound{Why: fmt.Sprintf("%s names %s, %s", at.by(), at.Program, why), Named: true}
}

// whyNot says why the program at a path cannot be run, after a search for it has failed.
func whyNot(path string) string {
	info, statErr := os.Stat(path)
	switch {
	case statErr == nil && info.IsDir():
		return "which is a folder"
	case statErr == nil:
		return "which is not executable"
	case !errors.Is(statErr, fs.ErrNotExist):
		if pathErr := (*fs.PathError)(nil); errors.As(statErr, &pathErr) {
			statErr = pathErr.Err
		}
		return "which cannot be read: " + statErr.Error()
	}
	if to, linkErr := os.Readlink(path); linkErr == nil {
		return "a link to " + to + ", which is not there"
	}
	return "which is not there"
}

// CannotRun returns the failure to start the program at a path.
func CannotRun(path string, err error) *failure.Error {
	e := &failure.Error{Kind: failure.KindNotInstalled, Message: "cannot run cursor-agent at " + path, Hint: failure.HintInstall, Detail: err.Error()}
	info, statErr := os.Stat(path)
	switch {
	case statErr != nil || info.IsDir():
		e.Message += ", " + whyNot(path)
	case errors.Is(err, fs.ErrNotExist):
		e.Message += ": the file exists, but the program in its first line, or a library, is missing"
	case errors.Is(err, fs.ErrPermission):
		e.Message += ": it is not executable"
	}
	return e
}
