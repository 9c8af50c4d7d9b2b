package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/arguments"
	"cursord/cmd/cursord/internal/misuse"
	"cursord/cmd/cursord/internal/naming"
	"cursord/cmd/cursord/internal/term"
	"cursord/rpc"
)

func trustCommand() *cobra.Command {
	return trusting(true, &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Let agents run in a workspace",
		Long: `Let agents run in a workspace: they can run commands and change files there. This applies to that directory alone, not
to workspaces below it. Without DIR it is the workspace of the current directory. If that is another directory, the root
or the home folder, it asks first; without a terminal, name DIR.

It also lets cursord use the filters, and the parts outside of the workspace, that the configuration of its git
repositories names now. An agent can change that configuration, so later additions are not used until you trust the
workspace again: that lists them and asks.`,
	})
}

func untrustCommand() *cobra.Command {
	return trusting(false, &cobra.Command{
		Use:   "untrust [DIR]",
		Short: "Take the trust in a workspace back: no new turns begin there",
		Long: `Take the trust in a workspace back: no new turns begin there, until you trust it again. A turn that runs or waits goes
on ("cursord cancel" ends it). Sessions and pending changes stay.`,
	})
}

func trusting(trusted bool, c *cobra.Command) *cobra.Command {
	var p place
	var asJSON bool
	p.addFlag(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer of workspace/trust as JSON")
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 1 && p.dir != "" {
			return errors.New("DIR and --workspace exclude each other")
		}
		return arguments.Takes(0, 1)(c, args)
	}
	c.RunE = asClient(func(c *cobra.Command, client *rpc.Client, args []string) error {
		if len(args) == 1 {
			p.dir = args[0]
		}
		root, err := p.find(c.Context(), client)
		if err != nil {
			return err
		}
		if trusted {
			now, err := client.WorkspaceTrust(c.Context(), rpc.TrustParams{Workspace: root, Trusted: true, DryRun: true})
			if err != nil {
				return err
			}
			if err := mayTrust(c, root, now.Unused, p.dir != ""); err != nil {
				return err
			}
		}
		done, err := client.WorkspaceTrust(c.Context(), rpc.TrustParams{Workspace: root, Trusted: trusted})
		if err != nil {
			return err
		}
		if asJSON {
			return term.PrintJSON(c.OutOrStdout(), done)
		}
		text := "trusted: %s\n"
		if !trusted {
			text = "not trusted: %s; no new turns begin there\n"
		}
		fmt.Fprintf(c.OutOrStdout(), text, term.Clean(done.Workspace))
		return nil
	})
	return c
}

// mayTrust asks the person before a workspace is trusted that covers more than they may think, or whose repositories have
// new settings, which are not used yet. Without a terminal it is an error, unless they have named the workspace.
func mayTrust(c *cobra.Command, root string, unused []string, named bool) error {
	here, err := naming.ResolveDir(".")
	if err != nil {
		return err
	}
	shown, covers, question := term.Clean(root), "", "Trust "+term.Clean(root)
	switch {
	case root == naming.HomeDir():
		covers = shown + " is your home folder: an agent there can change all of your files, settings and keys too"
	case naming.Wide(root, ""):
		covers = shown + " is the whole file system: an agent there can change every file that you can change"
	case !named && root != here:
		covers = shown + " is the workspace around this directory: an agent can run commands and change files in all of it"
	case len(unused) > 0:
		covers = "these settings of git repositories in " + shown + " are new, and cursord does not use them yet: " + term.Clean(strings.Join(unused, "; "))
		question = "Use them"
	default:
		return nil
	}
	errOut := c.ErrOrStderr()
	switch terminal := term.IsTerminal(c.InOrStdin()) && term.IsTerminal(errOut); {
	case !terminal && !named:
		return misuse.Errorf("%s; if you mean it, name it: cursord trust %s", covers, term.ShellWord(root))
	case terminal:
		fmt.Fprintln(errOut, covers+".")
		if !term.Agrees(c.InOrStdin(), errOut, question) {
			return errors.New("nothing was trusted")
		}
	}
	return nil
}
