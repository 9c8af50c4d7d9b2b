// Package permits has the flags for what the agent may do, beside --mode and --force.
package permits

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

// Flags are what a user has said of the agent's permissions.
type Flags struct {
	sandbox    string
	autoReview bool
	addDirs    []string
}

// Add adds the flags to a command.
func (p *Flags) Add(c *cobra.Command) {
	c.Flags().StringVar(&p.sandbox, "sandbox", "", "enabled (commands run in the agent's sandbox, others are denied) or disabled (default: the session's, else the configuration's)")
	c.Flags().BoolVar(&p.autoReview, "auto-review", false, "let the agent's classifier decide about commands that would be denied; --auto-review=false overrides the session")
	c.Flags().StringArrayVar(&p.addDirs, "add-dir", nil, "also let the agent work in the trusted folder `DIR`; repeatable")
}

// Check finds wrong flags before the daemon is asked.
func (p *Flags) Check(force bool) error {
	switch {
	case p.sandbox != "" && p.sandbox != "enabled" && p.sandbox != "disabled":
		return fmt.Errorf("--sandbox is %q; it must be enabled or disabled", p.sandbox)
	case p.sandbox == "enabled" && force:
		return errors.New("--force turns the agent's sandbox off: it excludes --sandbox enabled")
	case p.autoReview && force:
		return errors.New("--force runs every command, and --auto-review has a classifier decide on them: they exclude each other")
	}
	return nil
}

// Apply sets a turn's parameters from the flags. A relative path counts from the current directory.
func (p *Flags) Apply(c *cobra.Command, params *rpc.TurnStartParams) error {
	if p.sandbox != "" {
		params.Sandbox = &p.sandbox
	}
	if c.Flags().Changed("auto-review") {
		params.AutoReview = &p.autoReview
	}
	if len(p.addDirs) == 0 {
		return nil
	}
	dirs := make([]string, len(p.addDirs))
	for i, dir := range p.addDirs {
		abs, err := naming.ResolveDir(dir)
		if err != nil {
			return err
		}
		if err := checkDir("--add-dir", dir, abs); err != nil {
			return err
		}
		dirs[i] = abs
	}
	params.AddDirs = &dirs
	return nil
}

// Args returns the flags that mean the same as params.
func Args(params *rpc.TurnStartParams) (args []string) {
	if params.Sandbox != nil {
		args = append(args, "--sandbox="+*params.Sandbox)
	}
	if params.AutoReview != nil {
		args = append(args, fmt.Sprintf("--auto-review=%t", *params.AutoReview))
	}
	if params.AddDirs != nil {
		for _, dir := range *params.AddDirs {
			args = append(args, "--add-dir="+dir)
		}
	}
	return args
}

// checkDir returns an error if the directory dir of a flag, whose absolute path is abs, cannot be added.
func checkDir(flag, dir, abs string) error {
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return misuse.Errorf("%s: %s is not there", flag, term.Clean(dir))
	case err != nil:
		return misuse.Errorf("%s: %s cannot be opened: %v", flag, term.Clean(dir), err)
	case !info.IsDir():
		return misuse.Errorf("%s: %s is no folder", flag, term.Clean(dir))
	case !utf8.ValidString(abs):
		return misuse.Errorf("%s: the name %q is not UTF-8, and no message can hold it: rename the folder, or make a link to it", flag, dir)
	}
	return nil
}
