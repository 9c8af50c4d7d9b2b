package main

import (
	"github.com/spf13/cobra"

	"cursord/cmd/cursord/internal/why"
	"cursord/rpc"
)

func whyCommand() *cobra.Command {
	var p place
	var a why.Arguments
	c := &cobra.Command{
		Use:   "why FILE[:LINE[-LINE]] | --commit [REV] | --trailer",
		Short: "Show which prompts the lines of a file or a commit come from",
		Long: `Show which prompts the lines of a file come from. For a FILE without LINE, it prints the file, with its source beside each run
of lines; a * marks what is still to be reviewed, and a ? what may be yours, since it is
not surely the agent's (cursord diff says the same of it; an accept does not change it), or a guess by the text. For a LINE, it prints the prompt, its time, session and turn, and
what the lines were before. Lines of an agent keep their source after an accept, when you edit around
them, move them or commit them, and when a checkout brings them back. Lines that an agent only moves in a file stay whose they were, and
lines that it brings by a commit of somebody else, as git merge does, are not the agent's. The others are yours, or older than cursord.

With --commit, show which prompts the lines of a commit (HEAD, if none is named) come from: those that it adds. Later changes of its files do not
matter. A linked work tree (git worktree) knows what the repository's other work trees know of its commits. Lines that may be
yours are listed by themselves. --trailer prints the "Assisted-by" lines for its
message; without --commit, those for what is staged. In a prepare-commit-msg hook this is what git is about to commit, also with "git commit -a" and
"git commit FILE". For "git commit --amend", add --amend: then they are about all that the amended commit adds. The README has a hook that does so. Where
all lines of a model may be yours, its line ends in "(may be a person's)", and where they are guesses, in "(a guess by the text)".`,
		Example: `  cursord why main.go
  cursord why main.go:12-20
  cursord why --commit HEAD~1
  git commit --trailer "$(cursord why --trailer)"
  cursord show $(cursord why --json main.go:12 | jq -r '.lines[0].source.sessionId')`,
		Args: func(c *cobra.Command, args []string) error { return a.Take(args) },
		RunE: asClient(func(c *cobra.Command, client *rpc.Client, _ []string) error {
			n, err := p.names(c.Context(), client)
			if err != nil {
				return err
			}
			return a.Do(c.Context(), n, c.OutOrStdout())
		}),
	}
	p.addFlag(c)
	c.Flags().BoolVar(&a.Commit, "commit", false, "show the lines that the commit REV adds, without REV those of HEAD")
	c.Flags().BoolVar(&a.Trailer, "trailer", false, "print the Assisted-by lines for the message of a commit, without --commit of what is staged")
	c.Flags().BoolVar(&a.Amend, "amend", false, "with --trailer: what is staged takes the place of HEAD, as with git commit --amend")
	c.Flags().BoolVar(&a.JSON, "json", false, "print the answer of file/why or commit/why as JSON")
	return c
}
